"""Other looks at a store, as stores that copy no codes: some of its rows or columns, or all in other roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import ParameterError
from fernwood.sealed import digest
from fernwood.sources.names import ListedNames
from fernwood.store.base import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from fernwood.store.roles import Roles

__all__ = ["ColumnView", "Kept", "RoleView", "RowView", "StoreView"]

_BLOCK_BYTES = 2**20


class StoreView(Store):
    """What views have in common: the columns of the store behind them."""

    def __init__(self, store: Store, n_rows: int, roles: Roles, content: bytes) -> None:
        self._store = store
        self.n_rows = n_rows
        self.n_columns = store.n_columns
        self.names = store.names
        self.roles = roles
        self.notes = store.notes
        self.fetching_bytes = store.fetching_bytes
        self.fingerprint = digest(store.fingerprint.encode() + content)

    def _field(self, name: str) -> Iterator[pa.ChunkedArray]:
        return self._store._field(name)  # noqa: SLF001

    def _has(self, field: str) -> bool:
        return self._store._has(field)  # noqa: SLF001

    def _records(self, ids: NDArray[np.int64]) -> pa.Table:
        return self._store._records(ids)  # noqa: SLF001

    def mark(self) -> dict[str, list[int]]:
        """Of the store behind the view."""
        return self._store.mark()

    def expect(self, ids: ArrayLike) -> None:
        """Say which columns will be read soon."""
        self._store.expect(ids)

    def verify(self) -> None:
        """Check the store behind the view."""
        self._store.verify()


class RowView(StoreView):
    """The columns of a store for some of its rows; bins, counts of missing values and checksums are those of the whole.

    Parameters
    ----------
    store
    rows : boolean array of length n_rows, or row numbers
    """

    def __init__(self, store: Store, rows: ArrayLike) -> None:
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            if chosen.shape != (store.n_rows,):
                raise ParameterError(f"the mask has shape {chosen.shape}; this store has {store.n_rows} rows")
            chosen = np.flatnonzero(chosen)
        if chosen.size and chosen.dtype.kind not in "iu":
            raise ParameterError(f"rows are given as {chosen.dtype}; give row numbers or a mask of booleans")
        chosen = chosen.astype(np.int64)
        if chosen.ndim != 1:
            raise ParameterError(f"rows have shape {chosen.shape}; give one list of row numbers, or a mask")
        if len(chosen) and not (chosen.min() >= 0 and chosen.max() < store.n_rows):
            raise ParameterError(
                f"rows run from {chosen.min()} to {chosen.max()}; this store has 0 to {store.n_rows - 1}"
            )
        super().__init__(store, len(chosen), store.roles.take(chosen), chosen.tobytes())
        self._chosen = chosen

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the view takes by itself."""
        return self._chosen.nbytes

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns, for the chosen rows."""
        positions = self._positions(ids)
        out = self._output(len(positions), out)
        step = max(1, _BLOCK_BYTES // max(self._store.n_rows, 1))
        for first in range(0, len(positions), step):
            part = slice(first, first + step)
            np.take(self._store.read(positions[part]), self._chosen, axis=1, out=out[part], mode="clip")
        return out


class Kept(StoreView):
    """A store, or a view of one, with the codes of all columns kept in memory, so that it is read once.

    Parameters
    ----------
    store
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store, store.n_rows, store.roles, b"")
        self.fingerprint = store.fingerprint  # the content is the same
        self._codes = np.empty((store.n_columns, store.n_rows), np.uint8)
        for first, codes in store.blocks(_BLOCK_BYTES):
            self._codes[first : first + len(codes)] = codes

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the view takes by itself."""
        return self._codes.nbytes

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns."""
        positions = self._positions(ids)
        return np.take(self._codes, positions, axis=0, out=self._output(len(positions), out), mode="clip")

    def expect(self, ids: ArrayLike) -> None:
        """Nothing: they are here."""


class ColumnView(StoreView):
    """Some columns of a store, for all its rows.

    Parameters
    ----------
    store
    columns : int64 array
        Positions, in the order that the view has them in.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.eye(4))
    >>> view = ColumnView(store, np.array([2, 0]))
    >>> list(view.names), view.read([1])[0].tolist()
    (['x2', 'x0'], [1, 0, 0, 0])
    """

    def __init__(self, store: Store, columns: NDArray[np.int64]) -> None:
        self._chosen = store._positions(columns)  # noqa: SLF001
        super().__init__(store, store.n_rows, store.roles, b"columns" + self._chosen.tobytes())
        self.n_columns = len(self._chosen)
        self.names = ListedNames(store.names.take(self._chosen))

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the view takes by itself."""
        return self._chosen.nbytes

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some of the columns."""
        return self._store.read(self._chosen[self._positions(ids)], out)

    def expect(self, ids: ArrayLike) -> None:
        """Say which of the columns will be read soon."""
        self._store.expect(self._chosen[self._positions(ids)])

    def _field(self, name: str) -> Iterator[pa.ChunkedArray]:
        yield self._store._records(self._chosen).column(name)  # noqa: SLF001

    def _records(self, ids: NDArray[np.int64]) -> pa.Table:
        return self._store._records(self._chosen[ids])  # noqa: SLF001


class RoleView(StoreView):
    """The rows and columns of a store with another target, other weights and groups.

    Parameters
    ----------
    store
    roles : of its rows
    """

    def __init__(self, store: Store, roles: Roles) -> None:
        for what, values in (("target", roles.target), ("weights", roles.weights), ("groups", roles.groups)):
            if values is not None and len(values) != store.n_rows:
                raise ParameterError(
                    f"the {what} has {len(values)} values and the store has {store.n_rows} rows; they must agree"
                )
        content = repr(roles.to_json()).encode() + b"".join(roles.row_bytes())
        super().__init__(store, store.n_rows, roles, content)

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the view takes by itself."""
        return int(self.roles.to_table().nbytes)

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns."""
        return self._store.read(ids, out)
