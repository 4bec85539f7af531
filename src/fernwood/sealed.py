"""Sealed JSON: a text file that carries its own checksum, so that a flipped byte anywhere shows.

The checksum is the last entry, taken over all bytes of the file with that entry blank.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["digest", "is_intact", "seal"]

_BLANK = "0" * 32


def digest(data: bytes) -> str:
    """The checksum of some bytes, in hexadecimal."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def seal(entries: dict[str, Any]) -> bytes:
    """The bytes of a JSON file with these entries and a checksum.

    Examples
    --------
    >>> is_intact(seal({"rows": 5}))
    True
    >>> is_intact(seal({"rows": 5}).replace(b"5", b"6"))
    False
    """
    blank = (json.dumps({**entries, "checksum": _BLANK}, indent=1, ensure_ascii=True) + "\n").encode()
    return _with_checksum(blank, digest(blank))


def is_intact(data: bytes) -> bool:
    """Whether every byte of a sealed file is as it was written."""
    try:
        checksum = json.loads(data)["checksum"]
        return data == _with_checksum(data, checksum) and digest(_with_checksum(data, _BLANK)) == checksum
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _with_checksum(data: bytes, checksum: str) -> bytes:
    """The same bytes with another checksum in its place at the very end."""
    tail = f'"checksum": "{checksum}"\n}}\n'.encode()
    return data[: -len(tail)] + tail
