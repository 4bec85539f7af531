"""A store in memory: for tables that came from memory, and small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.sources.names import ListedNames
from fernwood.store.base import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from fernwood.store.roles import Roles

__all__ = ["MemoryStore"]


class MemoryStore(Store):
    """Codes and records in memory.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows), C order
    records : Arrow table of `COLUMN_SCHEMA`
    roles
    fingerprint
    notes
    """

    def __init__(
        self, codes: NDArray[np.uint8], records: pa.Table, roles: Roles, fingerprint: str, notes: list[str]
    ) -> None:
        self._codes = codes
        self._table = records
        self.n_columns, self.n_rows = codes.shape
        self.names = ListedNames(records.column("name").combine_chunks())
        self.roles = roles
        self.fingerprint = fingerprint
        self.notes = notes

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the store takes."""
        return self._codes.nbytes + int(self._table.nbytes)

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns."""
        positions = self._positions(ids)
        out = self._output(len(positions), out)
        # The positions were checked: clipping only spares NumPy a second look and a buffer.
        np.take(self._codes, positions, axis=0, out=out, mode="clip")
        return out

    def _field(self, name: str) -> Iterator[pa.ChunkedArray]:
        yield self._table.column(name)

    def _has(self, field: str) -> bool:
        return field in self._table.column_names

    def _records(self, ids: NDArray[np.int64]) -> pa.Table:
        return self._table.take(pa.array(ids))

    def verify(self) -> None:
        """Check the codes against their checksums."""
        self._verify_columns(self.checksums)
