"""Filtering: columns ranked by their gain ratio, the learner tried on the first 1, 2, 3, …, the best prefix kept.

The hybrid filter of Stracuzzi and Utgoff (2004). Ranking looks at one column at a time; only how many to keep is asked
of the learner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.learner.target import class_target, store_target
from fernwood.learner.trees import gain_ratios
from fernwood.run.driving import SearchProgress
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.learner.subsets import SubsetErrors
    from fernwood.learner.target import TreeTarget
    from fernwood.store.base import Store

__all__ = ["FilterLoop", "FilterState", "Ranked", "rank_columns"]

_BLOCK_BYTES = 32 * 10**6
_PARTS = 10
"""Equal parts of a target of numbers, which are then classes."""


class Ranked(NamedTuple):
    """Usable columns by position, the best first, and the gain ratio of each."""

    columns: NDArray[np.int64]
    ratios: NDArray[np.float64]


def rank_columns(store: Store) -> Ranked:
    """The usable columns of a store by their gain ratio; among equals, by the checksum of their codes.

    A target of numbers is cut into ten parts of as many rows.

    Notes
    -----
    Peak memory: 64 MB, or twice one column.

    Examples
    --------
    >>> import fernwood
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(500, 60, class_sep=3.0, random_state=0)
    >>> ranked = rank_columns(fernwood.ingest(table.data, target=table.target))
    >>> bool(ranked.columns[0] in table.relevant), bool((np.diff(ranked.ratios) <= 0).all())
    (True, True)
    """
    ids = candidates(store)
    target = _classes_of(store)
    width = max(1, _BLOCK_BYTES // store.n_rows)
    ratios = np.zeros(len(ids))
    for first in range(0, len(ids), width):
        part = ids[first : first + width]
        ratios[first : first + width] = gain_ratios(store.read(part), target, store.kinds[part])
    order = np.argsort(-ratios, kind="stable")
    return Ranked(ids[order], ratios[order])


def _classes_of(store: Store) -> TreeTarget:
    target = store_target(store)
    if target.kernel.classes:
        return target
    values = target.kernel.values
    edges = np.unique(np.quantile(values, np.arange(1, _PARTS) / _PARTS))
    return class_target(np.searchsorted(edges, values, side="right"), store.weights)


class FilterState(NamedTuple):
    """The errors on the first 1, 2, 3, … columns, as far as they were tried."""

    errors: NDArray[np.float64]

    @property
    def n_best(self) -> int:
        """How many of the first columns have the lowest error; the fewest of those that are as good. 0: none tried."""
        return int(np.argmin(self.errors)) + 1 if len(self.errors) else 0


class FilterLoop:
    """Tries one prefix more in every round. A `Loop`.

    Parameters
    ----------
    errors
    columns : int64 array
        Positions for `errors`, the best first; as many as are to be tried.

    Examples
    --------
    >>> class Errors:
    ...     n_columns = 4
    ...     def __call__(self, columns):
    ...         return abs(len(columns) - 2.0)
    >>> loop = FilterLoop(Errors(), np.array([3, 0, 1, 2]))
    >>> state = loop.start()
    >>> while len(state.errors) < 4:
    ...     state = loop.step(state)
    >>> state.errors.tolist(), state.n_best
    ([1.0, 0.0, 1.0, 2.0], 2)
    """

    def __init__(self, errors: SubsetErrors, columns: NDArray[np.int64]) -> None:
        self._errors = errors
        self._columns = columns

    def start(self) -> FilterState:
        """Nothing is tried yet."""
        return FilterState(np.empty(0))

    def step(self, state: FilterState) -> FilterState:
        """Try one column more."""
        error = self._errors(np.sort(self._columns[: len(state.errors) + 1]))
        return FilterState(np.append(state.errors, error))

    def progress(self, state: FilterState) -> SearchProgress:
        """How far it is; what is found are the columns of the best prefix so far."""
        done, total = len(state.errors), len(self._columns)
        return SearchProgress("searching", done, total, "calls", state.n_best, done, total)

    def pack(self, state: FilterState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays."""
        return {"errors": state.errors}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> FilterState:
        """The state from a checkpoint."""
        errors = arrays["errors"]
        if errors.ndim != 1 or errors.dtype != np.float64 or len(errors) > len(self._columns):
            raise ValueError("the checkpoint's errors are none of this search")
        if not np.isfinite(errors).all():
            raise ValueError("the checkpoint's errors cannot be")
        return FilterState(errors)
