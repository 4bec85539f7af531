"""What a store is: codes of whole columns on request, and what they mean in the units of the source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import ParameterError, SourceError, StoreError, shown
from fernwood.sources.base import Kind
from fernwood.sources.dates import dates_of
from fernwood.sources.names import Names, as_position
from fernwood.store.columns import KIND_NAMES, codes_checksum, kinds_of, record_grid, record_scale
from fernwood.store.quantise import representatives, thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from fernwood.store.columns import Scale
    from fernwood.store.describe import Description
    from fernwood.store.roles import Roles, Target
    from fernwood.store.view import RoleView, RowView

__all__ = ["Store"]

_VERIFY_BYTES = 2**22


class Store(ABC):
    """A table of codes, one byte a cell, read by columns.

    A store is opened by `fernwood.open`, made by `fernwood.ingest`, and is safe to read from many threads.
    """

    n_rows: int
    n_columns: int
    names: Names
    roles: Roles
    fingerprint: str
    """Stands for the content: names, codes and bins of the columns in order, target, weights and groups."""
    notes: list[str]
    """What deserved a warning when the store was made."""
    fetching_bytes: int = 0
    """Memory that fetching takes beside what `read` returns, where the store is elsewhere."""

    @abstractmethod
    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns.

        Parameters
        ----------
        ids : integers
            Positions of columns, in any order, repeats allowed.
        out : uint8 array, shape (len(ids), n_rows), C order, optional
            Where to put them.

        Returns
        -------
        uint8 array, shape (len(ids), n_rows)
            `out`, or a new array. Code 255 is a missing value.

        Notes
        -----
        Peak memory: the result, half a mebibyte, and 64 bytes an id.
        """

    def expect(self, ids: ArrayLike) -> None:  # noqa: B027  (what is in memory need not be fetched)
        """Say which columns will be read soon."""

    @abstractmethod
    def _field(self, name: str) -> Iterator[pa.ChunkedArray]:
        """One field of every column's record, in order and in parts: records of all columns may not fit into memory."""

    @abstractmethod
    def _records(self, ids: NDArray[np.int64]) -> pa.Table:
        """The records of some columns, in that order."""

    @property
    def locator(self) -> str | None:
        """Where another process opens the same store: a path or a URL; None where there is no such place."""
        return None

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """Bytes that the store takes, on disk or in memory."""

    @abstractmethod
    def verify(self) -> None:
        """Check every byte against its checksum; raise `StoreError` with what is wrong and how much of it."""

    # What the columns are ------------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """What every column holds, as numbers of `Kind`."""
        return self._collected((kinds_of(part) for part in self._field("kind")), np.uint8)

    @cached_property
    def n_codes(self) -> NDArray[np.uint8]:
        """How many codes every column uses, beside the one for missing values."""
        return self._numbers("codes", np.uint8)

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """How many values of every column are missing."""
        return self._numbers("missing", np.int64)

    @cached_property
    def checksums(self) -> NDArray[np.uint64]:
        """The checksum of every column's codes, which is also its address for random numbers."""
        return self._numbers("checksum", np.uint64)

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """Which columns can tell rows apart: not constant, not all missing. Only these are ever drawn."""
        states = (
            codes.to_numpy().astype(np.int64) + (missing.to_numpy() > 0)
            for codes, missing in zip(self._field("codes"), self._field("missing"), strict=True)
        )
        return self._collected((part >= 2 for part in states), np.bool_)

    @property
    def contents(self) -> NDArray[np.uint32] | None:
        """What stands for what every column holds, see `fernwood.store.contents`; None of a store without them."""
        if not self._has("content"):
            return None
        out, done = np.empty(self.n_columns, np.uint32), 0
        for part in self._field("content"):
            if part.null_count:
                return None
            out[done : done + len(part)] = part
            done += len(part)
        return out

    def stored_at(self, position: int) -> int | None:
        """Where a column is in the store that is at a position in the table (negative: from the end) it was made from.

        None where the table has no such column. These are not the store's own positions, which `read` takes: columns
        with a role, and those that were left out, are in the table only.

        Examples
        --------
        >>> import numpy as np, fernwood
        >>> store = fernwood.ingest(np.eye(4), target=0)
        >>> store.stored_at(1), store.stored_at(-1), store.stored_at(4)
        (0, 2, None)
        """
        known, first = False, 0
        for part in self._field("position" if position >= 0 else "from_end") if self._has("position") else ():
            hit = pc.index(part, pa.scalar(position, pa.int64())).as_py()
            if hit >= 0:
                return first + int(hit)
            known |= part.null_count < len(part)
            first += len(part)
        if not known:
            raise SourceError(
                f"the store does not say where its columns stood in the table, so that position {position} means none "
                "of them; give the name"
            )
        n_table = self._n_table
        if not -n_table <= position < n_table:
            return None
        raise SourceError(
            f"column {position} of the table is not in the store: it is the target, the weights or the groups, or it "
            "was left out; give another one, by name or by its position in the table"
        )

    @property
    def _n_table(self) -> int:
        """How many columns the table had that the store was made from, where a record says so."""
        for position, from_end in zip(self._field("position"), self._field("from_end"), strict=True):
            size = pc.max(pc.subtract(position, from_end)).as_py()
            if size is not None:
                return int(size)
        return 0

    @abstractmethod
    def _has(self, field: str) -> bool:
        """Whether the records have a field that older stores do not have."""

    def forget(self) -> None:
        """Let go of what was read of all columns' records; it is read again when it is asked for."""
        for name in ("kinds", "n_codes", "n_missing", "checksums", "usable"):
            self.__dict__.pop(name, None)

    def _numbers(self, field: str, dtype: type[np.generic]) -> NDArray[Any]:
        return self._collected((part.to_numpy() for part in self._field(field)), dtype)

    def _collected(self, parts: Iterable[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
        """Something of every column, from parts in order; never twice in memory."""
        out, done = np.empty(self.n_columns, dtype), 0
        for part in parts:
            out[done : done + len(part)] = part
            done += len(part)
        return out

    # Roles of rows -------------------------------------------------------------------------------------------------

    @property
    def target(self) -> Target | None:
        """What the columns are to explain."""
        return self.roles.target

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of every row."""
        return self.roles.weights

    @property
    def groups(self) -> NDArray[np.int32] | None:
        """The group of every row."""
        return self.roles.groups

    # Back to source units ------------------------------------------------------------------------------------------

    def index(self, column: str | int) -> int:
        """The position of a column given by name or, where no column has that name, by position."""
        position = self.names.find(column) if isinstance(column, str) else None
        if position is None:
            position = as_position(column, self.n_columns)
        if position is None:
            raise SourceError(f"the store has no column {shown(column)}{self.names.nearest(str(column))}")
        return position

    def column(self, column: str | int) -> NDArray[Any]:
        """The values of a column in the units of the source, a row each.

        Numbers come back as themselves where the column has at most 255 distinct values, else as the middle of their
        bin; missing ones are NaN. Booleans come back as booleans where none is missing, dates as ``datetime64[us]``,
        categories as an array of strings with None for missing ones.

        Examples
        --------
        >>> import numpy as np, fernwood
        >>> fernwood.ingest(np.array([[1.5, 0.0], [2.5, 1.0], [np.nan, 1.0]])).column("x0")
        array([1.5, 2.5, nan])
        """
        i = self.index(column)
        codes = self.read([i])[0]
        record = self._record(i)
        if record["labels"] is not None:
            words = np.full(256, None, object)
            words[: len(record["labels"])] = record["labels"]
            return np.asarray(words[codes])
        values = np.full(256, np.nan)
        centres = representatives(record_grid(record), record["exact"])
        values[: len(centres)] = centres
        if record["kind"] == KIND_NAMES[Kind.DATE]:
            return np.asarray(dates_of(values)[codes])
        if record["kind"] == KIND_NAMES[Kind.BOOLEAN] and not record["missing"]:
            return np.asarray(values[codes] == 1)
        return np.asarray(values[codes])

    def thresholds(self, column: str | int) -> NDArray[np.float64]:
        """The numbers between the codes of an ordered column, in the units of the source.

        Code c stands for values above ``thresholds[c - 1]`` and up to ``thresholds[c]``.
        """
        record = self._record(self.index(column))
        if record["labels"] is not None:
            raise ParameterError(f"column {shown(record['name'])} is categorical; it has labels, not thresholds")
        return thresholds(record_grid(record), record["exact"])

    def labels(self, column: str | int) -> list[str]:
        """The categories of a categorical column, in the order of their codes."""
        record = self._record(self.index(column))
        if record["labels"] is None:
            raise ParameterError(f"column {shown(record['name'])} is ordered; it has thresholds, not labels")
        return list(record["labels"])

    def scales(self, ids: ArrayLike) -> list[Scale]:
        """What the codes of some columns stand for: bounds in the units of the source, or categories.

        Examples
        --------
        >>> import numpy as np, fernwood
        >>> fernwood.ingest(np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 1.0]])).scales([0])[0].edges
        array([1. , 1.5, 3. , 4. ])
        """
        records = self._records(self._positions(ids))
        return [record_scale(record) for record in records.to_pylist()]

    def _record(self, i: int) -> dict[str, Any]:
        record: dict[str, Any] = self._records(np.array([i])).to_pylist()[0]
        return record

    # Other looks at it ---------------------------------------------------------------------------------------------

    def rows(self, mask: ArrayLike) -> RowView:
        """The same columns for some of the rows, as a store that copies nothing.

        Parameters
        ----------
        mask : boolean array of length n_rows, or row numbers
        """
        from fernwood.store.view import RowView

        return RowView(self, mask)

    def with_roles(self, roles: Roles) -> RoleView:
        """The same rows and columns with another target, other weights and groups, as a store that copies nothing.

        Examples
        --------
        >>> import numpy as np, fernwood
        >>> from fernwood.store.roles import Roles
        >>> store = fernwood.ingest(np.eye(3), target=[0, 1, 0])
        >>> store.with_roles(Roles(weights=np.ones(3))).target is None
        True
        """
        from fernwood.store.view import RoleView

        return RoleView(self, roles)

    def describe(self) -> Description:
        """What the store holds, in numbers."""
        from fernwood.store.describe import describe

        return describe(self)

    def blocks(self, n_bytes: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """All columns in order, in blocks of at most `n_bytes`; each with the position of its first column."""
        step = max(1, n_bytes // max(self.n_rows, 1))
        for first in range(0, self.n_columns, step):
            yield first, self.read(np.arange(first, min(first + step, self.n_columns)))

    def mark(self) -> dict[str, list[int]]:
        """Sizes and times of the files that hold the store, by which a change is seen; of memory, nothing."""
        return {}

    def _verify_columns(self, wanted: Sequence[int] | NDArray[np.uint64]) -> None:
        damaged = []
        for first, codes in self.blocks(_VERIFY_BYTES):
            damaged += [first + i for i, c in enumerate(codes) if codes_checksum(c) != wanted[first + i]]
        if damaged:
            raise StoreError(
                f"the codes of {len(damaged)} of {self.n_columns} columns do not fit their checksums, "
                f"first {shown(self.names[damaged[0]])}; copy the store again, or make it again"
            )

    def _positions(self, ids: ArrayLike) -> NDArray[np.int64]:
        given = np.asarray(ids)
        if given.size and given.dtype.kind not in "iu":
            raise ParameterError(f"columns are given as {given.dtype}; read takes positions, whole numbers")
        positions = given.astype(np.int64).reshape(-1)
        if len(positions) and not (positions.min() >= 0 and positions.max() < self.n_columns):
            raise ParameterError(
                f"column positions run from {positions.min()} to {positions.max()}; "
                f"this store has 0 to {self.n_columns - 1}"
            )
        return positions

    def _output(self, n: int, out: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
        if out is None:
            return np.empty((n, self.n_rows), np.uint8)
        fits = out.dtype == np.uint8 and out.shape == (n, self.n_rows)
        if not (fits and out.flags.c_contiguous and out.flags.writeable):
            raise ParameterError(
                f"out has shape {out.shape} and type {out.dtype}; "
                f"it must be a contiguous uint8 array of shape {(n, self.n_rows)} that may be written to"
            )
        return out

    def close(self) -> None:  # noqa: B027  (a store without handles has nothing to give back)
        """Give file handles back; the store opens them again when it is read again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n_rows} rows, {self.n_columns} columns>"
