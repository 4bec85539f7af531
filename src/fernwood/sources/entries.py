"""Entries (row, column, value) in any order become columns, under a budget: sorted runs, in memory or a scratch file.

entries come in               each run is sorted by column        a band reads its part of every run
(3,b) (0,a) (7,c) (2,b) …     run 0: a a | b b b | c              b: run 0, run 1
…                             run 1: a | b | c c c                c: run 0, run 1
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import BudgetError
from fernwood.files import FileWriter, remove
from fernwood.kernels.entries import sort_by_column
from fernwood.sources.repeating import distinct
from fernwood.sources.sparse_columns import Columns, fit_float32

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


__all__ = ["ColumnEntries", "Entries", "places_of"]

_ENTRY_BYTES = 4 + 4 + 8  # row, column and value as they come
_SORTED_BYTES = 4 + 8  # row and value, sorted
_FEWEST = 2**14


class Entries(NamedTuple):
    """Room for entries: int32 rows and columns, float64 values."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]

    def first(self, n: int) -> Entries:
        """The first n of them."""
        return Entries(self.rows[:n], self.columns[:n], self.values[:n])


class _Run(NamedTuple):
    """Entries sorted by column, and where each column begins."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.rows.nbytes + self.values.nbytes


class ColumnEntries:
    """Takes entries until all are there, then gives columns.

    Parameters
    ----------
    n_columns
        Columns that entries belong to, from 0 on.
    directory
        Where a scratch file may be made.
    memory
        Bytes that all of this may take while entries come in; half of it afterwards.

    Examples
    --------
    >>> from pathlib import Path
    >>> entries = ColumnEntries(2, Path(), 10**7)
    >>> room = entries.room()
    >>> room.rows[:3], room.columns[:3], room.values[:3] = [4, 0, 1], [1, 0, 1], [7.0, 8.0, 9.0]
    >>> entries.take(3)
    >>> entries.finish().read(1, 2).rows
    array([4, 1], dtype=int32)
    """

    def __init__(self, n_columns: int, directory: Path, memory: int) -> None:
        self._n_columns = n_columns
        self._directory = directory
        fixed = 24 * (n_columns + 1)
        capacity = (memory // 2 - fixed) // (_ENTRY_BYTES + _SORTED_BYTES)
        if capacity < _FEWEST:
            least = 2 * (fixed + _FEWEST * (_ENTRY_BYTES + _SORTED_BYTES))
            raise BudgetError("entries of a sparse table do not fit the memory given", least)
        self._capacity = int(min(capacity, 2**26))
        self._room: Entries | None = self._new_room(2**16)
        self._filled = 0
        self._runs: list[_Run] = []
        self._places: list[int] = []
        self._file: FileWriter | None = None
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32)
        """The smallest type that holds every entry exactly; counts of molecules need no doubles, and sort faster."""
        self.counts = np.zeros(n_columns, np.int64)
        """Entries of every column."""

    def _new_room(self, size: int) -> Entries:
        size = min(size, self._capacity)
        return Entries(np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size))

    def room(self) -> Entries:
        """Where the next entries go, from its first place on; never empty."""
        assert self._room is not None  # noqa: S101  (until all entries are there)
        if self._filled == len(self._room.rows):
            if self._filled < self._capacity:
                # Twice as much, so that small tables take little; the old room goes at once.
                larger = self._new_room(2 * self._filled)
                larger.rows[: self._filled] = self._room.rows
                larger.columns[: self._filled] = self._room.columns
                larger.values[: self._filled] = self._room.values
                self._room = larger
            else:
                self._sort()
        rows, columns, values = self._room
        return Entries(rows[self._filled :], columns[self._filled :], values[self._filled :])

    def take(self, n: int) -> None:
        """Take the first n entries of the room."""
        self._filled += n

    def _sort(self) -> None:
        assert self._room is not None  # noqa: S101  (until all entries are there)
        if self._runs:  # a second run: what memory holds goes to the file
            self._file = FileWriter(self._directory / f"scratch-{secrets.token_hex(4)}.bin", sync=False)
            self._write(self._file, self._runs.pop())
        run = _sorted(self._room.first(self._filled), self._n_columns)
        self._filled = 0
        self.counts += np.diff(run.offsets)
        if self.dtype == np.float32 and not fit_float32(run.values):
            self.dtype = np.dtype(np.float64)
        if self._file is None:
            self._runs.append(run)
        else:
            self._write(self._file, run)

    def _write(self, file: FileWriter, run: _Run) -> None:
        self._places.append(file.tell())
        for part in run:
            file.write(part)

    def finish(self) -> ColumnEntries:
        """All entries are there: from now on columns can be read."""
        if self._filled or not (self._runs or self._file):
            self._sort()
        self._room = None
        return self

    @property
    def held(self) -> int:
        """Bytes kept in memory because they fit."""
        return sum(run.nbytes for run in self._runs)

    @property
    def keeps(self) -> int:
        """Bytes that stay in memory however small the budget is."""
        return self.counts.nbytes

    @property
    def size(self) -> int:
        """Bytes of all entries, sorted."""
        return 8 * (self._n_columns + 1) * max(1, len(self._places)) + _SORTED_BYTES * int(self.counts.sum())

    def read(self, start: int, stop: int) -> Columns:
        """The columns from `start` to before `stop`."""
        if self._runs:
            run = self._runs[0]
            first, last = run.offsets[start], run.offsets[stop]
            whole = _Run(run.offsets[start : stop + 1] - first, run.rows[first:last], run.values[first:last])
        else:
            parts = [self._read_run(i, start, stop) for i in range(len(self._places))]
            owners = [np.repeat(np.arange(stop - start, dtype=np.int32), np.diff(part.offsets)) for part in parts]
            together = Entries(
                np.concatenate([part.rows for part in parts]),
                np.concatenate(owners),
                np.concatenate([part.values for part in parts]),
            )
            whole = _sorted(together, stop - start)
        return Columns(whole.offsets, whole.rows, whole.values)

    def _read_run(self, i: int, start: int, stop: int) -> _Run:
        """Some columns of a run in the file."""
        assert self._file is not None  # noqa: S101  (places are places in it)
        place = self._places[i]
        offsets = np.empty(stop - start + 1, np.int64)
        self._file.read_into(offsets.data.cast("B"), place + 8 * start)
        end = np.empty(1, np.int64)
        self._file.read_into(end.data.cast("B"), place + 8 * self._n_columns)
        rows_at = place + 8 * (self._n_columns + 1)
        values_at = rows_at + 4 * int(end[0])
        first, n = int(offsets[0]), int(offsets[-1] - offsets[0])
        rows, values = np.empty(n, np.int32), np.empty(n)
        if n:
            self._file.read_into(rows.data.cast("B"), rows_at + 4 * first)
            self._file.read_into(values.data.cast("B"), values_at + 8 * first)
        return _Run(offsets - first, rows, values)

    def close(self) -> None:
        """Forget everything, the scratch file too."""
        self._runs.clear()
        self._room = None
        if self._file is not None:
            self._file.discard()
            remove(self._file.path)


def _sorted(entries: Entries, n_columns: int) -> _Run:
    n = len(entries.rows)
    run = _Run(np.empty(n_columns + 1, np.int64), np.empty(n, np.int32), np.empty(n))
    sort_by_column(*entries, *run)
    return run


def places_of(columns: NDArray[np.int64], n_columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where entries of every column of a table go (−1: nowhere), and where each wanted column is then found.

    Examples
    --------
    >>> places_of(np.array([3, 1, 3]), 4)
    (array([-1,  1, -1,  0]), array([0, 1, 0]))
    """
    once, found = distinct(columns)
    place_of = np.full(n_columns, -1, np.int64)
    place_of[once] = np.arange(len(once))
    return place_of, found
