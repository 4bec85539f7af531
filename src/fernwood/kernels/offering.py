"""What one column offers a node: its best cut, a branch for every category, or two groups of categories.

An offer is kept where it is better than the best so far; among equals, each with equal chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.histograms import best_cut, multiway
from fernwood.kernels.jit import njit_inner, njit_no_refcount
from fernwood.kernels.random import next_bounded, next_word
from fernwood.kernels.tables import EXTRA, MULTIWAY, SUBSET

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Split", "offer", "try_column"]

_MISSING = 255


class Split(NamedTuple):
    """The best split so far.

    Attributes
    ----------
    what : int64 array of five
        Column (a place in the order, −1: none), cut, branch of missing values (−1: the largest), number of branches
        (0: two, by the cut, without a route), how many splits were as good.
    gain : float64 array of one; its decrease
    route : uint8 array of 256; the branch of every code
    """

    what: NDArray[np.int64]
    gain: NDArray[np.float64]
    route: NDArray[np.uint8]


@njit_no_refcount
def offer(split, gain, place, cut, goes, branches, state):
    """Keep a split that is better than the best; among equals, each with equal chance. Whether it was kept."""
    if gain < split.gain[0] or gain == -np.inf:
        return False
    what = split.what
    if gain == split.gain[0]:
        what[4] += 1
        if next_bounded(state, what[4]) > 0:
            return False
    else:
        split.gain[0] = gain
        what[4] = 1
    what[0], what[1], what[2], what[3] = place, cut, goes, branches
    return True


@njit_no_refcount
def try_column(fast, rows, ends, place, work, state):
    """Try all cuts of one ordered column, or one column of categories; 1, or 0 where it is constant."""
    table, target, rules, measure = fast
    column = table.columns[table.order[place]]
    kind = table.kinds[place]
    codes = work.codes[: rows.shape[0]]
    counts = work.counts
    low, high, n_missing = _gather_known(column, rows, codes)
    gaps = n_missing > 0
    if n_missing == rows.shape[0] or (low == high and not gaps):
        return 0
    present, different = counts.rows, 0
    if kind == MULTIWAY or kind == SUBSET:  # noqa: SIM109  (a tuple test is slower when compiled)
        different = _count_codes(codes, low, high, present)
    if kind == MULTIWAY and different > 1:
        gain, home = multiway(codes, rows, ends, target, measure, (low, high, rules.min_leaf), counts)
        if offer(work.split, gain, place, -1, home, different, state):
            route = work.split.route
            route[:] = 255
            branch = 0
            for code in range(low, high + 1):
                if present[code] > 0:
                    route[code] = branch
                    branch += 1
            work.split.what[2] = route[home] if home >= 0 else -1
        return 1
    if different > 0:
        _try_subset(fast, rows, ends, place, codes, (low, high, different, gaps), work, state)
        return 1
    last = high if gaps else high - 1
    gain, cut, goes = best_cut(codes, rows, ends, target, measure, (low, last, rules.min_leaf), counts)
    offer(work.split, gain, place, cut, goes if gaps else -1, 0, state)
    return 1


@njit_inner
def _gather_known(column, rows, codes):
    """Copy a node's codes of one column; the lowest and highest of those that are known, and how many are missing."""
    low, high, n_missing = np.uint8(_MISSING), np.uint8(0), 0
    for i in range(rows.shape[0]):
        code = column[np.uint32(rows[i])]
        codes[i] = code
        low = min(low, code)
        high = max(high, np.uint8(0) if code == _MISSING else code)
        n_missing += code == _MISSING
    return np.int64(low), np.int64(high), n_missing


@njit_inner
def _count_codes(codes, low, high, present):
    """Set how many rows have every code from `low` to `high`; how many codes there are."""
    for code in range(low, high + 1):
        present[code] = 0
    for i in range(codes.shape[0]):
        present[codes[i]] += 1
    different = 0
    for code in range(low, high + 1):
        different += present[code] > 0
    return different


@njit_inner
def _try_subset(fast, rows, ends, place, codes, span, work, state):
    """Try a split of categories into two branches: at random, or the best in the order of their mean target.

    With two classes or numbers the best of all subsets is among the prefixes of that order (Fisher 1958, Breiman 1984);
    with more classes it is the order by the share of the node's largest class.
    """
    _, target, rules, measure = fast
    low, high, different, gaps = span
    rank, present = work.route, work.counts.run
    for code in range(low, high + 1):
        present[code] = work.counts.rows[code]
    rank[_MISSING] = _MISSING
    if rules.rule == EXTRA:
        last = 0
        if different == 1:
            rank[low] = 0
        else:
            _flip_coins(rank, present, low, high, different, state)
    else:
        _rank_codes(codes, rows, ends, target, low, high, work)
        last = different - 1 if gaps else different - 2
    for i in range(codes.shape[0]):
        codes[i] = rank[codes[i]]
    gain, cut, goes = best_cut(codes, rows, ends, target, measure, (0, last, rules.min_leaf), work.counts)
    if offer(work.split, gain, place, cut, goes if gaps else -1, 2, state):
        route = work.split.route
        route[:] = 255
        for code in range(low, high + 1):
            if present[code] > 0:
                route[code] = 0 if rank[code] <= cut else 1


@njit_inner
def _flip_coins(rank, present, low, high, different, state):
    """Rank 0 or 1 for every code that is present, each with equal chance, but not all the same."""
    ones = 0
    while ones == 0 or ones == different:
        ones = 0
        for code in range(low, high + 1):
            if present[code] > 0:
                rank[code] = np.uint8(next_word(state) >> np.uint64(63))
                ones += rank[code]


@njit_inner
def _rank_codes(codes, rows, ends, target, low, high, work):
    """Rank the codes that are present by the mean of the target, or by the share of the node's largest class."""
    rank, share, weight, weights = work.route, work.share, work.counts.weight, target.weights
    chosen_begin, chosen_end, most, begin = 0, rows.shape[0], -1.0, 0
    if target.classes:
        for k in range(ends.shape[0]):
            size = 0.0
            for i in range(begin, ends[k]):
                size += weights[rows[i]]
            if size > most or (size == most and rows[begin] < rows[chosen_begin]):
                most, chosen_begin, chosen_end = size, begin, ends[k]
            begin = ends[k]
    for code in range(low, high + 1):
        share[code] = 0.0
        weight[code] = 0.0
    for i in range(rows.shape[0]):
        weight[codes[i]] += weights[rows[i]]
    for i in range(chosen_begin, chosen_end):
        share[codes[i]] += weights[rows[i]] if target.classes else target.values[rows[i]]
    for code in range(low, high + 1):
        if weight[code] == 0.0:
            continue
        share[code] /= weight[code]
        rank[code] = 0
        for before in range(low, code):
            if weight[before] > 0.0:
                later = share[before] > share[code]
                rank[before] += np.uint8(later)
                rank[code] += np.uint8(not later)
