"""Splitting one node: which columns are looked at, and the best of what they offer.

Columns come in a fixed order, those of kind `PLAIN` first. With K = all columns, every one is looked at. Else columns
are drawn one after the other until K that are not constant in the node were looked at, or none is left. Splits that are
equally good are equally likely, whatever the order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray  # noqa: TC002  (Numba reads the fields)

from fernwood.kernels.borrowing import borrowing
from fernwood.kernels.histograms import Counts, best_cut, count_class_cuts, count_value_cuts, make_counts, multiway
from fernwood.kernels.impurity import decrease
from fernwood.kernels.panels import (
    Panel,
    draw_cuts,
    find_extremes,
    gather_panel,
    make_panel,
    padded,
    score_class_cuts,
    score_value_cuts,
)
from fernwood.kernels.random import next_bounded, next_word
from fernwood.kernels.sorting import LARGEST, Sorting, best_class_cuts, best_value_cuts, make_sorting
from fernwood.kernels.tables import CART, EXTRA, MULTIWAY, SUBSET
from fernwood.kernels.weighing import (
    Weighing,
    draw_known_cuts,
    find_known_extremes,
    make_weighing,
    set_amounts,
    weigh_cuts,
)

__all__ = ["Split", "Work", "find_split", "make_work"]

_MISSING = 255
_BATCH = 64  # columns drawn and gathered at a time
_FEW = 8  # columns for which sorting side by side does not pay


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


class Work(NamedTuple):
    """Room for splitting nodes."""

    panel: Panel
    counts: Counts
    sorting: Sorting
    weighing: Weighing
    split: Split
    drawn: NDArray[np.int32]
    batch: NDArray[np.int32]
    heavy: NDArray[np.int32]
    places: NDArray[np.int32]
    block: NDArray[np.uint8]
    counting: NDArray[np.int32]
    codes: NDArray[np.uint8]
    route: NDArray[np.uint8]
    share: NDArray[np.float64]


@njit(nogil=True, cache=True)
def make_work(n_rows, table, target, rules):
    """Room for nodes of up to `n_rows` rows."""
    n_columns = table.order.shape[0]
    every = rules.max_features >= n_columns
    width = n_columns if every else min(n_columns, _BATCH)
    heavy = rules.rule == EXTRA and (target.weighted or table.n_gaps > 0)
    split = Split(np.zeros(5, np.int64), np.zeros(1), np.zeros(256, np.uint8))
    return Work(
        make_panel(width),
        make_counts(n_rows),
        make_sorting(min(n_rows, 2 * LARGEST) if rules.rule == CART else 0),
        make_weighing(n_rows, width) if heavy else make_weighing(0, 0),
        split,
        np.arange(n_columns).astype(np.int32),
        np.zeros(_BATCH, np.int32),
        np.zeros(_BATCH, np.int32),
        np.zeros(_BATCH, np.int32),
        np.zeros(0 if every else n_rows * padded(width), np.uint8),
        np.arange(0 if every else n_rows).astype(np.int32),
        np.empty(n_rows, np.uint8),
        np.zeros(256, np.uint8),
        np.zeros(256),
    )


@borrowing
def find_split(table, target, rules, measure, rows, ends, work, state):
    """Set `work.split` to the best split of a node.

    Parameters
    ----------
    table : Table
    target : Target
    rules : Rules
    measure : Measure
        Its `base` is the node's score.
    rows : int32 array
        The rows of the node, ordered by class.
    ends : int64 array
        Where the runs of the classes end; the number of rows alone where there are none.
    work : Work
    state : uint64 array
    """
    split = work.split
    split.what[0] = -1
    split.gain[0] = -np.inf
    n_columns = table.order.shape[0]
    n_light = 0 if target.weighted else table.n_plain
    n_ordered = table.n_plain + table.n_gaps if rules.rule == EXTRA else n_light
    fast = (table, target, rules, measure)
    if n_light < n_ordered:
        set_amounts(target, rows, work.weighing)
    if rules.max_features >= n_columns:
        for place in range(n_ordered, n_columns):
            _try_column(fast, rows, ends, place, work, state)
        if n_light > 0:
            _try_plain(fast, rows, ends, n_light, True, work, state)
        elif n_ordered > 0:
            _try_heavy(fast, rows, ends, table.wide, 0, table.n_plain, work, state)
        if table.n_plain < n_ordered:
            _try_heavy(fast, rows, ends, table.gappy, table.n_plain, table.n_gaps, work, state)
        return
    found, begin = 0, 0
    drawn = work.drawn
    while found < rules.max_features and begin < n_columns:
        n_batch, n_heavy = 0, 0
        end = begin + min(min(rules.max_features - found, n_columns - begin), _BATCH)
        for i in range(begin, end):
            j = i + next_bounded(state, n_columns - i)
            drawn[i], drawn[j] = drawn[j], drawn[i]
            place = np.int64(drawn[i])
            if place < n_light:
                work.batch[n_batch] = place
                n_batch += 1
            elif place < n_ordered:
                work.heavy[n_heavy] = place
                n_heavy += 1
            else:
                found += _try_column(fast, rows, ends, place, work, state)
        if n_batch > 0:
            found += _try_plain(fast, rows, ends, n_batch, False, work, state)
        if n_heavy > 0:
            found += _try_heavy(fast, rows, ends, work.block, -1, n_heavy, work, state)
        begin = end


@borrowing
def _offer(split, gain, place, cut, goes, branches, state):
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


@borrowing
def _try_plain(fast, rows, ends, width, every, work, state):
    """Try plain columns: all of them, or those in `work.batch`; how many were not constant."""
    table, target, rules, measure = fast
    panel, split = work.panel, work.split
    n = rows.shape[0]
    places = table.order[:width]
    if not every:
        places = work.places[:width]
        for j in range(width):
            places[j] = table.order[work.batch[j]]
    cart = rules.rule == CART
    if cart and (n > (2 * LARGEST if ends.shape[0] > 2 else LARGEST) or width < _FEW):
        if target.classes:
            count_class_cuts(table.columns, places, rows, ends, measure, rules.min_leaf, work.counts, panel)
        else:
            count_value_cuts(table.columns, places, rows, target.values, measure, rules.min_leaf, work.counts, panel)
    else:
        codes, seen, values = table.wide, rows, work.counts.values
        if not every:
            gather_panel(table.columns, places, rows, work.block)
            codes, seen = work.block, work.counting[:n]
        if not target.classes:
            for i in range(n):
                values[i] = target.values[rows[i]]
        find_extremes(codes, width, seen, panel)
        if n == 2 and rules.min_leaf <= 1 and every and width == table.order.shape[0]:
            return _part_two(width, rows, target, measure, panel, split, state)
        if cart and target.classes:
            best_class_cuts(codes, width, seen, ends, measure, rules.min_leaf, work.sorting, panel)
        elif cart:
            best_value_cuts(codes, width, seen, values, measure, rules.min_leaf, work.sorting, panel)
        else:
            draw_cuts(state, width, panel)
            if target.classes:
                score_class_cuts(codes, width, seen, ends, measure, panel)
            else:
                score_value_cuts(codes, width, seen, values, measure, panel)
            _take_scores(n, width, rules.min_leaf, measure, panel)
    return _take_best(width, every, work, state)


@borrowing
def _try_heavy(fast, rows, ends, codes, first, width, work, state):
    """Try random cuts of ordered columns, with weights or missing values; how many were not constant.

    `codes` is the panel of the columns from place `first` on; or room for one of those in `work.heavy`, if that is −1.
    """
    table, target, rules, measure = fast
    panel, room, split = work.panel, work.weighing, work.split
    if width == 0:
        return 0
    seen = rows
    if first < 0:
        places = work.places[:width]
        for j in range(width):
            places[j] = table.order[work.heavy[j]]
        gather_panel(table.columns, places, rows, codes)
        seen = work.counting[: rows.shape[0]]
    find_known_extremes(codes, width, seen, room, panel)
    draw_known_cuts(state, width, room, panel)
    weigh_cuts(codes, width, seen, ends, target, measure, rules.min_leaf, room, panel)
    found = 0
    for j in range(width):
        gaps = room.gaps[j] > 0
        if panel.low[j] == _MISSING or (panel.low[j] == panel.high[j] and not gaps):
            continue
        found += 1
        if panel.best[j] >= split.gain[0]:
            place = np.int64(work.heavy[j]) if first < 0 else first + j
            _offer(split, panel.best[j], place, panel.best_cut[j], np.int64(room.goes[j]) if gaps else -1, 0, state)
    return found


@borrowing
def _take_scores(n, width, min_leaf, measure, panel):
    """Make the cuts of the panel its best cuts."""
    base, coarse = measure.base[0], measure.coarse
    best, best_cut, score, left, cut = panel.best, panel.best_cut, panel.score, panel.left, panel.cut
    for j in range(width):
        best[j] = decrease(score[j], base, coarse)
        best_cut[j] = cut[j]
    if min_leaf > 1:
        for j in range(width):
            if min(left[j], n - left[j]) < min_leaf:
                best[j] = -np.inf


@borrowing
def _take_best(width, every, work, state):
    """Offer the best cuts of the panel; how many columns were not constant."""
    panel, split = work.panel, work.split
    low, high, best = panel.low, panel.high, panel.best
    found = 0
    most = split.gain[0]
    for j in range(width):
        gain = best[j]
        found += low[j] != high[j]
        if gain >= most and low[j] != high[j]:
            _offer(split, gain, j if every else work.batch[j], panel.best_cut[j], -1, 0, state)
            most = gain
    return found


@borrowing
def _part_two(width, rows, target, measure, panel, split, state):
    """Split a node of two rows that differ in the target: every column that is not constant is as good as any other."""
    found = 0
    for j in range(width):
        found += panel.low[j] != panel.high[j]
    if found == 0:
        return 0
    left = next_bounded(state, found)
    chosen = 0
    while True:
        if panel.low[chosen] != panel.high[chosen]:
            if left == 0:
                break
            left -= 1
        chosen += 1
    low, high = np.int64(panel.low[chosen]), np.int64(panel.high[chosen])
    score = 0.0
    if target.classes:
        score = 2.0 if measure.gini else 0.0
    else:
        for row in rows:
            score += target.values[row] * target.values[row]
    _offer(
        split,
        decrease(score, measure.base[0], measure.coarse),
        chosen,
        low + next_bounded(state, high - low),
        -1,
        0,
        state,
    )
    return found


@borrowing
def _try_column(fast, rows, ends, place, work, state):
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
        if _offer(work.split, gain, place, -1, home, different, state):
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
    _offer(work.split, gain, place, cut, goes if gaps else -1, 0, state)
    return 1


@borrowing
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


@borrowing
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


@borrowing
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
    if _offer(work.split, gain, place, cut, goes if gaps else -1, 2, state):
        route = work.split.route
        route[:] = 255
        for code in range(low, high + 1):
            if present[code] > 0:
                route[code] = 0 if rank[code] <= cut else 1


@borrowing
def _flip_coins(rank, present, low, high, different, state):
    """Rank 0 or 1 for every code that is present, each with equal chance, but not all the same."""
    ones = 0
    while ones == 0 or ones == different:
        ones = 0
        for code in range(low, high + 1):
            if present[code] > 0:
                rank[code] = np.uint8(next_word(state) >> np.uint64(63))
                ones += rank[code]


@borrowing
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
        share[codes[i]] += weights[rows[i]] * (1.0 if target.classes else target.values[rows[i]])
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
