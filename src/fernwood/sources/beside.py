"""What stands beside a table, as a small table of its own: a `.fam` file, barcodes, the labels of SVMlight."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fernwood.sources.arrow import arrow_band
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.names import ListedNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["RowTable"]


class RowTable(Source):
    """Columns that describe rows, in memory.

    Examples
    --------
    >>> import pyarrow as pa
    >>> RowTable(pa.table({"label": [1.0, 2.0]}), "labels").names[0]
    'label'
    """

    def __init__(self, table: pa.Table, title: str) -> None:
        self.title = title
        self.table = table
        self.names = ListedNames(table.column_names)
        self.n_bytes = int(table.nbytes)

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the table to read some columns."""
        yield _RowReader(self.table, columns)


class _RowReader(Reader):
    def __init__(self, table: pa.Table, columns: NDArray[np.int64]) -> None:
        self._table = table
        self._columns = columns
        self.n_rows = table.num_rows

    def overhead(self) -> int:
        return self.n_rows * 24

    def band(self, start: int, stop: int) -> Band:
        positions = self._columns[start:stop].tolist()
        return arrow_band(((self._table.column_names[i], self._table.column(i)) for i in positions), self.n_rows)
