"""Filling a store: bands of codes and records go in, a store comes out, in memory or on disk."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fernwood.files import FileWriter, move, size_of
from fernwood.sealed import digest
from fernwood.store.columns import COLUMN_SCHEMA
from fernwood.store.manifest import (
    HEADER_BYTES,
    MANIFEST_NAME,
    FileRecord,
    Manifest,
    file_digest,
    write_manifest,
)
from fernwood.store.memory import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from fernwood.store.columns import CodedBand
    from fernwood.store.roles import Roles

__all__ = ["RECORDS_A_GROUP", "DiskWriter", "MemoryWriter", "StoreWriter"]

RECORDS_A_GROUP = 4096
"""Records in a row group of ``columns.parquet``: what is buffered while writing, and what one look-up reads."""

_SHARD_BYTES = 2**32
_CONTENT = ("name", "kind", "codes", "checksum", "shift", "origin", "steps", "labels")
"""Fields of the records that the fingerprint stands for."""


class StoreWriter(ABC):
    """Takes coded bands in column order, then roles and notes."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.n_columns = 0
        # One hash a field: what is fed does not depend on how the columns were cut into bands.
        self._content = {name: hashlib.blake2b(digest_size=16) for name in _CONTENT}

    def append(self, band: CodedBand) -> None:
        """Add some columns."""
        for name in _CONTENT:
            field = band.records.column(name)
            if name == "steps":
                data = field.flatten().to_numpy().tobytes()
            elif name == "labels" or not pa.types.is_primitive(field.type):
                data = _spelled(field)
            else:
                data = field.to_numpy(zero_copy_only=False).tobytes()
            self._content[name].update(data)
        self._put(band)
        self.n_columns += len(band.codes)

    def _fingerprint(self, roles: Roles) -> str:
        whole = hashlib.blake2b(repr((self.n_rows, self.n_columns, roles.to_json())).encode(), digest_size=16)
        for content in self._content.values():
            whole.update(content.digest())
        for part in roles.row_bytes():
            whole.update(part)
        return whole.hexdigest()

    @abstractmethod
    def _put(self, band: CodedBand) -> None: ...


class MemoryWriter(StoreWriter):
    """Collects a store in memory."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        super().__init__(n_rows)
        # Taken at once: collecting blocks and joining them would hold all codes twice.
        self._codes = np.empty((n_columns, n_rows), np.uint8)
        self._batches: list[pa.RecordBatch] = []

    def _put(self, band: CodedBand) -> None:
        self._codes[self.n_columns : self.n_columns + len(band.codes)] = band.codes
        self._batches.append(band.records)

    def finish(self, roles: Roles, notes: list[str]) -> MemoryStore:
        """The store."""
        # In one piece, so that what the store takes does not depend on how the columns were cut into bands.
        records = pa.Table.from_batches(self._batches, COLUMN_SCHEMA).combine_chunks()
        return MemoryStore(self._codes[: self.n_columns], records, roles, self._fingerprint(roles), notes)


class DiskWriter(StoreWriter):
    """Writes a store into a directory that is not yet under its name."""

    def __init__(self, directory: Path, n_rows: int, bins: int, shard_bytes: int = _SHARD_BYTES) -> None:
        super().__init__(n_rows)
        self._directory = directory
        self._bins = bins
        self._shard_columns = max(1, shard_bytes // max(n_rows, 1))
        self._shards: list[FileWriter] = []
        self._in_shard: list[int] = []
        self._pending: list[pa.RecordBatch] = []
        self._n_pending = 0
        self._columns_file = FileWriter(directory / "columns.parquet")
        self._columns = pq.ParquetWriter(
            pa.PythonFile(self._columns_file, "w"),
            COLUMN_SCHEMA,
            compression="zstd",
            compression_level=3,
            use_dictionary=["kind"],
            use_byte_stream_split=["steps.list.element", "origin", "checksum", "position", "from_end"],
            write_page_checksum=True,
            write_statistics=False,
            store_schema=True,
        )

    def _put(self, band: CodedBand) -> None:
        done = 0
        while done < len(band.codes):
            if not self._shards or self._in_shard[-1] == self._shard_columns:
                self._shards.append(FileWriter(self._directory / f"codes-{len(self._shards):05d}.npy"))
                self._shards[-1].write(bytes(HEADER_BYTES))
                self._in_shard.append(0)
            part = band.codes[done : done + self._shard_columns - self._in_shard[-1]]
            self._shards[-1].write(part)
            self._in_shard[-1] += len(part)
            done += len(part)
        self._pending.append(band.records)
        self._n_pending += len(band.codes)
        self._write_groups(RECORDS_A_GROUP)

    def _write_groups(self, least: int) -> None:
        """Write row groups of one size whatever the bands were, so that the bytes do not depend on them."""
        while self._n_pending >= least and self._n_pending:
            table = pa.Table.from_batches(self._pending)
            self._columns.write_table(table.slice(0, RECORDS_A_GROUP), row_group_size=RECORDS_A_GROUP)
            rest = table.slice(RECORDS_A_GROUP)
            self._pending = rest.to_batches()
            self._n_pending = len(rest)

    def finish(self, roles: Roles, notes: list[str], source: str, source_bytes: int, written_by: str) -> None:
        """Write what remains, the manifest last."""
        self._write_groups(0)
        self._columns.close()
        self._columns_file.close()
        rows = None
        table = roles.to_table()
        if table.num_columns:
            with FileWriter(self._directory / "rows.parquet") as file:
                # Plain values in small groups: dictionaries of all values would take more memory than the rows.
                pq.write_table(
                    table,
                    pa.PythonFile(file, "w"),
                    compression="zstd",
                    use_dictionary=False,
                    row_group_size=2**16,
                    write_page_checksum=True,
                )
            rows = self._recorded("rows.parquet")
        manifest = Manifest(
            n_rows=self.n_rows,
            n_columns=self.n_columns,
            bins=self._bins,
            shard_columns=self._shard_columns,
            codes=[self._finish_shard(i) for i in range(len(self._shards))],
            columns=self._recorded("columns.parquet"),
            rows=rows,
            roles=roles.to_json(),
            source=source,
            source_bytes=source_bytes,
            fingerprint=self._fingerprint(roles),
            written_by=written_by,
            notes=notes,
        )
        with FileWriter(self._directory / MANIFEST_NAME) as file:
            file.write(write_manifest(manifest))

    def _finish_shard(self, i: int) -> FileRecord:
        shard, n_columns = self._shards[i], self._in_shard[i]
        header = _npy_header(n_columns, self.n_rows)
        shard.rewrite(header, 0)
        shard.close()
        path = shard.path
        if len(self._shards) == 1:
            path = path.with_name("codes.npy")
            move(shard.path, path)
        return FileRecord(path.name, HEADER_BYTES + n_columns * self.n_rows, digest(header))

    def _recorded(self, name: str) -> FileRecord:
        path = self._directory / name
        return FileRecord(name, size_of(path), file_digest(path))

    def abandon(self) -> None:
        """Let go of open files; the directory goes with its context."""
        with suppress(OSError, ValueError, pa.ArrowException):
            self._columns.close()
        for file in (*self._shards, self._columns_file):
            file.discard()


def _spelled(field: pa.Array) -> bytes:
    """The entries as Python writes them, each with a comma behind it."""
    if field.null_count == len(field):
        return b"None, " * len(field)
    if pa.types.is_string(field.type) and field.equals(pa.repeat(field[0], len(field))):  # kinds: mostly one
        return f"{field[0].as_py()!r}, ".encode() * len(field)
    return repr(field.to_pylist())[1:-1].encode() + b", "  # without the brackets of the list, not those of its entries


def _npy_header(n_columns: int, n_rows: int) -> bytes:
    """A header of the ``.npy`` format, version 1.0, at its fixed length."""
    entries = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({n_columns}, {n_rows}), }}"
    start = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    return start + entries.encode().ljust(HEADER_BYTES - 11) + b"\n"
