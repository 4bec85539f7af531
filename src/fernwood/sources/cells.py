"""Cells of a text table that are not plain numbers, and what they make of their columns.

A column of a text table is numbers, text, dates or booleans as a whole, decided by all of its cells and never by where
the file was cut into pieces. Text becomes numbers on the way: a word is its position in one vocabulary for the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import SourceError, shown
from fernwood.kernels.text import LONG_NUMBER, QUOTED_TEXT, copy_cells
from fernwood.sources.base import Band, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["CellReader", "cell_texts"]

_NUMBER = r"^[+-]?([0-9]+[{0}]?[0-9]*|[{0}][0-9]+)([eE][+-]?[0-9]+)?$"  # {0}: the decimal sign
_INFINITE = r"(?i)^[+-]?inf(inity)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?$"
_WORD_BYTES = 220  # of a short word: the string, its place, its entry in the dictionary, and once more in Arrow


def cell_texts(text: NDArray[np.uint8], cells: NDArray[np.int64], title: str) -> pa.Array:
    """The text of cells that the kernel pointed out, trimmed, with quotes taken off."""
    # Contiguous, always: a view of one cell and one of many are different types to the compiler.
    begins, ends = np.ascontiguousarray(cells[:, 2]), np.ascontiguousarray(cells[:, 3])
    out = np.empty(int((ends - begins).sum()), np.uint8)
    offsets = copy_cells(text, begins, ends, out)
    raw = pa.Array.from_buffers(pa.large_binary(), len(cells), [None, pa.py_buffer(offsets), pa.py_buffer(out)])
    try:
        texts = raw.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        line = next(int(line) for line, cell in zip(cells[:, 4], raw, strict=True) if not _is_utf8(cell.as_py()))
        raise SourceError(f"line {line} of {title} is not UTF-8 text; convert the file to UTF-8") from error
    quoted = cells[:, 5] == QUOTED_TEXT
    if quoted.any():
        open_ended = quoted & ~_mask(pc.match_substring_regex(texts, '(?s)^"([^"]|"")*"$'))
        if open_ended.any():
            line = int(cells[np.flatnonzero(open_ended)[0], 4])
            raise SourceError(
                f"the quote that opens on line {line} of {title} does not end with its cell; mend the line"
            )
        bare = pc.replace_substring(pc.utf8_slice_codeunits(texts, 1, -1), '""', '"')
        texts = pc.if_else(pa.array(quoted), bare, texts)
    return texts


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


class CellReader:
    """Settles the cells of one table as they come, then tells what each column is.

    Parameters
    ----------
    name_of
        The name of a wanted column, by its place among them.
    title
        What to call the table in a sentence.
    missing
        Words for a missing value.
    decimal
        The decimal sign.
    as_text
        Places of the wanted columns that are categories whatever their cells look like.
    memory
        Bytes that the vocabulary may take.
    """

    def __init__(
        self,
        name_of: Callable[[int], str],
        title: str,
        missing: Sequence[str],
        decimal: str,
        as_text: set[int],
        memory: int,
    ) -> None:
        self._name_of = name_of
        self._title = title
        self._missing = pa.array([*missing, ""], pa.large_string())
        self._decimal = decimal
        self._as_text = np.array(sorted(as_text), np.int64)
        self._memory = memory
        self.held = 0
        """Bytes that the vocabulary takes."""
        self._vocabulary: dict[str, int] = {}
        self._words = pa.array([], pa.large_string())  # the vocabulary, once it is complete
        # Per column that has any: how many cells are words or dates, and the first of them, for a sentence about it.
        self._n_words: dict[int, int] = {}
        self._n_dates: dict[int, int] = {}
        self._first: dict[int, tuple[int, str]] = {}

    def settle(
        self,
        text: NDArray[np.uint8],
        cells: NDArray[np.int64],
        owners: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> None:
        """Fill in the values of cells that the kernel pointed out; `owners` are the columns that they belong to."""
        texts = cell_texts(text, cells, self._title)
        missing = _mask(pc.is_in(texts, self._missing))
        free = ~np.isin(owners, self._as_text) & ~missing
        dotted = pc.replace_substring(texts, self._decimal, ".") if self._decimal != "." else texts
        number = free & (cells[:, 5] == LONG_NUMBER)
        unclear = free & ~number
        date = np.zeros(len(cells), bool)
        if unclear.any():
            number |= unclear & _mask(pc.match_substring_regex(texts, _NUMBER.format(self._decimal)))
            date = unclear & _mask(pc.match_substring_regex(texts, _DATE))
            self._refuse_infinite(unclear & _mask(pc.match_substring_regex(texts, _INFINITE)), texts, cells, owners)
        word = ~missing & ~number & ~date
        if number.any():
            parsed = dotted.filter(pa.array(number)).cast(pa.float64()).to_numpy()
            overflow = np.zeros(len(cells), bool)
            overflow[number] = np.isinf(parsed)
            self._refuse_infinite(overflow, texts, cells, owners)
            values[cells[number, 0], cells[number, 1]] = parsed
        if date.any():
            self._note(self._n_dates, date, texts, cells, owners)
            values[cells[date, 0], cells[date, 1]] = self._seconds(
                texts.filter(pa.array(date)), cells[date], owners[date]
            )
        if word.any():
            self._note(self._n_words, word, texts, cells, owners)
            encoded = texts.filter(pa.array(word)).dictionary_encode()
            places = np.array([self._place(w) for w in encoded.dictionary.to_pylist()])
            values[cells[word, 0], cells[word, 1]] = places[encoded.indices.to_numpy()]
            if self.held > self._memory:
                worst = max(self._n_words, key=lambda owner: self._n_words[owner])
                raise SourceError(
                    f"the text columns of {self._title} hold more different words ({len(self._vocabulary)} so far) "
                    f"than the memory has room for; leave out columns such as {shown(self._name_of(worst))} "
                    "with --drop (drop=), or give more memory"
                )

    def _place(self, word: str) -> int:
        place = self._vocabulary.get(word)
        if place is None:
            place = self._vocabulary[word] = len(self._vocabulary)
            self.held += _WORD_BYTES + 2 * len(word)
        return place

    def band(self, first: int, values: NDArray[np.floating]) -> Band:
        """The band of wanted columns from `first` on, with words turned into labels; mixed columns are refused."""
        kinds = np.full(len(values), Kind.NUMBER, np.uint8)
        labels: dict[int, pa.Array] = {}
        special = [i for i in range(len(values)) if first + i in self._first]
        if special and len(self._words) < len(self._vocabulary):
            self._words = pa.array(list(self._vocabulary), pa.large_string())
        for i in special:
            owner = first + i
            n_present = int(np.count_nonzero(~np.isnan(values[i])))
            if n_present not in (self._n_words.get(owner, 0), self._n_dates.get(owner, 0)):
                self._refuse_mixture(owner)
            if self._n_dates.get(owner):
                kinds[i] = Kind.DATE
                continue
            present = ~np.isnan(values[i])
            places, positions = np.unique(values[i, present].astype(np.int64), return_inverse=True)
            column_labels = self._words.take(pa.array(places))
            values[i, present] = positions
            lowered = pc.utf8_lower(column_labels).to_pylist()
            if set(lowered) <= {"true", "false"} and len(self._as_text[self._as_text == owner]) == 0:
                kinds[i] = Kind.BOOLEAN
                values[i, present] = np.array([word == "true" for word in lowered], np.float64)[positions]
            else:
                kinds[i] = Kind.CATEGORY
                labels[i] = column_labels
        return Band(values, kinds, labels)

    def _note(
        self,
        counts: dict[int, int],
        mask: NDArray[np.bool_],
        texts: pa.Array,
        cells: NDArray[np.int64],
        owners: NDArray[np.int64],
    ) -> None:
        where = np.flatnonzero(mask)
        found, firsts, sizes = np.unique(owners[where], return_index=True, return_counts=True)
        for owner, first, size in zip(found.tolist(), where[firsts].tolist(), sizes.tolist(), strict=True):
            counts[owner] = counts.get(owner, 0) + size
            self._first.setdefault(owner, (int(cells[first, 4]), texts[first].as_py()))

    def _seconds(self, texts: pa.Array, cells: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.float64]:
        try:
            seconds: NDArray[np.float64] = texts.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy() / 1e6
        except pa.ArrowInvalid:
            for i, text in enumerate(texts.to_pylist()):
                try:
                    np.datetime64(text)
                except ValueError:
                    raise SourceError(
                        f"line {cells[i, 4]} of {self._title} has {shown(text)} in column "
                        f"{shown(self._name_of(int(owners[i])))}, which is no date of the calendar; "
                        "mend it, or read the column as text with --categorical"
                    ) from None
            raise
        return seconds

    def _refuse_infinite(
        self, mask: NDArray[np.bool_], texts: pa.Array, cells: NDArray[np.int64], owners: NDArray[np.int64]
    ) -> None:
        if mask.any():
            i = int(np.flatnonzero(mask)[0])
            raise SourceError(
                f"line {cells[i, 4]} of {self._title} has {shown(texts[i])} in column "
                f"{shown(self._name_of(int(owners[i])))}; infinite values have no place among bins: "
                "make it missing (--missing) or leave the column out (--drop)"
            )

    def _refuse_mixture(self, owner: int) -> None:
        line, text = self._first[owner]
        kinds = ("text", "dates") if self._n_dates.get(owner) and self._n_words.get(owner) else ("text", "numbers")
        if self._n_dates.get(owner) and not self._n_words.get(owner):
            kinds = ("dates", "numbers")
        raise SourceError(
            f"column {shown(self._name_of(owner))} of {self._title} mixes {kinds[0]} and {kinds[1]}: line {line} has "
            f"{shown(text)}; mend it, call it missing (--missing {shown(text)}), or read the column as text "
            "(--categorical)"
        )


def _mask(booleans: pa.Array) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = booleans.to_numpy(zero_copy_only=False)
    return out
