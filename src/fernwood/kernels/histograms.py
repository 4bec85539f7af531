"""One column at a time: a node's rows counted by code, and the best or the given cut found from the counts.

`count_class_cuts` and `count_value_cuts`, for ordered columns without missing values and unit weights, are tuned;
`best_cut` and `multiway` take anything: weights, missing values (code 255), categories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.impurity import COARSE, SCORE, class_term, decrease, value_score
from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Counts",
    "Target",
    "best_cut",
    "count_class_cuts",
    "count_value_cuts",
    "make_counts",
    "multiway",
    "two_scores",
]

_MISSING = 255


class Target(NamedTuple):
    """What is to be explained, a row each.

    Attributes
    ----------
    labels : int32 array; classes from 0 on, or zeros
    values : float64 array; numbers to be explained, or zeros. As a node sees them, times their weights (see `scale`)
    weights : float64 array
    classes : bool; whether the target is classes
    weighted : bool; whether a weight differs from one
    """

    labels: NDArray[np.int32]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    classes: bool
    weighted: bool


class Counts(NamedTuple):
    """Room for one column: its codes in the node, the target of its rows, and what is counted by code (256 entries).

    `pure` and `rest` have a row for each side that missing values can go to.
    """

    codes: NDArray[np.uint8]
    values: NDArray[np.float64]

    rows: NDArray[np.int32]
    run: NDArray[np.int32]
    more_rows: NDArray[np.int32]
    more_run: NDArray[np.int32]
    weight: NDArray[np.float64]
    left: NDArray[np.float64]
    score: NDArray[np.float64]
    pure: NDArray[np.float64]
    rest: NDArray[np.float64]


@njit
def make_counts(n_rows):
    """Room for nodes of up to `n_rows` rows."""
    return Counts(
        np.empty(n_rows, np.uint8),
        np.empty(n_rows),
        np.zeros(256, np.int32),
        np.zeros(256, np.int32),
        np.zeros(256, np.int32),
        np.zeros(256, np.int32),
        np.zeros(256),
        np.zeros(256),
        np.zeros(256),
        np.zeros((2, 256)),
        np.zeros((2, 256)),
    )


@njit_inner
def _gather(columns, place, rows, p, counts, panel):
    """Copy a node's codes of one column, and set `low` and `high` at p; the lowest, and how many cuts there are."""
    seen = counts.codes
    low, high = np.uint8(255), np.uint8(0)
    at = np.uint64(place)
    for i in range(rows.shape[0]):
        code = columns[at, np.uint64(rows[i])]
        seen[i] = code
        low = min(low, code)
        high = max(high, code)
    panel.low[p] = low
    panel.high[p] = high
    return low, np.int64(high) - np.int64(low)


@njit_inner
def _clear(one, other, low, n_cuts):
    """Set the entries of the codes from `low` on, one more than there are cuts, to zero."""
    for c in range(n_cuts + 1):
        one[np.uint64(low) + np.uint64(c)] = 0
        other[np.uint64(low) + np.uint64(c)] = 0


@njit_inner
def _best_of(gains, sizes, low, n_cuts, n, min_leaf):
    """The largest gain, and its cut, of the cuts from the code `low` on; `sizes` of a code is how many rows go left."""
    best, cut = -np.inf, 0
    for c in range(n_cuts):
        if gains[c] > best:
            size = sizes[np.uint64(low) + np.uint64(c)]
            if size >= min_leaf and n - size >= min_leaf:
                best, cut = gains[c], c
    return best, np.uint8(low + np.uint8(cut))


@njit_no_refcount
def count_class_cuts(columns, places, rows, ends, measure, min_leaf, counts, panel):
    """The best cut of every one of some columns, without missing values: set `low`, `high`, `best` and `best_cut`.

    Parameters
    ----------
    columns : uint8 array, shape (columns, rows of the table)
    places : int32 array; the columns to look at
    rows : int32 array; the rows of the node, ordered by class
    ends : int64 array; where the runs of the classes end
    measure : Measure of unit weights
    min_leaf : int
    counts : Counts
    panel : Panel
        `best` is the decrease of the best cut, −∞ where none is allowed; of equal cuts the lowest.
    """
    n = rows.shape[0]
    table, base, coarse, gini = measure.table, measure.node[SCORE], measure.node[COARSE], measure.gini
    seen, hist, run, score, other = counts.codes, counts.rows, counts.run, counts.score, counts.weight
    if ends.shape[0] == 2:
        _count_two_classes(columns, places, rows, ends[0], measure, min_leaf, counts, panel)
        return
    for p in range(places.shape[0]):
        lowest, n_cuts = _gather(columns, places[p], rows, p, counts, panel)
        low = np.int64(lowest)
        high = low + n_cuts
        best, cut = -np.inf, 0
        _clear(hist, score, lowest, n_cuts)
        for code in range(low, high + 1):
            other[code] = 0.0
        begin = 0
        for k in range(ends.shape[0]):
            end = ends[k]
            size = end - begin
            for code in range(low, high + 1):
                run[code] = 0
            for i in range(begin, end):
                run[seen[i]] += 1
            below = 0
            for code in range(low, high):
                below += run[code]
                hist[code] += below
                if gini:
                    x, y = np.float64(below), np.float64(size - below)
                    score[code] += x * x
                    other[code] += y * y
                else:
                    score[code] += table[np.uint32(below)] + table[np.uint32(size - below)]
            begin = end
        last = 0
        for code in range(low, high):
            left = np.int64(hist[code])
            if left == last:
                continue
            last = left
            if left < min_leaf or n - left < min_leaf:
                continue
            u, v = table[np.uint32(left)], table[np.uint32(n - left)]
            gain = decrease(score[code] * u + other[code] * v if gini else score[code] - (u + v), base, coarse)
            if gain > best:
                best, cut = gain, code
        panel.best[p] = best
        panel.best_cut[p] = cut


@njit_inner
def _count_two_classes(columns, places, rows, n_first, measure, min_leaf, counts, panel):
    """`count_class_cuts` for two classes, the first of which has `n_first` rows.

    Rows are counted into two histograms in turn: adding to a place that was just written to would have to wait.
    """
    n = rows.shape[0]
    n_second = n - n_first
    table, base, coarse, gini = measure.table, measure.node[SCORE], measure.node[COARSE], measure.gini
    seen, first, second, gains = counts.codes, counts.rows, counts.run, counts.score
    more_first, more_second = counts.more_rows, counts.more_run
    best_gain, best_cut = panel.best, panel.best_cut
    for p in range(places.shape[0]):
        lowest, n_cuts = _gather(columns, places[p], rows, p, counts, panel)
        low = np.uint64(lowest)
        _clear(first, more_first, lowest, n_cuts)
        _clear(second, more_second, lowest, n_cuts)
        i = 0
        while i + 1 < n_first:
            first[seen[i]] += 1
            more_first[seen[i + 1]] += 1
            i += 2
        if i < n_first:
            first[seen[i]] += 1
        i = n_first
        while i + 1 < n:
            second[seen[i]] += 1
            more_second[seen[i + 1]] += 1
            i += 2
        if i < n:
            second[seen[i]] += 1
        a, b = np.int32(0), np.int32(0)
        for c in range(n_cuts):
            at = low + np.uint64(c)
            a += first[at] + more_first[at]
            b += second[at] + more_second[at]
            first[at] = a
            second[at] = b
            more_first[at] = a + b
        if gini:
            for c in range(n_cuts):
                at = low + np.uint64(c)
                x, y = np.float64(first[at]), np.float64(second[at])
                u, v = n_first - x, n_second - y
                left, right = x + y, u + v
                score = ((x * x + y * y) * right + (u * u + v * v) * left) / (left * right)
                gains[c] = decrease(score, base, coarse)
        else:
            for c in range(n_cuts):
                at = low + np.uint64(c)
                i, j = np.uint32(first[at]), np.uint32(second[at])
                k, m = np.uint32(n_first) - i, np.uint32(n_second) - j
                pure = (table[i] + table[k]) + (table[j] + table[m])
                gains[c] = decrease(pure - (table[np.uint32(i + j)] + table[np.uint32(k + m)]), base, coarse)
        best_gain[p], best_cut[p] = _best_of(gains, more_first, lowest, n_cuts, n, min_leaf)


@njit_no_refcount
def count_value_cuts(columns, places, rows, values, measure, min_leaf, counts, panel):
    """`count_class_cuts` for numbers; `values` holds the target of each of `rows`, as the node sees it."""
    n = rows.shape[0]
    inverse, base, coarse = measure.table, measure.node[SCORE], measure.node[COARSE]
    seen, hist, sums = counts.codes, counts.rows, counts.weight
    total = 0.0
    for i in range(n):
        total += values[i]
    more_hist, more_sums, gains = counts.more_rows, counts.left, counts.score
    best_gain, best_cut = panel.best, panel.best_cut
    for p in range(places.shape[0]):
        lowest, n_cuts = _gather(columns, places[p], rows, p, counts, panel)
        low = np.uint64(lowest)
        _clear(hist, more_hist, lowest, n_cuts)
        _clear(sums, more_sums, lowest, n_cuts)
        i = 0
        while i + 1 < n:
            hist[seen[i]] += 1
            sums[seen[i]] += values[i]
            more_hist[seen[i + 1]] += 1
            more_sums[seen[i + 1]] += values[i + 1]
            i += 2
        if i < n:
            hist[seen[i]] += 1
            sums[seen[i]] += values[i]
        left, below = np.int32(0), 0.0
        for c in range(n_cuts):
            at = low + np.uint64(c)
            left += hist[at] + more_hist[at]
            below += sums[at] + more_sums[at]
            hist[at] = left
            rest = total - below
            score = below * below * inverse[np.uint32(left)] + rest * rest * inverse[np.uint32(n - left)]
            gains[c] = decrease(score, base, coarse)
        best_gain[p], best_cut[p] = _best_of(gains, hist, lowest, n_cuts, n, min_leaf)


@njit_no_refcount
def best_cut(codes, rows, ends, target, measure, wanted, counts):
    """The best of some cuts: its decrease (−∞: none), the cut, and where missing values go (0 left, 1 right).

    Codes above the last cut are counted too, but never looked at nor cleared.

    Parameters
    ----------
    codes : uint8 array; one code a row of the *node*, 255 missing
    rows : int32 array; the rows of the node, ordered by class
    ends : int64 array; where the runs of the classes end
    target : Target
    measure : Measure
    wanted : tuple of int; first and last cut to try, and the fewest rows of a branch
    counts : Counts
    """
    first, last, min_leaf = wanted
    n = rows.shape[0]
    weights = target.weights
    hist, weight, left, pure, rest = counts.rows, counts.weight, counts.left, counts.pure, counts.rest
    _clear(hist, left, 0, last)
    hist[_MISSING], left[_MISSING] = 0, 0.0
    for side in range(2):
        _clear(pure[side], rest[side], first, last - first)
    for i in range(n):
        hist[codes[i]] += 1
    n_missing = hist[_MISSING]
    sides = 2 if n_missing > 0 else 1
    whole, missing = 0.0, 0.0
    begin = 0
    for k in range(ends.shape[0]):
        end = ends[k]
        for code in range(last + 1):
            weight[code] = 0.0
        weight[_MISSING] = 0.0
        size = 0.0
        if target.classes:
            for i in range(begin, end):
                weight[codes[i]] += weights[rows[i]]
                size += weights[rows[i]]
        else:
            for i in range(begin, end):
                amount = weights[rows[i]]
                weight[codes[i]] += target.values[rows[i]]
                left[codes[i]] += amount
                size += target.values[rows[i]]
                whole += amount
        lost = weight[_MISSING]
        below = 0.0
        for code in range(last + 1):
            below += weight[code]
            if target.classes:
                left[code] += below
            if code < first:
                continue
            for side in range(sides):
                a = below + (lost if side == 1 else 0.0)
                b = size - a
                if not target.classes:
                    pure[side, code] = a
                    rest[side, code] = b
                elif measure.gini:
                    pure[side, code] += a * a
                    rest[side, code] += b * b
                else:
                    pure[side, code] += class_term(a, measure.fine)
                    rest[side, code] += class_term(b, measure.fine)
        if target.classes:
            whole += size
            missing += lost
        begin = end
    if not target.classes:
        missing = left[_MISSING]
        for code in range(1, last + 1):
            left[code] += left[code - 1]
    best, cut, goes = -np.inf, -1, 1
    below_rows = 0
    for code in range(last + 1):
        below_rows += hist[code]
        if code < first or (first < last and hist[code] == 0):
            continue
        for side in range(sides):
            rows_left = below_rows + (n_missing if side == 1 else 0)
            if min(rows_left, n - rows_left) < max(min_leaf, 1):
                continue
            w = left[code] + (missing if side == 1 else 0.0)
            total = two_scores(w, whole - w, pure[side, code], rest[side, code], target, measure)
            if total > best:
                best, cut, goes = total, code, 1 - side
    return best, cut, goes


@njit_no_refcount
def two_scores(left, right, pure, rest, target, measure):
    """The decrease that two branches bring, from their weights and what was added up of them."""
    if not target.classes:
        score = value_score(pure, left) + value_score(rest, right)
    elif measure.gini:
        score = (pure / left if left > 0.0 else 0.0) + (rest / right if right > 0.0 else 0.0)
    else:
        score = pure + rest - (class_term(left, measure.fine) + class_term(right, measure.fine))
    return decrease(score, measure.node[SCORE], measure.node[COARSE])


@njit_no_refcount
def multiway(codes, rows, ends, target, measure, wanted, counts):
    """The split of a node into a branch for every code: its decrease (−∞: none), and the code missing ones join.

    A missing value joins the branch with which it gains most. The arguments are those of `best_cut`, but that `wanted`
    is the lowest and the highest code, and the fewest rows of a branch.
    """
    low, high, min_leaf = wanted
    n = rows.shape[0]
    weights = target.weights
    hist, weight, left, pure, joined = counts.rows, counts.weight, counts.left, counts.pure[0], counts.pure[1]
    _clear(hist, left, low, high - low)
    _clear(pure, joined, low, high - low)
    hist[_MISSING], left[_MISSING] = 0, 0.0
    for i in range(n):
        hist[codes[i]] += 1
    missing = 0.0
    begin = 0
    for k in range(ends.shape[0]):
        end = ends[k]
        for code in range(low, high + 1):
            weight[code] = 0.0
        weight[_MISSING] = 0.0
        for i in range(begin, end):
            amount = weights[rows[i]]
            left[codes[i]] += amount
            weight[codes[i]] += amount if target.classes else target.values[rows[i]]
        lost = weight[_MISSING]
        for code in range(low, high + 1):
            if hist[code] == 0:
                continue
            a, b = weight[code], weight[code] + lost
            if not target.classes:
                pure[code], joined[code] = a, b
            elif measure.gini:
                pure[code] += a * a
                joined[code] += b * b
            else:
                pure[code] += class_term(a, measure.fine)
                joined[code] += class_term(b, measure.fine)
        begin = end
    missing = left[_MISSING]
    total, most, home = 0.0, -np.inf, -1
    least = n
    for code in range(low, high + 1):
        if hist[code] == 0:
            continue
        least = min(least, hist[code])
        alone = _one_score(left[code], pure[code], target, measure)
        total += alone
        if hist[_MISSING] > 0:
            more = _one_score(left[code] + missing, joined[code], target, measure) - alone
            if np.rint(more * measure.node[COARSE]) > np.rint(most * measure.node[COARSE]):
                most, home = more, code
    if least < min_leaf:
        return -np.inf, home
    return decrease(total + most if home >= 0 else total, measure.node[SCORE], measure.node[COARSE]), home


@njit_inner
def _one_score(weight, pure, target, measure):
    if not target.classes:
        return value_score(pure, weight)
    if measure.gini:
        return pure / weight if weight > 0.0 else 0.0
    return pure - class_term(weight, measure.fine)
