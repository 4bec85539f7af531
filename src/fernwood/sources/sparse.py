"""SciPy sparse matrices as sources: they are never dense, not even a band of them."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import BudgetError, SourceError
from fernwood.sources.arrays import float_type
from fernwood.sources.base import Reader, Source, Workspace
from fernwood.sources.names import NumberedNames
from fernwood.sources.sparse_columns import SparseReader, StoredColumns, get_ready, plain_type, row_starts, turning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csr_array, sparray

__all__ = ["SparseSource"]


class SparseSource(Source):
    """A sparse matrix or array.

    One that is stored by columns is read where it is; one stored by rows is sorted by columns, in a scratch file where
    it does not fit the budget once more; all others are converted by SciPy first.
    """

    def __init__(self, matrix: sparray, title: str = "the sparse matrix") -> None:
        self.title = title
        if len(matrix.shape) != 2:
            raise SourceError(f"{self.title} has shape {matrix.shape}; a table has two dimensions: rows × columns")
        float_type(matrix.dtype, self.title)
        self._matrix = matrix
        self.names = NumberedNames(matrix.shape[1])
        self.n_bytes = matrix.nnz * (matrix.dtype.itemsize + 4)
        get_ready()

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:
        """Open the matrix to read some columns."""
        matrix = self._matrix
        if matrix.format == "csr":
            starts, whole = _starts(matrix, 0, self.title), slice(matrix.nnz)
            vectors = matrix.indices[whole], matrix.data[whole]
            with turning(matrix.shape, columns, starts, *vectors, workspace, self.title) as reader:
                yield reader
            return
        converted = 0 if matrix.format == "csc" else 2 * self.n_bytes
        if converted > workspace.memory:
            raise BudgetError(f"{self.title} does not fit the memory given once more", converted)
        by_columns = _of_plain_numbers(matrix).tocsc()
        stored = StoredColumns(
            _starts(by_columns, 1, self.title),
            by_columns.indices,
            by_columns.data,
            columns,
            matrix.shape[0],
            self.title,
        )
        yield SparseReader(stored, matrix.shape[0], matrix.dtype, self.title, converted // 2)


def _of_plain_numbers(matrix: sparray) -> sparray:
    """The same matrix in a type that SciPy converts; its own `astype` sums first, and in place, what stands twice."""
    data, dtype = getattr(matrix, "data", None), plain_type(matrix.dtype)
    if matrix.format == "csc" or not isinstance(data, np.ndarray) or data.dtype in (dtype, object):
        return matrix
    plain = copy(matrix)
    plain.data = data.astype(dtype)
    return plain


def _starts(matrix: csc_array | csr_array, axis: int, title: str) -> NDArray[np.int64]:
    return row_starts(matrix.indptr, matrix.shape[axis], int(matrix.indptr[-1]), title)
