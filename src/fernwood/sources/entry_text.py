"""Sparse tables in text files: what MatrixMarket and SVMlight have in common."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import BudgetError, SourceError, shown
from fernwood.files import size_of
from fernwood.kernels.entries import LONG_FIELDS
from fernwood.kernels.ready import load_compiled
from fernwood.kernels.text import FULL, HUNGRY, copy_cells
from fernwood.sources.base import Progress, Reader, Source, Workspace
from fernwood.sources.entries import ColumnEntries, Entries, places_of
from fernwood.sources.feed import TextFeed
from fernwood.sources.names import NumberedNames
from fernwood.sources.sparse_columns import FoundColumns, SparseReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["EntryTextSource", "long_numbers"]

_FEED_BYTES = 3 * 2**20
"""A piece of text, and numbers pointed out in it."""
_ALWAYS_COLUMNS, _COLUMNS_A_BYTE = 2**20, 4


class EntryTextSource(Source):
    """A text file of entries, which are sorted into columns when it is read."""

    def __init__(self, path: Path) -> None:
        self.title = shown(path.name)
        self.n_bytes = size_of(path)
        self.n_rows = 0
        self._path = path
        load_compiled("text", "entries", "sparse", "checksums")

    def numbered(self, n_columns: int) -> NumberedNames:
        """Names of so many columns; far more than a file of this size could have entries of are refused.

        A line says how many columns there are, and every one of them takes memory, and room in the store.
        """
        most = max(_ALWAYS_COLUMNS, _COLUMNS_A_BYTE * self.n_bytes)
        if n_columns > most:
            raise SourceError(
                f"{self.title} says that it has {n_columns:,} columns, and is too small a file to have entries of most "
                f"of them (up to {most:,} are taken); write it with the columns that are in use"
            )
        return NumberedNames(n_columns)

    @contextmanager
    def feeding(self) -> Iterator[TextFeed]:
        """The text of the file, while it is open."""
        feed = TextFeed(self._path)
        try:
            yield feed
        finally:
            feed.close()

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Read the entries of the wanted columns."""
        place_of, found = places_of(columns, len(self.names))
        fixed = _FEED_BYTES + place_of.nbytes
        try:
            entries = ColumnEntries(int(found.max(initial=-1)) + 1, workspace.scratch, workspace.memory - fixed)
        except BudgetError as error:
            raise BudgetError(
                f"the entries of {self.title} do not fit the memory given", error.least + fixed
            ) from error
        try:
            self.read(entries, place_of, workspace)
            columns_found = FoundColumns(entries.finish(), found)
            yield SparseReader(columns_found, self.n_rows, entries.dtype, self.title)
        finally:
            entries.close()

    @abstractmethod
    def read(self, entries: ColumnEntries, place_of: NDArray[np.int64], workspace: Workspace) -> None:
        """Read all entries of the columns that have a place."""

    def feed_entries(
        self,
        feed: TextFeed,
        entries: ColumnEntries,
        state: NDArray[np.int64],
        parse: Callable[[Entries, NDArray[np.int64]], int],
        workspace: Workspace,
    ) -> int:
        """Parse a text to its end, or to what is wrong with it: that is the outcome.

        `parse` takes room for entries and for numbers to point out; of `state`, which is its own, the first four are
        the place in the text, the line, entries kept and numbers pointed out.
        """
        longs = np.empty((2**14, LONG_FIELDS), np.int64)
        while True:
            room = entries.room()
            state[2] = state[3] = 0
            outcome = parse(room, longs)
            told = longs[: state[3]]
            told = told[told[:, 0] >= 0]
            if len(told):
                room.values[told[:, 0]] = long_numbers(feed.text, told)
            entries.take(int(state[2]))
            if outcome == FULL:
                continue
            if outcome != HUNGRY or feed.final:
                return outcome
            feed.advance(int(state[0]))
            state[0] = 0
            workspace.progress(Progress("reading", feed.position, self.n_bytes, "bytes"))


def long_numbers(text: NDArray[np.uint8], longs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The numbers that a kernel pointed out, rounded correctly."""
    begins, ends = np.ascontiguousarray(longs[:, 1]), np.ascontiguousarray(longs[:, 2])
    out = np.empty(int((ends - begins).sum()), np.uint8)
    offsets = copy_cells(text, begins, ends, out)
    words = pa.Array.from_buffers(pa.large_string(), len(longs), [None, pa.py_buffer(offsets), pa.py_buffer(out)])
    numbers: NDArray[np.float64] = words.cast(pa.float64()).to_numpy()
    return numbers
