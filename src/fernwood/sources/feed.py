"""The text of a file in pieces of moderate size, decompressed on the way, whatever the length of its lines."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.files import FileReader, Streamed
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrow import first_line
from fernwood.sources.text_format import COMPRESSED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["PIECE_BYTES", "TextFeed", "unpacking"]

PIECE_BYTES = 2**20
_LONGEST_CELL = 2**24
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def unpacking(title: str) -> Iterator[None]:
    """Turn what Arrow says of a text that it reads, packed perhaps, into one sentence."""
    try:
        yield
    except pa.ArrowException as error:
        pass_on_shortage(error)
        raise SourceError(
            f"{title} cannot be unpacked here ({first_line(error)}); unpack it first, and give the plain text"
        ) from error
    except OSError as error:
        pass_on_shortage(error)
        raise SourceError(
            f"{title} cannot be read to its end ({first_line(error)}); it may be cut off: copy it again"
        ) from error


class TextFeed:
    """The text of a file in pieces: `text` holds what is not yet used, `final` says that nothing follows."""

    def __init__(self, path: Path, piece: int = PIECE_BYTES) -> None:
        self._raw = Streamed(FileReader(path))
        codec = COMPRESSED.get(path.suffix.lower())
        self._stream = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), codec) if codec else self._raw
        self._title = shown(path.name)
        self._buffer = np.empty(piece, np.uint8)
        self._filled = 0
        self.final = False
        self.advance(0)
        if self.text[:2].tobytes() in {b"\xff\xfe", b"\xfe\xff"}:
            raise SourceError(f"{self._title} is UTF-16, not UTF-8 text; convert the file to UTF-8")
        self.start = 3 if self.text[:3].tobytes() == _BYTE_ORDER_MARK else 0
        self.line = 1

    @property
    def text(self) -> NDArray[np.uint8]:
        """What was read and not let go of."""
        return self._buffer[: self._filled]

    @property
    def position(self) -> int:
        """Bytes of the file that were read, compressed ones where it is."""
        return self._raw.tell()

    def advance(self, used: int) -> None:
        """Let go of the first `used` bytes and read on."""
        rest = self._filled - used
        if rest == len(self._buffer):  # one cell fills it all
            if rest >= _LONGEST_CELL:
                raise SourceError(
                    f"{self._title} has a cell of more than {_LONGEST_CELL} bytes: "
                    "a quote that is never closed, or no table"
                )
            self._buffer = np.concatenate((self._buffer, np.empty_like(self._buffer)))
        else:
            self._buffer[:rest] = self._buffer[used : self._filled]
        self._filled = rest
        while self._filled < len(self._buffer):
            with unpacking(self._title):
                got = self._stream.readinto(self._buffer.data[self._filled :])
            if not got:
                self.final = True
                break
            self._filled += got

    def first_text(self) -> int:
        """Where the first line that is not blank begins; the lines before it are counted."""
        start = self.start
        while start < self._filled and self._buffer[start] in b"\r\n":
            self.line += int(self._buffer[start] == ord("\n"))
            start += 1
        return start

    def close(self) -> None:
        """Give the file back, and the memory; closing twice is fine."""
        self._buffer, self._filled = np.empty(0, np.uint8), 0
        self._stream.close()
        self._raw.close()
