"""What the codes of a column stand for when it is examined: pairs of components with mean 0 and variance 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["even_components", "fill_components", "step_components", "survey_codes", "weigh_codes"]

_MISSING = 255
_ROUNDED = 1e-13
"""Of values up to one, what rounding leaves where nothing is; rare codes among very many rows spread little more."""
_LONGEST = np.float32(127)
_FNV_START, _FNV_TIMES = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_S32 = np.uint64(32)


def weigh_codes(codes: NDArray[np.uint8], weights: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """The weight of the rows at every code of every column; without any weights, every row weighs one.

    `out` has shape (columns, 256).
    """
    _weigh_columns(codes, weights, np.empty((2, 256), np.uint32), out)


@njit_no_refcount
def _weigh_columns(codes, weights, counts, out):
    for j in range(codes.shape[0]):
        _weigh(codes[j], weights, counts, out[j])


@njit_inner
def _weigh(column, weights, counts, out):
    n_rows = column.shape[0]
    if weights.shape[0]:
        out[:] = 0
        for i in range(n_rows):
            out[column[i]] += weights[i]
        return
    # Two tables, since adding twice to one place would have to wait.
    counts[:] = 0
    for i in range(0, n_rows - 1, 2):
        counts[0, column[i]] += np.uint32(1)
        counts[1, column[i + 1]] += np.uint32(1)
    if n_rows % 2:
        counts[0, column[n_rows - 1]] += np.uint32(1)
    for code in range(256):
        out[code] = counts[0, code] + counts[1, code]


def survey_codes(
    codes: NDArray[np.uint8],
    weights: NDArray[np.float64],
    evenness: NDArray[np.float64],
    used: NDArray[np.int64],
    missing: NDArray[np.bool_],
    marks: NDArray[np.uint64],
) -> None:
    """What the weights of a column's codes are like, column by column.

    Parameters
    ----------
    codes, weights : as for `weigh_codes`
    evenness : float64 array, filled; how many equally frequent codes would be as unlike each other
    used : int64 array, filled; how many codes occur, beside the one of missing values
    missing : bool array, filled; whether that one does
    marks : uint64 array, filled; the same where codes have the same weights (FNV-1a by the word), never zero
    """
    counts, amount = np.empty((2, 256), np.uint32), np.empty(256)
    _survey(codes, weights, counts, amount, amount.view(np.uint64), evenness, used, missing, marks)


@njit_no_refcount
def _survey(codes, weights, counts, amount, words, evenness, used, missing, marks):
    """`survey_codes`; `words` are the bits of `amount`."""
    for j in range(codes.shape[0]):
        _weigh(codes[j], weights, counts, amount)
        total, squares, n_used, mark = 0.0, 0.0, 0, _FNV_START
        for code in range(256):
            if amount[code] == 0:
                continue
            total += amount[code]
            squares += amount[code] * amount[code]
            n_used += 1
            mark = (mark ^ words[code]) * _FNV_TIMES
            mark ^= mark >> _S32  # the low bits of doubles are mostly zero
            mark = (mark ^ np.uint64(code)) * _FNV_TIMES
        missing[j] = amount[_MISSING] > 0
        used[j] = n_used - missing[j]
        evenness[j] = total * total / squares
        marks[j] = mark if mark != 0 else _FNV_START


@njit
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
    first, second = np.empty(_MISSING), np.empty(_MISSING)
    for pair in range(owner.shape[0]):
        amount = amounts[owner[pair]]
        present, n_codes = 0.0, 0
        for code in range(_MISSING):
            if amount[code] > 0:
                present += amount[code]
                n_codes = code + 1
        if part[pair] < 0:
            _mark_missing(amount[_MISSING], present, table[pair])
        elif present > 0 and categories[owner[pair]]:
            _contrast(amount[:n_codes], present, 2 * part[pair] + 1, 0, table[pair])
            _contrast(amount[:n_codes], present, 2 * part[pair] + 2, 1, table[pair])
        elif present > 0:
            _polynomials(amount[:n_codes], present, first, second, table[pair])


@njit
def even_components(squares, owner, table):
    """Scale components so that by chance a sum of weight times component varies as much in all columns.

    It varies as the squared weights times the squared component. Where rows of large weight have values far out, that
    is more than in a shadow, whose values have nothing to do with the weights.

    Parameters
    ----------
    squares : float64 array, shape (columns, 256); the squared weights of the rows at every code, added up
    owner : int64 array; column of every pair
    table : float32 array, shape (pairs, 256, 2); from `fill_components`, scaled
    """
    for pair in range(owner.shape[0]):
        amount = squares[owner[pair]]
        total = 0.0
        for code in range(256):
            total += amount[code]
        for place in range(2):
            varies = 0.0
            for code in range(256):
                varies += amount[code] * np.float64(table[pair, code, place]) ** 2
            if varies > 0:
                scale = np.sqrt(total / varies)
                for code in range(256):
                    table[pair, code, place] *= scale


@njit_inner
def _mark_missing(missing, present, table):
    share = missing / (missing + present)
    spread = np.sqrt(share * (1 - share))
    if spread > 0:
        for code in range(_MISSING):
            table[code, 0] = -share / spread
        table[_MISSING, 0] = (1 - share) / spread


@njit_inner
def _contrast(amount, total, wanted, place, table):
    """The contrast of the category that is number `wanted` of those in use against all before it."""
    before, number = 0.0, 0
    for code in range(amount.shape[0]):
        if amount[code] == 0:
            continue
        if number == wanted:
            both = before + amount[code]
            scale = np.sqrt(total)
            for earlier in range(code):
                if amount[earlier] > 0:
                    table[earlier, place] = scale * np.sqrt(amount[code] / (before * both))
            table[code, place] = -scale * np.sqrt(before / (amount[code] * both))
            return
        before += amount[code]
        number += 1


@njit_inner
def _polynomials(amount, present, first, second, table):
    n_codes = amount.shape[0]
    before = 0.0
    for code in range(n_codes):
        first[code] = (before + 0.5 * amount[code]) / present - 0.5
        second[code] = first[code] ** 2
        before += amount[code]
    if not _standardise(amount, present, first):
        return
    both = 0.0
    for code in range(n_codes):
        both += amount[code] * first[code] * second[code]
    for code in range(n_codes):
        second[code] -= both / present * first[code]
    _standardise(amount, present, second)
    for code in range(n_codes):
        if amount[code] > 0:
            table[code, 0], table[code, 1] = first[code], second[code]


@njit_inner
def _standardise(amount, present, values):
    """Mean 0 and variance 1 over the rows; all zero, and False, where they do not vary."""
    mean = 0.0
    for code in range(amount.shape[0]):
        mean += amount[code] * values[code]
    mean /= present
    spread = 0.0
    for code in range(amount.shape[0]):
        values[code] -= mean
        spread += amount[code] * values[code] ** 2
    spread = np.sqrt(spread / present)
    scale = 1 / spread if spread > _ROUNDED else 0.0
    for code in range(amount.shape[0]):
        values[code] *= scale
    return spread > _ROUNDED


@njit_no_refcount
def step_components(table, steps, unit):
    """Components in whole steps, the longest of 127.

    Columns and shadows have the same steps, so that what rounding takes away is missing from both.

    Parameters
    ----------
    table : float32 array, shape (pairs, 256, 2); from `fill_components`
    steps : int8 array, shape (pairs, 256, 2); filled
    unit : float32 array, shape (pairs, 2); filled with the length of a step, 0 where a component is empty
    """
    for pair in range(table.shape[0]):
        for k in range(2):
            longest = np.float32(0)
            for code in range(256):
                longest = max(longest, abs(table[pair, code, k]))
            unit[pair, k] = longest / _LONGEST
            scale = _LONGEST / longest if longest > 0 else np.float32(0)
            for code in range(256):
                steps[pair, code, k] = np.int8(np.rint(table[pair, code, k] * scale))
