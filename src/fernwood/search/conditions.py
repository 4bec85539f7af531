"""Covariates: columns that are in every context, and divide the rows into strata."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import ParameterError, SourceError, shown
from fernwood.sources.base import Kind
from fernwood.sources.names import has_numbers, is_pattern, match_names, plain_position
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fernwood.search.snowball_settings import SnowballSettings
    from fernwood.store.base import Store

__all__ = ["given_positions", "strata_of", "with_names"]

_MOST_BINS, _FEWEST_BINS = 10, 2
"""A number is held constant within a tenth of the rows where there are enough, within a half where there are few."""
_ROWS_FOR_CONTEXTS = 48
"""Rows of a stratum, on average, that leave room for ferns of three columns."""
_ROWS_AT_LEAST = 12


def given_positions(store: Store, given: Sequence[str | int]) -> NDArray[np.int64]:
    """Where the columns are that a user names as covariates, by name, pattern or position, in the order of the store.

    Positions are those in the table that the store was made from, as of the target and everything else that is given.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.random.default_rng(0).standard_normal((9, 4)))
    >>> given_positions(store, ["x2", 0]).tolist()
    [0, 2]
    """
    for column in given:
        if isinstance(column, str) and plain_position(column) is not None and store.names.find(column) is None:
            _refuse_a_number_among_names(store, column)
    positions = match_names(store.names, given, "the covariate", place_of=store.stored_at)
    for position in positions.tolist():
        if not store.usable[position]:
            raise ParameterError(
                f"the covariate {shown(store.names[position])} is constant, or all its values are missing; leave it out"
            )
    return positions


def _refuse_a_number_among_names(store: Store, number: str) -> None:
    """Refuse a number where it may be the name of a column that did not go into the store."""
    named = store.target is not None and store.target.name == number
    if named or has_numbers(store.names):
        raise SourceError(
            f"the covariate {shown(number)} is not a column of the store, whose columns have numbers for names, so "
            "that it is not taken for a position; give the name of another one"
        )


def with_names(store: Store, settings: SnowballSettings) -> SnowballSettings:
    """Settings whose covariates are given by name: a position means something for one table only."""
    if all(
        isinstance(column, str) and not is_pattern(column) and plain_position(column) is None
        for column in settings.given
    ):
        return settings  # names are looked for once, where they are needed: that takes a while among millions
    names = store.names.take(given_positions(store, settings.given)).to_pylist()
    return replace(settings, given=tuple(names))


def strata_of(
    store: Store, positions: NDArray[np.int64], rows: NDArray[np.int64] | None
) -> tuple[NDArray[np.int32], int]:
    """The stratum of every row that counts, numbered from 0 on, and how many there are.

    Every category is by itself, missing values too. A number is cut at its quantiles into as many bins as the rows
    allow, ten at most; one of fewer values is divided into those.
    """
    codes = store.read(positions)
    codes = codes if rows is None else codes[:, rows]
    n_rows = codes.shape[1]
    categories = store.kinds[positions] == Kind.CATEGORY
    for n_bins in range(_MOST_BINS, _FEWEST_BINS - 1, -1):
        strata = np.zeros(n_rows, np.int64)
        for column, category in zip(codes, categories.tolist(), strict=True):
            levels = column if category else _binned(column, n_bins)
            strata = np.unique(strata * 256 + levels, return_inverse=True)[1]
        n_strata = int(strata.max()) + 1
        least = _ROWS_AT_LEAST if n_bins == _FEWEST_BINS else _ROWS_FOR_CONTEXTS
        if n_rows >= least * n_strata:
            return strata.astype(np.int32), n_strata
    names = ", ".join(shown(name) for name in store.names.take(positions).to_pylist())
    raise ParameterError(
        f"the covariates {names} divide {n_rows:,} rows into {n_strata:,} strata, and {_ROWS_AT_LEAST} rows in each, "
        "on average, are needed; give fewer of them, or coarser ones"
    )


def _binned(codes: NDArray[np.uint8], n_bins: int) -> NDArray[np.int64]:
    """The codes of an ordered column in bins of about as many rows each; missing values in one of their own.

    Where there are no more codes than bins, each has one, however rare it is.

    Examples
    --------
    >>> _binned(np.array([0, 0, 0, 0, 7], np.uint8), 2).tolist()
    [0, 0, 0, 0, 1]
    """
    present = np.sort(codes[codes != MISSING])
    cuts = np.unique(present)[1:]
    if len(cuts) >= n_bins:
        # Below the lowest code there is nothing to cut off: a cut there is one above it.
        cuts = np.unique(np.maximum(present[np.arange(1, n_bins) * len(present) // n_bins], cuts[0]))
    return np.where(codes == MISSING, n_bins, np.searchsorted(cuts, codes, side="right"))
