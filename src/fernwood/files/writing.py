"""Writing: files that are on the disk when they are closed, and that take their names when they are whole."""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fernwood.errors import printable
from fernwood.files.looking import status
from fernwood.files.reading import close_quietly, opened, read_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "Descriptor",
    "FileWriter",
    "append_line",
    "copy_into",
    "move",
    "remove",
    "replaced_file",
    "sync_directory",
    "write_all",
]

_COPIED_AT_ONCE = 2**22
_SMALL = 2**16


class FileWriter(io.RawIOBase):
    """A new file, written front to back; `close` returns only when the bytes are on the disk.

    A raw binary file to Python and Arrow, so that Parquet is written through it as well. Small pieces, of which these
    formats write many, are put together first. A file that could not be written to is of no use any more.
    """

    def __init__(self, path: Path, *, sync: bool = True) -> None:
        super().__init__()
        self.path = path
        self._sync = sync
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._position = 0
        self._small = bytearray()

    def writable(self) -> bool:
        """Yes: the file is for writing."""
        return True

    def tell(self) -> int:
        """Bytes written so far."""
        return self._position

    def write(self, data: object) -> int:
        """Append all of `data`, any contiguous bytes."""
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        if len(view) + len(self._small) > _SMALL:
            self.flush()
        if len(view) > _SMALL:
            write_all(self._descriptor, view)
        else:
            self._small += view
        self._position += len(view)
        return len(view)

    def flush(self) -> None:
        """Hand over to the system what was put together."""
        if self._small:
            small, self._small = self._small, bytearray()
            write_all(self._descriptor, small)

    def rewrite(self, data: bytes, offset: int) -> None:
        """Overwrite bytes written before, in place."""
        self.flush()
        done = 0
        while done < len(data):
            done += os.pwrite(self._descriptor, data[done:], offset + done)

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Read back what was written, by position."""
        self.flush()
        read_all(self._descriptor, buffer, offset, self.path)

    def close(self) -> None:
        """Sync and give the descriptor back; closing twice is fine."""
        if self._descriptor >= 0:
            try:
                self.flush()
                if self._sync:
                    os.fsync(self._descriptor)
            finally:
                descriptor, self._descriptor = self._descriptor, -1
                os.close(descriptor)
        super().close()

    def discard(self) -> None:
        """Close without waiting for the disk: the file is about to be removed, whatever the disk says of it."""
        self._sync, self._small = False, bytearray()
        with suppress(OSError):
            self.close()


class Descriptor(io.RawIOBase):
    """An open file of the system, such as standard output, without a buffer that would fail after the end.

    What goes to a terminal has its control characters escaped: names may come from a stranger's table.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self._terminal = os.isatty(number)

    def writable(self) -> bool:
        """Yes: it is for writing."""
        return True

    def write(self, data: object) -> int:
        """Write all of `data`, any contiguous bytes."""
        if not self._terminal:
            return write_all(self._number, data)
        text = bytes(memoryview(data).cast("B"))  # type: ignore[arg-type]
        write_all(self._number, "\n".join(map(printable, text.decode(errors="replace").split("\n"))).encode())
        return len(text)


def write_all(descriptor: int, data: object) -> int:
    """Write all of `data`, any contiguous bytes, however many writes it takes; how many bytes they are."""
    view = memoryview(data).cast("B")  # type: ignore[arg-type]
    done = 0
    while done < len(view):
        done += os.write(descriptor, view[done:])
    return done


@contextmanager
def replaced_file(path: Path) -> Iterator[FileWriter]:
    """A file to write that takes the name `path` only when the block ends well; what was there stays until then.

    One writer at a time: what a dead one left under the hidden name is overwritten. A device, a pipe or a directory of
    that name is never replaced.
    """
    before = status(path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EEXIST, "there is something of that name that is no file", str(path))
    staging = path.with_name(f".{path.name}.partial")
    remove(staging)
    writer = FileWriter(staging)
    try:
        yield writer
        writer.close()
        move(staging, path)
        try:
            sync_directory(path.parent)
        except BaseException:
            if before is None:  # what failed leaves nothing, so that it can be done again
                with suppress(OSError):
                    move(path, staging)
            raise
    finally:
        writer.discard()
        with suppress(OSError):  # the next writer of that name tries again
            remove(staging)


def append_line(path: Path, line: bytes) -> None:
    """Add a line to a file in one write, so that lines of two processes never mix.

    A link is not followed: the directory of the file may come from anywhere, and leads nobody to write elsewhere.
    """
    how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, how, 0o666)
    try:
        os.write(descriptor, line + b"\n")
    finally:
        close_quietly(descriptor)


def copy_into(source: Path, writer: FileWriter) -> None:
    """Write all of a file into another, and give that one the same permissions."""
    with opened(source) as file:
        while piece := file.read(_COPIED_AT_ONCE):
            writer.write(piece)
    writer.flush()
    os.chmod(writer.path, stat.S_IMODE(os.stat(source).st_mode))


def move(path: Path, target: Path) -> None:
    """Give a file another name; a file that has it gives way."""
    os.replace(path, target)


def remove(path: Path) -> None:
    """Remove a file; one that is not there is fine."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def sync_directory(path: Path) -> None:
    """Wait until names that changed in a directory are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        close_quietly(descriptor)
