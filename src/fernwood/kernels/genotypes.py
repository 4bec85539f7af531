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

from fernwood.kernels.jit import njit

__all__ = ["unpack_genotypes"]

_MISSING = np.uint8(255)
_FIELD = 21  # bits of a counter; three of them share one number
_AT_A_TIME = 2**18  # bytes of which no counter overflows


def _tallies():
    """How often the pairs 11, 10 and 01 stand in every byte, side by side in one number."""
    pairs = np.arange(256)[:, None] >> np.array([0, 2, 4, 6]) & 3
    counts = [np.count_nonzero(pairs == pair, axis=1).astype(np.uint64) for pair in (3, 2, 1)]
    return counts[0] | counts[1] << np.uint64(_FIELD) | counts[2] << np.uint64(2 * _FIELD)


_TALLY = _tallies()


@njit
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
    mask = np.uint64(2**_FIELD - 1)
    for column in range(n_columns):
        none = one = missing = 0
        for first in range(0, n_whole, _AT_A_TIME):
            tally = np.uint64(0)
            for i in range(first, min(first + _AT_A_TIME, n_whole)):
                tally += _TALLY[packed[column, i]]
            none += np.int64(tally & mask)
            one += np.int64(tally >> np.uint64(_FIELD) & mask)
            missing += np.int64(tally >> np.uint64(2 * _FIELD))
        for row in range(4 * n_whole, n_rows):
            pair = (packed[column, n_whole] >> np.uint8(2 * (row % 4))) & np.uint8(3)
            none += pair == 3
            one += pair == 2
            missing += pair == 1
        counts[column, 0], counts[column, 1], counts[column, 3] = none, one, missing
        counts[column, 2] = n_rows - none - one - missing
        of_one = np.uint8(none > 0)
        of_two = np.uint8(of_one + (one > 0))
        for i in range(n_whole):
            for k in range(4):
                codes[column, 4 * i + k] = _code(packed[column, i] >> np.uint8(2 * k), of_one, of_two)
        for row in range(4 * n_whole, n_rows):
            codes[column, row] = _code(packed[column, n_whole] >> np.uint8(2 * (row % 4)), of_one, of_two)


@njit(inline="always")
def _code(bits, of_one, of_two):
    """The code of the lowest two bits; none at all has the code 0 where it stands."""
    pair = bits & np.uint8(3)
    code = of_one if pair == 2 else (np.uint8(0) if pair == 3 else of_two)
    return _MISSING if pair == 1 else code
