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
    lay_panel,
    make_panel,
    padded,
    score_class_cuts,
    score_value_cuts,
)
from fernwood.kernels.random import next_bounded, next_word
from fernwood.kernels.sorting import LARGEST, Sorting, best_class_cuts, best_value_cuts, make_sorting

__all__ = [
    "CART",
    "EXTRA",
    "GAPS",
    "MULTIWAY",
    "PLAIN",
    "SUBSET",
    "Rules",
    "Split",
    "Table",
    "Work",
    "find_split",
    "make_table",
    "make_work",
]

EXTRA, CART = 0, 1

PLAIN, GAPS, MULTIWAY, SUBSET = 0, 1, 2, 3
"""What a column is: ordered, ordered with missing values, categories with a branch each, categories in two branches."""

_MISSING = 255
_BATCH = 64  # columns drawn and gathered at a time
_FEW = 8  # columns for which sorting side by side does not pay


class Table(NamedTuple):
    """The codes that a tree grows on.

    Attributes
    ----------
    columns : uint8 array, shape (columns, rows)
    order : int32 array; place in `columns` of the first, second, … column to look at, plain ones first
    kinds : uint8 array; kind of the first, second, … column
    wide : uint8 array, flat; a panel (see `panels`) of the plain columns, or empty where K is less than all columns
    n_plain : int
    """

    columns: NDArray[np.uint8]
    order: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    wide: NDArray[np.uint8]
    n_plain: int


class Rules(NamedTuple):
    """How a tree grows; see `fernwood.learner.settings`. A `max_depth` of −1 is none; `categories` is their kind."""

    rule: int
    max_features: int
    max_depth: int
    min_leaf: int
    min_split: int
    criterion: int
    categories: int


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
    split: Split
    drawn: NDArray[np.int32]
    batch: NDArray[np.int32]
    places: NDArray[np.int32]
    block: NDArray[np.uint8]
    counting: NDArray[np.int32]
    codes: NDArray[np.uint8]
    route: NDArray[np.uint8]
    share: NDArray[np.float64]


@njit(nogil=True, cache=True)
def make_table(columns, order, categories, rules):
    """The table of some columns, looked at in the given order, but plain ones first; `categories` marks those."""
    n_columns = columns.shape[0]
    kinds = np.empty(n_columns, np.uint8)
    places = np.empty(n_columns, np.int32)
    n_plain = _find_kinds(columns, categories, rules.categories, kinds)
    plain, other = 0, n_plain
    for place in order:
        if kinds[place] == PLAIN:
            places[plain] = place
            plain += 1
        else:
            places[other] = place
            other += 1
    every = rules.max_features >= n_columns and n_plain > 0
    wide = lay_panel(columns, places[:n_plain]) if every else np.empty(0, np.uint8)
    return Table(columns, places, kinds[places], wide, n_plain)


@borrowing
def _find_kinds(columns, categories, of_categories, kinds):
    """Set the kind of every column; how many are plain."""
    n_plain = 0
    for j in range(columns.shape[0]):
        codes = columns[j]
        largest = np.uint8(0)
        for i in range(codes.shape[0]):
            largest = max(largest, codes[i])
        kinds[j] = of_categories if categories[j] else (GAPS if largest == _MISSING else PLAIN)
        n_plain += kinds[j] == PLAIN
    return n_plain


@njit(nogil=True, cache=True)
def make_work(n_rows, table, rules):
    """Room for nodes of up to `n_rows` rows."""
    n_columns = table.order.shape[0]
    every = rules.max_features >= n_columns
    width = n_columns if every else min(n_columns, _BATCH)
    split = Split(np.zeros(5, np.int64), np.zeros(1), np.zeros(256, np.uint8))
    return Work(
        make_panel(width),
        make_counts(n_rows),
        make_sorting(min(n_rows, 2 * LARGEST) if rules.rule == CART else 0),
        split,
        np.arange(n_columns).astype(np.int32),
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
    n_plain = 0 if target.weighted else table.n_plain
    fast = (table, target, rules, measure)
    every = rules.max_features >= n_columns
    found, begin = 0, 0
    drawn = work.drawn
    while found < rules.max_features and begin < n_columns:
        n_batch = n_plain if every else 0
        first = n_plain if every else begin
        end = n_columns if every else begin + min(min(rules.max_features - found, n_columns - begin), _BATCH)
        for i in range(first, end):
            place = i
            if not every:
                j = i + next_bounded(state, n_columns - i)
                drawn[i], drawn[j] = drawn[j], drawn[i]
                place = np.int64(drawn[i])
            if place < n_plain:
                work.batch[n_batch] = place
                n_batch += 1
            else:
                found += _try_column(fast, rows, ends, place, work, state)
        if n_batch > 0:
            found += _try_plain(fast, rows, ends, n_batch, every, work, state)
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
        codes, seen, values = table.wide, rows, target.values
        if not every:
            gather_panel(table.columns, places, rows, work.block)
            codes, seen = work.block, work.counting[:n]
            if not target.classes:
                values = work.counts.values
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
    """Try one column of any kind; 1, or 0 where it is constant."""
    table, target, rules, measure = fast
    column = table.columns[table.order[place]]
    kind = table.kinds[place]
    codes = work.codes[: rows.shape[0]]
    counts = work.counts
    present = counts.rows
    present[:] = 0
    for i in range(rows.shape[0]):
        codes[i] = column[rows[i]]
        present[codes[i]] += 1
    low, high, different = 255, -1, 0
    for code in range(_MISSING):
        if present[code] > 0:
            low = min(low, code)
            high = code
            different += 1
    gaps = present[_MISSING] > 0
    if different + gaps < 2:
        return 0
    if kind == MULTIWAY and different > 1:
        gain, home = multiway(codes, rows, ends, target, measure, rules.min_leaf, counts)
        if _offer(work.split, gain, place, -1, home, different, state):
            route = work.split.route
            route[:] = 255
            branch = 0
            for code in range(_MISSING):
                if present[code] > 0:
                    route[code] = branch
                    branch += 1
            work.split.what[2] = route[home] if home >= 0 else -1
        return 1
    if kind == MULTIWAY or kind == SUBSET:  # noqa: SIM109  (a tuple test is slower when compiled)
        _try_subset(fast, rows, ends, place, codes, different, work, state)
        return 1
    last = high if gaps else high - 1
    if rules.rule == EXTRA:
        low += next_bounded(state, last - low + 1)
        last = low
    gain, cut, goes = best_cut(codes, rows, ends, target, measure, (low, last, rules.min_leaf), counts)
    _offer(work.split, gain, place, cut, goes if gaps else -1, 0, state)
    return 1


@borrowing
def _try_subset(fast, rows, ends, place, codes, different, work, state):
    """Try a split of categories into two branches: at random, or the best in the order of their mean target.

    With two classes or numbers the best of all subsets is among the prefixes of that order (Fisher 1958, Breiman 1984);
    with more classes it is the order by the share of the node's largest class.
    """
    _, target, rules, measure = fast
    rank = work.route
    rank[_MISSING] = _MISSING
    if rules.rule == EXTRA:
        last = 0
        if different == 1:
            rank[:_MISSING] = 0
        else:
            _flip_coins(rank, work.counts.rows, different, state)
    else:
        _rank_codes(codes, rows, ends, target, work)
        last = different - 1 if work.counts.rows[_MISSING] > 0 else different - 2
    gaps = work.counts.rows[_MISSING] > 0
    for i in range(codes.shape[0]):
        codes[i] = rank[codes[i]]
    present = work.counts.run
    for code in range(256):
        present[code] = work.counts.rows[code]
    gain, cut, goes = best_cut(codes, rows, ends, target, measure, (0, last, rules.min_leaf), work.counts)
    if _offer(work.split, gain, place, cut, goes if gaps else -1, 2, state):
        for code in range(_MISSING):
            work.split.route[code] = 255 if present[code] == 0 else (0 if rank[code] <= cut else 1)


@borrowing
def _flip_coins(rank, present, different, state):
    """Rank 0 or 1 for every code that is present, each with equal chance, but not all the same."""
    ones = 0
    while ones == 0 or ones == different:
        ones = 0
        for code in range(_MISSING):
            if present[code] > 0:
                rank[code] = np.uint8(next_word(state) >> np.uint64(63))
                ones += rank[code]


@borrowing
def _rank_codes(codes, rows, ends, target, work):
    """Rank the codes that are present by the mean of the target, or by the share of the node's largest class."""
    rank, share = work.route, work.share
    weight = work.counts.weight
    weights = target.weights
    chosen_begin, chosen_end, most, begin = 0, rows.shape[0], -1.0, 0
    if target.classes:
        for k in range(ends.shape[0]):
            size = 0.0
            for i in range(begin, ends[k]):
                size += weights[rows[i]]
            if size > most or (size == most and rows[begin] < rows[chosen_begin]):
                most, chosen_begin, chosen_end = size, begin, ends[k]
            begin = ends[k]
    share[:] = 0.0
    weight[:] = 0.0
    for i in range(rows.shape[0]):
        weight[codes[i]] += weights[rows[i]]
    for i in range(chosen_begin, chosen_end):
        share[codes[i]] += weights[rows[i]] * (1.0 if target.classes else target.values[rows[i]])
    for code in range(_MISSING):
        if weight[code] > 0.0:
            share[code] /= weight[code]
    for code in range(_MISSING):
        if weight[code] > 0.0:
            before = 0
            for other in range(_MISSING):
                if weight[other] > 0.0 and (
                    share[other] < share[code] or (share[other] == share[code] and other < code)
                ):
                    before += 1
            rank[code] = before
