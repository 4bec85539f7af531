"""Splitting one node: which columns are looked at, and the best of what they offer.

Columns come in a fixed order, those of kind `PLAIN` first. With K = all columns, every one is looked at. Else columns
are drawn one after the other until K that are not constant in the node were looked at, or none is left. Splits that are
equally good are equally likely, whatever the order. By the gain ratio, every column first offers the split that gains
most, as in C4.5 (Quinlan 1993); of those that gain at least as much as they do on average, the best ratio wins. A
threshold pays for being chosen among many, as in release 8 (Quinlan 1996): log₂ of their number is taken from the gain
of the node, times what a row of the tree weighs on average; a column that then gains nothing offers nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.histograms import Counts, count_class_cuts, count_value_cuts, make_counts
from fernwood.kernels.impurity import COARSE, GAIN_RATIO, HEAVY, ROW, SCORE, class_term, decrease
from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.offering import Split, offer, try_column
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
from fernwood.kernels.random import next_bounded
from fernwood.kernels.sorting import LARGEST, Sorting, best_class_cuts, best_value_cuts, make_sorting
from fernwood.kernels.tables import CART, EXTRA
from fernwood.kernels.weighing import (
    Weighing,
    draw_known_cuts,
    find_known_extremes,
    make_weighing,
    set_amounts,
    weigh_cuts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Split", "Work", "find_split", "make_work", "weigh_ratios"]

_MISSING = 255
_BATCH = 64  # columns drawn and gathered at a time
_FEW = 8  # columns for which sorting side by side does not pay


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
    gains: NDArray[np.float64]
    ratios: NDArray[np.float64]


@njit
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
        np.zeros(n_columns if rules.criterion == GAIN_RATIO else 0),
        np.zeros(n_columns if rules.criterion == GAIN_RATIO else 0),
    )


@njit_no_refcount
def find_split(table, target, rules, measure, rows, ends, work, state):
    """Set `work.split` to the best split of a node.

    Parameters
    ----------
    table : Table
    target : Target
        As the node sees it.
    rules : Rules
    measure : Measure
        Of the node.
    rows : int32 array
        The rows of the node, ordered by class.
    ends : int64 array
        Where the runs of the classes end; the number of rows alone where there are none.
    work : Work
        Of numbers, `work.counts.values` are those of `rows`, as the node sees them.
    state : uint64 array
    """
    split = work.split
    split.what[0] = -1
    split.gain[0] = -np.inf
    n_columns = table.order.shape[0]
    n_light = 0 if target.weighted else table.n_plain
    n_ordered = table.n_plain + table.n_gaps if rules.rule == EXTRA else n_light
    fast = (table, target, rules, measure)
    if rules.criterion == GAIN_RATIO:
        _try_ratios(fast, rows, ends, work, state)
        return
    if n_light < n_ordered:
        set_amounts(target, rows, work.weighing)
    if rules.max_features >= n_columns:
        for place in range(n_ordered, n_columns):
            try_column(fast, rows, ends, place, work, state)
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
                found += try_column(fast, rows, ends, place, work, state)
        if n_batch > 0:
            found += _try_plain(fast, rows, ends, n_batch, False, work, state)
        if n_heavy > 0:
            found += _try_heavy(fast, rows, ends, work.block, -1, n_heavy, work, state)
        begin = end


@njit_inner
def _try_ratios(fast, rows, ends, work, state):
    """Set the split to that of the best gain ratio, among columns that gain as much as those tried do on average."""
    split, drawn, gains, ratios = work.split, work.drawn, work.gains, work.ratios
    tried, n_offered, total = weigh_ratios(fast, rows, ends, work, state)
    best, chosen, equal = -1.0, -1, 0
    for i in range(tried):
        if gains[i] == -np.inf or gains[i] * n_offered < total or ratios[i] < best:
            continue
        equal = equal + 1 if ratios[i] == best else 1
        if equal > 1 and (fast[2].first == 1 or next_bounded(state, equal) > 0):
            continue
        best, chosen = ratios[i], np.int64(drawn[i])
    split.what[0], split.gain[0] = -1, -np.inf
    if chosen >= 0:
        try_column(fast, rows, ends, chosen, work, state)


@njit_no_refcount
def weigh_ratios(fast, rows, ends, work, state):
    """Set `work.gains` and `work.ratios` of the columns that are tried, all of them or K that are not constant.

    They are those at the places `work.drawn` begins with; a column without a split gains −∞. How many were tried, how
    many of them can split the node, and their gains together.
    """
    table, target, rules, measure = fast
    split, drawn, gains, ratios = work.split, work.drawn, work.gains, work.ratios
    n_columns = table.order.shape[0]
    every = rules.max_features >= n_columns
    n_beside = 0 if target.weighted or not every else table.n_plain
    if n_beside > 0:
        _cut_beside(fast, rows, ends, work.panel)
    found, tried, n_offered, total, told = 0, 0, 0, 0.0, 0.0
    while tried < n_columns and found < rules.max_features:
        if not every:
            j = tried + next_bounded(state, n_columns - tried)
            drawn[tried], drawn[j] = drawn[j], drawn[tried]
        place = np.int64(drawn[tried])
        gains[tried] = -np.inf
        if place < n_beside and work.panel.high[place] - work.panel.low[place] <= 1:
            if work.panel.high[place] > work.panel.low[place]:
                gains[tried] = work.panel.best[place]
                told = work.panel.other[place]
        else:
            split.what[0], split.gain[0] = -1, -np.inf
            found += try_column(fast, rows, ends, place, work, state)
            if split.what[0] >= 0:
                column = table.columns[table.order[place]]
                gains[tried] = split.gain[0]
                if split.what[3] == 0:
                    row = measure.node[ROW] / measure.node[HEAVY]
                    price = np.rint(_choice(column, rows, work.share) * row * measure.node[COARSE])
                    gains[tried] = split.gain[0] - price if price < split.gain[0] or price == 0.0 else -np.inf
                told = _information(column, rows, target, split, work.share, measure)
        if gains[tried] > -np.inf:
            ratios[tried] = gains[tried] / measure.node[COARSE] / told
            total += gains[tried]
            n_offered += 1
        tried += 1
    return tried, n_offered, total


@njit_inner
def _cut_beside(fast, rows, ends, panel):
    """Cut all plain columns above their lowest code: set `best`, and `other` to the entropy of the branches.

    That is the one cut of a column with two neighbouring codes in the node, as bits have.
    """
    table, _, rules, measure = fast
    width, n = table.n_plain, rows.shape[0]
    find_extremes(table.wide, width, rows, panel)
    for j in range(width):
        panel.cut[j] = panel.low[j]
    score_class_cuts(table.wide, width, rows, ends, measure, panel)
    _take_scores(n, width, rules.min_leaf, measure, panel)
    whole = measure.table[n]
    for j in range(width):
        left = np.uint32(panel.left[j])
        panel.other[j] = whole - (measure.table[left] + measure.table[np.uint32(n) - left])


@njit_inner
def _choice(column, rows, seen):
    """The binary logarithm of how many thresholds there are to choose from."""
    for code in range(_MISSING):
        seen[code] = 0.0
    for row in rows:
        code = column[np.uint32(row)]
        if code != _MISSING:
            seen[code] = 1.0
    different = 0.0
    for code in range(_MISSING):
        different += seen[code]
    return math.log2(max(different - 1.0, 1.0))


@njit_inner
def _information(column, rows, target, split, sizes, measure):
    """The entropy of the branches of a split, times the weight of the node."""
    what, route = split.what, split.route
    n_branches = max(what[3], 2)
    for k in range(n_branches):
        sizes[k] = 0.0
    for row in rows:
        code = np.int64(column[np.uint32(row)])
        if code == _MISSING:
            branch = what[2]
        elif what[3] == 0:
            branch = np.int64(code > what[1])
        else:
            branch = np.int64(route[code])
        sizes[branch] += target.weights[row]
    whole, parts = 0.0, 0.0
    for k in range(n_branches):
        whole += sizes[k]
        parts += class_term(sizes[k], measure.fine)
    return class_term(whole, measure.fine) - parts


@njit_inner
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
            values = work.counts.values
            count_value_cuts(table.columns, places, rows, values, measure, rules.min_leaf, work.counts, panel)
    else:
        codes, seen, values = table.wide, rows, work.counts.values
        if not every:
            gather_panel(table.columns, places, rows, work.block)
            codes, seen = work.block, work.counting[:n]
        find_extremes(codes, width, seen, panel)
        if n == 2 and rules.min_leaf <= 1 and every and width == table.order.shape[0]:
            return _part_two(width, target, values, rules, measure, panel, split, state)
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


@njit_inner
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
            offer(split, panel.best[j], place, panel.best_cut[j], np.int64(room.goes[j]) if gaps else -1, 0, state)
    return found


@njit_inner
def _take_scores(n, width, min_leaf, measure, panel):
    """Make the cuts of the panel its best cuts."""
    base, coarse = measure.node[SCORE], measure.node[COARSE]
    best, best_cut, score, left, cut = panel.best, panel.best_cut, panel.score, panel.left, panel.cut
    for j in range(width):
        best[j] = decrease(score[j], base, coarse)
        best_cut[j] = cut[j]
    if min_leaf > 1:
        for j in range(width):
            if min(left[j], n - left[j]) < min_leaf:
                best[j] = -np.inf


@njit_inner
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
            offer(split, gain, j if every else work.batch[j], panel.best_cut[j], -1, 0, state)
            most = gain
    return found


@njit_inner
def _part_two(width, target, values, rules, measure, panel, split, state):
    """Split a node of two rows that differ in the target: every column that is not constant is as good as any other.

    The cut is a random one, or the lowest, which is the best as any other is (see `best_cut`).
    """
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
    cut, high = np.int64(panel.low[chosen]), np.int64(panel.high[chosen])
    if rules.rule == EXTRA:
        cut += next_bounded(state, high - cut)
    pure = 2.0 if measure.gini else 0.0
    score = pure if target.classes else values[0] * values[0] + values[1] * values[1]
    offer(
        split,
        decrease(score, measure.node[SCORE], measure.node[COARSE]),
        chosen,
        cut,
        -1,
        0,
        state,
    )
    return found
