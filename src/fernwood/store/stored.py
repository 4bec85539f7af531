"""A store made of files, wherever they are: codes in ``.npy``, records in Parquet, and a manifest over all of it."""

from __future__ import annotations

import errno
import hashlib
import threading
import time
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fernwood.errors import StoreError, printable, shown
from fernwood.files import Streamed
from fernwood.sealed import digest
from fernwood.shortage import pass_on_shortage
from fernwood.sources.names import Names
from fernwood.store.base import Store
from fernwood.store.columns import check_records, check_schema
from fernwood.store.manifest import HEADER_BYTES
from fernwood.store.plan import plan_reads
from fernwood.store.roles import Roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from fernwood.files import PositionedFile
    from fernwood.store.manifest import FileRecord, Manifest

__all__ = ["FileStore"]

_GROUPS_AT_ONCE = 64
"""Row groups of the records whose fields are read together: some megabytes, and few enough calls."""
_PIECE_BYTES = 2**20


class FileStore(Store):
    """A store of files; a subclass says how one of them is opened.

    Parameters
    ----------
    manifest
    title : how sentences call the store
    """

    def __init__(self, manifest: Manifest, title: str) -> None:
        self.manifest = manifest
        self.title = title
        self.n_rows = manifest.n_rows
        self.n_columns = manifest.n_columns
        self.fingerprint = manifest.fingerprint
        self.notes = manifest.notes
        self.names = _StoredNames(self)
        self.bytes_read, self.seconds_reading = 0, 0.0
        """Bytes of codes asked of the files since the store was opened, and how long threads waited for them in all."""
        self._handles: dict[int, PositionedFile] = {}
        self._lock = threading.Lock()
        # A lock of its own: whoever waits for records keeps nobody from codes.
        self._records_lock = threading.Lock()

    @abstractmethod
    def _open(self, name: str) -> PositionedFile:
        """One of the files."""

    @abstractmethod
    def _manifest_again(self) -> Manifest:
        """The manifest as it is now, with files that are there at their sizes."""

    @cached_property
    def roles(self) -> Roles:  # type: ignore[override]
        """Target, weights and groups of the rows."""
        record = self.manifest.rows
        if record is None:
            return Roles()
        parquet = self._guarded(lambda: self._open_parquet(record))
        try:
            Roles.check_file(parquet.metadata.num_rows, parquet.schema_arrow, self.n_rows)
            table = self._guarded(lambda: parquet.read(use_threads=False))
            roles = Roles.restore(table, self.manifest.roles)
            roles.check(self.n_rows)
        except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
            pass_on_shortage(error)
            raise StoreError(f"the rows of {self.title} do not fit its manifest; make the store again") from error
        return roles

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns, by positioned reads."""
        positions = self._positions(ids)
        out = self._output(len(positions), out)
        started = time.perf_counter()
        try:
            n_bytes = self._fill(positions, out)
        except OSError as error:
            pass_on_shortage(error)
            if isinstance(error, StoreError):
                raise
            raise self._unreadable("codes", error) from error
        with self._lock:
            self.bytes_read += n_bytes
            self.seconds_reading += time.perf_counter() - started
        return out

    def expect(self, ids: ArrayLike) -> None:
        """Have the disk fetch columns that will be read soon, while others are looked at."""
        n_rows = self.n_rows
        for shard, first, last, _, _ in plan_reads(np.sort(self._positions(ids)), n_rows, self.manifest.shard_columns):
            self._handle(shard).expect(HEADER_BYTES + first * n_rows, (last - first) * n_rows)

    def _fill(self, positions: NDArray[np.int64], out: NDArray[np.uint8]) -> int:
        """Read columns into `out`; the bytes that took."""
        order = None
        if (np.diff(positions) < 0).any():
            order = np.argsort(positions, kind="stable")
            positions = positions[order]
        n_rows = self.n_rows
        flat = out.data.cast("B") if out.size else memoryview(b"")
        spans = plan_reads(positions, n_rows, self.manifest.shard_columns)
        scratch = np.empty((0, n_rows), np.uint8)
        # Two columns with another one between them may come as three: that there are as many says nothing.
        follows = np.diff(positions) == 1
        for shard, first, last, start, stop in spans:
            place = HEADER_BYTES + first * n_rows
            if order is None and follows[start : stop - 1].all():  # the wanted columns alone: straight to their place
                self._handle(shard).read_into(flat[start * n_rows : stop * n_rows], place)
                continue
            if len(scratch) < last - first:
                scratch = np.empty((last - first, n_rows), np.uint8)
            block = scratch[: last - first]
            self._handle(shard).read_into(block.data.cast("B"), place)
            inside = positions[start:stop] % self.manifest.shard_columns - first
            if order is None:
                np.take(block, inside, axis=0, out=out[start:stop], mode="clip")
            else:
                out[order[start:stop]] = block[inside]
        return sum(last - first for _, first, last, _, _ in spans) * n_rows

    def _handle(self, shard: int) -> PositionedFile:
        handle = self._handles.get(shard)
        if handle is None:
            with self._lock:
                handle = self._handles.get(shard) or self._open(self.manifest.codes[shard].name)
                self._handles[shard] = handle
        return handle

    def _open_parquet(self, record: FileRecord) -> pq.ParquetFile:
        # Pages carry checksums of their own, so that a damaged record is an error and never a wrong number. Nothing is
        # read ahead, nor by Arrow's threads: one that lets go of a Python file as the interpreter ends aborts it.
        file = pa.PythonFile(Streamed(self._open(record.name)), "r")
        return pq.ParquetFile(file, page_checksum_verification=True, pre_buffer=False)

    @cached_property
    def _parquet(self) -> pq.ParquetFile:
        parquet = self._guarded(lambda: self._open_parquet(self.manifest.columns))
        if parquet.metadata.num_rows != self.n_columns:
            raise StoreError(f"the records of {self.title} do not fit its manifest; make the store again")
        self._guarded(lambda: check_schema(parquet.schema_arrow))
        return parquet

    @cached_property
    def _group_rows(self) -> NDArray[np.int64]:
        """The first column of every row group of the records, and the end."""
        meta = self._parquet.metadata
        counts = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        if min(counts, default=0) < 0 or sum(counts) != self.n_columns:
            raise StoreError(f"the records of {self.title} do not fit its manifest; make the store again")
        return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))

    def _read_groups(self, groups: list[int], fields: list[str] | None) -> pa.Table:
        # The lock: a Parquet file object is not safe from several threads.
        with self._records_lock:
            table = self._guarded(lambda: self._parquet.read_row_groups(groups, columns=fields, use_threads=False))
            self._guarded(lambda: check_records(table))
            return table

    def _field(self, name: str) -> Iterator[pa.ChunkedArray]:
        n_groups = len(self._group_rows) - 1
        for first in range(0, n_groups, _GROUPS_AT_ONCE):
            groups = list(range(first, min(first + _GROUPS_AT_ONCE, n_groups)))
            yield self._read_groups(groups, [name]).column(name)

    def _has(self, field: str) -> bool:
        return field in self._parquet.schema_arrow.names

    def _records(self, ids: NDArray[np.int64]) -> pa.Table:
        return self._take(ids, None)

    def _take(self, ids: NDArray[np.int64], fields: list[str] | None) -> pa.Table:
        groups = np.searchsorted(self._group_rows, ids, side="right") - 1
        parts, order = [], []
        for group in np.unique(groups).tolist():
            members = np.flatnonzero(groups == group)
            table = self._read_groups([group], fields)
            parts.append(table.take(pa.array(ids[members] - self._group_rows[group])))
            order.append(members)
        if not parts:
            return self._read_groups([], fields)
        return pa.concat_tables(parts).take(pa.array(np.argsort(np.concatenate(order), kind="stable")))

    def _guarded(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (pa.ArrowException, OSError, ValueError) as error:
            pass_on_shortage(error)
            if isinstance(error, StoreError):
                raise
            # Arrow gives no number to what is wrong in a file, and no place to read at is what a damaged one names.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise self._unreadable("records", error) from error
            reason = printable((str(error).splitlines() or ["no reason given"])[0])[:200]
            raise StoreError(f"the records of {self.title} are damaged ({reason}); make the store again") from error

    def _unreadable(self, what: str, error: OSError) -> StoreError:
        return StoreError(
            f"the {what} of {self.title} cannot be read: {error.strerror or error}; see to its disk, and open it again"
        )

    def verify(self) -> None:
        """Check every byte of every file against its checksum."""
        manifest = self._manifest_again()
        for record in (manifest.columns, manifest.rows):
            if record is not None and _digest(self._open(record.name)) != record.checksum:
                raise StoreError(
                    f"{shown(record.name)} of {self.title} is damaged: its checksum does not fit; "
                    "copy the store again, or make it again"
                )
        for shard, record in enumerate(manifest.codes):
            if digest(self._handle(shard).read(HEADER_BYTES, 0)) != record.checksum:
                raise StoreError(f"the header of {shown(record.name)} in {self.title} is damaged; make the store again")
        self._verify_columns(self.checksums)

    def close(self) -> None:
        """Give file handles back; the store opens them again when it is read again."""
        with self._lock:
            # Only let go: a thread that reads right now keeps its file until it is done.
            self._handles = {}
            self.__dict__.pop("_parquet", None)


def _digest(file: PositionedFile) -> str:
    """The checksum of a whole file, read in pieces."""
    checksum = hashlib.blake2b(digest_size=16)
    for place in range(0, file.size, _PIECE_BYTES):
        checksum.update(file.read(min(_PIECE_BYTES, file.size - place), place))
    return checksum.hexdigest()


class _StoredNames(Names):
    """Names read from the records a row group at a time."""

    def __init__(self, store: FileStore) -> None:
        self._store = store

    def __len__(self) -> int:
        return self._store.n_columns

    def run(self, start: int, stop: int) -> pa.Array:
        return self.take(np.arange(start, stop))

    def take(self, positions: NDArray[np.int64]) -> pa.Array:
        names = self._store._take(positions, ["name"]).column("name").combine_chunks()  # noqa: SLF001
        return names.cast(pa.large_string())
