"""The manifest: what a store directory must hold, and proof that it is all there and unharmed.

``manifest.json`` is the last file written, and sealed with its own checksum.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from fernwood.errors import StoreError, shown
from fernwood.files import is_file, nearest_path, opened, read_file, restored, size_of
from fernwood.plausible import made
from fernwood.sealed import is_intact, seal
from fernwood.sources import is_there
from fernwood.sources.place import Url

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fernwood.sources.place import Place

__all__ = [
    "FORMAT_VERSION",
    "HEADER_BYTES",
    "LARGEST_MANIFEST",
    "MANIFEST_NAME",
    "FileRecord",
    "Manifest",
    "check_files",
    "file_digest",
    "is_store",
    "read_manifest",
    "understood",
    "write_manifest",
]

MANIFEST_NAME = "manifest.json"
HEADER_BYTES = 128
"""Bytes of a codes file before its first column: the header of the ``.npy`` format."""
FORMAT = "fernwood column store"
FORMAT_VERSION = 1
LARGEST_MANIFEST = 2**26
_MOST_COLUMNS = 2**62
"""Of a shard; columns are counted in 64 bits."""


@dataclass(frozen=True)
class FileRecord:
    """A file of the store.

    `checksum` is over the whole file; for codes it is over the header alone, since every column has its own.
    """

    name: str
    size: int
    checksum: str


@dataclass(frozen=True)
class Manifest:
    """Everything about a store that is not a column or a row.

    `fingerprint` stands for the content: names, codes and bins of every column, the target, weights and groups.
    """

    n_rows: int
    n_columns: int
    bins: int
    shard_columns: int
    codes: list[FileRecord]
    columns: FileRecord
    rows: FileRecord | None
    roles: dict[str, Any]
    source: str
    source_bytes: int
    fingerprint: str
    written_by: str
    notes: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[FileRecord]:
        """Every file but the manifest."""
        return [*self.codes, self.columns, *([self.rows] if self.rows else [])]


def is_store(place: Place) -> bool:
    """Whether a directory says that it is a store; it may be damaged all the same. A URL can be nothing else."""
    return isinstance(place, Url) or is_file(place / MANIFEST_NAME)


def file_digest(path: Path) -> str:
    """The checksum of a file, read in pieces."""
    checksum = hashlib.blake2b(digest_size=16)
    with opened(path) as file:
        while piece := file.read(2**20):
            checksum.update(piece)
    return checksum.hexdigest()


def write_manifest(manifest: Manifest) -> bytes:
    """The bytes of ``manifest.json``."""
    return seal({"format": FORMAT, "version": FORMAT_VERSION, **asdict(manifest)})


def read_manifest(directory: Path) -> Manifest:
    """Read, check and understand the manifest of a store on disk, and look whether its files are there."""
    where = shown(directory.name)
    path = directory / MANIFEST_NAME
    if not is_there(directory) and not restored(directory):
        hint = nearest_path(directory, MANIFEST_NAME) or "; check the path, or make one with `fernwood ingest`"
        raise StoreError(f"there is no store {shown(directory)}{hint}")
    if not is_file(path):
        raise StoreError(f"{where} is not a Fernwood store: it has no {MANIFEST_NAME}; make one with `fernwood ingest`")
    manifest = understood(read_file(path) if size_of(path) <= LARGEST_MANIFEST else None, where)
    sizes = {
        record.name: size_of(directory / record.name) for record in manifest.files if is_file(directory / record.name)
    }
    check_files(manifest, sizes, where)
    return manifest


def understood(data: bytes | None, where: str) -> Manifest:
    """The manifest in the bytes of its file (None where they are too many), checked by itself.

    `where` is how sentences call the store.
    """
    if data is None:
        raise StoreError(f"the manifest of {where} is damaged: it is far too long; make the store again")
    damaged = f"the manifest of {where} is damaged: its checksum does not fit; make the store again, or copy it again"
    try:
        entries = json.loads(data)
        version = entries["version"]
        if entries["format"] != FORMAT:
            raise StoreError(f"{where} is not a Fernwood store: its manifest says {shown(entries['format'])}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(damaged) from error
    if type(version) is not int or version < 1:
        raise StoreError(damaged)
    if version > FORMAT_VERSION:
        raise StoreError(
            f"{where} has store format {version}, this Fernwood reads up to {FORMAT_VERSION}; "
            "update Fernwood to open it"
        )
    if not is_intact(data):
        raise StoreError(damaged)
    known = {k: v for k, v in entries.items() if k not in {"format", "version", "checksum"}}
    try:
        known["codes"] = [made(FileRecord, record) for record in known["codes"]]
        known["columns"] = made(FileRecord, known["columns"])
        known["rows"] = made(FileRecord, known["rows"]) if known["rows"] else None
        manifest: Manifest = made(Manifest, known)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(damaged) from error
    if not _fits_together(manifest):
        raise StoreError(damaged)
    for record in manifest.files:
        if not record.name or set(record.name) & set("/\\\0") or record.name.startswith("."):
            raise StoreError(f"the manifest of {where} names a file outside of it: {shown(record.name)}")
    return manifest


def _fits_together(manifest: Manifest) -> bool:
    """Whether the numbers of a manifest agree: a checksum shows accidents, not lies."""
    if min(manifest.n_rows, manifest.n_columns, manifest.shard_columns) < 1 or manifest.shard_columns > _MOST_COLUMNS:
        return False
    left = manifest.n_columns
    for record in manifest.codes:
        columns = min(left, manifest.shard_columns)
        if record.size != HEADER_BYTES + columns * manifest.n_rows:
            return False
        left -= columns
    return left == 0


def check_files(manifest: Manifest, sizes: Mapping[str, int], where: str) -> None:
    """Refuse a store that lacks a file, or has one of another size; `sizes` are those of the files that are there."""
    for record in manifest.files:
        if record.name not in sizes:
            raise StoreError(f"{where} lacks its file {shown(record.name)}; copy the store again, or make it again")
        if sizes[record.name] != record.size:
            raise StoreError(
                f"{shown(record.name)} of {where} has {sizes[record.name]} bytes where {record.size} were written; "
                "copy the store again, or make it again"
            )
