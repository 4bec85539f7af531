"""Reading: by position from many threads, as a stream, or whole; a file that ends before its size is an error."""

from __future__ import annotations

import errno
import io
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from fernwood.files.directories import OpenDirectory

__all__ = ["FileReader", "PositionedFile", "Streamed", "close_quietly", "opened", "read_all", "read_file"]


class PositionedFile(Protocol):
    """A file read by position, safe from many threads."""

    size: int

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill the buffer with the bytes at `offset`."""

    def read(self, size: int, offset: int) -> bytes:
        """The `size` bytes at `offset`."""

    def expect(self, offset: int, size: int) -> None:
        """Have bytes fetched that will be asked for soon."""


class FileReader:
    """A file open for positioned reads, safe from many threads: a read has no position to share.

    The descriptor is given back when the last reader lets go of the object, so that nobody reads from a number that
    has become another file.
    """

    def __init__(self, path: Path, directory: OpenDirectory | None = None) -> None:
        self.path = path
        self._descriptor = directory.open(path.name) if directory else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size = os.fstat(self._descriptor).st_size

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill the buffer with the bytes at `offset`; a file that ends before that is an error."""
        read_all(self._descriptor, buffer, offset, self.path)

    def expect(self, offset: int, size: int) -> None:
        """Let the system fetch bytes that will be asked for soon; they wait in its cache, not in the process."""
        if hasattr(os, "posix_fadvise"):
            with suppress(OSError):  # advice: whoever reads meets what is wrong
                os.posix_fadvise(self._descriptor, offset, size, os.POSIX_FADV_WILLNEED)

    def read(self, size: int, offset: int) -> bytes:
        """The `size` bytes at `offset`."""
        buffer = bytearray(size)
        self.read_into(memoryview(buffer), offset)
        return bytes(buffer)

    def close(self) -> None:
        """Give the descriptor back; closing twice is fine."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            close_quietly(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()


class Streamed(io.RawIOBase):
    """A positioned file as Python and Arrow want a file: with a place in it that reading moves on."""

    def __init__(self, file: PositionedFile) -> None:
        super().__init__()
        self._file = file
        self._position = 0

    def readable(self) -> bool:
        """Yes: it is for reading."""
        return True

    def seekable(self) -> bool:
        """Yes: any place will do."""
        return True

    def tell(self) -> int:
        """The place of the next read."""
        return self._position

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a place, from the beginning, from here or from the end."""
        self._position = (0, self._position, self._file.size)[whence] + offset
        return self._position

    def readinto(self, buffer: object) -> int:
        """Fill as much of the buffer as the file has bytes for."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        size = min(len(view), max(self._file.size - self._position, 0))
        self._file.read_into(view[:size], self._position)
        self._position += size
        return size

    def read(self, size: int = -1) -> bytes:
        """The next bytes, so many or all."""
        left = max(self._file.size - self._position, 0)
        data = self._file.read(left if size < 0 else min(size, left), self._position)
        self._position += len(data)
        return data

    def close(self) -> None:
        """Let go of the file, and close it where it is one of the disk."""
        if not self.closed and isinstance(self._file, FileReader):
            self._file.close()
        super().close()


def opened(path: Path, buffer_size: int = io.DEFAULT_BUFFER_SIZE) -> io.BufferedReader:
    r"""A file open for reading from its beginning on, as the function of Python's that is called so gives it.

    What it holds is what it held when it was opened: one that is cut off meanwhile is an error, not a shorter file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "lines"
    ...     _ = path.write_text("one" + chr(10) + "two")
    ...     with opened(path) as file:
    ...         file.readlines()
    [b'one\n', b'two']
    """
    return io.BufferedReader(Streamed(FileReader(path)), buffer_size)


def read_file(path: Path) -> bytes:
    """All bytes of a file."""
    with FileReader(path) as file:
        return file.read(file.size, 0)


def read_all(descriptor: int, buffer: memoryview, offset: int, path: Path) -> None:
    """Fill the buffer from a place in a file, however many reads it takes."""
    done = 0
    while done < len(buffer):
        try:
            got = os.preadv(descriptor, [buffer[done:]], offset + done)
        except OSError as error:
            error.filename = error.filename or str(path)  # the system knows a number alone
            raise
        if got == 0:
            raise OSError(errno.EIO, f"the file ends at byte {offset + done}", str(path))
        done += got


def close_quietly(descriptor: int) -> None:
    """Give back a descriptor that nothing was written through: it is gone whatever the system says."""
    with suppress(OSError):
        os.close(descriptor)
