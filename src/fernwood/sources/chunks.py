"""Arrays that are kept in chunks, of HDF5 and Zarr, as sources: every chunk is read and decompressed once.

Chunks that hold many rows of few columns are read as bands: all chunks of some columns at a time.

    one band -> [ 0 ][ 2 ]...         what a band leaves of its last chunks waits for the next
                [ 1 ][ 3 ]...

Where all rows of one chunk's width do not fit the budget, chunks are read row by row and turned in a scratch file.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.errors import BudgetError, SourceError, shown
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrays import TurnedReader, array_band, as_slice, float_type
from fernwood.sources.arrow import first_line
from fernwood.sources.base import Band, Progress, Reader, Source, Workspace
from fernwood.sources.deflated import DeflatedVector, is_deflated
from fernwood.sources.names import NumberedNames
from fernwood.sources.scratch import RowBlocks
from fernwood.sources.sparse_columns import SparseReader, StoredColumns, get_ready, row_starts, turning
from fernwood.sources.typed import exact_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["ChunkedSource", "ChunkedVector", "Guarded", "SparseFileSource"]

_SMALLEST_PIECE = 4096  # bytes of a row that are worth going to another place for
_CHUNKS_IN_FLIGHT = 4


class Guarded:
    """An array of HDF5 or Zarr; what goes wrong while it is read is said in a sentence."""

    def __init__(self, array: Any, title: str) -> None:
        self._array = DeflatedVector(array) if is_deflated(array) else array
        self._title = title
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype[np.generic] = array.dtype
        self.chunks: tuple[int, ...] | None = array.chunks

    def __getitem__(self, part: slice | tuple[slice, ...]) -> NDArray[np.generic]:
        try:
            values = np.asarray(self._array[part])
        except (OSError, RuntimeError, ValueError, KeyError, zlib.error) as error:
            pass_on_shortage(error)
            raise SourceError(
                f"{self._title} cannot be read, it may be damaged, or packed by a filter that is not installed "
                f"({first_line(error)}); copy or write it again"
            ) from error
        return values.astype(values.dtype.newbyteorder("="), copy=False)


class ChunkedVector:
    """An array of one dimension, read front to back: a chunk that is needed again waits."""

    def __init__(self, array: Guarded) -> None:
        self._array = array
        self.dtype = array.dtype.newbyteorder("=")
        self._size = array.shape[0]
        self._chunk = array.chunks[0] if array.chunks else 1
        self._kept: NDArray[np.generic] = np.empty(0, self.dtype)
        self._kept_from = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> NDArray[np.generic]:
        start, stop, _ = part.indices(self._size)
        if stop <= start:
            return np.empty(0, self.dtype)
        known = self._kept_from + len(self._kept)
        if not self._kept_from <= start <= known:
            self._kept, self._kept_from, known = self._kept[:0], start, start
        found = self._kept[start - self._kept_from :]
        if stop > known:
            end = min(-(-stop // self._chunk) * self._chunk, self._size)
            fresh = self._array[known:end]
            found = np.concatenate((found, fresh)) if len(found) else fresh
        self._kept, self._kept_from = found[stop - start :].copy(), stop
        return found[: stop - start]


class ChunkedSource(Source):
    """A table in an array of two dimensions, rows × columns.

    Parameters
    ----------
    opened
        Opens the array; its `shape`, `dtype`, `chunks` (None: it lies in one piece, row by row) and slices are used.
    title
    """

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]], title: str) -> None:
        self.title = title
        self._opened = opened
        with opened() as array:
            shape, dtype = tuple(array.shape), array.dtype
        if len(shape) != 2:
            raise SourceError(f"{title} has shape {shape}; a table has two dimensions: rows × columns")
        float_type(dtype, title)
        self.names = NumberedNames(shape[1])
        self.n_bytes = shape[0] * shape[1] * dtype.itemsize

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Open the array to read some columns."""
        with self._opened() as opened:
            array = Guarded(opened, self.title)
            chunk = _chunk_of(array, workspace.memory)
            if array.shape[0] * chunk.width * array.dtype.itemsize * 2 <= workspace.memory // 4:
                yield _BandReader(array, columns, chunk.width, self.title)
                return
            wanted = np.unique(columns)
            blocks = RowBlocks(array.dtype.newbyteorder("="), workspace.scratch, workspace.memory // 2)
            try:
                _turn(array, chunk, wanted, blocks, workspace)
                yield TurnedReader(blocks, array.dtype.newbyteorder("="), np.searchsorted(wanted, columns))
            finally:
                blocks.close()


class _Chunk(NamedTuple):
    height: int
    width: int


def _chunk_of(array: Guarded, memory: int) -> _Chunk:
    """The shape of a chunk; what lies in one piece is cut as the budget likes it."""
    n_rows, n_columns = array.shape
    if array.chunks is not None:
        return _Chunk(min(array.chunks[0], max(n_rows, 1)), min(array.chunks[1], max(n_columns, 1)))
    piece = max(_SMALLEST_PIECE // array.dtype.itemsize, 1)
    if n_rows * piece * array.dtype.itemsize * 2 <= memory // 4:
        return _Chunk(n_rows, min(piece, max(n_columns, 1)))
    return _Chunk(1, n_columns)


def _turn(
    array: Guarded, chunk: _Chunk, wanted: NDArray[np.int64], blocks: RowBlocks[np.generic], workspace: Workspace
) -> None:
    """Read all chunks in their order, as many of a row of them at a time as fit, and turn them."""
    n_rows, n_columns = array.shape
    a_cell = array.dtype.itemsize * 2 + 8
    room = workspace.memory // 8
    if chunk.height * chunk.width * a_cell > workspace.memory // 4:
        least = 4 * chunk.height * chunk.width * a_cell
        raise BudgetError(f"a chunk of {chunk.height} × {chunk.width} values does not fit the memory given", least)
    width = max(room // (chunk.height * a_cell) // chunk.width, 1) * chunk.width
    height = chunk.height
    if width >= n_columns:
        height *= max(room // (n_columns * chunk.height * a_cell), 1)
    for row in range(0, n_rows, height):
        workspace.progress(Progress("turning rows", row, n_rows, "rows"))
        for column in range(0, n_columns, width):
            first, last = np.searchsorted(wanted, (column, column + width))
            if first < last:
                tile = array[row : min(row + height, n_rows), column : min(column + width, n_columns)]
                blocks.put(tile[:, as_slice(wanted[first:last] - column)], row, int(first))


class _BandReader(Reader):
    """Reads all chunks of some columns at a time."""

    def __init__(self, array: Guarded, columns: NDArray[np.int64], width: int, title: str) -> None:
        self._array = array
        self._columns = columns
        self._width = width
        self._title = title
        self._kept: dict[int, NDArray[np.generic]] = {}
        self.n_rows = array.shape[0]
        # The chunks at both ends of a band hang over; the last ones stay, and some are being unpacked.
        self.keeps = (2 + 1) * self.n_rows * width * array.dtype.itemsize
        if array.chunks is not None:
            self.keeps += _CHUNKS_IN_FLIGHT * array.chunks[0] * width * array.dtype.itemsize

    def overhead(self) -> int:
        return 2 * self.n_rows * self._array.dtype.itemsize

    def band(self, start: int, stop: int) -> Band:
        return array_band(self._values(start, stop), self._title)

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        return [*exact_columns(self._values(start, stop).T)]

    def _values(self, start: int, stop: int) -> NDArray[np.generic]:
        wanted = self._columns[start:stop]
        needed = np.unique(wanted // self._width)
        kept = {place: self._kept[place] for place in needed.tolist() if place in self._kept}
        fresh = np.array([place for place in needed.tolist() if place not in kept], np.int64)
        values = np.empty((self.n_rows, len(wanted)), self._array.dtype.newbyteorder("="), order="F")
        for place, part in kept.items():
            self._copy(part, place * self._width, wanted, values)
        for run in np.split(fresh, np.flatnonzero(np.diff(fresh) != 1) + 1):
            if len(run):
                first, last = int(run[0]) * self._width, (int(run[-1]) + 1) * self._width
                part = self._array[:, first : min(last, self._array.shape[1])]
                self._copy(part, first, wanted, values)
                kept[int(run[-1])] = part[:, last - self._width - first :]
        # Only the chunks that the next band goes on with: those of its first column.
        follows = self._columns[stop : stop + 1] // self._width
        self._kept = {place: kept[place].copy() for place in follows.tolist() if place in kept}
        return values

    @staticmethod
    def _copy(part: NDArray[np.generic], first: int, wanted: NDArray[np.int64], values: NDArray[np.generic]) -> None:
        inside = np.flatnonzero((wanted >= first) & (wanted < first + part.shape[1]))
        values[:, as_slice(inside)] = part[:, as_slice(wanted[inside] - first)]


class SparseFileSource(Source):
    """A table that is stored as three vectors: CSR or CSC.

    Parameters
    ----------
    opened
        Opens what has the vectors ``data``, ``indices`` and ``indptr`` under these names.
    shape
        Rows and columns.
    by_columns
        Whether it is CSC.
    title
    """

    def __init__(
        self, opened: Callable[[], AbstractContextManager[Any]], shape: tuple[int, int], by_columns: bool, title: str
    ) -> None:
        self.title = title
        self._opened = opened
        self._shape = shape
        self._by_columns = by_columns
        self.names = NumberedNames(shape[1])
        with opened() as group:
            for name in ("data", "indices", "indptr"):
                _check_vector(group[name], name, title)
            lengths = {name: group[name].shape[0] for name in ("data", "indices")}
            dtype, index = group["data"].dtype, group["indices"].dtype
        float_type(dtype, title)
        if lengths["data"] != lengths["indices"]:
            raise SourceError(
                f"{title} has {lengths['data']} values and {lengths['indices']} indices: the file is damaged or not "
                "whole; copy or write it again"
            )
        self.n_bytes = lengths["data"] * (dtype.itemsize + index.itemsize)
        get_ready()

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Open the vectors to read some columns."""
        n_rows, n_columns = self._shape
        with self._opened() as group:
            parts = [Guarded(group[name], self.title) for name in ("indptr", "indices", "data")]
            indices, values = (ChunkedVector(part) for part in parts[1:])
            n_begins = n_columns if self._by_columns else n_rows
            starts = row_starts(parts[0][:], n_begins, len(values), self.title)
            if self._by_columns:
                stored = StoredColumns(starts, indices, values, columns, n_rows, self.title)
                yield SparseReader(stored, n_rows, values.dtype, self.title, starts.nbytes)
                return
            with turning(self._shape, columns, starts, indices, values, workspace, self.title) as reader:
                del starts
                yield reader


def _check_vector(array: Any, name: str, title: str) -> None:
    """Refuse an array of a sparse matrix that is no vector, or does not count where it says where values stand."""
    wrong = f"{len(array.shape)} dimensions" if len(array.shape) != 1 else ""
    if name != "data" and array.dtype.kind not in "iu":
        wrong = wrong or f"values of type {shown(array.dtype)}"
    if wrong:
        what = "numbers" if name == "data" else "whole numbers"
        raise SourceError(
            f"{name} of {title} has {wrong}, and is a vector of {what} in a sparse matrix: the file is damaged; copy "
            "or write it again"
        )
