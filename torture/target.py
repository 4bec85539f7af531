"""What is fuzzed: bytes, what a user does with them, and small inputs to begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

__all__ = ["Choices", "NoInputError", "Target", "making", "parted"]

One = TypeVar("One")
PART = b"\n=====\n"
"""Between the files of an input that is more than one."""


class Target(NamedTuple):
    """A format that is fuzzed.

    Attributes
    ----------
    name, title
    use : called with an input and an empty directory; does with it what a user would. It ends, or raises a
        FernwoodError; anything else is a finding
    seeds : inputs to begin with, by name
    """

    name: str
    title: str
    use: Callable[[bytes, Path], None]
    seeds: Callable[[], Mapping[str, bytes]]


class NoInputError(Exception):
    """Choices that make no input: edits of what an edit before broke, or what no library would write."""


@contextmanager
def making() -> Iterator[None]:
    """A block that makes an input; where it fails, there is none."""
    try:
        yield
    except Exception as error:
        raise NoInputError from error


class Choices:
    """Choices made by the bytes of an input, so that a fuzzer, which knows bytes alone, makes them.

    Examples
    --------
    >>> choices = Choices(bytes([7, 200]) + b"rest")
    >>> choices.number(5), choices.one_of("abc"), choices.rest()
    (2, 'c', b'rest')
    >>> Choices(b"").number(1000)
    0
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, below: int) -> int:
        """A whole number from 0 to before `below`; 0 where no bytes are left."""
        n_bytes = max(1, ((below - 1).bit_length() + 7) // 8)
        taken = self._data[self._at : self._at + n_bytes]
        self._at += n_bytes
        return int.from_bytes(taken, "little") % below if below > 0 else 0

    def one_of(self, some: Sequence[One]) -> One:
        """One of some things."""
        return some[self.number(len(some))]

    def bytes(self, most: int) -> bytes:
        """Some bytes."""
        n = self.number(most + 1)
        taken = self._data[self._at : self._at + n]
        self._at += n
        return taken

    def rest(self) -> bytes:
        """All bytes that are left."""
        taken, self._at = self._data[self._at :], len(self._data)
        return taken

    @property
    def left(self) -> bool:
        """Whether there are bytes that chose nothing yet."""
        return self._at < len(self._data)


def parted(data: bytes, n: int) -> list[bytes]:
    """The files of an input of several; those that are not there are empty."""
    parts = data.split(PART, n - 1)
    return [*parts, *([b""] * (n - len(parts)))]
