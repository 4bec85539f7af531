"""Random ferns (Kursa 2014, 2017): growing them on bags, their scores, and what every column adds to them.

A row of class y in leaf t has the cell (y << depth) | t. Tables of counts and scores have one entry for every cell, so
that a row finds the score of its own class under its own number, and the bits of a column can be changed in it.

    cell      y y t t t t t t t        depth 7, level 0 is the last bit
    column at level 2     ^            permuting it changes this bit of rows out of the bag, and nothing else
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.dealing import shuffle_whole
from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.random import advance, next_bounded, next_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Field", "Tally", "Trunks", "add_scores", "draw_trunks", "grow_ferns"]

_MISSING = np.uint8(255)
_SIX, _LOW_SIX = np.uint64(6), np.uint64(63)
_ONE = np.uint64(1)
_LOW, _HALF, _TWO_32 = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(2**32)


class Field(NamedTuple):
    """What ferns grow on.

    Attributes
    ----------
    codes : uint8 array, shape (columns, rows), C order; 255 is missing
    categories : bool array; which columns hold categories
    labels : uint32 array; the class of every row, from 0 on
    units : int32 array; the group of every row; where there are as many as rows, rows are drawn and it is not used
    n_units, n_classes : int; how many groups or rows are drawn from, and classes
    logs : float64 array; the logarithms of 0 (not used), 1, 2, … up to the largest bag and the number of classes
    """

    codes: NDArray[np.uint8]
    categories: NDArray[np.bool_]
    labels: NDArray[np.uint32]
    units: NDArray[np.int32]
    n_units: int
    n_classes: int
    logs: NDArray[np.float64]


class Trunks(NamedTuple):
    """The splits of ferns; all arrays have the shape (ferns, depth).

    A number is in Ξ where its code less `least`, modulo 256, is below `width`: from a threshold on, with missing values
    or without. Of a column of categories, `width` is 0 and `subset`, of shape (ferns, depth, 4), has a bit a code.
    """

    column: NDArray[np.int32]
    least: NDArray[np.uint8]
    width: NDArray[np.uint8]
    subset: NDArray[np.uint64]


class Tally(NamedTuple):
    """For every column: ferns that use it, and the sums over them of what (6) and (7) add up; empty to leave it out."""

    often: NDArray[np.int32]
    importance: NDArray[np.float64]
    shadow: NDArray[np.float64]


class _Scratch(NamedTuple):
    cells: NDArray[np.uint32]
    shadow_cells: NDArray[np.uint32]
    drawn: NDArray[np.uint16]
    times: NDArray[np.uint16]
    counts: NDArray[np.uint32]
    shadow_scores: NDArray[np.float64]
    offset: NDArray[np.float64]
    left_out: NDArray[np.int32]
    parts: NDArray[np.uint64]


@njit_no_refcount
def draw_trunks(states, n_columns, carried, n_carried, out):
    """The columns of ferns: `n_carried` different ones of `carried`, then any of all, with replacement.

    Parameters
    ----------
    states : uint64 array, shape (ferns, 4); they move on
    n_columns : int
    carried : int32 array of columns, at least `n_carried`
    n_carried : int
    out : int32 array, shape (ferns, depth), filled
    """
    for k in range(out.shape[0]):
        for level in range(out.shape[1]):
            if level >= n_carried:
                out[k, level] = next_bounded(states[k], n_columns)
                continue
            again = True
            while again:
                column = carried[next_bounded(states[k], carried.shape[0])]
                again = False
                for before in range(level):
                    again |= out[k, before] == column
            out[k, level] = column


@njit(error_model="numpy")
def grow_ferns(field, shadows, trunks, states, scores, votes, tally):
    """Grow ferns, with scores by formula (5), and add up what their columns are good for.

    Parameters
    ----------
    field : Field
    shadows : uint8 array like `field.codes`; the same columns in the table T° of shadows, used with a `tally` only
    trunks : Trunks; `column` is given, the rest is filled
    states : uint64 array, shape (ferns, 4); they move on
    scores : float64 array, shape (ferns or 0, classes << depth), filled; with no rows, scores are not kept
    votes : float64 array, shape (rows or 0, classes + 1); scores of rows out of the bag are added, and 1 at the end
    tally : Tally; importance and shadow importance are added, where it is not empty
    """
    n_ferns, depth = trunks.column.shape
    n_rows = field.labels.shape[0]
    n_cells = field.n_classes << depth
    scratch = _Scratch(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows, np.uint32),
        np.empty(field.n_units, np.uint16),
        np.empty(n_rows, np.uint16),
        np.empty(n_cells, np.uint32),
        np.empty(n_cells),
        np.empty(field.n_classes),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.uint64),
    )
    unkept = np.empty(n_cells if scores.shape[0] == 0 else 0)
    for k in range(n_ferns):
        table = scores[k] if scores.shape[0] else unkept
        n_out = _grow(field, trunks, k, states[k], scratch, table)
        if votes.shape[0]:
            _add_votes(scratch, n_out, table, depth, votes)
        if tally.often.shape[0] and n_out:
            _add_importances(field, shadows, trunks, k, states[k], scratch, n_out, table, tally)


@njit_inner
def _grow(field, trunks, k, state, scratch, table):
    """One fern: its splits, its bag, the cell of every row, and its scores; how many rows are out of the bag."""
    depth = trunks.column.shape[1]
    cells = scratch.cells
    for row in range(cells.shape[0]):
        cells[row] = field.labels[row] << np.uint32(depth)
    for level in range(depth):
        column = trunks.column[k, level]
        _draw_split(field, trunks, k, level, state)
        _mark(field.codes[column], trunks, k, level, cells)
    times, size = scratch.times, field.n_units
    if field.n_units == times.shape[0]:
        _draw_bag(state, times)
    else:
        _draw_bag(state, scratch.drawn)
        size = 0
        for row in range(times.shape[0]):
            times[row] = scratch.drawn[field.units[row]]
            size += times[row]
    n_out = 0
    for row in range(times.shape[0]):
        scratch.left_out[n_out] = row
        n_out += times[row] == 0
    _count(cells, times, scratch.counts)
    for y in range(field.n_classes):
        of_class = 0
        for cell in range(y << depth, (y + 1) << depth):
            of_class += scratch.counts[cell]
        scratch.offset[y] = field.logs[field.n_classes + size] - field.logs[1 + of_class]
    _fill_scores(field, depth, scratch.counts, scratch.offset, table)
    return n_out


@njit_inner
def _draw_split(field, trunks, k, level, state):
    """A threshold between the values of two random rows, or a random subset of categories."""
    column = trunks.column[k, level]
    if field.categories[column]:
        trunks.least[k, level] = trunks.width[k, level] = 0
        for word in range(4):
            trunks.subset[k, level, word] = next_word(state)
        return
    codes = field.codes[column]
    first = codes[next_bounded(state, codes.shape[0])]
    second = codes[next_bounded(state, codes.shape[0])]
    first = second if first == _MISSING else first
    second = first if second == _MISSING else second
    # From the middle on; a threshold at the lowest code would put all rows on one side.
    least = max(1, (np.int64(first) + np.int64(second) + 1) // 2)
    least = 1 if first == _MISSING else least
    with_missing = next_word(state) >> np.uint64(63)
    trunks.least[k, level] = least
    trunks.width[k, level] = 255 - least + np.int64(with_missing)


@njit_inner
def _mark(codes, trunks, k, level, cells):
    """Set the bit of a level in the cells of rows whose code is in Ξ."""
    bit = np.uint32(1 << level)
    width = trunks.width[k, level]
    if width:
        least = trunks.least[k, level]
        for row in range(cells.shape[0]):
            cells[row] |= bit if np.uint8(codes[row] - least) < width else np.uint32(0)
        return
    words = trunks.subset[k, level]
    for row in range(cells.shape[0]):
        code = np.uint64(codes[row])
        if (words[code >> _SIX] >> (code & _LOW_SIX)) & _ONE:
            cells[row] |= bit


@njit_inner
def _draw_bag(state, drawn):
    """How often every unit is drawn, of as many draws with replacement as there are units; half a word serves each."""
    drawn[:] = 0
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    size = np.uint64(drawn.shape[0])
    least = (_TWO_32 - size) % size
    n = 0
    while n < drawn.shape[0]:
        word, s0, s1, s2, s3 = advance(s0, s1, s2, s3)
        low, high = (word & _LOW) * size, (word >> _HALF) * size
        if (low & _LOW) >= least:
            drawn[low >> _HALF] += np.uint16(1)
            n += 1
        if (high & _LOW) >= least and n < drawn.shape[0]:
            drawn[high >> _HALF] += np.uint16(1)
            n += 1
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit_inner
def _count(cells, times, counts):
    counts[:] = 0
    for row in range(cells.shape[0]):
        counts[cells[row]] += np.uint32(times[row])


@njit_inner
def _fill_scores(field, depth, counts, offset, table):
    """Formula (5): ln((1 + rows of the class in the leaf) / (C + rows in the leaf)) and what the class sizes add."""
    n_leaves = 1 << depth
    for leaf in range(n_leaves):
        inside = np.int64(0)
        for y in range(field.n_classes):
            inside += counts[y * n_leaves + leaf]
        log_all = field.logs[field.n_classes + inside]
        for y in range(field.n_classes):
            cell = y * n_leaves + leaf
            table[cell] = field.logs[1 + np.int64(counts[cell])] - log_all + offset[y]


@njit_inner
def _add_votes(scratch, n_out, table, depth, votes):
    low = np.uint32((1 << depth) - 1)
    for i in range(n_out):
        row = scratch.left_out[i]
        leaf = np.int64(scratch.cells[row] & low)
        for y in range(votes.shape[1] - 1):
            votes[row, y] += table[(y << depth) + leaf]
        votes[row, votes.shape[1] - 1] += 1.0


@njit_inner
def _add_importances(field, shadows, trunks, k, state, scratch, n_out, table, tally):
    """Formulas (6) and (7) of one fern, for each of its columns.

    The bits of a column and of its shadow are dealt to other rows out of the bag by the same permutation.
    """
    depth = trunks.column.shape[1]
    cells, shadow_cells, parts = scratch.cells, scratch.shadow_cells, scratch.parts[:n_out]
    own = 0.0
    for i in range(n_out):
        own += table[cells[scratch.left_out[i]]]
    for level in range(depth):
        column = trunks.column[k, level]
        bits, again = np.uint32(0), False
        for other in range(depth):
            if trunks.column[k, other] == column:
                bits |= np.uint32(1 << other)
                again |= other < level
        if again:
            continue
        rest = ~bits
        for row in range(cells.shape[0]):
            shadow_cells[row] = cells[row] & rest
        for other in range(level, depth):
            if trunks.column[k, other] == column:
                _mark(shadows[column], trunks, k, other, shadow_cells)
        _count(shadow_cells, scratch.times, scratch.counts)
        _fill_scores(field, depth, scratch.counts, scratch.offset, scratch.shadow_scores)
        for i in range(n_out):
            row = scratch.left_out[i]
            parts[i] = np.uint64(cells[row] & bits) | (np.uint64(shadow_cells[row] & bits) << _HALF)
        shuffle_whole(state, parts)
        lost, shadow = own, 0.0
        for i in range(n_out):
            row = scratch.left_out[i]
            fixed = cells[row] & rest
            lost -= table[fixed | np.uint32(parts[i])]
            shadow += scratch.shadow_scores[shadow_cells[row]]
            shadow -= scratch.shadow_scores[fixed | np.uint32(parts[i] >> _HALF)]
        tally.often[column] += 1
        tally.importance[column] += lost / n_out
        tally.shadow[column] += shadow / n_out


@njit(error_model="numpy")
def add_scores(codes, trunks, scores, out):
    """Add the scores of every row's leaf in every fern, class by class.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    trunks : Trunks, whose columns are rows of `codes`
    scores : float64 array, shape (ferns, classes << depth)
    out : float64 array, shape (rows, classes)
    """
    n_ferns, depth = trunks.column.shape
    cells = np.empty(out.shape[0], np.uint32)
    for k in range(n_ferns):
        cells[:] = 0
        for level in range(depth):
            _mark(codes[trunks.column[k, level]], trunks, k, level, cells)
        for row in range(out.shape[0]):
            for y in range(out.shape[1]):
                out[row, y] += scores[k, (y << depth) + np.int64(cells[row])]
