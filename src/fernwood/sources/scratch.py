"""Turning rows into columns out of core: blocks are kept in memory while they fit, then in one scratch file.

rows come in                     each block is kept turned              a band reads its part of every block
r0 [a b c d e]                   block 0: a a a | b b b | c c c …       b: block 0, block 1, block 2
r1 [a b c d e]  -> 3 rows at     block 1: a a a | b b b | c c c …       c: block 0, block 1, block 2
…                  a time        block 2: a a   | b b   | c c   …
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from fernwood.files import FileWriter, remove

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["ColumnBlocks", "RowBlocks", "Scratch", "turned"]


_Type = TypeVar("_Type", bound=np.generic)


class Scratch:
    """Arrays put away one after the other: in memory up to a limit, then all of them in a file."""

    def __init__(self, directory: Path, limit: int) -> None:
        self._directory = directory
        self._limit = limit
        self._file: FileWriter | None = None
        self._blocks: list[NDArray[np.generic]] = []
        self._offsets: list[int] = []
        self.held = 0

    def append(self, block: NDArray[np.generic]) -> None:
        """Take an array; it is kept as it is, so it must not change later."""
        if self._file is None and self.held + block.nbytes > self._limit:
            self._file = FileWriter(self._directory / f"scratch-{secrets.token_hex(4)}.bin", sync=False)
            for kept in self._blocks:
                self._put(kept)
            self._blocks.clear()
            self.held = 0
        if self._file is None:
            self._blocks.append(block)
            self.held += block.nbytes
        else:
            self._put(block)

    def _put(self, block: NDArray[np.generic]) -> None:
        if self._file is not None:
            self._offsets.append(self._file.tell())
            self._file.write(block)

    def read(self, i: int, start: int, out: NDArray[np.generic]) -> None:
        """Fill `out`, contiguous, with block i from its element `start` on."""
        if self._file is None:
            out.reshape(-1)[:] = self._blocks[i].reshape(-1)[start : start + out.size]
        else:
            self._file.read_into(out.data.cast("B"), self._offsets[i] + start * out.itemsize)

    def part(self, i: int, start: int, size: int, dtype: np.dtype[_Type]) -> NDArray[_Type]:
        """Elements of array i, of one dimension and this type, from `start` on; not to be changed."""
        if self._file is None:
            return self._blocks[i][start : start + size].view(dtype)
        out = np.empty(size, dtype)
        self._file.read_into(out.data.cast("B"), self._offsets[i] + start * out.itemsize)
        return out

    def close(self) -> None:
        """Forget everything, the file too."""
        self._blocks.clear()
        if self._file is not None:
            self._file.discard()
            remove(self._file.path)


class RowBlocks(Generic[_Type]):
    """Blocks of rows in, whole ones or pieces of them; columns out."""

    def __init__(self, dtype: np.dtype[_Type], directory: Path, limit: int) -> None:
        self.n_rows = 0
        self._dtype = dtype
        self._tiles: list[_Tile] = []
        self._scratch = Scratch(directory, limit)

    @property
    def held(self) -> int:
        """Bytes kept in memory."""
        return self._scratch.held

    def append(self, rows: NDArray[np.generic]) -> None:
        """Take a block of whole rows, shape (rows, columns)."""
        self.put(rows, self.n_rows, 0)

    def put(self, tile: NDArray[np.generic], row: int, column: int) -> None:
        """Take a piece of some rows, shape (rows, columns), that begins at a row and a column."""
        self._scratch.append(turned(tile, self._dtype))
        self._tiles.append(_Tile(row, column, *tile.shape))
        self.n_rows = max(self.n_rows, row + len(tile))

    def columns(self, start: int, stop: int) -> NDArray[_Type]:
        """The columns from `start` to before `stop`, shape (columns, rows)."""
        out = np.empty((stop - start, self.n_rows), self._dtype)
        for i, tile in enumerate(self._tiles):
            first, last = max(start, tile.column), min(stop, tile.column + tile.width)
            if first < last:
                part = np.empty((last - first, tile.height), self._dtype)
                self._scratch.read(i, (first - tile.column) * tile.height, part)
                out[first - start : last - start, tile.row : tile.row + tile.height] = part
        return out

    def close(self) -> None:
        """Forget everything, the scratch file too."""
        self._scratch.close()


class _Tile(NamedTuple):
    """Where a piece of a table lies in it."""

    row: int
    column: int
    height: int
    width: int


class ColumnBlocks:
    """Blocks of whole columns in, any run of them out."""

    def __init__(self, n_rows: int, directory: Path, limit: int) -> None:
        self.n_columns = 0
        self._n_rows = n_rows
        self._firsts: list[int] = []
        self._scratch = Scratch(directory, limit)

    @property
    def held(self) -> int:
        """Bytes kept in memory."""
        return self._scratch.held

    def append(self, columns: NDArray[np.float64]) -> None:
        """Take a block of whole columns, shape (columns, rows); it is kept as it is, so it must not change later."""
        self._scratch.append(columns)
        self._firsts.append(self.n_columns)
        self.n_columns += len(columns)

    def columns(self, start: int, stop: int) -> NDArray[np.float64]:
        """The columns from `start` to before `stop`, shape (columns, rows)."""
        out = np.empty((stop - start, self._n_rows))
        done = start
        while done < stop:
            i = int(np.searchsorted(self._firsts, done, side="right")) - 1
            end = self._firsts[i + 1] if i + 1 < len(self._firsts) else self.n_columns
            end = min(end, stop)
            self._scratch.read(i, (done - self._firsts[i]) * self._n_rows, out[done - start : end - start])
            done = end
        return out

    def close(self) -> None:
        """Forget everything, the scratch file too."""
        self._scratch.close()


def turned(rows: NDArray[np.generic], dtype: np.dtype[_Type]) -> NDArray[_Type]:
    """A copy with columns contiguous, shape (columns, rows); in tiles, so that the cache sees each line once."""
    n_rows, n_columns = rows.shape
    out = np.empty((n_columns, n_rows), dtype)
    for i in range(0, n_rows, 64):
        for j in range(0, n_columns, 512):
            out[j : j + 512, i : i + 64] = rows[i : i + 64, j : j + 512].T
    return out
