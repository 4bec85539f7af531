"""Columns of a sparse table, from values that are stored column by column, or row by row.

Stored by columns (CSC), the values of some columns lie together and are read where they are. Stored by rows (CSR), they
are sorted by column, some millions at a time; every such block is kept in memory while there is room, then in a scratch
file, and a band reads its part of every block:

    rows come in               each block is kept by column          a band reads its part of every block
    r0: b e   r1: a b          block 0: a1 | b0 b1 |    | e0         b: block 0, block 1
    r2: b d   r3: e            block 1:    | b2    | d2 | e3         d: block 1
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from fernwood.errors import SourceError
from fernwood.kernels.ready import load_compiled
from fernwood.kernels.sparse_coding import append_block, turn_rows
from fernwood.shortage import check_threads
from fernwood.sources.arrays import float_type
from fernwood.sources.base import Band, Kind, Progress, Reader, SparseBand
from fernwood.sources.repeating import distinct, runs_of
from fernwood.sources.scratch import Scratch
from fernwood.sources.typed import exact_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from fernwood.sources.base import Workspace

__all__ = [
    "Columns",
    "FoundColumns",
    "SortedColumns",
    "SparseReader",
    "StoredColumns",
    "TurnedRows",
    "Vector",
    "fit_float32",
    "get_ready",
    "plain_type",
    "row_starts",
]

_CELLS_AT_A_TIME, _VALUES_AT_A_TIME = 2**20, 2**14
_Type = TypeVar("_Type", bound=np.generic)


def get_ready() -> None:
    """Compile, or load, what is needed; before anybody counts how much memory is left."""
    load_compiled("sparse", "checksums")


class Vector(Protocol):
    """Numbers in a row, wherever they are."""

    dtype: np.dtype[np.generic]

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> NDArray[np.generic]: ...


class Columns(NamedTuple):
    """The stored values of some columns: where each begins, their rows, and the values as they were stored."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.generic]


class _Stored(Protocol):
    counts: NDArray[np.int64]

    def read(self, start: int, stop: int) -> Columns: ...


class SortedColumns(_Stored, Protocol):
    """Columns that were sorted, in memory or a scratch file."""

    @property
    def keeps(self) -> int:
        """Bytes that stay in memory however small the budget is."""

    @property
    def held(self) -> int:
        """Bytes kept in memory because they fit."""

    @property
    def size(self) -> int:
        """Bytes of all that was sorted."""


class StoredColumns:
    """Columns of a table that is stored by columns."""

    def __init__(
        self,
        starts: NDArray[np.int64],
        rows: Vector,
        values: Vector,
        wanted: NDArray[np.int64],
        n_rows: int,
        title: str,
    ) -> None:
        self._starts = starts
        self._rows = rows
        self._values = values
        self._wanted = wanted
        self._n_rows = n_rows
        self._title = title
        self.counts = starts[wanted + 1] - starts[wanted]

    def read(self, start: int, stop: int) -> Columns:
        """The wanted columns from `start` to before `stop`."""
        wanted = self._wanted[start:stop]
        rows, values = [], []
        for run in runs_of(wanted):
            part = slice(int(self._starts[run[0]]), int(self._starts[run[-1] + 1]))
            rows.append(_small(self._rows[part], self._n_rows, "row", self._title))
            values.append(self._values[part])
        together = _together(values)
        plain = together.astype(plain_type(together.dtype), copy=False)
        return Columns(_begins(self.counts[start:stop]), _together(rows), plain)


class TurnedRows:
    """Columns of a table that is stored by rows.

    Parameters
    ----------
    n_columns
        How many the table has.
    wanted
        Positions of the columns to keep, each once.
    dtype
        Of the values.
    workspace
        Half of its memory may hold blocks.
    """

    def __init__(
        self, n_columns: int, wanted: NDArray[np.int64], dtype: np.dtype[np.generic], workspace: Workspace, title: str
    ) -> None:
        self._place_of = np.full(n_columns, -1, np.int32)
        self._place_of[wanted] = np.arange(len(wanted))
        self._n_columns = n_columns
        self._dtype = plain_type(dtype)
        self._bits = np.dtype(f"u{self._dtype.itemsize}")
        self._title = title
        self._workspace = workspace
        self._scratch = Scratch(workspace.scratch, workspace.memory // 2)
        self._n_blocks = self._size = 0
        self.counts = np.zeros(len(wanted), np.int64)

    @property
    def held(self) -> int:
        """Bytes kept in memory, but for the counts."""
        return self._scratch.held

    @property
    def size(self) -> int:
        """Bytes of all blocks, wherever they are."""
        return self._size

    @property
    def keeps(self) -> int:
        """Bytes that stay in memory however small the budget is."""
        return self._place_of.nbytes + self.counts.nbytes

    def fill(self, starts: NDArray[np.int64], indices: Vector, values: Vector) -> None:
        """Sort the values of all rows; row r has those from `starts[r]` to before `starts[r + 1]`."""
        # While some values are sorted, the next are read: each is there up to three times, each index too.
        a_value = 3 * values.dtype.itemsize + 2 * indices.dtype.itemsize + 8
        most = max(self._workspace.memory // 6 // a_value, 1)
        parts = [slice(first, min(first + most, len(values))) for first in range(0, len(values), most)]

        def read(part: slice) -> tuple[NDArray[np.int32], NDArray[np.generic]]:
            return _small(indices[part], self._n_columns, "column", self._title), values[part]

        check_threads(1)
        with ThreadPoolExecutor(1) as ahead:
            coming = [ahead.submit(read, part) for part in parts[:1]]
            for place, part in enumerate(parts):
                self._workspace.progress(Progress("turning rows", part.start, len(values), "values"))
                found = coming.pop().result()
                coming += [ahead.submit(read, after) for after in parts[place + 1 : place + 2]]
                self._append(starts, part.start, *found)
                del found

    def _append(
        self, starts: NDArray[np.int64], first: int, indices: NDArray[np.int32], values: NDArray[np.generic]
    ) -> None:
        offsets = np.empty(len(self.counts) + 1, np.int64)
        rows, sorted_values = np.empty(len(values), np.int32), np.empty(len(values), self._bits)
        values = np.ascontiguousarray(values, self._dtype).view(self._bits)
        at = int(turn_rows(starts, first, indices, values, self._place_of, offsets, rows, sorted_values))
        if at >= 0:
            raise _beyond(int(indices[at]), self._n_columns, "column", self._title)
        n = int(offsets[-1])
        self._scratch.append(offsets)
        self._scratch.append(rows if n == len(rows) else rows[:n].copy())
        self._scratch.append(sorted_values if n == len(rows) else sorted_values[:n].copy())
        self._n_blocks += 1
        self._size += offsets.nbytes + n * (4 + self._bits.itemsize)
        self.counts += np.diff(offsets)

    def read(self, start: int, stop: int) -> Columns:
        """The wanted columns from `start` to before `stop`."""
        counts = self.counts[start:stop]
        starts = _begins(counts)
        if self._n_blocks == 1:
            _, rows, values = self._block(0, start, stop)
            return Columns(starts, rows, values.view(self._dtype))
        rows, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], self._bits)
        at = starts[:-1].copy()
        for block in range(self._n_blocks):
            append_block(*self._block(block, start, stop), at, rows, values)
        return Columns(starts, rows, values.view(self._dtype))

    def _block(
        self, block: int, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.generic]]:
        offsets = self._scratch.part(3 * block, start, stop - start + 1, np.dtype(np.int64))
        part = int(offsets[0]), int(offsets[-1] - offsets[0])
        rows = self._scratch.part(3 * block + 1, *part, np.dtype(np.int32))
        return offsets, rows, self._scratch.part(3 * block + 2, *part, self._bits)

    def close(self) -> None:
        """Forget everything, the scratch file too."""
        self._scratch.close()


class FoundColumns:
    """Columns that are asked for in any order, some more than once, from those that were sorted once."""

    def __init__(self, sorted_: SortedColumns, found: NDArray[np.int64]) -> None:
        self.sorted = sorted_
        self._found = found
        self.counts = sorted_.counts[found]

    def read(self, start: int, stop: int) -> Columns:
        """The wanted columns from `start` to before `stop`."""
        parts = [self.sorted.read(int(run[0]), int(run[-1]) + 1) for run in runs_of(self._found[start:stop])]
        if len(parts) == 1:
            return parts[0]
        rows, values = _together([part.rows for part in parts]), _together([part.values for part in parts])
        return Columns(_begins(self.counts[start:stop]), rows, values)


class SparseReader(Reader):
    """Bands of sparse columns; values that are stored more than once in a cell are summed, as SciPy does."""

    def __init__(self, columns: _Stored, n_rows: int, dtype: np.dtype[np.generic], title: str, keeps: int = 0) -> None:
        self._columns = columns
        self._given, self._dtype = dtype, float_type(dtype, title)
        self._kind = Kind.BOOLEAN if dtype.kind == "b" else Kind.NUMBER
        self.n_rows = n_rows
        self.keeps = keeps
        if isinstance(columns, FoundColumns):
            self.keeps += columns.sorted.keeps
            self.caches = columns.sorted.held
            self.would_cache = columns.sorted.size

    def overhead(self) -> int:
        """Bytes for every column of a dense band."""
        return 3 * self.n_rows * 8

    def stored(self) -> NDArray[np.int64]:
        """How many values every wanted column stores."""
        return self._columns.counts

    def sparse_band(self, start: int, stop: int) -> SparseBand:
        """The wanted columns from `start` to before `stop`."""
        return self._sparse(start, stop, self._dtype)

    def _sparse(self, start: int, stop: int, dtype: np.dtype[Any]) -> SparseBand:
        columns = self._columns.read(start, stop)
        if not _in_order(columns):
            columns = _summed(columns, self.n_rows)
            if dtype == np.float32 and not fit_float32(columns.values):  # as each of what was summed does
                dtype = np.dtype(np.float64)
        kinds = np.full(stop - start, self._kind, np.uint8)
        values = columns.values.astype(dtype, copy=False)
        return SparseBand(self.n_rows, columns.starts, columns.rows, values, kinds)

    def band(self, start: int, stop: int) -> Band:
        """The same, with all zeros."""
        return self.sparse_band(start, stop).dense()

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        """The same as Arrow arrays of the type of the numbers."""
        return [*exact_columns(self._sparse(start, stop, self._given).dense().values)]


@contextmanager
def turning(
    shape: tuple[int, int],
    columns: NDArray[np.int64],
    starts: NDArray[np.int64],
    indices: Vector,
    values: Vector,
    workspace: Workspace,
    title: str,
) -> Iterator[SparseReader]:
    """A reader of some columns of a table that is stored by rows, while the block runs.

    Parameters
    ----------
    shape
        Rows and columns of the table.
    columns
        The wanted ones, in any order.
    starts, indices, values
        As `TurnedRows.fill` takes them.
    workspace, title
    """
    n_rows, n_columns = shape
    once, found = distinct(columns)
    turned = TurnedRows(n_columns, once, values.dtype, workspace, title)
    try:
        turned.fill(starts, indices, values)
        del starts
        yield SparseReader(FoundColumns(turned, found), n_rows, values.dtype, title)
    finally:
        turned.close()


def plain_type(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type that stored numbers are sorted and summed in: SciPy has floats of four and eight bytes, in its order.

    Examples
    --------
    >>> plain_type(np.dtype(np.float16)), plain_type(np.dtype(">i8"))
    (dtype('float32'), dtype('int64'))
    """
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return float_type(dtype, "the table")
    return dtype.newbyteorder("=")


def row_starts(starts: NDArray[np.generic], n: int, n_stored: int, title: str) -> NDArray[np.int64]:
    """Where rows (or columns) begin, checked: from 0 up to how many values there are."""
    begins = np.asarray(starts, np.int64)
    if len(begins) != n + 1 or begins[0] != 0 or begins[-1] != n_stored or (np.diff(begins) < 0).any():
        raise SourceError(
            f"the index (indptr) of {title} does not lead from 0 up to its {n_stored} values in {n} steps: the file is "
            "damaged or not whole; copy or write it again"
        )
    return begins


def fit_float32(values: NDArray[Any]) -> bool:
    """Whether single precision holds all values."""
    with np.errstate(over="ignore"):  # what is too large does not fit
        pieces = (values[i : i + _VALUES_AT_A_TIME] for i in range(0, len(values), _VALUES_AT_A_TIME))
        return all((piece.astype(np.float32) == piece).all() for piece in pieces)


def _begins(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _together(parts: list[NDArray[_Type]]) -> NDArray[_Type]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _small(places: NDArray[np.generic], n: int, what: str, title: str) -> NDArray[np.int32]:
    """Positions among n as 32-bit integers; those of rows, which no kernel looks at, are checked."""
    if len(places) and (what == "row" or places.dtype.itemsize > 4 or places.dtype.kind == "u"):
        lowest, highest = int(places.min()), int(places.max())
        if lowest < 0 or highest >= n:
            raise _beyond(lowest if lowest < 0 else highest, n, what, title)
    return np.ascontiguousarray(places, np.int32)


def _beyond(place: int, n: int, what: str, title: str) -> SourceError:
    return SourceError(
        f"{title} has a value in {what} {place}, and there are {n} {what}s: the file is damaged; copy or write it again"
    )


def _in_order(columns: Columns) -> bool:
    """Whether rows rise in every column, so that none stands twice."""
    if len(columns.rows) < 2:
        return True
    rises = columns.rows[1:] > columns.rows[:-1]
    inner = columns.starts[1:-1]
    rises[inner[(inner > 0) & (inner < len(columns.rows))] - 1] = True
    return bool(rises.all())


def _summed(columns: Columns, n_rows: int) -> Columns:
    """The same with every row once a column and in order: what SciPy makes of it, some columns at a time."""
    from scipy.sparse import csr_array

    counts, rows, values = [], [], []
    n_columns = len(columns.starts) - 1
    step = max(1, _CELLS_AT_A_TIME // max(n_rows, 1))
    for first in range(0, n_columns, step):
        starts = columns.starts[first : min(first + step, n_columns) + 1]
        part = slice(starts[0], starts[-1])
        # By columns turned over is by rows: what comes out has columns contiguous.
        dense = csr_array(
            (columns.values[part], columns.rows[part], starts - starts[0]), (len(starts) - 1, n_rows)
        ).toarray()
        column, row = np.nonzero(dense)
        counts.append(np.bincount(column, minlength=len(dense)))
        rows.append(row.astype(np.int32))
        values.append(dense[column, row])
    return Columns(_begins(np.concatenate(counts)), np.concatenate(rows), np.concatenate(values))
