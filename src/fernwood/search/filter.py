"""Filtering: columns ranked by their gain ratio, the learner tried on the first 1, 2, 3, …, the best prefix kept.

The hybrid filter of Stracuzzi and Utgoff (2004). Ranking looks at one column at a time; only how many to keep is asked
of the learner.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fernwood.insight import Insight
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.subsets import subset_errors
from fernwood.learner.target import class_target, store_target
from fernwood.learner.trees import gain_ratios
from fernwood.relevance.decision import Decision, first_that_holds
from fernwood.result import Facts, result_of
from fernwood.run.directory import versions
from fernwood.run.driving import SearchProgress, drive
from fernwood.search.checks import check_table
from fernwood.search.learners import check_kept, check_learner
from fernwood.search.plain import plain_text, plain_value
from fernwood.search.selection import LEADING, Selection, namer
from fernwood.search.trying import laid_out
from fernwood.subspace.candidates import candidates
from fernwood.validation import at_least

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.learner.subsets import Evaluation, SubsetErrors
    from fernwood.learner.target import TreeTarget
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.run.plan import SearchPlan
    from fernwood.store.base import Store

__all__ = ["FilterLoop", "FilterSettings", "FilterState", "Ranked", "prepare", "rank_columns", "select_by_filter"]

_BLOCK_BYTES = 32 * 10**6
_PARTS = 10
"""Equal parts of a target of numbers, which are then classes."""


@dataclass(frozen=True, slots=True, eq=False)
class FilterSettings:
    """The hybrid filter: what to do.

    Parameters
    ----------
    estimator
        A scikit-learn classifier or regressor, or the name of one, see `fernwood.search.learners`.
    cv, scoring
        How a prefix is tried, see `fernwood.learner.subsets`.
    max_columns
        How many columns to try at most; None is all.

    Examples
    --------
    >>> FilterSettings("tree", max_columns=50).to_json()["max_columns"]
    50
    """

    method: ClassVar[str] = "filter"
    kernels: ClassVar[tuple[str, ...]] = ("ratios",)

    estimator: Any
    cv: Any = 5
    scoring: Any = None
    max_columns: int | None = None

    def __post_init__(self) -> None:
        check_learner(self.estimator)
        if self.max_columns is not None:
            at_least("max_columns", self.max_columns, 1, ", or None for all")

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is no plain value as text, which stands for it in a comparison."""
        return {field.name: plain_text(plain_value(getattr(self, field.name))) for field in fields(self)}

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> FilterSettings:
        """The settings that `to_json` wrote; those of a run with an estimator from memory are not all there."""
        check_kept(entries, ("cv", "scoring"))
        return cls(**entries)


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

    def leading(self, state: FilterState) -> NDArray[np.int64]:
        """Ranks of the first few columns of the best prefix."""
        return np.arange(min(state.n_best, LEADING))

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


def select_by_filter(
    store: Store,
    settings: FilterSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    evaluation: Evaluation | None = None,
) -> Selection:
    """Filter the columns of a store to the end, or until it is stopped; see `select_by_elimination` for the parameters.

    Examples
    --------
    >>> import fernwood
    >>> x = np.random.default_rng(0).standard_normal((100, 20))
    >>> store = fernwood.ingest(x, target=x[:, 3] + x[:, 7] > 0)
    >>> result, _ = select_by_filter(store, FilterSettings("naive-bayes"), seed=0)
    >>> set(result.confirmed.tolist()) >= {3, 7}, result.facts.n_draws
    (True, 20)
    """
    ids, _, loop, ratios = prepare(
        store, settings, seed, n_threads=n_threads, memory=memory, held=held, evaluation=evaluation
    )
    state, stopped_by, history = drive(loop, directory, progress, leading=namer(store, ids, loop.leading))
    facts = Facts.of(
        store,
        method=settings.method,
        n_usable=len(ids),
        n_draws=len(state.errors),
        n_planned=loop.progress(state).total,
        against="",
        seed=seed,
        parameters=settings.to_json(),
        advice="another estimator may need more columns",
        unit="calls",
        versions=versions(),
    )
    # A column is in every call from its own rank on.
    rank = np.arange(len(ids))
    draws = np.maximum(len(state.errors) - rank, 0).astype(np.int32)
    verdicts = first_that_holds(
        [rank < state.n_best, draws > 0],
        [Decision.CONFIRMED, Decision.REJECTED, Decision.UNEXAMINED],
        (
            f"among the {state.n_best:,} of the highest gain ratio, whose error is the lowest",
            f"behind the {state.n_best:,} of the highest gain ratio, and the error is no lower with it",
            "behind all that were tried",
        ),
    )
    result = result_of(store, ids, facts, verdicts, draws=draws, score=ratios, insight=Insight(history))
    return Selection(result, stopped_by)


class Prepared(NamedTuple):
    """A search that can begin: positions of columns, the best first; what it takes; its loop; and the gain ratios."""

    ids: NDArray[np.int64]
    plan: SearchPlan
    loop: FilterLoop
    ratios: NDArray[np.float64]


def prepare(
    store: Store,
    settings: FilterSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    evaluation: Evaluation | None = None,
) -> Prepared:
    """Check a table, plan the memory, and rank the columns; see `select_by_elimination` for the parameters."""
    check_table(store)
    ensure_compiled("ratios")
    ids, ratios = rank_columns(store)
    n_tried = len(ids) if settings.max_columns is None else min(settings.max_columns, len(ids))
    evaluation, places, plan = laid_out(store, ids, settings, seed, evaluation, memory, held)
    return Prepared(ids, plan, FilterLoop(subset_errors(evaluation, n_threads), places[:n_tried]), ratios)
