"""Examining columns in contexts: how far a column departs from what the cells of a context would have by chance.

A context divides the rows into cells. Within a cell, the sum of a column's component over the rows of one class is
compared with the share that the class has of the cell; the score is the sum of the squared departures over cells,
classes and components. Columns are looked at 32 together, a lane each, so that one addition serves many of them; lanes
never mix, so that a score does not depend on which columns stand beside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray  # noqa: TC002  (Numba reads the fields)

from fernwood.kernels.random import next_bounded

__all__ = ["Contexts", "examine_pairs", "fill_components", "permute_codes", "weigh_codes"]

_TILE = 32
_WIDE = 2 * _TILE  # a lane for each of two components
_MISSING = 255
_ONE, _TWO, _THREE, _FOUR = np.uint32(1), np.uint32(2), np.uint32(3), np.uint32(4)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)


class Contexts(NamedTuple):
    """Divisions of the rows, with the target inside.

    Attributes
    ----------
    rows : uint32 array, shape (contexts, rows); the rows, cell by cell and in a cell class by class
    start : uint32 array, shape (contexts, cells × classes + 1); where in `rows` the rows of a cell and class begin
    size : float32 array, shape (contexts, cells × classes); the weight of the rows there
    weight : float32 array, shape (contexts, rows); weights in the order of `rows`, for numbers times the residuals
    n_classes : int; 1 for a target of numbers
    """

    rows: NDArray[np.uint32]
    start: NDArray[np.uint32]
    size: NDArray[np.float32]
    weight: NDArray[np.float32]
    n_classes: int


@njit(nogil=True, cache=True)
def weigh_codes(codes, weights, out):
    """The weight of the rows at every code of every column; `out` has shape (columns, 256)."""
    out[:] = 0
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            out[j, codes[j, i]] += weights[i]


@njit(nogil=True, cache=True)
def fill_components(amounts, categories, owner, part, table):
    """What every code of a column stands for: pairs of components with mean 0 and variance 1 over the rows.

    Of an ordered column, the first pair is the first two orthonormal polynomials of its ranks. Of categories, pair
    after pair holds contrasts, each category against all before it. The last pair of a column with missing values marks
    those; elsewhere they count as nothing.

    Parameters
    ----------
    amounts : float64 array, shape (columns, 256); from `weigh_codes`
    categories : bool array; which columns hold categories
    owner, part : int64 arrays; column of every pair, and its number within the column (−1: it marks missing values)
    table : float32 array, shape (pairs, 256, 2); filled
    """
    table[:] = 0
    for pair in range(owner.shape[0]):
        amount = amounts[owner[pair]]
        present = 0.0
        for code in range(_MISSING):
            present += amount[code]
        if part[pair] < 0:
            _mark_missing(amount[_MISSING], present, table[pair])
        elif present > 0 and categories[owner[pair]]:
            _contrast(amount, 2 * part[pair] + 1, 0, table[pair])
            _contrast(amount, 2 * part[pair] + 2, 1, table[pair])
        elif present > 0:
            _polynomials(amount, present, table[pair])


@njit(nogil=True, cache=True)
def _mark_missing(missing, present, table):
    share = missing / (missing + present)
    spread = np.sqrt(share * (1 - share))
    if spread > 0:
        for code in range(_MISSING):
            table[code, 0] = -share / spread
        table[_MISSING, 0] = (1 - share) / spread


@njit(nogil=True, cache=True)
def _contrast(amount, wanted, place, table):
    """The contrast of the category that is number `wanted` of those in use against all before it."""
    before, number = 0.0, 0
    for code in range(_MISSING):
        if amount[code] == 0:
            continue
        if number == wanted:
            both = before + amount[code]
            scale = np.sqrt(_total(amount))
            for earlier in range(code):
                if amount[earlier] > 0:
                    table[earlier, place] = scale * np.sqrt(amount[code] / (before * both))
            table[code, place] = -scale * np.sqrt(before / (amount[code] * both))
            return
        before += amount[code]
        number += 1


@njit(nogil=True, cache=True)
def _total(amount):
    total = 0.0
    for code in range(_MISSING):
        total += amount[code]
    return total


@njit(nogil=True, cache=True)
def _polynomials(amount, present, table):
    first, second = np.zeros(_MISSING), np.zeros(_MISSING)
    before = 0.0
    for code in range(_MISSING):
        first[code] = (before + 0.5 * amount[code]) / present - 0.5
        second[code] = first[code] ** 2
        before += amount[code]
    if _standardise(amount, present, first):
        both = 0.0
        for code in range(_MISSING):
            both += amount[code] * first[code] * second[code]
        for code in range(_MISSING):
            second[code] -= both / present * first[code]
        _standardise(amount, present, second)
    else:
        second[:] = 0
    for code in range(_MISSING):
        if amount[code] > 0:
            table[code, 0], table[code, 1] = first[code], second[code]


@njit(nogil=True, cache=True)
def _standardise(amount, present, values):
    """Mean 0 and variance 1 over the rows; all zero, and False, where they do not vary."""
    mean = 0.0
    for code in range(_MISSING):
        mean += amount[code] * values[code]
    mean /= present
    spread = 0.0
    for code in range(_MISSING):
        values[code] -= mean
        spread += amount[code] * values[code] ** 2
    spread = np.sqrt(spread / present)
    for code in range(_MISSING):
        values[code] = values[code] / spread if spread > 1e-6 else 0.0
    return spread > 1e-6


@njit(nogil=True, cache=True)
def permute_codes(codes, addresses, out):
    """The codes of every column dealt anew to the rows; the deal is drawn at the column's address, a uint64."""
    state = np.empty(4, np.uint64)
    for j in range(codes.shape[0]):
        word = addresses[j]
        for k in range(4):  # splitmix64 spreads one word over the four of a state
            word += _GOLDEN
            mixed = (word ^ (word >> _S30)) * _MIX_1
            mixed = (mixed ^ (mixed >> _S27)) * _MIX_2
            state[k] = mixed ^ (mixed >> _S31)
        out[j] = codes[j]
        column = out[j]
        for i in range(column.shape[0] - 1, 0, -1):
            other = next_bounded(state, i + 1)
            column[i], column[other] = column[other], column[i]


@njit(nogil=True, cache=True, error_model="numpy")
def examine_pairs(codes, owner, table, contexts, out):
    """Add the scores of all pairs of components to those of their columns; `out` has shape (columns, contexts)."""
    n_pairs, n_rows = owner.shape[0], codes.shape[1]
    tile = np.empty((n_rows, _WIDE), np.float32)
    sums = np.empty((contexts.size.shape[1], _WIDE), np.float32)
    total = np.empty(_WIDE, np.float32)
    gain = np.empty(_WIDE, np.float32)
    for start in range(0, n_pairs, _TILE):
        for j in range(_TILE):
            pair = min(start + j, n_pairs - 1)
            column, values = codes[owner[pair]], table[pair]
            for i in range(n_rows):
                tile[i, j] = values[column[i], 0]
                tile[i, _TILE + j] = values[column[i], 1]
        for c in range(contexts.rows.shape[0]):
            _add_up(tile, contexts.rows[c], contexts.start[c], contexts.weight[c], sums)
            gain[:] = 0
            if contexts.n_classes == 1:
                _gain_of_numbers(sums, contexts.size[c], gain)
            else:
                _gain_of_classes(sums, contexts.size[c], contexts.n_classes, total, gain)
            for j in range(min(_TILE, n_pairs - start)):
                out[owner[start + j], c] += gain[j] + gain[_TILE + j]


@njit(nogil=True, cache=True)
def _add_up(tile, rows, start, weight, sums):
    """The sums of all lanes over the rows of every cell and class; four rows at a time spare passes over the sums."""
    for at in range(sums.shape[0]):
        for j in range(_WIDE):
            sums[at, j] = 0
        i, end = start[at], start[at + 1]
        while i + _FOUR <= end:
            a, b, c, d = rows[i], rows[i + _ONE], rows[i + _TWO], rows[i + _THREE]
            u, v, w, x = weight[i], weight[i + _ONE], weight[i + _TWO], weight[i + _THREE]
            for j in range(_WIDE):
                sums[at, j] += (u * tile[a, j] + v * tile[b, j]) + (w * tile[c, j] + x * tile[d, j])
            i += _FOUR
        while i < end:
            a, u = rows[i], weight[i]
            for j in range(_WIDE):
                sums[at, j] += u * tile[a, j]
            i += _ONE


@njit(nogil=True, cache=True, error_model="numpy")
def _gain_of_numbers(sums, size, gain):
    for at in range(sums.shape[0]):
        if size[at] > 0:
            share = np.float32(1) / size[at]
            for j in range(_WIDE):
                gain[j] += sums[at, j] * sums[at, j] * share


@njit(nogil=True, cache=True, error_model="numpy")
def _gain_of_classes(sums, size, n_classes, total, gain):
    for first in range(0, sums.shape[0], n_classes):
        in_cell = np.float32(0)
        total[:] = 0
        for at in range(first, first + n_classes):
            in_cell += size[at]
            for j in range(_WIDE):
                total[j] += sums[at, j]
        if in_cell <= 0:
            continue
        scale = np.float32(1) / in_cell
        for at in range(first, first + n_classes):
            share = size[at] * scale
            for j in range(_WIDE):
                departure = sums[at, j] - share * total[j]
                gain[j] += departure * departure * scale
