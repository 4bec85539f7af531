"""Delimited text as a source: CSV and its relatives, plain or compressed, samples in rows or (transposed) in columns.

The text is parsed once, in pieces (`kernels/text.py`), into blocks of rows that are turned into columns out of core
(`scratch.py`). pyarrow's reader is not used here: at 20 000 columns it needs three times the memory of the table and
ten times our time, and a line must fit its block; see decision 0002.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import BudgetError, SourceError, shown
from fernwood.files import size_of
from fernwood.kernels.ready import ensure_compiled
from fernwood.kernels.text import (
    CELL_FIELDS,
    FULL,
    HUNGRY,
    LONG_NUMBER,
    SKIP,
    TOO_MANY,
    Dialect,
    count_cells,
    parse_cells,
)
from fernwood.sources.base import Band, Progress, Reader, Source, Workspace
from fernwood.sources.cells import CellReader, cell_texts
from fernwood.sources.feed import PIECE_BYTES, TextFeed
from fernwood.sources.names import ListedNames, Names, NumberedNames, match_names
from fernwood.sources.repeating import RepeatingReader, distinct
from fernwood.sources.scratch import ColumnBlocks, RowBlocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.text_format import TextFormat

__all__ = ["TextSource"]

_MOST_CELLS = 2**16


class TextSource(Source):
    """A delimited text file."""

    def __init__(self, path: Path, form: TextFormat) -> None:
        self.title = shown(path.name)
        self._path = path
        self._form = form
        self.n_bytes = size_of(path)
        ensure_compiled("text")
        with self._feed() as feed:
            if feed.final and not feed.text[feed.start :].tobytes().strip():
                raise SourceError(f"{self.title} is empty; a table has a header and rows")
            self._dialect = _dialect(form, feed.text[feed.start :], path)
        self.n_cells_a_line = self._count_first_line()
        if form.transposed and self.n_cells_a_line == 1:
            raise SourceError(
                f"the first line of {self.title} has one cell; with features in rows, a line holds a name and a value "
                "of every sample: check the delimiter, or leave --transposed (transposed=) out"
            )
        self.has_header = form.header if form.header is not None else self._first_line_names()
        self.names: Names
        if form.transposed:
            self.names = ListedNames(self._row_names())
        elif self.has_header:
            self.names = ListedNames(self._header())
        else:
            self.names = NumberedNames(self.n_cells_a_line)

    def take_as_categories(self, names: Sequence[str]) -> None:
        """Read these columns as categories, also where all their cells look like numbers."""
        self._form = replace(self._form, categorical=(*self._form.categorical, *names))

    @contextmanager
    def _feed(self) -> Iterator[TextFeed]:
        feed = TextFeed(self._path)
        try:
            yield feed
        finally:
            feed.close()

    def _count_first_line(self) -> int:
        with self._feed() as feed:
            start = feed.first_text()
            state = np.array([start, 0], np.int64)
            while not count_cells(feed.text, feed.final, self._dialect, state):
                feed.advance(int(state[0]))
                state[0] = 0
            return int(state[1])

    def _first_line_names(self) -> bool:
        """Whether any cell of the first line (of a transposed table: but its first) is text."""
        slots = np.zeros(self.n_cells_a_line, np.int64)
        if self._form.transposed:
            slots[0] = SKIP
        names = any((cells[:, 5] != LONG_NUMBER).any() for _, cells in self._lines(slots, n_lines=1))
        if self._form.transposed and not names:
            raise SourceError(
                f"line 1 of {self.title} has numbers behind its first cell: sample numbers, or a feature? "
                "Say --header or --no-header (header=)"
            )
        return names

    def _header(self) -> pa.Array:
        return self._texts(np.full(self.n_cells_a_line, -2, np.int64), n_lines=1)

    def _row_names(self) -> pa.Array:
        slots = np.full(self.n_cells_a_line, SKIP, np.int64)
        slots[0] = -2
        names = self._texts(slots, n_lines=None)
        return names[1:] if self.has_header else names

    def _texts(self, slots: NDArray[np.int64], n_lines: int | None) -> pa.Array:
        return pa.concat_arrays([cell_texts(text, cells, self.title) for text, cells in self._lines(slots, n_lines)])

    def _lines(
        self, slots: NDArray[np.int64], n_lines: int | None
    ) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        """The cells that are pointed out in the first lines, or in all."""
        with self._feed() as feed:
            values = np.empty((n_lines or 4096, 1))
            for parsed in self._parse(feed, feed.first_text(), slots, values):
                if len(parsed.cells):
                    yield feed.text, parsed.cells
                if parsed.rows and n_lines is not None:
                    return

    def _parse(
        self, feed: TextFeed, start: int, slots: NDArray[np.int64], values: NDArray[np.float64]
    ) -> Iterator[_Parsed]:
        """Parse the file from a byte on: cells pointed out as they come, and `rows` when a block is full or it ends."""
        state = np.array([start, 0, 0, feed.line, 0], np.int64)
        cells = np.empty((_MOST_CELLS, CELL_FIELDS), np.int64)
        while True:
            outcome = int(parse_cells(feed.text, feed.final, self._dialect, slots, state, values, cells))
            if outcome not in {HUNGRY, FULL}:
                cell_texts(feed.text, cells[: state[4]], self.title)  # a quote left open explains it better
                self._refuse_ragged(outcome, int(state[3]), int(state[2]))
            done = outcome == HUNGRY and feed.final
            whole = done or state[1] == len(values)
            yield _Parsed(cells[: state[4]], int(state[1]) if whole else 0)
            if done:
                return
            state[4] = 0
            if whole:
                state[1] = 0
            if outcome == HUNGRY:
                feed.advance(int(state[0]))
                state[0] = 0

    def _refuse_ragged(self, outcome: int, line: int, column: int) -> None:
        wanted = self.n_cells_a_line
        if outcome != TOO_MANY:
            raise SourceError(
                f"line {line} of {self.title} has {column} cells where {wanted} are expected; mend the line"
            )
        if line == 2 and self.has_header:
            raise SourceError(
                f"line 2 of {self.title} has more cells than the header has names ({wanted}); if its first column "
                "holds row names, give that column a name in the header"
            )
        raise SourceError(
            f"line {line} of {self.title} has more than the {wanted} cells that are expected; mend the line"
        )

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Parse the file, keeping the wanted columns."""
        once, found = distinct(columns)
        if len(once) < len(columns):
            with self.reading(once, workspace) as reader:
                yield RepeatingReader(reader, found)
            return
        as_text = match_names(self.names, self._form.categorical, "the categorical column")
        places = set(np.flatnonzero(np.isin(columns, as_text)).tolist())
        words = CellReader(
            lambda i: self.names[int(columns[i])],
            self.title,
            self._form.missing,
            self._form.decimal,
            places,
            workspace.memory // 4,
        )
        parse = self._read_features if self._form.transposed else self._read_samples
        with parse(columns, words, places, workspace) as reader:
            if reader.n_rows == 0:
                raise SourceError(f"{self.title} has a header but no rows; a table needs both")
            yield reader

    @contextmanager
    def _read_samples(
        self, columns: NDArray[np.int64], words: CellReader, as_text: set[int], workspace: Workspace
    ) -> Iterator[Reader]:
        slots = np.full(self.n_cells_a_line, SKIP, np.int64)
        slots[columns] = np.arange(len(columns))
        for place in as_text:
            slots[columns[place]] = -2 - place
        height, put_away = self._shares(len(columns), workspace.memory)
        values = np.empty((height, len(columns)))
        blocks = RowBlocks(np.dtype(np.float64), workspace.scratch, put_away)
        with self._feed() as feed:
            try:
                for parsed in self._parse(feed, self._first_row(feed), slots, values):
                    if len(parsed.cells):
                        words.settle(feed.text, parsed.cells, parsed.cells[:, 1], values)
                    if parsed.rows:
                        blocks.append(values[: parsed.rows])
                    workspace.progress(Progress("reading", feed.position, self.n_bytes, "bytes"))
                del values, parsed
                feed.close()
                yield _TextReader(blocks, blocks.n_rows, words)
            finally:
                blocks.close()

    @contextmanager
    def _read_features(
        self, columns: NDArray[np.int64], words: CellReader, as_text: set[int], workspace: Workspace
    ) -> Iterator[Reader]:
        n_rows = self.n_cells_a_line - 1
        slots = np.arange(-1, n_rows)
        slots[0] = SKIP
        if as_text:  # which lines are text is not known by column: all cells are settled one by one
            slots[1:] = -2 - slots[1:]
        height, put_away = self._shares(n_rows, workspace.memory)
        values = np.empty((height, n_rows))
        blocks = ColumnBlocks(n_rows, workspace.scratch, put_away)
        place_of = np.full(len(self.names), -1, np.int64)
        place_of[columns] = np.arange(len(columns))
        kept: list[NDArray[np.int64]] = []
        first = 0
        with self._feed() as feed:
            try:
                for parsed in self._parse(feed, self._first_row(feed), slots, values):
                    owners = place_of[first + parsed.cells[:, 0]]
                    wanted = owners >= 0
                    if wanted.any():
                        words.settle(feed.text, parsed.cells[wanted], owners[wanted], values)
                    if parsed.rows:
                        lines = np.flatnonzero(place_of[first : first + parsed.rows] >= 0)
                        if len(lines):
                            blocks.append(values[lines])
                            kept.append(place_of[first + lines])
                        first += parsed.rows
                    workspace.progress(Progress("reading", feed.position, self.n_bytes, "bytes"))
                del values, parsed
                feed.close()
                yield _FeatureReader(blocks, n_rows, words, np.concatenate(kept or [place_of[:0]]))
            finally:
                blocks.close()

    def _first_row(self, feed: TextFeed) -> int:
        """Where the rows begin: right behind the header, since blank lines are rows of a table of one column."""
        if self.has_header:
            self._pass_header(feed)
        return feed.start

    def _pass_header(self, feed: TextFeed) -> None:
        """Leave the feed at the second line."""
        state = np.array([feed.first_text(), 0], np.int64)
        begin, ended = int(state[0]), False
        while not ended:
            ended = bool(count_cells(feed.text, feed.final, self._dialect, state)) or feed.final
            # A quoted name may hold line ends.
            feed.line += int(np.count_nonzero(feed.text[begin : state[0]] == ord("\n")))
            feed.advance(int(state[0]))
            begin = state[0] = 0
        feed.start = 0

    def _shares(self, width: int, memory: int) -> tuple[int, int]:
        """Lines of a block, of which memory holds two at a time (as they were read, and turned), and bytes put away.

        A quarter is for words, another for blocks being read, and half for blocks put away, or less where a block of
        two lines needs more than its quarter: what does not fit goes to the scratch file.
        """
        line = width * 8
        fixed = 2 * PIECE_BYTES + _MOST_CELLS * CELL_FIELDS * 8 + self.n_cells_a_line * 8
        least = fixed + 2 * line
        put_away = min(memory // 2, memory - memory // 4 - least)
        if put_away < 0:
            raise BudgetError(f"a block of {self.title} does not fit the memory given", 4 * least // 3 + 1)
        room = max(memory // 4, least) - fixed
        return int(min(room // (2 * line), max(1, 2**24 // line))), put_away


@dataclass(frozen=True, slots=True)
class _Parsed:
    cells: NDArray[np.int64]
    rows: int


class _TextReader(Reader):
    def __init__(self, blocks: RowBlocks[np.float64] | ColumnBlocks, n_rows: int, words: CellReader) -> None:
        self._blocks = blocks
        self._words = words
        self.n_rows = n_rows
        self.caches = blocks.held
        self.keeps = words.held

    def overhead(self) -> int:
        return self.n_rows * 8

    def band(self, start: int, stop: int) -> Band:
        return self._words.band(start, self._blocks.columns(start, stop))


class _FeatureReader(_TextReader):
    """Features come in the order of the file; they are wanted in another."""

    def __init__(self, blocks: ColumnBlocks, n_rows: int, words: CellReader, kept: NDArray[np.int64]) -> None:
        super().__init__(blocks, n_rows, words)
        self._line_of = np.argsort(kept)

    def band(self, start: int, stop: int) -> Band:
        lines = self._line_of[start:stop]
        if (np.diff(lines) == 1).all():
            values = self._blocks.columns(int(lines[0]), int(lines[-1]) + 1)
        else:
            values = np.concatenate([self._blocks.columns(line, line + 1) for line in lines.tolist()])
        return self._words.band(start, values)


def _dialect(form: TextFormat, text: NDArray[np.uint8], path: Path) -> Dialect:
    words = [word.encode() for word in form.missing]
    joined = np.frombuffer(b"".join(words), np.uint8).copy()
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    delimiter = form.delimiter or _likely_delimiter(text.tobytes(), path, form.decimal)
    numbers_too = any(set(word) & set("0123456789") for word in form.missing)
    return Dialect(ord(delimiter), ord('"'), ord(form.decimal), joined, ends, numbers_too)


def _likely_delimiter(text: bytes, path: Path, decimal: str) -> str:
    line = text.lstrip(b"\r\n").split(b"\n", 1)[0]
    outside = b"".join(line.split(b'"')[::2])
    counts = {c: outside.count(c.encode()) for c in "\t;,|" if c != decimal}
    if {".tsv", ".tab"} & {s.lower() for s in path.suffixes} and counts["\t"]:
        return "\t"
    best = max(counts, key=lambda c: counts[c])
    if counts[best]:
        return best
    if {".txt", ".dat"} & {s.lower() for s in path.suffixes} and b" " in outside.strip():
        return " "
    return "," if decimal != "," else ";"
