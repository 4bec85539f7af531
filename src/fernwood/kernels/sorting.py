"""The best cuts of all columns of a panel in a small node, by sorting all of them side by side.

Every row of the node gets a key for every column, its code before a tag (the place of its class, or of the row). A
network of exchanges (Batcher's, Knuth 5.2.2 algorithm M) sorts the keys of each column; the same two places are
compared for a whole tile of columns at once, which the compiler vectorises. Then the cuts are tried from the lowest up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.impurity import COARSE, SCORE, decrease
from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.panels import padded

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LARGEST", "Sorting", "best_class_cuts", "best_value_cuts", "make_sorting"]

LARGEST = 64
"""How many rows a node may have here; the double where there are more than two classes."""

_TILE = 128  # columns; the keys of 64 rows then take 16 kilobytes
_CODE = np.uint16(8)
_TAG = np.uint16(255)


class Sorting(NamedTuple):
    """Room for sorting a node.

    Attributes
    ----------
    keys : uint16 array; a tile, row by row
    tags : uint16 array; one a row
    lines : float64 array, shape (rows, rows + 1); decreases by rows on the left and how many are of the second class
    seen : int32 array, shape (classes, columns of a tile), flat; where in a class the next row is
    sizes : float64 array; of the classes
    """

    keys: NDArray[np.uint16]
    tags: NDArray[np.uint16]
    lines: NDArray[np.float64]
    seen: NDArray[np.int32]
    sizes: NDArray[np.float64]


@njit
def make_sorting(n_rows):
    """Room for nodes of up to `n_rows` rows, at most 255."""
    return Sorting(
        np.empty(n_rows * _TILE, np.uint16),
        np.empty(n_rows, np.uint16),
        np.empty((n_rows, n_rows + 1)),
        np.empty(n_rows * _TILE, np.int32),
        np.empty(n_rows),
    )


@njit_inner
def _exchange(keys, a, b, width):
    """Put the smaller key of rows a and b of a tile into a, the larger into b, in every column."""
    at, to = np.uint64(a * width), np.uint64(b * width)
    for j in range(width):
        x = keys[at + np.uint64(j)]
        y = keys[to + np.uint64(j)]
        keys[at + np.uint64(j)] = min(x, y)
        keys[to + np.uint64(j)] = max(x, y)


@njit_inner
def _sort_tile(keys, n, width):
    """Sort every column of a tile of `n` rows."""
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            for i in range(n - d):
                if i & p == r:
                    _exchange(keys, i, i + d, width)
            if q == p:
                break
            d = q - p
            q //= 2
            r = p
        p //= 2


@njit_inner
def _fill_tile(keys, codes, step, rows, tags, first, width):
    for i in range(rows.shape[0]):
        at = np.uint64(rows[i]) * np.uint64(step) + np.uint64(first)
        to = np.uint64(i * width)
        tag = tags[i]
        for j in range(width):
            keys[to + np.uint64(j)] = (np.uint16(codes[at + np.uint64(j)]) << _CODE) | tag


@njit_no_refcount
def best_class_cuts(codes, width, rows, ends, measure, min_leaf, sorting, panel):
    """The best cut of every column: set `best` to its decrease (−∞: none) and `best_cut`; of equal ones the lowest.

    Parameters
    ----------
    codes : uint8 array, flat; the codes of row r at r·padded(width) and on
    width : int
    rows : int32 array; at most 255 rows of the node, ordered by class
    ends : int64 array; where the runs of the classes end
    measure : Measure of unit weights
    min_leaf : int
    sorting : Sorting
    panel : Panel
    """
    n = rows.shape[0]
    step = padded(width)
    keys, tags, best = sorting.keys, sorting.tags, panel.best
    run = 0
    for i in range(n):
        run += i == ends[run]
        tags[i] = run
    n_runs = ends.shape[0]
    if n_runs == 2:
        _fill_lines(ends, measure, sorting.lines)
    for first in range(0, width, _TILE):
        size = min(width - first, _TILE)
        _fill_tile(keys, codes, step, rows, tags, first, size)
        _sort_tile(keys, n, size)
        for j in range(first, first + size):
            best[j] = -np.inf
        if n_runs == 2:
            _walk_two(keys, n, sorting.lines, min_leaf, first, size, panel)
        else:
            _walk_many(ends, measure, min_leaf, sorting, first, size, panel)


@njit_inner
def _fill_lines(ends, measure, lines):
    """With two classes, the decrease for i + 1 rows on the left, a of them of the second class, at [i, a]."""
    n_first, n = ends[0], ends[1]
    n_second = n - n_first
    table, base, coarse = measure.table, measure.node[SCORE], measure.node[COARSE]
    for i in range(n - 1):
        left = i + 1
        right = n - left
        for a in range(max(0, left - n_first), min(n_second, left) + 1):
            b = left - a
            c, d = n_second - a, n_first - b
            if measure.gini:
                score = (a * a + b * b) * table[left] + (c * c + d * d) * table[right]
            else:
                score = (table[a] + table[c]) + (table[b] + table[d]) - (table[left] + table[right])
            lines[i, a] = decrease(score, base, coarse)


@njit_inner
def _walk_two(keys, n, lines, min_leaf, first, width, panel):
    counts = panel.counts
    best, best_cut = panel.best[first : first + width], panel.best_cut[first : first + width]
    for j in range(width):
        counts[j] = np.uint8(0)
    for i in range(n - 1):
        at = np.uint64(i * width)
        after = at + np.uint64(width)
        for j in range(width):
            counts[j] += np.uint8(keys[at + np.uint64(j)] & _TAG)
        if i + 1 < min_leaf or n - i - 1 < min_leaf:
            continue
        line = lines[i]
        for j in range(width):
            code = keys[at + np.uint64(j)] >> _CODE
            gain = line[counts[j]]
            better = (code != keys[after + np.uint64(j)] >> _CODE) & (gain > best[j])
            best[j] = gain if better else best[j]
            best_cut[j] = np.uint8(code) if better else best_cut[j]


@njit_inner
def _walk_many(ends, measure, min_leaf, sorting, first, width, panel):
    n = ends[-1]
    table, base, coarse, gini = measure.table, measure.node[SCORE], measure.node[COARSE], measure.gini
    score, other, steps = panel.score, panel.other, measure.both
    best, best_cut = panel.best[first : first + width], panel.best_cut[first : first + width]
    keys, seen, sizes = sorting.keys, sorting.seen, sorting.sizes
    pure = 0.0
    begin = 0
    for k in range(ends.shape[0]):
        size = ends[k] - begin
        sizes[k] = size
        pure += np.float64(size * size) if gini else table[size]
        for j in range(width):
            seen[k * _TILE + j] = begin
        for a in range(size):
            if gini:
                steps[begin + a] = np.float64(a)
            else:
                steps[begin + a] = (table[a + 1] + table[size - a - 1]) - (table[a] + table[size - a])
        begin = ends[k]
    for j in range(width):
        score[j] = 0.0 if gini else pure
        other[j] = pure
    for i in range(n - 1):
        at = np.uint64(i * width)
        after = at + np.uint64(width)
        if gini:
            for j in range(width):
                run = np.uint64(keys[at + np.uint64(j)] & _TAG)
                place = run * np.uint64(_TILE) + np.uint64(j)
                k = seen[place]
                seen[place] = k + 1
                a = steps[np.uint32(k)]
                score[j] += 2.0 * a + 1.0
                other[j] -= 2.0 * (sizes[run] - a) - 1.0
        else:
            for j in range(width):
                place = np.uint64(keys[at + np.uint64(j)] & _TAG) * np.uint64(_TILE) + np.uint64(j)
                k = seen[place]
                seen[place] = k + 1
                score[j] += steps[np.uint32(k)]
        if i + 1 < min_leaf or n - i - 1 < min_leaf:
            continue
        u, v = table[i + 1], table[n - i - 1]
        w = u + v
        for j in range(width):
            code = keys[at + np.uint64(j)] >> _CODE
            total = score[j] * u + other[j] * v if gini else score[j] - w
            gain = decrease(total, base, coarse)
            better = (code != keys[after + np.uint64(j)] >> _CODE) & (gain > best[j])
            best[j] = gain if better else best[j]
            best_cut[j] = np.uint8(code) if better else best_cut[j]


@njit_no_refcount
def best_value_cuts(codes, width, rows, values, measure, min_leaf, sorting, panel):
    """`best_class_cuts` for numbers; `values` holds the target of each of `rows`."""
    n = rows.shape[0]
    step = padded(width)
    keys, tags = sorting.keys, sorting.tags
    total = 0.0
    for i in range(n):
        tags[i] = i
        total += values[i]
    sums = panel.other
    base, coarse = measure.node[SCORE], measure.node[COARSE]
    for first in range(0, width, _TILE):
        size = min(width - first, _TILE)
        _fill_tile(keys, codes, step, rows, tags, first, size)
        _sort_tile(keys, n, size)
        best, best_cut = panel.best[first : first + size], panel.best_cut[first : first + size]
        for j in range(size):
            best[j] = -np.inf
            sums[j] = 0.0
        for i in range(n - 1):
            at = np.uint64(i * size)
            after = at + np.uint64(size)
            for j in range(size):
                sums[j] += values[keys[at + np.uint64(j)] & _TAG]
            if i + 1 < min_leaf or n - i - 1 < min_leaf:
                continue
            a, b = measure.table[i + 1], measure.table[n - i - 1]
            for j in range(size):
                code = keys[at + np.uint64(j)] >> _CODE
                rest = total - sums[j]
                gain = decrease(sums[j] * sums[j] * a + rest * rest * b, base, coarse)
                better = (code != keys[after + np.uint64(j)] >> _CODE) & (gain > best[j])
                best[j] = gain if better else best[j]
                best_cut[j] = np.uint8(code) if better else best_cut[j]
