"""Codes of columns of which only some values are stored, the others being zero: the twin of `store/quantise.py`.

A column is sorted by its stored values alone. Its zeros are one run among the runs of equal values, so that all that
the quantiser asks of ranks can be told from where the runs begin:

    stored, sorted     -2  3  3  7          six rows more hold nothing
    runs               -2 | 0 0 0 0 0 0 | 3 3 | 7
    begin at rank       0   1             7     9

Then the whole column gets zero's code, and the stored values theirs.
"""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit

__all__ = ["append_block", "code_columns", "pack_pairs", "turn_rows", "unpack_pairs"]

_MISSING = np.uint8(255)
_MOST_CODES = 255


@njit
def turn_rows(row_starts, first, indices, values, place_of, offsets, rows_out, values_out):
    """Sort some stored values, which lie row by row, by column; equal columns stay in the order of rows.

    Parameters
    ----------
    row_starts : int64 array; where each row begins among all stored values, and where the last one ends
    first : int; the place of the first value at hand among all of them
    indices : int32 array; columns
    values : array of unsigned integers: the bits of the values
    place_of : int32 array; the place of every column among those wanted, or -1
    offsets : int64 array, one longer than columns are wanted; becomes where each begins in what is put out
    rows_out : int32 array
    values_out : array of the type of `values`

    Returns
    -------
    int
        The first place, counted from `first`, that holds no column of the table; -1 where all do.
    """
    n_columns = place_of.shape[0]
    offsets[:] = 0
    for e in range(indices.shape[0]):
        column = indices[e]
        if column < 0 or column >= n_columns:
            return e
        place = place_of[column]
        if place >= 0:
            offsets[place + 1] += 1
    for place in range(1, offsets.shape[0]):
        offsets[place] += offsets[place - 1]
    row = np.searchsorted(row_starts, first, side="right") - 1
    for e in range(indices.shape[0]):
        while row_starts[row + 1] <= first + e:
            row += 1
        place = place_of[indices[e]]
        if place >= 0:
            at = offsets[place]
            rows_out[at] = row
            values_out[at] = values[e]
            offsets[place] = at + 1
    for place in range(offsets.shape[0] - 1, 0, -1):
        offsets[place] = offsets[place - 1]
    offsets[0] = 0
    return -1


@njit
def append_block(offsets, rows, values, at, rows_out, values_out):
    """Put the part that one block has of some columns behind what earlier blocks had of them.

    Parameters
    ----------
    offsets : int64 array; where each column begins in the block, and where the last one ends
    rows, values : the part of the block that holds these columns
    at : int64 array; where the next value of each column goes, moved on
    rows_out, values_out : all values of the columns
    """
    begin = offsets[0]
    for c in range(at.shape[0]):
        to = at[c]
        for e in range(offsets[c] - begin, offsets[c + 1] - begin):
            rows_out[to] = rows[e]
            values_out[to] = values[e]
            to += 1
        at[c] = to


@njit
def pack_pairs(values, rows, pairs):
    """(value, row) as one integer, in the order of the values; NaN is last, whatever its bits.

    Parameters
    ----------
    values : int32 array; the bits of float32 values
    rows : int32 array
    pairs : int64 array, filled
    """
    for e in range(values.shape[0]):
        bits = values[e]
        key = bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))
        if (bits & np.int32(0x7FFFFFFF)) > np.int32(0x7F800000):
            key = np.int32(0x7FC00000)
        pairs[e] = (np.int64(key) << 32) | np.int64(rows[e])


@njit
def unpack_pairs(pairs, values, rows):
    """What `pack_pairs` packed: the bits of the values, and the rows."""
    for e in range(pairs.shape[0]):
        key = np.int32(pairs[e] >> 32)
        values[e] = key ^ ((key >> np.int32(31)) & np.int32(0x7FFFFFFF))
        rows[e] = np.int32(pairs[e] & 0xFFFFFFFF)


@njit
def _runs(ordered, n_zeros, run_value, run_start):
    """Runs of equal values with the zeros that are not stored among them; how many runs there are."""
    n = ordered.shape[0]
    put = n_zeros == 0
    i = d = rank = 0
    while i < n or not put:
        run_start[d] = rank
        if not put and (i == n or not ordered[i] < 0):
            put = True
            value = 0.0
            rank += n_zeros
        else:
            value = np.float64(ordered[i])
        run_value[d] = value
        while i < n and ordered[i] == value:
            i += 1
            rank += 1
        d += 1
    run_start[d] = rank
    return d


@njit
def _nearest_starts(run_start, d, bins, is_cut):
    """Cut at the run that begins nearest to every quantile; of two, the later."""
    n = run_start[d]
    run = 0
    for k in range(1, bins):
        wanted = (k * n + bins // 2) // bins
        while run + 1 < d and run_start[run + 1] <= wanted:
            run += 1
        before = run_start[run]
        if before == wanted:
            is_cut[run] = True
        elif run + 1 < d and run_start[run + 1] - wanted <= wanted - before:
            is_cut[run + 1] = True
        else:
            is_cut[run] = True


@njit
def _around_runs(run_start, d, bins, is_cut, light):
    """Set runs that fill a bin alone apart, the longest first, and cut the rest evenly."""
    n = run_start[d]
    for j in range(d):
        light[j] = run_start[j + 1] - run_start[j]
    for _ in range((bins - 1) // 2):
        longest, size = -1, 0
        for j in range(d):
            if light[j] * bins >= n and light[j] > size:
                longest, size = j, light[j]
        if longest < 0:
            break
        light[longest] = 0
        if longest > 0:
            is_cut[longest] = True
        if longest + 1 < d:
            is_cut[longest + 1] = True
    spare = bins - 1
    for j in range(1, d):
        spare -= is_cut[j]
    total = 0
    for j in range(d):
        size = light[j]
        light[j] = total
        total += size
    light[d] = total
    place = 0
    for k in range(1, spare + 1):
        wanted = np.float64(total * k) / np.float64(spare + 1)
        while place < d and light[place] < wanted:
            place += 1
        to = min(max(place, 1), d)
        if wanted - light[to - 1] < light[to] - wanted:
            to -= 1
        if 0 < to < d:
            is_cut[to] = True


@njit
def _mark_cuts(run_start, d, bins, is_cut, light):
    """The runs at which a new code begins."""
    if d <= _MOST_CODES:
        is_cut[:d] = True
        return
    is_cut[:d] = False
    is_cut[0] = True
    n = run_start[d]
    longest = 0
    for j in range(d):
        longest = max(longest, run_start[j + 1] - run_start[j])
    if longest >= -(-n // bins):
        _around_runs(run_start, d, bins, is_cut, light)
    else:
        _nearest_starts(run_start, d, bins, is_cut)


@njit
def code_columns(starts, ordered, rows, bins, codes, n_missing, n_distinct, n_cuts, rank, above, below, last):
    """Code columns by rank, and say where they are cut.

    Parameters
    ----------
    starts : int64 array; where the stored values of each column begin, and where those of the last end
    ordered : float32 or float64 array; the stored values of every column in order, NaN last
    rows : int32 array; the rows of these
    bins : int; quantile bins of a column with more than 255 distinct values
    codes : uint8 array, shape (columns, rows), filled
    n_missing, n_distinct, n_cuts : int64 arrays, one entry a column, filled
    rank, above, below : arrays, shape (columns, 255), filled as far as there are cuts: the rank at which a code begins,
        the value there, and the one before it
    last : float64 array; the largest value of every column, NaN where there is none
    """
    n_rows = codes.shape[1]
    longest = 0
    for c in range(codes.shape[0]):
        longest = max(longest, starts[c + 1] - starts[c])
    run_value = np.empty(longest + 2)
    run_start = np.empty(longest + 3, np.int64)
    light = np.empty(longest + 3, np.int64)
    is_cut = np.empty(longest + 2, np.bool_)
    code_of = np.empty(longest + 2, np.uint8)
    for c in range(codes.shape[0]):
        begin, end = starts[c], starts[c + 1]
        present = end
        while present > begin and np.isnan(ordered[present - 1]):
            present -= 1
        n_zeros = n_rows - (end - begin)
        d = _runs(ordered[begin:present], n_zeros, run_value, run_start)
        _mark_cuts(run_start, d, bins, is_cut, light)
        n_missing[c] = end - present
        n_distinct[c] = d
        last[c] = run_value[d - 1] if d > 0 else np.nan
        code = -1
        line = codes[c]
        for j in range(d):
            if is_cut[j]:
                code += 1
                rank[c, code] = run_start[j]
                above[c, code] = run_value[j]
                below[c, code] = run_value[max(j - 1, 0)]
            code_of[j] = code
            if n_zeros > 0 and run_value[j] == 0:
                line[:] = code_of[j]
        n_cuts[c] = code + 1
        e = begin
        for j in range(d):
            size = run_start[j + 1] - run_start[j]
            if n_zeros > 0 and run_value[j] == 0:
                size -= n_zeros
            for k in range(e, e + size):
                line[rows[k]] = code_of[j]
            e += size
        for k in range(present, end):
            line[rows[k]] = _MISSING
