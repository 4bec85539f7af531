"""Examining columns in contexts: how far a column departs from what the cells of a context would have by chance.

A context divides the rows into cells. Within a cell, the sum of a column's component over the rows of one class is
compared with the share that the class has of the cell; the score is the sum of the squared departures over cells,
classes and components. Columns are looked at 32 together, a lane each, so that one addition serves many of them; lanes
never mix, so that a score does not depend on which columns stand beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit, njit_inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_COUNTED", "Contexts", "count_pairs", "examine_pairs"]

_TILE = 32
_WIDE = 2 * _TILE  # a lane for each of two components
_ONE, _TWO, _THREE, _FOUR = np.uint32(1), np.uint32(2), np.uint32(3), np.uint32(4)
_RUN = np.uint32(256)
"""Rows that are added up in 16 bits: that many steps of at most 127 fit."""
MOST_COUNTED = 2**24
"""Rows that are counted in 32 bits; more are weighed."""
_HEIGHT = 4096
"""Rows that are laid out together, so that they stay in a cache; of more rows, tile after tile."""
_HELD_BYTES = 2**21
"""Sums that are held from tile to tile: of more contexts than have room, some at a time."""


_NO_SHARES = np.empty((0, 0), np.float32)


class Contexts(NamedTuple):
    """Divisions of the rows, with the target inside.

    Attributes
    ----------
    rows : uint32 array, shape (contexts, rows); the rows, cell by cell, in a cell class by class, and there in order
    start : uint32 array, shape (contexts, cells × classes + 1); where in `rows` the rows of a cell and class begin
    size : float32 array, shape (contexts, cells × classes); the weight of the rows there
    weight : float32 array, shape (contexts, rows); weights in the order of `rows`, for numbers times the residuals; no
        rows at all where all of them weigh one
    n_classes : int; 1 for a target of numbers
    n_times : int; how often every row is in a context: once for each of several residuals
    shares : float32 array, shape (contexts, levels); the share of the rows that are in cells where covariates are
        accounted for down to a level of their basis; no levels without covariates
    """

    rows: NDArray[np.uint32]
    start: NDArray[np.uint32]
    size: NDArray[np.float32]
    weight: NDArray[np.float32]
    n_classes: int
    n_times: int = 1
    shares: NDArray[np.float32] = _NO_SHARES

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.rows.shape[1] // self.n_times)

    @property
    def counts(self) -> bool:
        """Whether rows are counted, and not weighed."""
        return self.weight.size == 0


@njit(error_model="numpy")
def examine_pairs(codes, owner, which, leading, table, contexts, out):
    """Add the scores of pairs of components to those of their columns.

    A column has two scores in a context: of all its components, and of the leading ones, which see less and are
    surer of what they see.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    owner : int64 array; the column of every pair
    which : int64 array; where in `table` a pair is
    leading : int64 array; how many of the components of a pair, the first ones, are leading
    table : float32 array, shape (…, 256, 2); what codes stand for
    contexts
    out : float32 array, shape (columns, contexts, 2)
    """
    n_pairs, n_rows, n_contexts = owner.shape[0], codes.shape[1], contexts.rows.shape[0]
    tile = np.empty((min(n_rows, _HEIGHT), _WIDE), np.float32)
    at_once = _contexts_at_once(contexts, n_rows)
    held, ends = _room_for_sums(contexts, n_rows, at_once, np.float32)
    total = np.empty(_WIDE, np.float32)
    gain = np.empty(_WIDE, np.float32)
    for start in range(0, n_pairs, _TILE):
        for first in range(0, n_contexts, at_once):
            for low in range(0, n_rows, _HEIGHT):
                high = min(low + _HEIGHT, n_rows)
                for j in range(_TILE):
                    pair = min(start + j, n_pairs - 1)
                    column, values = codes[owner[pair]], table[which[pair]]
                    for i in range(low, high):
                        tile[i - low, 2 * j] = values[column[i], 0]
                        tile[i - low, 2 * j + 1] = values[column[i], 1]
                for c in range(first, min(first + at_once, n_contexts)):
                    sums, end = held[(c - first) % held.shape[0]], ends[(c - first) % held.shape[0]]
                    _go_on(contexts.rows[c], contexts.start[c], low, high, n_rows, sums, end)
                    _add_up(tile, contexts.rows[c], end, np.uint32(low), contexts.weight[c], sums)
                    if high < n_rows:
                        continue
                    gain[:] = 0
                    if contexts.n_classes == 1:
                        _gain_of_numbers(sums, contexts.size[c], gain)
                    else:
                        _gain_of_classes(sums, contexts.size[c], contexts.n_classes, total, gain)
                    for j in range(min(_TILE, n_pairs - start)):
                        _share_out(gain[2 * j], gain[2 * j + 1], leading[start + j], out[owner[start + j], c])


@njit(error_model="numpy")
def count_pairs(codes, owner, which, leading, steps, unit, contexts, out):
    """As `examine_pairs` for rows that all weigh one, with components in whole steps: eight times less to move.

    Parameters
    ----------
    codes, owner, which, leading, contexts, out
    steps : int16 array, shape (…, 256); what a code stands for, two steps of 8 bits side by side
    unit : float32 array, shape (…, 2); the length of a step
    """
    n_pairs, n_rows, n_contexts = owner.shape[0], codes.shape[1], contexts.rows.shape[0]
    both = np.empty((min(n_rows, _HEIGHT), _TILE), np.int16)
    tile = both.view(np.int8)
    run = np.empty(_WIDE, np.int16)
    at_once = _contexts_at_once(contexts, n_rows)
    held, ends = _room_for_sums(contexts, n_rows, at_once, np.int32)
    total = np.empty(_WIDE, np.float32)
    gain = np.empty(_WIDE, np.float32)
    for start in range(0, n_pairs, _TILE):
        for first in range(0, n_contexts, at_once):
            for low in range(0, n_rows, _HEIGHT):
                high = min(low + _HEIGHT, n_rows)
                for j in range(_TILE):
                    pair = min(start + j, n_pairs - 1)
                    column, values = codes[owner[pair]], steps[which[pair]]
                    for i in range(low, high):
                        both[i - low, j] = values[column[i]]
                for c in range(first, min(first + at_once, n_contexts)):
                    sums, end = held[(c - first) % held.shape[0]], ends[(c - first) % held.shape[0]]
                    _go_on(contexts.rows[c], contexts.start[c], low, high, n_rows, sums, end)
                    _count_up(tile, contexts.rows[c], end, np.uint32(low), run, sums)
                    if high < n_rows:
                        continue
                    gain[:] = 0
                    _gain_of_classes(sums, contexts.size[c], contexts.n_classes, total, gain)
                    for j in range(min(_TILE, n_pairs - start)):
                        a, b = unit[which[start + j]]
                        one, two = a * a * gain[2 * j], b * b * gain[2 * j + 1]
                        _share_out(one, two, leading[start + j], out[owner[start + j], c])


@njit(inline="always")
def _contexts_at_once(contexts, n_rows):
    """All contexts where there is one tile; of several, as many as there is room for their sums."""
    n_contexts, n_parts = contexts.size.shape
    return n_contexts if n_rows <= _HEIGHT else max(1, min(n_contexts, _HELD_BYTES // (4 * _WIDE * n_parts)))


@njit(inline="always")
def _room_for_sums(contexts, n_rows, at_once, dtype):
    """Sums of all lanes, in whole steps or in numbers, and where a tile's rows begin and end in every cell and class.

    For one context after the other where there is one tile.
    """
    n_held, n_parts = at_once if n_rows > _HEIGHT else 1, contexts.size.shape[1]
    return np.empty((n_held, n_parts, _WIDE), dtype), np.empty((n_held, 2, n_parts), np.uint32)


@njit(inline="always")
def _go_on(rows, start, low, high, n_rows, sums, ends):
    """Find the rows from `low` on and before `high` in every cell and class; with the first tile, the sums begin."""
    n_parts = sums.shape[0]
    for at in range(n_parts):
        if low == 0:
            ends[0, at] = start[at]
            for j in range(_WIDE):
                sums[at, j] = 0
        else:
            ends[0, at] = ends[1, at]
        a, b = np.int64(ends[0, at]), np.int64(start[at + 1])
        while high < n_rows and a < b:  # by halves, since rows are in order
            middle = (a + b) // 2
            if rows[middle] < high:
                a = middle + 1
            else:
                b = middle
        ends[1, at] = b


@njit(inline="always")
def _share_out(first, second, leading, out):
    out[0] += first + second
    if leading > 0:
        out[1] += first
    if leading > 1:
        out[1] += second


@njit(inline="always")
def _count_up(tile, rows, ends, low, run, sums):
    """Add the rows of a tile to the sums of all lanes over every cell and class, in whole steps."""
    for at in range(sums.shape[0]):
        i, end = ends[0, at], ends[1, at]
        while i < end:
            stop = min(end, i + _RUN)
            for j in range(_WIDE):
                run[j] = 0
            while i + _FOUR <= stop:
                a, b, c, d = rows[i] - low, rows[i + _ONE] - low, rows[i + _TWO] - low, rows[i + _THREE] - low
                for j in range(_WIDE):
                    two, more = np.int16(tile[a, j]) + tile[b, j], np.int16(tile[c, j]) + tile[d, j]
                    run[j] += np.int16(two + more)
                i += _FOUR
            while i < stop:
                a = rows[i] - low
                for j in range(_WIDE):
                    run[j] += np.int16(tile[a, j])
                i += _ONE
            for j in range(_WIDE):
                sums[at, j] += run[j]


@njit(inline="always")
def _add_up(tile, rows, ends, low, weight, sums):
    """As `_count_up` in numbers; four rows at a time spare passes over the sums."""
    for at in range(sums.shape[0]):
        i, end = ends[0, at], ends[1, at]
        while i + _FOUR <= end:
            a, b, c, d = rows[i] - low, rows[i + _ONE] - low, rows[i + _TWO] - low, rows[i + _THREE] - low
            u, v, w, x = weight[i], weight[i + _ONE], weight[i + _TWO], weight[i + _THREE]
            for j in range(_WIDE):
                sums[at, j] += (u * tile[a, j] + v * tile[b, j]) + (w * tile[c, j] + x * tile[d, j])
            i += _FOUR
        while i < end:
            a, u = rows[i] - low, weight[i]
            for j in range(_WIDE):
                sums[at, j] += u * tile[a, j]
            i += _ONE


@njit(inline="always")
def _gain_of_numbers(sums, size, gain):
    for at in range(sums.shape[0]):
        if size[at] > 0:
            share = np.float32(1) / size[at]
            for j in range(_WIDE):
                gain[j] += sums[at, j] * sums[at, j] * share


@njit_inner
def _gain_of_classes(sums, size, n_classes, total, gain):
    for first in range(0, sums.shape[0], n_classes):
        in_cell = np.float32(0)
        total[:] = 0
        for at in range(first, first + n_classes):
            in_cell += size[at]
            for j in range(_WIDE):
                total[j] += np.float32(sums[at, j])
        if in_cell <= 0:
            continue
        scale = np.float32(1) / in_cell
        # Of two classes, one departs as far as the other.
        last, times = (first + 1, np.float32(2) * scale) if n_classes == 2 else (first + n_classes, scale)
        for at in range(first, last):
            share = size[at] * scale
            for j in range(_WIDE):
                departure = np.float32(sums[at, j]) - share * total[j]
                gain[j] += departure * departure * times
