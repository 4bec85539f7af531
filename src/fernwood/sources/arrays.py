"""NumPy arrays as sources: in memory, memory-mapped, or in a `.npy` file of either order."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.files import FileReader, mapped_file, opened
from fernwood.plain_arrays import read_header
from fernwood.sources.arrow import arrow_band, first_line
from fernwood.sources.base import Band, Kind, Progress, Reader, Source, Workspace
from fernwood.sources.dates import seconds_of
from fernwood.sources.names import NumberedNames
from fernwood.sources.repeating import runs_of
from fernwood.sources.scratch import RowBlocks, turned
from fernwood.sources.typed import exact_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["ArraySource", "NpySource", "TurnedReader", "float_type", "open_npy"]

_SMALLEST_PIECE = 4096
"""Bytes of a row below which reading many rows piece by piece is slower than turning the whole table."""


def float_type(dtype: np.dtype[np.generic], title: str) -> np.dtype[np.floating]:
    """The float type in which numbers of a NumPy type are held; integers beyond 2⁵³ are rounded to doubles."""
    if dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize <= 2) or (dtype.kind == "f" and dtype.itemsize <= 4):
        return np.dtype(np.float32)
    if dtype.kind in "iuf":
        return np.dtype(np.float64)
    raise SourceError(
        f"{title} holds values of type {shown(dtype)}, not real numbers; "
        "give numbers, or a data frame with typed columns"
    )


def array_band(columns: NDArray[np.generic], title: str) -> Band:
    """A band of the columns of an array, shape (rows, columns), of any type that Fernwood takes."""
    match columns.dtype.kind:
        case "b" | "i" | "u" | "f":
            kind = Kind.BOOLEAN if columns.dtype.kind == "b" else Kind.NUMBER
            return Band.of_numbers(turned(columns, float_type(columns.dtype, title)), kind)
        case "M":
            return Band.of_numbers(turned(seconds_of(columns), np.dtype(np.float64)), Kind.DATE)
        case "U" | "O" | "T":
            return arrow_band(((f"x{i}", _as_arrow(c, title)) for i, c in enumerate(columns.T)), len(columns))
    float_type(columns.dtype, title)
    raise AssertionError


def _as_arrow(column: NDArray[np.generic], title: str) -> pa.Array:
    try:
        return pa.array(column.tolist(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise SourceError(
            f"a column of {title} mixes types ({first_line(error)}); give every column one type, numbers or text"
        ) from error


class ArraySource(Source):
    """An array in memory, shape (rows, columns)."""

    def __init__(self, array: NDArray[np.generic], title: str = "the array") -> None:
        if array.ndim != 2:
            raise SourceError(
                f"{title} has shape {array.shape}; a table has two dimensions: reshape it to rows × columns"
            )
        self._array = array
        self.title = title
        self.names = NumberedNames(array.shape[1])
        self.n_bytes = array.nbytes

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the array to read some columns."""
        yield _ArrayReader(self._array, columns, self.title)


class _ArrayReader(Reader):
    def __init__(self, array: NDArray[np.generic], columns: NDArray[np.int64], title: str) -> None:
        self._array = array
        self._columns = columns
        self._title = title
        self.n_rows = array.shape[0]

    def overhead(self) -> int:
        return self.n_rows * self._array.dtype.itemsize

    def band(self, start: int, stop: int) -> Band:
        return array_band(self._array[:, as_slice(self._columns[start:stop])], self._title)


def as_slice(positions: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Neighbouring positions as a slice, which NumPy reads without a copy."""
    if len(positions) and positions[-1] - positions[0] == len(positions) - 1 and (np.diff(positions) == 1).all():
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


class _Layout(NamedTuple):
    """Where the numbers of an array lie in a file."""

    dtype: np.dtype[np.generic]
    n_rows: int
    n_columns: int
    by_columns: bool
    offset: int


class NpySource(Source):
    """An array in a file, read by position; never mapped, since mapped pages count as resident."""

    def __init__(self, path: Path, layout: _Layout) -> None:
        self._path = path
        self._layout = layout
        self.title = shown(path.name)
        self.names = NumberedNames(layout.n_columns)
        self.n_bytes = layout.n_rows * layout.n_columns * layout.dtype.itemsize
        float_type(layout.dtype, self.title)

    @classmethod
    def of_memmap(cls, array: np.memmap) -> NpySource | None:
        """The file behind a memory-mapped array, when the array is all of its mapping."""
        whole = array.filename is not None and array.ndim == 2 and type(array.base).__name__ == "mmap"
        whole = whole and array.mode != "c"  # what was written to a private mapping is not in the file
        if not whole or not (array.flags.c_contiguous or array.flags.f_contiguous):
            return None
        path = Path(os.fspath(str(array.filename)))
        if not _is_what_is_mapped(path, array):
            return None
        return cls(
            path,
            _Layout(array.dtype, array.shape[0], array.shape[1], not array.flags.c_contiguous, array.offset),
        )

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Open the file to read some columns."""
        layout = self._layout
        with FileReader(self._path) as file:
            reader = _NpyReader(file, layout, columns, self.title)
            a_column = layout.n_rows * (layout.dtype.itemsize + 24)
            piece = workspace.memory // 2 // max(a_column, 1) * layout.dtype.itemsize
            if layout.by_columns or layout.n_columns * layout.dtype.itemsize <= piece or piece >= _SMALLEST_PIECE:
                yield reader
                return
            # Many rows: a band would be slivers of every row. Read the rows once, in order, and turn them.
            blocks = RowBlocks(layout.dtype.newbyteorder("="), workspace.scratch, workspace.memory // 2)
            height = max(1, workspace.memory // 8 // (layout.n_columns * (layout.dtype.itemsize + 8)))
            try:
                for first in range(0, layout.n_rows, height):
                    workspace.progress(Progress("turning rows", first, layout.n_rows, "rows"))
                    rows = reader.rows(first, min(first + height, layout.n_rows))
                    blocks.append(rows[:, as_slice(columns)])
                yield TurnedReader(blocks, layout.dtype.newbyteorder("="))
            finally:
                blocks.close()


def _is_what_is_mapped(path: Path, array: np.memmap) -> bool:
    """Whether the file under the mapping's name still is the one that is mapped; it may have been replaced since.

    Where the system does not say which file is mapped, size and ends decide.
    """
    flat = array.ravel(order="K").view(np.uint8)
    name = mapped_file(flat.__array_interface__["data"][0])
    if name is not None:
        return name == str(path.resolve())
    edge = min(flat.size, 4096)
    try:
        with FileReader(path) as file:
            return (
                file.size >= array.offset + flat.size
                and file.read(edge, array.offset) == flat[:edge].tobytes()
                and file.read(edge, array.offset + flat.size - edge) == flat[flat.size - edge :].tobytes()
            )
    except OSError:
        return False


class _NpyReader(Reader):
    def __init__(self, file: FileReader, layout: _Layout, columns: NDArray[np.int64], title: str) -> None:
        self._file = file
        self._layout = layout
        self._columns = columns
        self._title = title
        self._buffer = np.empty(0, np.uint8)
        self.n_rows = layout.n_rows

    def overhead(self) -> int:
        # Columns left out between two wanted ones are read with them, up to as many again.
        return 2 * self.n_rows * self._layout.dtype.itemsize

    def band(self, start: int, stop: int) -> Band:
        parts = [array_band(span, self._title) for span in self._spans(start, stop)]
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _spans(self, start: int, stop: int) -> Iterator[NDArray[np.generic]]:
        """The wanted columns a few at a time, shape (rows, columns), as they lie in the file; good until the next."""
        return (self._span(run) for run in _close_runs(self._columns[start:stop]))

    def _span(self, wanted: NDArray[np.int64]) -> NDArray[np.generic]:
        layout = self._layout
        first, last = int(wanted.min()), int(wanted.max()) + 1
        size = layout.dtype.itemsize
        if layout.by_columns:
            raw = self._raw(last - first, layout.n_rows)
            self._file.read_into(raw.data.cast("B"), layout.offset + first * layout.n_rows * size)
            raw = raw.T
        else:
            raw = self._raw(layout.n_rows, last - first)
            view = raw.data.cast("B")
            piece = (last - first) * size
            for row in range(layout.n_rows):
                place = layout.offset + (row * layout.n_columns + first) * size
                self._file.read_into(view[row * piece : (row + 1) * piece], place)
        return raw[:, as_slice(wanted - first)]

    def _raw(self, *shape: int) -> NDArray[np.generic]:
        """Room for numbers as they lie in the file: the same memory every time, since new memory costs page faults."""
        n_bytes = shape[0] * shape[1] * self._layout.dtype.itemsize
        if len(self._buffer) < n_bytes:
            self._buffer = np.empty(n_bytes, np.uint8)
        return self._buffer[:n_bytes].view(self._layout.dtype).reshape(shape)

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        native = self._layout.dtype.newbyteorder("=")
        return [column for span in self._spans(start, stop) for column in exact_columns(turned(span, native))]

    def rows(self, first: int, last: int) -> NDArray[np.generic]:
        """Whole rows, of a file in row order; good until the next call."""
        layout = self._layout
        raw = self._raw(last - first, layout.n_columns)
        place = layout.offset + first * layout.n_columns * layout.dtype.itemsize
        self._file.read_into(raw.data.cast("B"), place)
        return raw


class TurnedReader(Reader):
    """Columns of rows that were turned; `places` says where the wanted ones are, by default one after the other."""

    def __init__(
        self, blocks: RowBlocks[np.generic], dtype: np.dtype[np.generic], places: NDArray[np.int64] | None = None
    ) -> None:
        self._blocks = blocks
        self._dtype = dtype
        self._places = places
        self.n_rows = blocks.n_rows
        self.caches = blocks.held

    def overhead(self) -> int:
        """Bytes for every column of a band."""
        # The part of a band that one block gives, at most, and the band before its numbers are floats.
        return self.n_rows * max(self._dtype.itemsize, 8) * (1 if self._places is None else 2)

    def band(self, start: int, stop: int) -> Band:
        """The wanted columns from `start` to before `stop`."""
        kind = Kind.BOOLEAN if self._dtype.kind == "b" else Kind.NUMBER
        floats = float_type(self._dtype, "the array")
        return Band.of_numbers(self._values(start, stop).astype(floats, copy=False), kind)

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        """The same as Arrow arrays of the type of the numbers."""
        return [*exact_columns(self._values(start, stop))]

    def _values(self, start: int, stop: int) -> NDArray[np.generic]:
        if self._places is None:
            return self._blocks.columns(start, stop)
        parts = [self._blocks.columns(int(run[0]), int(run[-1]) + 1) for run in runs_of(self._places[start:stop])]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _close_runs(wanted: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut positions where reading across the gap would more than double what is read."""
    if len(wanted) and wanted[-1] - wanted[0] < 2 * len(wanted) and (np.diff(wanted) > 0).all():
        return [wanted]
    return runs_of(wanted)


def _joined(bands: list[Band]) -> Band:
    return Band(np.concatenate([b.values for b in bands]), np.concatenate([b.kinds for b in bands]))


def open_npy(path: Path) -> NpySource:
    """The array in a `.npy` file."""
    with opened(path) as file:
        try:
            shape, by_columns, dtype = read_header(file)
        except ValueError as error:
            raise SourceError(
                f"{shown(path.name)} is not a whole .npy file: its header cannot be read; save it again"
            ) from error
        offset, size = file.tell(), file.seek(0, os.SEEK_END)
    if dtype.hasobject:
        raise SourceError(
            f"{shown(path.name)} holds pickled Python objects, which are never loaded; save it as numbers"
        )
    if len(shape) != 2 or min(shape) < 0:
        raise SourceError(
            f"{shown(path.name)} has shape {shape}; a table has two dimensions: save it as rows × columns"
        )
    wanted = offset + shape[0] * shape[1] * dtype.itemsize
    if size < wanted:
        raise SourceError(
            f"{shown(path.name)} is cut off: {size} bytes where shape {shape} of {dtype} needs {wanted}; copy it again"
        )
    return NpySource(path, _Layout(dtype, *shape, by_columns and shape[0] != 1, offset))
