"""Reading delimited text: cells that are plain numbers become doubles here, all others are pointed out to the caller.

A cell is parsed where it lies. Numbers of up to 15 or so digits are exact by one multiplication or division (both
operands are exact doubles, so the result is correctly rounded); longer ones are pointed out as `LONG_NUMBER`. Blank
lines are passed over; in a table of one column they are missing cells, but at its end. A cell that is cut off by the
end of the text is left for the next call, so the text can come in pieces of any size, smaller than a line even.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CELL_FIELDS",
    "FULL",
    "HUNGRY",
    "LONG_NUMBER",
    "NO_NUMBER",
    "PLAIN_TEXT",
    "QUOTED_TEXT",
    "SKIP",
    "TOO_FEW",
    "TOO_MANY",
    "Dialect",
    "copy_cells",
    "count_cells",
    "parse_cells",
    "scan_number",
]

# What ended a call of parse_cells.
HUNGRY = 0  # the text is used up to the last whole cell
FULL = 1  # the block of rows, or the list of cells pointed out, is full
TOO_FEW = 2  # a line ended before its last column
TOO_MANY = 3  # a line went on after its last column

# What a cell that was pointed out looks like.
PLAIN_TEXT = 0
QUOTED_TEXT = 1
LONG_NUMBER = 2
NO_NUMBER = -2  # of what `scan_number` looks at: not a digit

SKIP = -1
"""The slot of a column that is not wanted; a slot of −2 − s asks for the text of the cell, for slot s."""

CELL_FIELDS = 6
"""A cell pointed out is a row of: row in the block, slot, begin, end (bytes of the text), line, what it looks like."""

_NEWLINE, _RETURN, _SPACE = 10, 13, 32
_PLUS, _MINUS, _ZERO, _SMALL_E, _LARGE_E = 43, 45, 48, 101, 69
_POWERS = 10.0 ** np.arange(23)  # exact doubles
_LARGEST_EXACT = np.uint64(2**53)  # unsigned: Numba would compare with a signed number as doubles, rounded


class Dialect(NamedTuple):
    """How text is written: three bytes (a quote of 0 is none), and the words for a missing value, joined.

    `numbers_too` says that one of the words looks like a number, such as −9, so that numbers are held against them.
    """

    delimiter: int
    quote: int
    decimal: int
    words: NDArray[np.uint8]
    word_ends: NDArray[np.int64]
    numbers_too: bool


@njit_no_refcount
def parse_cells(text, final, dialect, slots, state, values, cells):
    """Parse whole cells of `text` from where `state` says, and say why it stopped.

    Parameters
    ----------
    text : uint8 array
    final : bool
        Whether the text ends the table, so that its last cell needs no end of line.
    dialect : Dialect
    slots : int64 array, one a column of the table
        Where a column goes in `values`, or `SKIP`, or −2 − slot for its text.
    state : int64 array of five, updated
        Place in the text, row of the block, column, line (from 1), cells pointed out.
    values : float64 array, shape (rows, slots)
        Filled with numbers, NaN for missing ones and for cells pointed out.
    cells : int64 array, shape (capacity, CELL_FIELDS)
    """
    size = text.shape[0]
    n_columns = slots.shape[0]
    place, row, column, line, n_cells = state[0], state[1], state[2], state[3], state[4]
    outcome = HUNGRY
    while True:
        if column == 0 and n_columns == 1:
            # A blank line is a missing cell, but at the end of the table.
            ahead = place
            while ahead < size and (text[ahead] == _NEWLINE or text[ahead] == _RETURN):
                ahead += 1
            if ahead == size:
                if final:
                    place = size
                break
        elif column == 0:
            # Blank lines are passed over; a carriage return at the very end may belong to a line feed to come.
            while place < size and (text[place] == _NEWLINE or (text[place] == _RETURN and place + 1 < size)):
                line += text[place] == _NEWLINE
                place += 1
            if place < size and text[place] == _RETURN and final:
                place += 1
            if place >= size:
                break
        elif place >= size and not final:
            break
        if row == values.shape[0] or n_cells == cells.shape[0]:
            outcome = FULL
            break

        slot = slots[column]
        number, end, looks = _cell(text, place, size, final, dialect)
        if end < 0:
            break
        begin = place
        if slot != SKIP:
            if slot >= 0 and looks < 0:
                values[row, slot] = number
            else:
                target = slot if slot >= 0 else -2 - slot
                values[row, target] = np.nan
                cells[n_cells, 0] = row
                cells[n_cells, 1] = target
                cells[n_cells, 2] = begin
                cells[n_cells, 3] = end
                cells[n_cells, 4] = line
                cells[n_cells, 5] = looks if looks >= 0 else PLAIN_TEXT
                n_cells += 1
        if looks == QUOTED_TEXT:
            for i in range(begin, end):
                line += text[i] == _NEWLINE

        if end < size and text[end] == dialect.delimiter:
            column += 1
            place = end + 1
            if column == n_columns:
                outcome = TOO_MANY
                break
            continue
        place = min(end + 1, size)
        if column != n_columns - 1:
            column += 1
            outcome = TOO_FEW
            break
        if end < size and text[end] == _RETURN and place < size:
            place += 1
        line += 1
        column = 0
        row += 1
    state[0], state[1], state[2], state[3], state[4] = place, row, column, line, n_cells
    return outcome


@njit_inner
def _cell(text, place, size, final, dialect):
    """The number, the end (−1: cut off) and the looks (−1: a number or missing) of the cell at `place`."""
    i = place
    while i < size and text[i] == _SPACE and dialect.delimiter != _SPACE:
        i += 1
    word = i
    number, i, looks = scan_number(text, word, size, dialect.decimal)
    while i < size and text[i] == _SPACE and dialect.delimiter != _SPACE:
        i += 1

    if _at_end(text, i, size, final, dialect.delimiter):
        if looks != NO_NUMBER:
            if dialect.numbers_too and _is_missing(text, word, i, dialect):
                return np.nan, i, -1
            return number, i, looks
        if i == word:
            return np.nan, i, -1
    return _word(text, word, size, final, dialect)


@njit_no_refcount
def scan_number(text, i, size, decimal):
    """The number that begins at byte i, where it ends, and its looks (−1: a number; `LONG_NUMBER`, `NO_NUMBER`)."""
    negative = False
    if i < size and (text[i] == _MINUS or text[i] == _PLUS):
        negative = text[i] == _MINUS
        i += 1
    digits = 0  # all of them, leading zeros too
    significant = 0
    mantissa = np.uint64(0)
    exponent = 0
    after_point = False
    while i < size:
        c = text[i]
        digit = np.uint8(c - np.uint8(_ZERO))
        if digit < 10:
            digits += 1
            if significant < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                significant += mantissa > 0
                exponent -= after_point
            else:
                significant += 1
                exponent += not after_point
        elif c == decimal and not after_point:
            after_point = True
        else:
            break
        i += 1
    if digits > 0 and i < size and (text[i] == _SMALL_E or text[i] == _LARGE_E):
        j = i + 1
        sign = 1
        if j < size and (text[j] == _MINUS or text[j] == _PLUS):
            sign = -1 if text[j] == _MINUS else 1
            j += 1
        power = np.int64(0)
        if j < size and np.uint8(text[j] - np.uint8(_ZERO)) < 10:
            while j < size and np.uint8(text[j] - np.uint8(_ZERO)) < 10:
                power = min(power * 10 + np.int64(text[j] - _ZERO), np.int64(100_000))
                j += 1
            exponent += sign * power
            i = j
    if digits == 0:
        return np.nan, i, NO_NUMBER
    number = np.float64(mantissa)
    if mantissa <= _LARGEST_EXACT and significant <= 19 and -22 <= exponent <= 22:
        number = number * _POWERS[exponent] if exponent >= 0 else number / _POWERS[-exponent]
        return (-number if negative else number), i, -1
    if mantissa == 0 and significant == 0:
        return (-0.0 if negative else 0.0), i, -1
    return np.nan, i, LONG_NUMBER


@njit_inner
def _word(text, word, size, final, dialect):
    """What `_cell` returns for a cell that is not a number; `word` is its first byte that is not a space."""
    if dialect.quote and word < size and text[word] == dialect.quote:
        i = word + 1
        while i < size:
            if text[i] == dialect.quote:
                if i + 1 < size and text[i + 1] == dialect.quote:
                    i += 1
                else:
                    break
            i += 1
        i = min(i + 1, size)  # behind the closing quote, if there is one, then to the end of the cell
        while i < size and not _at_end(text, i, size, final, dialect.delimiter):
            i += 1
        return np.nan, (i if _at_end(text, i, size, final, dialect.delimiter) else -1), QUOTED_TEXT
    i = word
    while i < size and not _at_end(text, i, size, final, dialect.delimiter):
        i += 1
    if not _at_end(text, i, size, final, dialect.delimiter):
        return np.nan, -1, PLAIN_TEXT
    return np.nan, i, (-1 if _is_missing(text, word, i, dialect) else PLAIN_TEXT)


@njit_inner
def _is_missing(text, word, end, dialect):
    """Whether the text from `word` to before `end`, spaces at its end aside, is a word for a missing value."""
    while end > word and text[end - 1] == _SPACE:
        end -= 1
    begin = 0
    for word_end in dialect.word_ends:
        if word_end - begin == end - word:
            same = True
            for k in range(end - word):
                same &= text[word + k] == dialect.words[begin + k]
            if same:
                return True
        begin = word_end
    return False


@njit_inner
def _at_end(text, i, size, final, delimiter):
    """Whether a cell ends at byte i: at a delimiter, a line end, or the end of the table."""
    if i >= size:
        return final
    c = text[i]
    if c == delimiter or c == _NEWLINE:  # noqa: SIM109  (a tuple test is slower when compiled)
        return True
    return c == _RETURN and ((i + 1 < size and text[i + 1] == _NEWLINE) or (i + 1 == size and final))


@njit_no_refcount
def count_cells(text, final, dialect, state):
    """Count the cells of one line from where `state` (place in the text, cells so far) says; whether the line ended."""
    size = text.shape[0]
    place = state[0]
    while place < size or (final and state[1] > 0):
        _, end, _ = _cell(text, place, size, final, dialect)
        if end < 0:
            break
        state[1] += 1
        place = min(end + 1, size)
        if end < size and text[end] == _RETURN and place < size:
            place += 1
        state[0] = place
        if end >= size or text[end] != dialect.delimiter:
            return True
    return False


@njit
def copy_cells(text, begins, ends, out):
    """Copy the bytes of cells one after the other into `out`, without spaces around them; return where each ends."""
    filled = np.empty(begins.shape[0] + 1, np.int64)
    filled[0] = 0
    n = 0
    for cell in range(begins.shape[0]):
        begin, end = begins[cell], ends[cell]
        while begin < end and text[begin] == _SPACE:
            begin += 1
        while end > begin and text[end - 1] == _SPACE:
            end -= 1
        for i in range(begin, end):
            out[n] = text[i]
            n += 1
        filled[cell + 1] = n
    return filled
