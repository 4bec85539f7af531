"""Random cuts of many columns at a time where rows have weights or codes are missing: `panels` with sums for counts.

A row adds its weight (numbers: also its weight times its value) to every column in which it goes left, and to those in
which its code is missing. Every cut is then tried with the missing values on its right and on its left:

    row of the node    weight    codes           ≤ cuts ?         left            missing
         7              0.5     12 255  3 …     1  0  1 …     0.5  0    0.5 …     0  0.5  0 …
        31              2.0     90  14 255 …    0  1  0 …     0.5  2.0  0.5 …     0  0.5  2.0 …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.histograms import two_scores
from fernwood.kernels.impurity import class_term
from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.panels import add_left, padded
from fernwood.kernels.random import next_bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Weighing", "draw_known_cuts", "find_known_extremes", "make_weighing", "set_amounts", "weigh_cuts"]

_MISSING = 255
_BELOW, _LOST, _LEFT, _GONE, _ROWS_LEFT, _ROWS_GONE, _PURE, _REST = 0, 1, 2, 3, 4, 5, 6, 8


class Weighing(NamedTuple):
    """Room for weighing the columns of a panel.

    Attributes
    ----------
    sums : float64 array, shape (10, columns), padded
        Of one class (numbers: of the target), on the left and missing; of the weight, likewise; of rows, likewise;
        what the criterion adds up on the left, for both sides of missing values, and on the right.
    amounts : float64 array, shape (3, rows)
        What the rows of the node add, in their order: weights, weights times values, ones.
    gaps : uint8 array; whether a column has missing values in the node
    goes : uint8 array; the branch of missing values
    """

    sums: NDArray[np.float64]
    amounts: NDArray[np.float64]
    gaps: NDArray[np.uint8]
    goes: NDArray[np.uint8]


@njit
def make_weighing(n_rows, width):
    """Room for nodes of up to `n_rows` rows and panels of up to `width` columns."""
    size = padded(width)
    return Weighing(np.zeros((10, size)), np.ones((3, n_rows)), np.zeros(size, np.uint8), np.zeros(size, np.uint8))


@njit_no_refcount
def set_amounts(target, rows, room):
    """Set what the rows of a node add."""
    for i in range(rows.shape[0]):
        room.amounts[0, i] = target.weights[rows[i]]
        room.amounts[1, i] = target.values[rows[i]]


@njit_no_refcount
def find_known_extremes(codes, width, rows, room, panel):
    """Set `low` and `high` of the codes that are known, and `gaps`; `low` is 255 where none is known."""
    low, high, gaps = panel.low, panel.high, room.gaps
    size = padded(width)
    step = np.uint64(size)
    for j in range(size):
        low[j] = np.uint8(_MISSING)
        high[j] = np.uint8(0)
        gaps[j] = np.uint8(0)
    for i in range(rows.shape[0]):
        at = np.uint64(rows[i]) * step
        for j in range(size):
            code = codes[at + np.uint64(j)]
            known = code != np.uint8(_MISSING)
            low[j] = min(low[j], code)
            high[j] = max(high[j], code if known else np.uint8(0))
            gaps[j] = gaps[j] if known else np.uint8(1)


@njit_no_refcount
def draw_known_cuts(state, width, room, panel):
    """A random cut for every column that is not constant: uniform from `low` to `high`, or `high` − 1 without gaps."""
    for j in range(width):
        low = np.int64(panel.low[j])
        span = np.int64(panel.high[j]) - low + np.int64(room.gaps[j])
        panel.cut[j] = min(low, _MISSING - 1)  # where no code is known, none goes left
        if span > 1:
            panel.cut[j] = np.uint8(low + next_bounded(state, span))


@njit_inner
def _add_missing(codes, size, rows, amounts, out):
    """Set `out` of every column to the sum of the amounts of the rows whose code is missing."""
    step = np.uint64(size)
    for j in range(size):
        out[j] = 0.0
    for i in range(rows.shape[0]):
        a, x = np.uint64(rows[i]) * step, amounts[i]
        for j in range(size):
            out[j] += x if codes[a + np.uint64(j)] == np.uint8(_MISSING) else 0.0


@njit_no_refcount
def weigh_cuts(codes, width, rows, ends, target, measure, min_leaf, room, panel):
    """Set `best`, the decrease of every column's cut (−∞ where it is not allowed), `best_cut` and `goes`.

    Parameters
    ----------
    codes : uint8 array, flat; a panel
    width : int
    rows : int32 array; the rows of the node in the panel, ordered by class
    ends : int64 array; where the runs of the classes end
    target : Target
    measure : Measure
    min_leaf : int
    room : Weighing
        With `gaps` and `amounts` of the node. Of the two sides that missing values can go to, the right one is kept
        where both are as good; where a column has none in the node, `goes` says nothing.
    panel : Panel
        With `cut`.
    """
    sums, weights = room.sums, room.amounts[0]
    size, n = padded(width), rows.shape[0]
    sides = 1
    for j in range(width):
        sides = max(sides, 1 + np.int64(room.gaps[j]))
    if min_leaf > 1:
        _add_both(codes, size, rows, room.amounts[2], sides, panel, sums[_ROWS_LEFT], sums[_ROWS_GONE])
    if target.classes:
        _weigh_classes(codes, size, rows, ends, target, measure, sides, room, panel)
    else:
        _add_both(codes, size, rows, weights, sides, panel, sums[_LEFT], sums[_GONE])
        _add_both(codes, size, rows, room.amounts[1], sides, panel, sums[_BELOW], sums[_LOST])
        total = 0.0
        for i in range(n):
            total += room.amounts[1, i]
        for side in range(sides):
            pure, rest = sums[_PURE + side], sums[_REST + side]
            for j in range(size):
                pure[j] = sums[_BELOW, j] + (sums[_LOST, j] if side == 1 else 0.0)
                rest[j] = total - pure[j]
    whole = 0.0
    for i in range(n):
        whole += weights[i]
    for j in range(width):
        panel.best[j] = -np.inf
        panel.best_cut[j] = panel.cut[j]
        room.goes[j] = 1
        for side in range(1 + np.int64(room.gaps[j])):
            left = sums[_LEFT, j] + (sums[_GONE, j] if side == 1 else 0.0)
            right = whole - left
            if left <= 0.0 or right <= 0.0:
                continue
            if min_leaf > 1:
                rows_left = sums[_ROWS_LEFT, j] + (sums[_ROWS_GONE, j] if side == 1 else 0.0)
                if min(rows_left, n - rows_left) < min_leaf:
                    continue
            gain = two_scores(left, right, sums[_PURE + side, j], sums[_REST + side, j], target, measure)
            if gain > panel.best[j]:
                panel.best[j] = gain
                room.goes[j] = 1 - side


@njit_inner
def _add_both(codes, size, rows, amounts, sides, panel, left, gone):
    add_left(codes, size, rows, amounts, panel, left)
    if sides == 2:
        _add_missing(codes, size, rows, amounts, gone)


@njit_inner
def _weigh_classes(codes, size, rows, ends, target, measure, sides, room, panel):
    """Add up what the criterion needs, class by class, and the weight on the left and missing."""
    sums, weights = room.sums, room.amounts[0]
    for k in (_LEFT, _GONE, _PURE, _PURE + 1, _REST, _REST + 1):
        for j in range(size):
            sums[k, j] = 0.0
    below, lost, left, gone = sums[_BELOW], sums[_LOST], sums[_LEFT], sums[_GONE]
    begin = 0
    for k in range(ends.shape[0]):
        end = ends[k]
        _add_both(codes, size, rows[begin:end], weights[begin:end], sides, panel, below, lost)
        total = 0.0
        for i in range(begin, end):
            total += weights[i]
        for j in range(size):
            left[j] += below[j]
        _add_terms(below[:size], total, target.weighted, measure, sums[_PURE], sums[_REST])
        if sides == 2:
            for j in range(size):
                gone[j] += lost[j]
                below[j] += lost[j]
            _add_terms(below[:size], total, target.weighted, measure, sums[_PURE + 1], sums[_REST + 1])
        begin = end


@njit_inner
def _add_terms(weight, total, weighted, measure, pure, rest):
    """Add what one class of `total` weight adds to the scores of both branches, `weight` of it being on the left."""
    if measure.gini:
        for j in range(weight.shape[0]):
            other = total - weight[j]
            pure[j] += weight[j] * weight[j]
            rest[j] += other * other
    elif weighted:
        for j in range(weight.shape[0]):
            pure[j] += class_term(weight[j], measure.fine)
            rest[j] += class_term(total - weight[j], measure.fine)
    else:
        table = measure.table
        for j in range(weight.shape[0]):
            pure[j] += table[np.uint32(weight[j])]
            rest[j] += table[np.uint32(total - weight[j])]
