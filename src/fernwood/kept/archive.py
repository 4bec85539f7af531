"""The file: a zip of members that are not compressed, one of them a sealed manifest with the checksums of the others.

Members that are arrays are `.npy` files, so that ``numpy.load`` opens the file as well. Nothing in it is code, nothing
names code, and a member can be no larger than the file.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import StoreError, shown
from fernwood.files import is_file, opened, replaced_file, size_of
from fernwood.plain_arrays import check_stored, plain_header
from fernwood.sealed import digest, is_intact, seal
from fernwood.shortage import pass_on_shortage
from fernwood.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["DAMAGE", "Archive", "read_archive", "write_archive"]

DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    EOFError,
    OverflowError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    MemoryError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
"""What reading a file that was changed, or made up, may raise."""
FORMAT, VERSION = "fernwood model", 1
_MANIFEST = "manifest.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every member, so that equal models make equal files."""


@dataclass
class Archive:
    """What is in a file: plain values, and members by name."""

    entries: dict[str, Any] = field(default_factory=dict)
    members: dict[str, bytes] = field(default_factory=dict)

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Add an array as a member."""
        data = io.BytesIO()
        np.lib.format.write_array(data, np.asarray(array), allow_pickle=False)
        self.members[f"{name}.npy"] = data.getvalue()

    def array(self, name: str) -> NDArray[Any]:
        """An array that `put` added; its shape must fit the bytes that there are before memory is taken for it."""
        member = self.members[f"{name}.npy"]
        data = io.BytesIO(member)
        shape, fortran, dtype = plain_header(data, len(member))
        rest = data.getbuffer()[data.tell() :]
        array = np.frombuffer(rest, dtype) if len(rest) else np.empty(math.prod(shape), dtype)
        return array.reshape(shape, order="F" if fortran else "C").copy(order="C")


def write_archive(path: Path, archive: Archive) -> None:
    """Write the file whole or not at all; what was there stays until then."""
    sums = {name: digest(data) for name, data in archive.members.items()}
    about = {"format": FORMAT, "version": VERSION, "written_by": f"fernwood {__version__}"}
    manifest = seal({**about, **archive.entries, "members": sums})
    try:
        with replaced_file(path) as file, zipfile.ZipFile(_Forward(file), "w", zipfile.ZIP_STORED) as out:
            for name, data in {_MANIFEST: manifest, **archive.members}.items():
                out.writestr(zipfile.ZipInfo(name, _LONG_AGO), data)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        pass_on_shortage(error)
        raise StoreError(
            f"the model cannot be written to {shown(path.name)}: {error.strerror or error}; choose another place"
        ) from error


class _Forward(io.RawIOBase):
    """A file that only goes forward, to which a zip is then written without going back."""

    def __init__(self, file: io.RawIOBase) -> None:
        super().__init__()
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data) or 0


def read_archive(path: Path) -> Archive:
    """Read a file that `write_archive` wrote; anything else is refused with one sentence."""
    where = shown(path.name)
    if not is_file(path):
        raise StoreError(f"there is no model {shown(path)}; check the path")
    try:
        return _read(path)
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{where} cannot be read: {error.strerror or error}") from error
    except DAMAGE as error:
        raise StoreError(
            f"{where} is no model of Fernwood, or it is damaged; copy it again, or save the model again"
        ) from error


def _read(path: Path) -> Archive:
    where = shown(path.name)
    with opened(path) as file, zipfile.ZipFile(file) as parts:
        check_stored(parts, size_of(path))
        data = parts.read(_MANIFEST)
        entries = json.loads(data)
        if entries["format"] != FORMAT:
            raise ValueError("another format")
        version = entries["version"]
        if type(version) is int and version > VERSION:
            raise StoreError(
                f"{where} has model format {version}, this Fernwood reads up to {VERSION}; update Fernwood to open it"
            )
        if not is_intact(data) or version != VERSION:
            raise ValueError("the manifest is damaged")
        sums = entries["members"]
        if sorted(parts.namelist()) != sorted([_MANIFEST, *sums]):
            raise ValueError("there are other members than the manifest names")
        members = {name: parts.read(name) for name in sums}
    if any(digest(member) != sums[name] for name, member in members.items()):
        raise ValueError("a member is damaged")
    return Archive(entries, members)
