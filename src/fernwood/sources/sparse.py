"""SciPy sparse matrices as sources: only the band in hand is ever dense."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import BudgetError, SourceError
from fernwood.sources.arrays import as_slice, float_type
from fernwood.sources.base import Band, Kind, Reader, Source, Workspace
from fernwood.sources.names import NumberedNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from scipy.sparse import csc_array, sparray

__all__ = ["SparseSource", "sparse_band"]


class SparseSource(Source):
    """A sparse matrix or array; one that is not compressed by columns is converted once, which takes its size again."""

    def __init__(self, matrix: sparray) -> None:
        self.title = "the sparse matrix"
        if len(matrix.shape) != 2:
            raise SourceError(f"{self.title} has shape {matrix.shape}; a table has two dimensions: rows × columns")
        self._type = float_type(matrix.dtype, self.title)
        self._matrix = matrix
        self.names = NumberedNames(matrix.shape[1])
        self.n_bytes = matrix.nnz * (matrix.dtype.itemsize + 4)

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Open the matrix to read some columns."""
        converted = 0 if self._matrix.format == "csc" else 2 * self.n_bytes
        if converted > workspace.memory:
            raise BudgetError(f"{self.title} does not fit the memory given once more", converted)
        yield _SparseReader(self._matrix.tocsc(), columns, self._type, converted // 2)


class _SparseReader(Reader):
    def __init__(self, matrix: csc_array, columns: NDArray[np.int64], dtype: np.dtype[np.floating], keeps: int) -> None:
        self.keeps = keeps
        self._matrix = matrix
        self._columns = columns
        self._dtype = dtype
        self.n_rows = matrix.shape[0]

    def overhead(self) -> int:
        return 2 * self.n_rows * int(self._matrix.dtype.itemsize)

    def band(self, start: int, stop: int) -> Band:
        return sparse_band(self._matrix[:, as_slice(self._columns[start:stop])], self._dtype)


def sparse_band(columns: csc_array, dtype: np.dtype[np.floating]) -> Band:
    """A band of columns that are compressed by columns."""
    # The transpose of a matrix compressed by columns is compressed by rows, so rows come out contiguous.
    values = np.ascontiguousarray(columns.T.toarray(), dtype)
    return Band.of_numbers(values, Kind.BOOLEAN if columns.dtype.kind == "b" else Kind.NUMBER)
