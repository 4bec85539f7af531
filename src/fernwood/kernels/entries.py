"""Reading sparse tables from text, entry by entry, and sorting entries by column.

Text comes in pieces of any size: what the end of a piece cuts off is left for the next call. Numbers of too many digits
for one multiplication are pointed out to the caller, as in `text.py`.
"""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit
from fernwood.kernels.text import FULL, HUNGRY, LONG_NUMBER, NO_NUMBER, scan_number

__all__ = [
    "BROKEN",
    "LARGEST_INDEX",
    "LONG_FIELDS",
    "OUTSIDE",
    "UNSORTED",
    "parse_svmlight",
    "parse_triplets",
    "sort_by_column",
]

# What ended a call, beside HUNGRY and FULL; the state says which line, and which bytes of the text.
BROKEN = 4  # something else than what a line should hold
OUTSIDE = 5  # an index that the table does not have
UNSORTED = 6  # indices of a line that do not increase

LONG_FIELDS = 3
"""A number pointed out is a row of: entry (−1 − row for a label), begin, end (bytes of the text)."""

LARGEST_INDEX = 2**31 - 2

_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9
_ZERO, _POINT, _COLON, _HASH, _PERCENT = 48, 46, 58, 35, 37
_LETTERS = np.frombuffer(b"qid", np.uint8)


@njit(inline="always")
def _is_blank(c):
    return (c == _SPACE) | (c == _TAB) | (c == _RETURN)


@njit
def _index(text, i, end):
    """The whole number at byte i and where it ends; −1 where there is none, or one that is far too large."""
    index = np.int64(0)
    begin = i
    while i < end and np.uint8(text[i] - np.uint8(_ZERO)) < 10:
        index = index * 10 + np.int64(text[i] - _ZERO)
        if index > 10 * LARGEST_INDEX:
            return np.int64(-1), i
        i += 1
    return (np.int64(-1) if i == begin else index), i


@njit
def parse_triplets(text, final, shape, pattern, features_first, place_of, state, rows, columns, values, longs):
    """Parse lines of `row column value`, counted from 1, and say why it stopped.

    Parameters
    ----------
    text : uint8 array
    final : bool
        Whether the text ends the file.
    shape : tuple of two
        The most that the two indices may be.
    pattern : bool
        There are no values: every entry is 1.
    features_first : bool
        The first index is the column of our table, the second its row.
    place_of : int64 array
        Where entries of a column belong; −1 for columns that are not wanted.
    state : int64 array of six, updated
        Place in the text, line, entries kept, numbers pointed out, entries seen, end of what is wrong.
    rows, columns : int32 arrays, filled
    values : float64 array, filled
    longs : int64 array, shape (capacity, LONG_FIELDS), filled
    """
    size = text.shape[0]
    place = state[0]
    outcome = HUNGRY
    while place < size:
        if state[2] == rows.shape[0] or state[3] == longs.shape[0]:
            outcome = FULL
            break
        end = place
        while end < size and text[end] != _NEWLINE:
            end += 1
        if end == size and not final:
            break
        i = place
        while i < end and _is_blank(text[i]):
            i += 1
        if i == end or text[i] == _PERCENT:
            place = end + 1
            state[1] += 1
            continue
        first, i = _index(text, i, end)
        while i < end and _is_blank(text[i]):
            i += 1
        second, i = _index(text, i, end)
        while i < end and _is_blank(text[i]):
            i += 1
        value, looks = 1.0, -1
        begin = i
        if not pattern:
            value, i, looks = scan_number(text, i, end, _POINT)
        number_end = i
        while i < end and _is_blank(text[i]):
            i += 1
        if first < 0 or second < 0 or looks == NO_NUMBER or i < end:
            outcome = BROKEN
        elif first < 1 or second < 1 or first > shape[0] or second > shape[1]:
            outcome = OUTSIDE
        if outcome != HUNGRY:
            state[5] = end
            break
        state[4] += 1
        target = place_of[(first if features_first else second) - 1]
        if target >= 0:
            rows[state[2]] = (second if features_first else first) - 1
            columns[state[2]] = target
            values[state[2]] = value
            if looks == LONG_NUMBER:
                longs[state[3], 0], longs[state[3], 1], longs[state[3], 2] = state[2], begin, number_end
                state[3] += 1
            state[2] += 1
        place = end + 1
        state[1] += 1
    state[0] = min(place, size)
    return outcome


@njit
def parse_svmlight(text, final, base, place_of, state, labels, rows, columns, values, longs):
    """Parse lines of `label qid:number index:value …  # comment`, and say why it stopped.

    Parameters
    ----------
    text : uint8 array
    final : bool
        Whether the text ends the file.
    base : int
        The index of the first column.
    place_of : int64 array
        Where entries of a column belong; −1 for columns that are not wanted. An empty one keeps no entry: only labels
        and the smallest and largest index are found.
    state : int64 array of ten, updated
        Place in the text, line, entries kept, numbers pointed out, rows begun, rows among the labels, where in a line
        (0: before it, 1: behind its label, 2: in a comment), the index before, the smallest and the largest index.
    labels : float64 array, shape (rows, 2), filled
        Label and qid (NaN: none) of every row that is begun.
    rows, columns : int32 arrays, filled
    values : float64 array, filled
    longs : int64 array, shape (capacity, LONG_FIELDS), filled
    """
    size = text.shape[0]
    place = state[0]
    while True:
        if state[6] == 2:
            while place < size and text[place] != _NEWLINE:
                place += 1
        while place < size and _is_blank(text[place]):
            place += 1
        if place >= size:
            break
        c = text[place]
        if c == _NEWLINE:
            place += 1
            state[1] += 1
            state[6] = 0
            continue
        if c == _HASH:
            state[6] = 2
            continue
        end = place
        while end < size and text[end] != _NEWLINE and text[end] != _HASH and not _is_blank(text[end]):
            end += 1
        if end == size and not final:
            break
        if state[2] == rows.shape[0] or state[3] == longs.shape[0]:
            state[0] = place
            return FULL
        if state[6] == 0:
            if state[5] == labels.shape[0]:
                state[0] = place
                return FULL
            value, stop, looks = scan_number(text, place, end, _POINT)
            if looks == NO_NUMBER or stop != end:
                state[0] = place
                return BROKEN
            labels[state[5], 0], labels[state[5], 1] = value, np.nan
            if looks == LONG_NUMBER:
                longs[state[3], 0], longs[state[3], 1], longs[state[3], 2] = -1 - state[5], place, end
                state[3] += 1
            state[4] += 1
            state[5] += 1
            state[6] = 1
            state[7] = -1
            place = end
            continue
        is_query = end - place > 4 and text[place + 3] == _COLON
        for k in range(3):
            is_query = is_query and text[place + k] == _LETTERS[k]
        index, colon = _index(text, place + 4 if is_query else place, end)
        if is_query:
            if index < 0 or colon != end or state[7] >= 0:
                state[0] = place
                return BROKEN
            labels[state[5] - 1, 1] = index
            place = end
            continue
        if index < 0 or colon >= end or text[colon] != _COLON:
            state[0] = place
            return BROKEN
        value, stop, looks = scan_number(text, colon + 1, end, _POINT)
        if looks == NO_NUMBER or stop != end or index > LARGEST_INDEX:
            state[0] = place
            return BROKEN
        if index <= state[7]:
            state[0] = place
            return UNSORTED
        if index < base:
            state[0] = place
            return OUTSIDE
        state[7] = index
        state[8] = min(state[8], index)
        state[9] = max(state[9], index)
        if index - base < place_of.shape[0] and place_of[index - base] >= 0:
            rows[state[2]] = state[4] - 1
            columns[state[2]] = place_of[index - base]
            values[state[2]] = value
            if looks == LONG_NUMBER:
                longs[state[3], 0], longs[state[3], 1], longs[state[3], 2] = state[2], colon + 1, end
                state[3] += 1
            state[2] += 1
        place = end
    state[0] = min(place, size)
    return HUNGRY


@njit
def sort_by_column(rows, columns, values, offsets, sorted_rows, sorted_values):
    """Put entries in the order of their columns, those of one column as they came; fill in where each column begins.

    Parameters
    ----------
    rows, columns : int32 arrays
    values : float64 array
    offsets : int64 array, one longer than there are columns, filled
    sorted_rows : int32 array, filled
    sorted_values : float64 array, filled
    """
    offsets[:] = 0
    for i in range(columns.shape[0]):
        offsets[columns[i] + 1] += 1
    for column in range(offsets.shape[0] - 1):
        offsets[column + 1] += offsets[column]
    nexts = offsets[:-1].copy()
    for i in range(columns.shape[0]):
        at = nexts[columns[i]]
        sorted_rows[at] = rows[i]
        sorted_values[at] = values[i]
        nexts[columns[i]] = at + 1
