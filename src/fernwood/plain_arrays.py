"""Arrays in files that a stranger may have made: what they say of themselves is held against the bytes that there are.

A zip whose members are not compressed cannot hold more than its file, and an array whose shape fits its bytes takes no
more memory than they do; anything else is refused before memory is taken for it.
"""

from __future__ import annotations

import math
import tokenize
import warnings
import zipfile
from typing import IO, Any

import numpy as np

__all__ = ["check_members", "check_stored", "plain_header", "read_header"]

_TROUBLES = (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError, tokenize.TokenError)
"""What NumPy's reading of a header raises: it is parsed as Python's words for values, though never run."""
_PLAIN_KINDS = "biufcUSmM"


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type that the header of a `.npy` file says; whatever is wrong with it is a ValueError.

    Examples
    --------
    >>> import io
    >>> read_header(io.BytesIO(b"no array"))
    Traceback (most recent call last):
    ValueError: the header cannot be read
    """
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 2 wrote it, or under an old name: no fault of an array
            shape, by_columns, dtype = read(file)
    except _TROUBLES as error:
        raise ValueError("the header cannot be read") from error
    if any(type(length) is not int for length in shape):
        raise ValueError("a length is no number")
    return shape, by_columns, dtype


def plain_header(file: IO[bytes], n_bytes: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array in the `.npy` format, whose header and numbers take just `n_bytes`.

    The file is left where the numbers begin; a header that lies is a ValueError.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3), "f4"))
    >>> n_bytes = file.tell()
    >>> _ = file.seek(0)
    >>> plain_header(file, n_bytes)
    ((2, 3), False, dtype('float32'))
    """
    begin = file.tell()
    shape, by_columns, dtype = read_header(file)
    left = n_bytes - (file.tell() - begin)
    if (
        dtype.kind not in _PLAIN_KINDS
        or not dtype.itemsize  # nothing on the disk, and yet memory for every one
        or min(shape, default=0) < 0
        or left != math.prod(shape) * dtype.itemsize
    ):
        told = f"{dtype} of shape {shape}"[:40]
        raise ValueError(f"{told} is no array of plain values")
    return shape, by_columns, dtype


def check_stored(parts: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse, with a ValueError, a zip of so many bytes whose members are compressed, or larger than that together.

    Nothing is unpacked to more than the file holds, however its members lie in it.
    """
    infos = parts.infolist()
    if any(i.compress_type != zipfile.ZIP_STORED or i.file_size != i.compress_size for i in infos):
        raise ValueError("a member is compressed")
    if sum(i.file_size for i in infos) > n_bytes:
        raise ValueError("members are larger than the file")


def check_members(parts: zipfile.ZipFile, n_bytes: int) -> None:
    """The same, and refuse one with a member that is no plain array."""
    check_stored(parts, n_bytes)
    for info in parts.infolist():
        with parts.open(info) as member:
            plain_header(member, info.file_size)
