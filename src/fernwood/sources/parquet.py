"""Parquet and Arrow IPC (Feather) files, and folders of Parquet parts split by rows or by columns."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from fernwood.errors import SourceError, shown
from fernwood.files import entries_of, folder_holding, opened, size_of
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrow import arrow_band, first_line
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.beside import RowTable
from fernwood.sources.joining import KeyedPart, RowOrders
from fernwood.sources.names import ListedNames
from fernwood.sources.repeating import RepeatingReader, distinct

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Protocol

    import numpy as np
    from numpy.typing import NDArray

    from fernwood.sources.names import Names

    class Part(Protocol):
        """A file of typed columns."""

        names: list[str]
        n_rows: int

        def read(self, positions: list[int]) -> pa.Table:
            """Columns at some positions."""

        def text_bytes(self, positions: list[int]) -> int:
            """The most that the words of one of these columns take."""

        def close(self) -> None:
            """Close the file."""


_TROUBLES = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What reading a damaged file raises."""
_WORDS = re.compile(r"[0-9]+|[^0-9]+")

__all__ = ["ColumnarSource", "open_ipc", "open_parquet", "open_parquet_folder"]


class _ParquetPart:
    def __init__(self, path: Path) -> None:
        try:
            schema = pq.read_schema(path)
            words = [
                field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
            ]
            # Words stay in dictionaries: each one in memory once, not once a row.
            self._file = pq.ParquetFile(path, memory_map=False, pre_buffer=False, read_dictionary=words)
            self.names = self._file.schema_arrow.names
            self._differ = len(set(self.names)) == len(self.names)
        except _TROUBLES as error:
            raise _damaged(path, "Parquet", error) from error
        self._path = path
        self._words = set(words)
        self.n_rows = self._file.metadata.num_rows

    def text_bytes(self, positions: list[int]) -> int:
        """The most that the words of one of these columns take in the file before compression."""
        words = [i for i in positions if self.names[i] in self._words]
        meta = self._file.metadata
        if not words or meta.num_columns != len(self.names):
            return 0
        groups = [meta.row_group(g) for g in range(meta.num_row_groups)]
        return max(sum(int(group.column(i).total_uncompressed_size) for group in groups) for i in words)

    def read(self, positions: list[int]) -> pa.Table:
        names = [self.names[i] for i in positions]
        try:
            table = self._file.read(columns=names, use_threads=False)
            table.validate(full=True)
        except _TROUBLES as error:
            raise _damaged(self._path, "Parquet", error) from error
        if self._differ and table.column_names == names:
            return table
        # Arrow brings all columns of a name, and in an order of its own, but for those of one name, which are as in the
        # file; a name with a dot may bring columns that begin like it.
        brought: dict[str, list[int]] = {}
        for n, name in enumerate(table.column_names):
            brought.setdefault(name, []).append(n)
        places = {name: iter(found) for name, found in brought.items()}
        place = {i: next(places[name]) for i, name in enumerate(self.names) if name in places}
        return table.select([place[i] for i in positions])

    def close(self) -> None:
        self._file.close()


class _IpcPart:
    def __init__(self, path: Path) -> None:
        self._path = path
        with opened(path) as file:
            if file.read(6) != b"ARROW1":
                raise SourceError(
                    f"{shown(path.name)} is no Arrow IPC file; streams and the first Feather format are not read: "
                    "write it again with pyarrow.feather.write_feather"
                )
        try:
            self._file = pa.OSFile(str(path), "rb")
            with pa.ipc.open_file(self._file) as reader:
                self.names = reader.schema.names
                self._n_batches = reader.num_record_batches
                # Reading no column still reads how long each batch is.
                self.n_rows = sum(self._reader([]).get_batch(i).num_rows for i in range(self._n_batches))
        except _TROUBLES as error:
            raise _damaged(path, "Arrow IPC or Feather", error) from error

    def text_bytes(self, positions: list[int]) -> int:
        """Unknown before it is read: as much as the whole file holds a column, on average."""
        return size_of(self._path) // max(len(self.names), 1) if positions else 0

    def _reader(self, positions: list[int]) -> pa.RecordBatchFileReader:
        # An empty list would mean all columns to Arrow.
        options = pa.ipc.IpcReadOptions(included_fields=sorted(positions) or [0], use_threads=False)
        return pa.ipc.open_file(self._file, options=options)

    def read(self, positions: list[int]) -> pa.Table:
        try:
            with self._reader(positions) as reader:
                table = pa.Table.from_batches([reader.get_batch(i) for i in range(self._n_batches)], reader.schema)
            table.validate(full=True)  # Arrow takes a file at its word, and would follow offsets out of it
        except _TROUBLES as error:
            raise _damaged(self._path, "Arrow IPC or Feather", error) from error
        place = {i: n for n, i in enumerate(sorted(positions))}
        return table.select([place[i] for i in positions])

    def close(self) -> None:
        self._file.close()


def _damaged(path: Path, what: str, error: Exception) -> SourceError:
    return SourceError(
        f"{shown(path.name)} cannot be read as {what}, it may be cut off or damaged ({first_line(error)}); "
        "copy it again"
    )


class ColumnarSource(Source):
    """Files of typed columns: one, or several side by side (matched by a key, if there is one) or stacked."""

    def __init__(
        self, paths: list[Path], part: type[_ParquetPart | _IpcPart], title: str, key: str | None = None
    ) -> None:
        self.title = title
        self._paths = paths
        self._open = part
        self.n_bytes = sum(size_of(path) for path in paths)
        self._orders: RowOrders | None = None
        self._by_columns = False
        with ExitStack() as stack:
            parts = self._opened(stack)
            names = parts[0].names
            if any(set(p.names) != set(names) for p in parts[1:]):
                self._by_columns = True
            if key is not None:
                if len(parts) > 1 and not self._by_columns:
                    raise SourceError(
                        f"the parts of {title} have the same columns and are stacked, so there is nothing to join by "
                        f"{shown(key)}; leave --key (key=) out"
                    )
                self._join_by(key, parts)
                parts = self._opened(stack)
                names = parts[0].names
            if not self._by_columns:
                self._check_stacked(parts)
            if self._by_columns:
                names = [name for p in parts for name in p.names]
                self._check_side_by_side(parts)
        self.names = ListedNames(names)

    def _join_by(self, key: str, parts: list[Part]) -> None:
        self._orders = RowOrders(parts, self._paths, key)
        self.beside = RowTable(pa.table({key: self._orders.keys}), f"the key of {self.title}")
        self.row_ids = (key,)

    def _opened(self, stack: ExitStack) -> list[Part]:
        parts: list[Part] = []
        for i, path in enumerate(self._paths):
            part: Part = self._open(path)
            stack.callback(part.close)
            parts.append(part if self._orders is None else KeyedPart(part, self._orders.key, self._orders.orders[i]))
        return parts

    def _check_stacked(self, parts: list[Part]) -> None:
        """Refuse parts whose columns differ where a name stands twice: names do not say then which is which."""
        names = parts[0].names
        for part, path in zip(parts[1:], self._paths[1:], strict=True):
            if part.names != names and len(set(names)) < max(len(names), len(part.names)):
                raise SourceError(
                    f"{shown(path.name)} has other columns than {shown(self._paths[0].name)}, or has them in another "
                    "order, and a name stands twice among them; rename one, or write all parts alike"
                )

    def _check_side_by_side(self, parts: list[Part]) -> None:
        seen: dict[str, Path] = {}
        way = " (or have one more, that names the rows: --key, key=)" if self._orders is None else ""
        for part, path in zip(parts, self._paths, strict=True):
            for name in part.names:
                if name in seen:
                    raise SourceError(
                        f"column {shown(name)} is in {shown(seen[name].name)} and in {shown(path.name)}, but the parts "
                        f"of {self.title} do not have the same columns; parts must agree on all columns or share none"
                        f"{way}"
                    )
                seen[name] = path
            if part.n_rows != parts[0].n_rows:
                raise SourceError(
                    f"{shown(path.name)} has {part.n_rows} rows and {shown(self._paths[0].name)} has "
                    f"{parts[0].n_rows}; parts that stand side by side must have the same rows, in one order or "
                    "matched by a column that names them (--key, key=)"
                )

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the files to read some columns."""
        once, places = distinct(columns)
        with ExitStack() as stack:
            parts = self._opened(stack)
            reader = _ColumnarReader(parts, once, self._by_columns, self.names)
            reader.keeps = 0 if self._orders is None else self._orders.nbytes
            yield reader if len(once) == len(columns) else RepeatingReader(reader, places)


class _ColumnarReader(Reader):
    def __init__(self, parts: list[Part], columns: NDArray[np.int64], by_columns: bool, names: Names) -> None:
        self._parts = parts
        self._columns = columns
        self._by_columns = by_columns
        self._names = names
        self.n_rows = parts[0].n_rows if by_columns else sum(part.n_rows for part in parts)
        self._text_bytes = self._most_text()

    def _most_text(self) -> int:
        if not self._by_columns:
            return sum(part.text_bytes(part_positions(part, self._parts[0], self._columns)) for part in self._parts)
        sizes, first = [0], 0
        for part in self._parts:
            inside = self._columns[(self._columns >= first) & (self._columns < first + len(part.names))]
            sizes.append(part.text_bytes((inside - first).tolist()))
            first += len(part.names)
        return max(sizes)

    def overhead(self) -> int:
        return self.n_rows * 24 + 2 * self._text_bytes

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        return list(self._table(start, stop).columns)

    def _table(self, start: int, stop: int) -> pa.Table:
        positions = self._columns[start:stop]
        return self._side_by_side(positions) if self._by_columns else self._stacked(positions)

    def band(self, start: int, stop: int) -> Band:
        table = self._table(start, stop)
        try:
            return arrow_band(zip(table.column_names, table.columns, strict=True), self.n_rows)
        finally:
            del table
            pa.default_memory_pool().release_unused()

    def _side_by_side(self, positions: NDArray[np.int64]) -> pa.Table:
        columns: dict[int, pa.ChunkedArray] = {}
        first = 0
        for part in self._parts:
            inside = positions[(positions >= first) & (positions < first + len(part.names))]
            if len(inside):
                columns |= dict(zip(inside.tolist(), part.read((inside - first).tolist()).columns, strict=True))
            first += len(part.names)
        wanted = positions.tolist()
        return pa.table([columns[i] for i in wanted], names=[self._names[i] for i in wanted])

    def _stacked(self, positions: NDArray[np.int64]) -> pa.Table:
        tables = [part.read(part_positions(part, self._parts[0], positions)) for part in self._parts]
        if len(tables) == 1:
            return tables[0]
        try:
            if all(table.schema.types == tables[0].schema.types for table in tables):
                return pa.concat_tables(tables).unify_dictionaries()
            return pa.concat_tables([_plain(t) for t in tables], promote_options="permissive")
        except pa.ArrowException as error:
            pass_on_shortage(error)
            raise SourceError(
                f"the parts of the folder disagree on the type of a column ({first_line(error)}); write them alike"
            ) from error


def part_positions(part: Part, first: Part, positions: NDArray[np.int64]) -> list[int]:
    """Where a part has the columns that the first part has at these positions."""
    if part.names == first.names:
        return [int(i) for i in positions]
    place = {name: i for i, name in enumerate(part.names)}
    return [place[first.names[i]] for i in positions.tolist()]


def _plain(table: pa.Table) -> pa.Table:
    """Dictionaries decoded: those of two files need not number their values alike."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def open_parquet(path: Path) -> ColumnarSource:
    """One Parquet file."""
    return ColumnarSource([path], _ParquetPart, shown(path.name))


def open_ipc(path: Path) -> ColumnarSource:
    """One Arrow IPC or Feather file."""
    return ColumnarSource([path], _IpcPart, shown(path.name))


def open_parquet_folder(path: Path, key: str | None = None) -> ColumnarSource:
    """All Parquet files of a folder, in the order of their names, numbers in them by size; rows matched by a key."""
    title = shown(path.name or path)
    try:
        below = folder_holding(".parquet", path)
    except OSError as error:
        pass_on_shortage(error)
        raise SourceError(
            f"the folder {title} cannot be looked through ({first_line(error)}); mend that, or give a folder of "
            "Parquet parts alone"
        ) from error
    if below is not None:
        raise SourceError(
            f"the folder {title} has Parquet files further down, in {shown(below.name)}; put all parts into one folder"
        )
    parts = [p for p in entries_of(path) if p.suffix in {".parquet", ".pq"} and not p.name.startswith((".", "_"))]
    # part-2 stands before part-10.
    parts.sort(
        key=lambda p: [
            (not word.isdecimal(), int(word) if word.isdecimal() else word) for word in _WORDS.findall(p.name)
        ]
    )
    if not parts:
        raise SourceError(f"the folder {title} holds no .parquet file; give a file, or a folder of Parquet parts")
    return ColumnarSource(parts, _ParquetPart, title, key)
