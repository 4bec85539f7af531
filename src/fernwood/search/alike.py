"""Which of the columns found can stand for each other: all of a group for all others of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fernwood.kernels.alike import tell_each_other
from fernwood.kernels.components import fill_components
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.many import in_order
from fernwood.run.plan import block_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.search.examining import Examiner

__all__ = ["interchangeable"]

_ALIKE = 0.9
"""Numbers whose ranks correlate by this much, either way round, can stand for each other. Where one of two columns has
categories, each must tell the square of it, the share that such numbers tell, of how the other divides the rows."""
_CELLS_AT_ONCE = 2**19
"""Ranks that are multiplied together."""


def interchangeable(examiner: Examiner, found: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Groups of two or more of the columns found, in each of which any column can stand for any other.

    Columns are taken in the order given, the best first: each joins the first group all of whose columns it is like.
    All rows that count are looked at: of some of them, rare values may all be missing.

    Examples
    --------
    >>> import fernwood
    >>> from fernwood.search.dealing import Dealer
    >>> from fernwood.search.examining import Examiner
    >>> from fernwood.search.scoring import Scorer
    >>> x = np.random.default_rng(0).standard_normal((50, 3))
    >>> x[:, 2] = -x[:, 0]
    >>> examiner = Examiner(Scorer(fernwood.ingest(x), None, np.ones(50), Dealer(0)), np.arange(3), 1)
    >>> [group.tolist() for group in interchangeable(examiner, np.arange(3))]
    [[0, 2]]
    """
    number = _grouped(_alike(examiner, found))
    sizes = np.bincount(number)
    return [found[number == k] for k in np.flatnonzero(sizes > 1)]


def _grouped(alike: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of the group of every column, where all columns of a group are like each other.

    Examples
    --------
    >>> _grouped(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)).tolist()  # the third is not like the first
    [0, 0, 1]
    """
    number = np.zeros(len(alike), np.int64)
    sizes = np.zeros(len(alike) + 1, np.int64)
    n_groups = 0
    for i in range(len(alike)):
        shared = np.bincount(number[:i][alike[i, :i]], minlength=n_groups)
        joined = np.flatnonzero(shared == sizes[:n_groups])
        number[i] = joined[0] if len(joined) else n_groups
        n_groups = max(n_groups, int(number[i]) + 1)
        sizes[number[i]] += 1
    return number


class _Some(NamedTuple):
    """Some columns.

    Attributes
    ----------
    codes : uint8 array, shape (columns, rows)
    categories : bool array
    ranks : float64 array, shape (columns, 256); what codes of numbers stand for, with mean 0
    lengths : float64 array; the weighted sum of squares of those over all rows
    """

    codes: NDArray[np.uint8]
    categories: NDArray[np.bool_]
    ranks: NDArray[np.float64]
    lengths: NDArray[np.float64]


def _alike(examiner: Examiner, found: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which columns can stand for which; a block against another at a time."""
    scorer = examiner.scorer
    alike = np.zeros((len(found), len(found)), bool)
    width = max(block_width(scorer.n_rows) // 2, 1)  # so that two blocks take no more than one of a search
    blocks = [slice(first, first + width) for first in range(0, len(found), width)]

    def some(block: slice) -> _Some:
        codes = examiner.codes(found[block])
        amounts, table = scorer.components_of.amounts(codes), np.empty((len(codes), 256, 2), np.float32)
        of = np.arange(len(codes))
        fill_components(amounts, np.zeros(len(codes), bool), of, np.zeros_like(of), table)
        ranks = table[:, :, 0].astype(np.float64)
        return _Some(codes, examiner.categories[found[block]], ranks, (amounts * ranks**2).sum(axis=1))

    def compare(pair: tuple[slice, slice]) -> NDArray[np.bool_]:
        left = some(pair[0])
        right = left if pair[0] == pair[1] else some(pair[1])
        told = _squared_correlations(left, right, scorer.weights)
        if left.categories.any() or right.categories.any():
            ensure_compiled("categories")
            tell_each_other(left.codes, right.codes, left.categories, right.categories, scorer.weights, told)
        return np.round(told, 6) >= round(_ALIKE**2, 6)

    pairs = [(one, other) for place, one in enumerate(blocks) for other in blocks[place:]]
    # Pairs of blocks are shared out already: threads of the matrix product as well would only wait for each other.
    with threadpool_limits(1, user_api="blas"):
        for (one, other), here in zip(pairs, in_order(compare, pairs, examiner.n_threads), strict=True):
            alike[one, other] = here
            alike[other, one] = here.T
    return alike


def _squared_correlations(left: _Some, right: _Some, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the ranks of numbers; a missing value is in the middle. None where a column does not vary."""
    told = np.zeros((len(left.codes), len(right.codes)))
    one, other = np.flatnonzero(~left.categories), np.flatnonzero(~right.categories)
    sums = np.zeros((len(one), len(other)))
    if not sums.size:
        return told
    step = max(_CELLS_AT_ONCE // sum(sums.shape), 1)
    for first in range(0, len(weights), step):
        rows = slice(first, min(first + step, len(weights)))
        sums += (_ranks_of(left, one, rows) * weights[rows]) @ _ranks_of(right, other, rows).T
    lengths = left.lengths[one, None] * right.lengths[other]
    told[np.ix_(one, other)] = np.divide(sums**2, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return told


def _ranks_of(some: _Some, chosen: NDArray[np.int64], rows: slice) -> NDArray[np.float64]:
    out = np.empty((len(chosen), rows.stop - rows.start))
    for place, column in enumerate(chosen.tolist()):
        np.take(some.ranks[column], some.codes[column, rows], out=out[place], mode="clip")  # quicker than all at once
    return out
