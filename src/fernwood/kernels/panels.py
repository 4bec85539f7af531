"""Many columns at a time: a node's rows looked at across all columns of a panel, which the compiler vectorises.

A panel holds the codes of ordered columns without missing values row by row, so that one row's codes of neighbouring
columns are neighbours. Everything here walks down the rows of a node and keeps one byte a column:

    row of the node     codes            ≤ cuts ?         counts (uint8)
         7           12 201  3 …      1  0  1 …          1  0  1 …
        31           90  14  3 …      0  1  1 …          1  1  2 …

The rows of a node are ordered by class, so counting needs no label: the rows of one class are a run. A run is counted
in pieces of at most 255 rows, which a byte can hold. Scores are larger the purer the branches are (see `impurity`).

The rows of a panel are padded to whole vectors, as are the arrays of one entry a column: the compiler's loop then has
no columns left over, which it would do one by one. What stands in the padding is counted along and never looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.random import next_bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Panel",
    "add_left",
    "draw_cuts",
    "find_extremes",
    "gather_panel",
    "lay_panel",
    "make_panel",
    "padded",
    "score_class_cuts",
    "score_value_cuts",
]

_LANES = 32  # bytes of a vector
_WORD = 8
_TILE = 128  # rows whose codes of some columns are laid at a time


class Panel(NamedTuple):
    """What is kept of every column of a panel while a node is split; all arrays have one entry a column, padded.

    Attributes
    ----------
    low, high : uint8 arrays; smallest and largest code in the node
    cut : uint8 array; codes up to it go left
    counts : uint8 array; rows of one piece that go left
    run : int32 array; rows of one class that go left
    left : int32 array; rows that go left
    score, other : float64 arrays; what the criterion adds up (both branches together, or left and right)
    best : float64 array; the best score so far, and `best_cut` its cut
    """

    low: NDArray[np.uint8]
    high: NDArray[np.uint8]
    cut: NDArray[np.uint8]
    counts: NDArray[np.uint8]
    run: NDArray[np.int32]
    left: NDArray[np.int32]
    score: NDArray[np.float64]
    other: NDArray[np.float64]
    best: NDArray[np.float64]
    best_cut: NDArray[np.uint8]


@njit_no_refcount
def padded(width):
    """The bytes that a row of a panel of `width` columns takes: whole vectors."""
    return (width + _LANES - 1) // _LANES * _LANES


@njit
def make_panel(width):
    """An empty panel of `width` columns."""
    size = padded(width)
    return Panel(
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint8),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, np.uint8),
    )


@njit_no_refcount
def gather_panel(columns, chosen, rows, out):
    """Copy the codes of some columns, shape (columns, rows) of the table, into `out` row by row."""
    size = np.uint64(padded(chosen.shape[0]))
    for j in range(chosen.shape[0]):
        codes = columns[chosen[j]]
        at = np.uint64(j)
        for i in range(rows.shape[0]):
            out[at] = codes[np.uint32(rows[i])]
            at += size


@njit
def lay_panel(columns, chosen):
    """A panel of some columns, shape (columns, rows) of the table, and of all rows; flat."""
    size = padded(chosen.shape[0])
    words = np.empty(columns.shape[1] * (size // _WORD), np.uint64)
    _lay_words(columns, chosen, size // _WORD, words)
    return words.view(np.uint8)


@njit_inner
def _lay_words(columns, chosen, n_words, words):
    """Put the codes of eight columns into a word, the first one lowest (all processors that we compile for do so)."""
    last = chosen.shape[0] - 1
    step = np.uint64(n_words)
    for top in range(0, columns.shape[1], _TILE):
        bottom = min(columns.shape[1], top + _TILE)
        for k in range(n_words):
            j = _WORD * k
            a, b = columns[chosen[min(j, last)]], columns[chosen[min(j + 1, last)]]
            c, d = columns[chosen[min(j + 2, last)]], columns[chosen[min(j + 3, last)]]
            e, f = columns[chosen[min(j + 4, last)]], columns[chosen[min(j + 5, last)]]
            g, h = columns[chosen[min(j + 6, last)]], columns[chosen[min(j + 7, last)]]
            at = np.uint64(top) * step + np.uint64(k)
            for i in range(top, bottom):
                low = _join(a[i], b[i], c[i], d[i])
                words[at] = low | (_join(e[i], f[i], g[i], h[i]) << np.uint64(32))
                at += step


@njit_inner
def _join(a, b, c, d):
    pair = np.uint64(a) | (np.uint64(b) << np.uint64(8))
    return pair | (np.uint64(c) << np.uint64(16)) | (np.uint64(d) << np.uint64(24))


@njit_no_refcount
def find_extremes(codes, width, rows, panel):
    """Set `low` and `high`; `codes` is flat uint8, the codes of row r at r·padded(width) and on."""
    low, high = panel.low, panel.high
    size = padded(width)
    step = np.uint64(size)
    n = rows.shape[0]
    first, last = np.uint64(rows[0]) * step, np.uint64(rows[n - 1]) * step
    for j in range(size):
        x = codes[first + np.uint64(j)]
        y = codes[last + np.uint64(j)]
        low[j] = min(x, y)
        high[j] = max(x, y)
    i = 1
    while i < n - 1:
        a = np.uint64(rows[i]) * step
        b = np.uint64(rows[min(i + 1, n - 1)]) * step
        c = np.uint64(rows[min(i + 2, n - 1)]) * step
        d = np.uint64(rows[min(i + 3, n - 1)]) * step
        for j in range(size):
            at = np.uint64(j)
            x, y = codes[a + at], codes[b + at]
            u, v = codes[c + at], codes[d + at]
            low[j] = min(low[j], min(min(x, y), min(u, v)))
            high[j] = max(high[j], max(max(x, y), max(u, v)))
        i += 4


@njit_no_refcount
def draw_cuts(state, width, panel):
    """A random cut for every column that is not constant: uniform from `low` to `high` − 1."""
    for j in range(width):
        low = panel.low[j]
        span = np.int64(panel.high[j]) - np.int64(low)
        panel.cut[j] = low
        if span > 1:
            panel.cut[j] = np.uint8(np.int64(low) + next_bounded(state, span))


@njit_inner
def _count_piece(codes, width, rows, begin, end, panel):
    """Set `counts` of every column to how many of the rows `begin` to `end`, at most 255, go left."""
    counts, cut = panel.counts, panel.cut
    size = padded(width)
    step = np.uint64(size)
    for j in range(size):
        counts[j] = np.uint8(0)
    i = begin
    while i + 3 < end:
        a = np.uint64(rows[i]) * step
        b = np.uint64(rows[i + 1]) * step
        c = np.uint64(rows[i + 2]) * step
        d = np.uint64(rows[i + 3]) * step
        for j in range(size):
            at = np.uint64(j)
            limit = cut[j]
            counts[j] += np.uint8(
                np.uint8(np.uint8(codes[a + at] <= limit) + np.uint8(codes[b + at] <= limit))
                + np.uint8(np.uint8(codes[c + at] <= limit) + np.uint8(codes[d + at] <= limit))
            )
        i += 4
    while i < end:
        a = np.uint64(rows[i]) * step
        for j in range(size):
            counts[j] += np.uint8(codes[a + np.uint64(j)] <= cut[j])
        i += 1


@njit_inner
def _count_run(codes, width, rows, begin, end, panel):
    """Set `run` of every column to how many of the rows `begin` to `end` go left."""
    run, counts = panel.run, panel.counts
    size = padded(width)
    piece = min(end, begin + 255)
    _count_piece(codes, width, rows, begin, piece, panel)
    for j in range(size):
        run[j] = np.int32(counts[j])
    while piece < end:
        after = min(end, piece + 255)
        _count_piece(codes, width, rows, piece, after, panel)
        for j in range(size):
            run[j] += np.int32(counts[j])
        piece = after


@njit_no_refcount
def score_class_cuts(codes, width, rows, ends, measure, panel):
    """Set `score` and `left` of every column for its cut.

    Parameters
    ----------
    codes : uint8 array, flat
    width : int
    rows : int32 array; the rows of the node, ordered by class
    ends : int64 array; where the runs of the classes end
    measure : Measure of unit weights
    panel : Panel
    """
    score, other, left, run = panel.score, panel.other, panel.left, panel.run
    wide = padded(width)
    n = rows.shape[0]
    for j in range(wide):
        score[j] = 0.0
        other[j] = 0.0
        left[j] = np.int32(0)
    begin = 0
    for k in range(ends.shape[0]):
        end = ends[k]
        size = end - begin
        _count_run(codes, width, rows, begin, end, panel)
        if measure.gini:
            for j in range(wide):
                a = np.float64(run[j])
                b = np.float64(size - run[j])
                score[j] += a * a
                other[j] += b * b
                left[j] += run[j]
        else:
            both = measure.both
            table = measure.table
            if end - begin < 4 * wide:
                for i in range(size + 1):
                    both[i] = table[i] + table[size - i]
                for j in range(wide):
                    score[j] += both[np.uint32(run[j])]
                    left[j] += run[j]
            else:
                for j in range(wide):
                    score[j] += table[np.uint32(run[j])] + table[np.uint32(size - run[j])]
                    left[j] += run[j]
        begin = end
    table = measure.table
    if measure.gini:
        for j in range(wide):
            score[j] = score[j] * table[np.uint32(left[j])] + other[j] * table[np.uint32(n - left[j])]
    else:
        for j in range(wide):
            score[j] -= table[np.uint32(left[j])] + table[np.uint32(n - left[j])]


@njit_no_refcount
def add_left(codes, width, rows, amounts, panel, out):
    """Set `out` of every column to the sum of the amounts, one for each of `rows`, of those that go left."""
    cut = panel.cut
    size = padded(width)
    step = np.uint64(size)
    for j in range(size):
        out[j] = 0.0
    n = rows.shape[0]
    i = 0
    while i + 1 < n:
        a, b = np.uint64(rows[i]) * step, np.uint64(rows[i + 1]) * step
        x, y = amounts[i], amounts[i + 1]
        for j in range(size):
            at = np.uint64(j)
            limit = cut[j]
            out[j] += (x if codes[a + at] <= limit else 0.0) + (y if codes[b + at] <= limit else 0.0)
        i += 2
    if i < n:
        a, x = np.uint64(rows[i]) * step, amounts[i]
        for j in range(size):
            out[j] += x if codes[a + np.uint64(j)] <= cut[j] else 0.0


@njit_no_refcount
def score_value_cuts(codes, width, rows, values, measure, panel):
    """Set `score` and `left` of every column for numbers: squared sums over sizes.

    `values` holds the target of each of `rows`, as the node sees it: on a grid on which sums are exact.
    """
    score, below, left = panel.score, panel.other, panel.left
    size = padded(width)
    _count_run(codes, width, rows, 0, rows.shape[0], panel)
    add_left(codes, width, rows, values, panel, below)
    total = 0.0
    n = rows.shape[0]
    for i in range(n):
        total += values[i]
    inverse = measure.table
    for j in range(size):
        left[j] = panel.run[j]
        rest = total - below[j]
        score[j] = below[j] * below[j] * inverse[np.uint32(left[j])] + rest * rest * inverse[np.uint32(n - left[j])]
