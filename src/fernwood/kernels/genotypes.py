"""Genotypes of a PLINK file, two bits each, as codes of a byte each.

A byte holds four people, the first in its lowest bits:

    bits       00      01       10     11
    genotype   A1 A1   missing  A1 A2  A2 A2
    count      2       -        1      0         of allele A1

A code is the place of a count among those that stand in the column, as everywhere in a store: a column with the counts
0 and 2 has the codes 0 and 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["unpack_genotypes"]

_MISSING = np.uint8(255)


@njit(nogil=True, cache=True)
def unpack_genotypes(packed, codes, counts):
    """Fill the codes of whole columns, and how often every count stands in them.

    Parameters
    ----------
    packed : uint8 array, shape (columns, bytes), C order
        The bytes of variants, (rows + 3) // 4 of each.
    codes : uint8 array, shape (columns, rows), C order
    counts : int64 array, shape (columns, 4)
        How many rows have 0, 1 and 2 times allele A1, and how many are missing.
    """
    n_columns, n_rows = codes.shape
    n_whole = n_rows // 4
    code_of = np.empty(4, np.uint8)
    for column in range(n_columns):
        missing = one = none = 0
        for i in range(n_whole):
            byte = packed[column, i]
            low, high = byte & np.uint8(0x55), (byte >> np.uint8(1)) & np.uint8(0x55)
            none += _bits(low & high)
            missing += _bits(low & ~high)
            one += _bits(high & ~low)
        for row in range(4 * n_whole, n_rows):
            pair = (packed[column, n_whole] >> np.uint8(2 * (row % 4))) & np.uint8(3)
            none += pair == 3
            missing += pair == 1
            one += pair == 2
        two = n_rows - none - one - missing
        counts[column, 0], counts[column, 1], counts[column, 2], counts[column, 3] = none, one, two, missing
        code_of[3] = 0
        code_of[2] = none > 0
        code_of[0] = code_of[2] + (one > 0)
        code_of[1] = _MISSING
        of_none, of_one, of_two = code_of[3], code_of[2], code_of[0]
        for i in range(n_whole):
            byte = packed[column, i]
            for k in range(4):
                pair = (byte >> np.uint8(2 * k)) & np.uint8(3)
                code = of_one if pair == 2 else (of_none if pair == 3 else of_two)
                codes[column, 4 * i + k] = _MISSING if pair == 1 else code
        for row in range(4 * n_whole, n_rows):
            codes[column, row] = code_of[(packed[column, n_whole] >> np.uint8(2 * (row % 4))) & np.uint8(3)]


@njit(nogil=True, cache=True, inline="always")
def _bits(byte):
    """How many of the bits at even places are set."""
    pairs = (byte & np.uint8(0x11)) + ((byte >> np.uint8(2)) & np.uint8(0x11))
    return np.int64((pairs & np.uint8(0x0F)) + (pairs >> np.uint8(4)))
