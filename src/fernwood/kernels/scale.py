"""The target as a node sees it: centred in the node and scaled to the spread of the node.

One outlier or one heavy row sets the scale of the whole tree, but only a few nodes contain it. On a scale of the tree,
the values of all other nodes would round to the same number, and none of their splits would bring anything.

    numbers    the deviation of a row from the mean of the node, times its weight, in whole steps
    weights    shares of the weight of the node, or of an ancestor that weighs at most 64 times as much, in steps too

Steps are so small that the rows of a node have 2⁵² of them together. Sums up to that are exact, so that they do not
depend on the order of rows. Classes without weights need no scale.
"""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from fernwood.kernels.histograms import Target
from fernwood.kernels.impurity import COARSE, GRID_BITS, HEAVY, MEAN, SCORE, UNIT, WHOLE, class_term, value_score
from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount

__all__ = ["look", "make_seen"]

_DOUBLE_BITS = 52
"""Whole numbers and their sums are exact up to this many bits."""
_FINEST = 2.0**48
"""The finest grid for Gini with weights; sums of its terms are rounded by a sixteenth of a step."""
_LEAST_EXPONENT = -900
"""Smaller numbers are scaled by this power of two, whose inverse and square are still doubles."""
_LEAST_SHARE = 1 / 64
"""A node with less than this share of the ancestor's weight makes shares of its own."""

_adding = register_jitable(nogil=True, error_model="numpy", _nrt=False, fastmath={"reassoc"})
"""`njit_inner`, with sums in any order, which is several times as fast; these are exact in every order."""


@njit
def make_seen(target, by_row):
    """Room for a target as nodes see it; `by_row` asks for the values and weights of every row of the table."""
    n = target.labels.shape[0] if by_row or target.weighted else 0
    return Target(target.labels, target.values[:n].copy(), target.weights[:n].copy(), target.classes, target.weighted)


@njit_no_refcount
def look(target, seen, rows, ends, heavy, measure, values):
    """Set `seen` for the rows of a node, and `measure.node`. Returns whether all rows have the same target.

    Parameters
    ----------
    target : Target
    seen : Target
        From `make_seen`. A node must be looked at before its branches.
    rows : int32 array
        The rows of the node, ordered by class, repeats allowed.
    ends : int64 array
        Where the runs of the classes end; the number of rows alone where there are none.
    heavy : float
        `HEAVY` of the parent; 0 at the root.
    measure : Measure
    values : float64 array
        Set to the values of `rows`, in their order, if the target is numbers that are not all the same.
    """
    node = measure.node
    node[WHOLE], node[HEAVY] = np.float64(rows.shape[0]), 1.0
    if target.weighted:
        _share_weights(target, seen, rows, heavy, node)
    if target.classes:
        _score_classes(seen, rows, ends, measure)
        return ends.shape[0] == 1
    return _centre(target, seen, rows, node, values)


@njit_inner
def _score_classes(seen, rows, ends, measure):
    """Set the score of a node of classes; with weights, also the grid on which its splits are compared.

    Beside a heavy row, the impurity is a small share of the weight. The grid is as fine as the impurity requires, but
    not finer than the weight can be rounded.
    """
    node, score, begin = measure.node, 0.0, 0
    for end in ends:
        size = np.float64(end - begin)
        if seen.weighted:
            size = 0.0
            for i in range(begin, end):
                size += seen.weights[rows[i]]
        score += size * size if measure.gini else class_term(size, measure.fine)
        begin = end
    whole = node[WHOLE]
    node[SCORE] = score / whole if measure.gini else score - class_term(whole, measure.fine)
    if seen.weighted:
        impurity = whole - node[SCORE] if measure.gini else -node[SCORE]
        finest = _FINEST if measure.gini else measure.fine / 16.0
        node[COARSE] = min(_power(GRID_BITS - _exponent(max(impurity, 1.0 / finest))), finest)
    node[UNIT] = node[HEAVY]


@njit_inner
def _exponent(x):
    """The exponent of the next power of two above a positive number, at least `_LEAST_EXPONENT`."""
    return max(np.int64(math.frexp(x)[1]), _LEAST_EXPONENT)


@njit_inner
def _power(exponent):
    """Two to an exponent."""
    return math.ldexp(1.0, int(exponent))


@njit_inner
def _share_weights(target, seen, rows, heavy, node):
    """Set the weights, their sum and their unit; no weight becomes zero."""
    whole = 0.0
    if heavy > 0.0:
        for row in rows:
            whole += seen.weights[row]
        node[WHOLE], node[HEAVY] = whole, heavy
        if whole >= _LEAST_SHARE:
            return
    n, largest = np.float64(rows.shape[0]), 0.0
    for row in rows:
        largest = max(largest, target.weights[row])
    # In steps in which the sum would be exact if all rows were as heavy; it is off by at most half a step per row.
    finer, whole = _power(_DOUBLE_BITS - _exponent(n) - _exponent(largest)), 0.0
    for row in rows:
        whole += np.rint(target.weights[row] * finer)
    exponent = _exponent((whole + n) / finer)
    finer, step, whole = _power(_DOUBLE_BITS - exponent), _power(-_DOUBLE_BITS), 0.0
    for row in rows:
        share = max(np.rint(target.weights[row] * finer), 1.0) * step
        seen.weights[row] = share
        whole += share
    node[WHOLE], node[HEAVY] = whole, _power(exponent)


@_adding
def _add_up(values, n):
    total = 0.0
    for i in range(n):
        total += values[i]
    return total


@_adding
def _add_squares(values, n, coarser):
    total = 0.0
    for i in range(n):
        total += np.rint(values[i] * values[i] * coarser)
    return total


@njit_inner
def _centre(target, seen, rows, node, values):
    """Set values, mean, score and grid of a node of numbers. Returns whether all its values are the same.

    No split brings more than the sum of squared deviations, so that the grid is a fixed share of that.
    """
    n = rows.shape[0]
    low = high = target.values[rows[0]]
    node[MEAN] = low
    if n == 1:
        return True
    for i in range(n):
        value = target.values[rows[i]]
        values[i] = value
        low = min(low, value)
        high = max(high, value)
    if low == high:
        return True
    bits = _exponent(np.float64(n))
    finer = _power(_DOUBLE_BITS - bits - _exponent(high - low))
    for i in range(n):
        values[i] = np.rint((values[i] - low) * finer)
    total, squares = 0.0, 0.0
    if not target.weighted:
        total = _add_up(values, n)
        mean, coarser = total / n, _power(bits - _DOUBLE_BITS)
        centre = np.rint(mean)
        for i in range(n):
            values[i] -= centre
        squares = _add_squares(values, n, coarser)
        total -= n * centre
        node[UNIT] = 1.0 / finer / finer
    else:
        much = _power(bits)  # weights add up to one at most, so that their products with values allow smaller steps
        for i in range(n):
            total += np.rint(seen.weights[rows[i]] * values[i] * much)
        mean, coarser = total / (much * node[WHOLE]), much * much * 2.0**-_DOUBLE_BITS
        centre, largest = np.rint(mean), 0.0
        for i in range(n):
            value = values[i] - centre
            values[i] = seen.weights[rows[i]] * value
            largest = max(largest, abs(values[i]))
            squares += np.rint(values[i] * value * coarser)
        much = _power(_DOUBLE_BITS - bits - _exponent(largest))
        step = 1.0 / much
        for i in range(n):
            values[i] = np.rint(values[i] * much) * step
        total = _add_up(values, n)
        node[UNIT] = node[HEAVY] / finer / finer
    if seen.values.shape[0] > 0:
        for i in range(n):
            seen.values[rows[i]] = values[i]
    node[MEAN] = low + mean / finer
    node[SCORE] = value_score(total, node[WHOLE])
    node[COARSE] = _power(GRID_BITS - _exponent(max(squares, 1.0) / coarser))
    return False
