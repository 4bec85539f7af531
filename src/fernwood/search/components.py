"""Components of columns: what their codes stand for, worked out once for codes that occur equally often."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.components import even_components, fill_components, step_components, survey_codes, weigh_codes
from fernwood.kernels.examining import count_pairs, examine_pairs
from fernwood.kernels.ready import ensure_compiled
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts

__all__ = ["UNMARKED", "Components", "Pairs", "Surveyed", "Tables", "frequent", "leading_of"]

_MOST_KEPT = 4096
_MARKS_AT_ONCE = 2**18
_COLUMNS_AT_ONCE, _PAIRS_AT_ONCE = 256, 1024
"""Columns, and pairs of components, that are worked out together: 254 categories have 127 pairs of 2.5 kB each."""
UNMARKED = np.uint64(0)


class Tables(NamedTuple):
    """Components by the code, as numbers and in whole steps."""

    table: NDArray[np.float32]
    steps: NDArray[np.int16]
    unit: NDArray[np.float32]


class Surveyed(NamedTuple):
    """What columns are like.

    Attributes
    ----------
    evenness : float64 array; how many equally frequent codes would be as unlike each other
    n_pairs : int64 array; of components
    marks : uint64 array; the same where codes occur equally often, zero where components are not to be kept: those of a
        column with several pairs, and all where rows weigh differently
    """

    evenness: NDArray[np.float64]
    n_pairs: NDArray[np.int64]
    marks: NDArray[np.uint64]


class Pairs(NamedTuple):
    """Pairs of components: the column of each, how many of its two components are leading, and what codes stand for."""

    owner: NDArray[np.int64]
    leading: NDArray[np.int64]
    tables: Tables


class Components:
    """Scores columns by their components.

    Parameters
    ----------
    weights : float64 array
        Of the rows.
    squares : float64 array, optional
        How much every row adds to the variance of a score by chance; by default, the squares of the weights.

    Attributes
    ----------
    kept : Tables; of columns whose components are kept
    unequal : whether rows weigh differently, so that shadows have other components than the columns they are dealt from

    Examples
    --------
    >>> components = Components(np.ones(4))
    >>> components.amounts(np.array([[0, 0, 1, 2]], np.uint8))[0, :4].tolist()
    [2.0, 1.0, 1.0, 0.0]
    """

    def __init__(self, weights: NDArray[np.float64], squares: NDArray[np.float64] | None = None) -> None:
        self._weights = weights[:0] if (weights == 1).all() else weights
        self._squares = weights**2 if squares is None else squares
        self.unequal = bool((weights != weights[:1]).any())
        if self.unequal:
            ensure_compiled("weights")
        self.kept = _tables(np.empty((0, 256)), np.empty(0, bool), np.empty(0, np.int64), np.empty(0, np.int64))

    def amounts(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The weight of the rows at every code of every column."""
        amounts = np.empty((len(codes), 256))
        weigh_codes(codes, self._weights, amounts)
        return amounts

    def survey(self, codes: NDArray[np.uint8], categories: NDArray[np.bool_]) -> Surveyed:
        """What columns are like."""
        n = len(codes)
        evenness, used = np.empty(n), np.empty(n, np.int64)
        missing, marks = np.empty(n, bool), np.empty(n, np.uint64)
        survey_codes(codes, self._weights, evenness, used, missing, marks)
        n_pairs = pair_counts(used, missing, categories)
        marks[(n_pairs > 1) | self.unequal] = UNMARKED
        return Surveyed(evenness, n_pairs, marks)

    def keep(self, amounts: NDArray[np.float64], categories: NDArray[np.bool_]) -> None:
        """Keep the components of columns of one pair, for `add_scores` to take by their places here."""
        places = np.arange(len(amounts))
        self.kept = _tables(amounts, categories, places, np.zeros_like(places))

    def add_scores(
        self,
        codes: NDArray[np.uint8],
        categories: NDArray[np.bool_],
        kept: NDArray[np.int16],
        contexts: Contexts,
        out: NDArray[np.float32],
    ) -> None:
        """Add the scores of columns in contexts.

        Parameters
        ----------
        codes : uint8 array, shape (columns, rows)
        categories : bool array; which columns hold categories
        kept : int16 array; where the components of a column are kept, −1 where they are not
        contexts
        out : float32 array, shape (columns, contexts, 2); of all components, and of the leading ones
        """
        known = np.flatnonzero(kept >= 0)
        if len(known):
            leading = leading_of(categories[known])
            _add(codes, known, kept[known].astype(np.int64), leading, self.kept, contexts, out)
        rest = np.flatnonzero(kept < 0)
        for first in range(0, len(rest), _COLUMNS_AT_ONCE):
            some = rest[first : first + _COLUMNS_AT_ONCE]
            for pairs in self.others(codes[some], categories[some]):
                places = np.arange(len(pairs.owner))
                _add(codes, some[pairs.owner], places, pairs.leading, pairs.tables, contexts, out)

    def others(self, codes: NDArray[np.uint8], categories: NDArray[np.bool_]) -> Iterator[Pairs]:
        """The pairs of columns whose components are not kept, in the order of columns, some at a time."""
        amounts = self.amounts(codes)
        squares = None
        if self.unequal:
            squares = np.empty_like(amounts)
            weigh_codes(codes, self._squares, squares)
        used = np.count_nonzero(amounts[:, :MISSING], axis=1)
        counts = pair_counts(used, amounts[:, MISSING] > 0, categories)
        owner = np.repeat(np.arange(len(codes)), counts)
        part = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        last = np.cumsum(counts) - 1
        part[last[amounts[:, MISSING] > 0]] = -1
        # The rank of a number leads, not how it bends; all contrasts of categories do; marks of missing values do not.
        leading = np.where(part < 0, 0, leading_of(categories)[owner])
        for first in range(0, len(owner), _PAIRS_AT_ONCE):
            some = slice(first, first + _PAIRS_AT_ONCE)
            yield Pairs(owner[some], leading[some], _tables(amounts, categories, owner[some], part[some], squares))


def leading_of(categories: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many components of the first pair of every column are leading."""
    return 1 + categories.astype(np.int64)


def frequent(marks: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """A column for each of the most frequent marks, and for every column the place of its mark among those, or −1.

    Examples
    --------
    >>> firsts, kept = frequent(np.array([7, 5, 7, 0, 0], np.uint64))
    >>> firsts.tolist(), kept.tolist()
    ([0, 1], [0, 1, 0, -1, -1])
    """
    values, counts = np.unique(marks, return_counts=True)
    often = np.flatnonzero(values != UNMARKED)
    often = often[np.argsort(-counts[often], kind="stable")][:_MOST_KEPT]
    by_value = np.argsort(values[often])
    known = values[often][by_value]
    places, firsts = np.full(len(marks), -1, np.int16), np.full(len(often), len(marks))
    for start in range(0, len(marks) if len(known) else 0, _MARKS_AT_ONCE):
        some = marks[start : start + _MARKS_AT_ONCE]
        near = np.minimum(np.searchsorted(known, some), len(known) - 1)
        here = np.where(known[near] == some, by_value[near], -1)
        places[start : start + _MARKS_AT_ONCE] = here
        met, at = np.unique(here, return_index=True)
        met, at = met[met >= 0], at[met >= 0]
        firsts[met] = np.minimum(firsts[met], start + at)
    return firsts, places


def pair_counts(
    used: NDArray[np.int64], missing: NDArray[np.bool_], categories: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Pairs of components of every column: one, or what its categories need, and one for missing values.

    Examples
    --------
    >>> pair_counts(np.array([9, 9, 2]), np.array([False, True, False]), np.array([False, True, True])).tolist()
    [1, 5, 1]
    """
    return np.where(categories, np.maximum(used // 2, 1), 1) + missing


def _tables(
    amounts: NDArray[np.float64],
    categories: NDArray[np.bool_],
    owner: NDArray[np.int64],
    part: NDArray[np.int64],
    squares: NDArray[np.float64] | None = None,
) -> Tables:
    table = np.empty((len(owner), 256, 2), np.float32)
    fill_components(amounts, categories, owner, part, table)
    if squares is not None:
        even_components(squares, owner, table)
    steps, unit = np.empty(table.shape, np.int8), np.empty((len(owner), 2), np.float32)
    step_components(table, steps, unit)
    return Tables(table, steps.view(np.int16)[:, :, 0], unit)


def _add(
    codes: NDArray[np.uint8],
    owner: NDArray[np.int64],
    which: NDArray[np.int64],
    leading: NDArray[np.int64],
    tables: Tables,
    contexts: Contexts,
    out: NDArray[np.float32],
) -> None:
    if contexts.counts:
        count_pairs(codes, owner, which, leading, tables.steps, tables.unit, contexts, out)
    else:
        examine_pairs(codes, owner, which, leading, tables.table, contexts, out)
