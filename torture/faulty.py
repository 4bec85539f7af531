"""A disk that fails on purpose: it stands between `fernwood.files` and the system, counts calls, and breaks one.

The modules of `fernwood.files` call `os`, `fcntl`, `shutil` and `tempfile` by these names and nothing else touches the
disk (`tests/test_one_door.py`), so that putting a `Disk` in their place reaches every call.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FAULTS", "Disk", "Fault", "FaultyDisk", "installed"]

_ROOM = ("directories", "locks", "looking", "reading", "writing")
_SYSTEM = ("os", "fcntl", "shutil", "tempfile")

_LOOKS = ("EIO", "EINTR")
_CHANGES = ("EIO", "ENOSPC", "EINTR", "gone")
_WRITES = (*_CHANGES, "short", "full")
FAULTS: dict[str, tuple[str, ...]] = {
    "open": _LOOKS,
    "create": _CHANGES,
    "close": _LOOKS,
    "preadv": (*_LOOKS, "short", "end"),
    "write": _WRITES,
    "pwrite": _WRITES,
    "fsync": _CHANGES,
    "rename": _CHANGES,
    "replace": _CHANGES,
    "unlink": (*_LOOKS, "gone"),
    "mkdir": _CHANGES,
    "makedirs": _CHANGES,
    "rmdir": (*_LOOKS, "gone"),
    "stat": _LOOKS,
    "lstat": _LOOKS,
    "fstat": _LOOKS,
    "scandir": _LOOKS,
    "chmod": _LOOKS,
    "flock": _LOOKS,
    "rmtree": ("EIO", "half", "gone"),
    "copytree": _CHANGES,
    "disk_usage": _LOOKS,
    "mkdtemp": _CHANGES,
}
"""What can go wrong with each call. Beside errors: a read or write of half of the bytes; a read that says that the file
ends; half of a write, then a full disk; a tree of which half is removed. A call that changes something can also be the
first that the disk does not answer any more ("gone"): it and all after it fail."""
_OWNERS = {"flock": "fcntl", "rmtree": "shutil", "copytree": "shutil", "disk_usage": "shutil", "mkdtemp": "tempfile"}


class Fault(NamedTuple):
    """What goes wrong: the how manieth call of a name, counted from 1, and how."""

    call: str
    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.call} {self.number}: {self.what}"


class Disk:
    """Passes every call on and counts it; whoever wants more overrides `do`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def call(self, name: str, real: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """One call of the system by `fernwood.files`."""
        if name == "open" and given[1] & os.O_CREAT:
            name = "create"
        with self._lock:
            self.counts[name] += 1
            number = self.counts[name]
        return self.do(name, number, real, *given, **named)

    def do(self, name: str, number: int, real: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Do what was called for."""
        del name, number
        return real(*given, **named)


class FaultyDisk(Disk):
    """Breaks one call; `struck` says whether it came to that."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self._fault = fault
        self.struck = False
        self._full = False

    def do(self, name: str, number: int, real: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Do what was called for, unless it is to fail."""
        fault = self._fault
        if (name, number) == (fault.call, fault.number):
            self.struck = True
            return self._fail(name, real, *given)
        if self.struck and fault.what == "gone":
            return self._fail(name, real, *given)
        if self._full and name in ("write", "pwrite"):
            self._full = False
            raise _error("ENOSPC")
        return real(*given, **named)

    def _fail(self, name: str, real: Callable[..., Any], *given: Any) -> Any:
        what = self._fault.what
        if name == "close":
            real(*given)  # the descriptor is gone whatever the system says
        if what in ("short", "full") and name == "preadv":
            descriptor, (buffer,), offset = given
            return real(descriptor, [buffer[: max(len(buffer) // 2, 1)]], offset)
        if what in ("short", "full"):
            descriptor, data, *place = given
            self._full = what == "full"
            return real(descriptor, memoryview(data)[: max(len(data) // 2, 1)], *place)
        if what == "end":
            return 0
        if what == "half":
            _remove_half(given[0])
        raise _error("EIO" if what in ("gone", "half") else what)


def _error(name: str) -> OSError:
    number = getattr(errno, name)
    return OSError(number, os.strerror(number))


def _remove_half(folder: Any) -> None:
    """Remove every second file of a directory, as a removal does that fails in between."""
    for parent, _, names in os.walk(folder):
        for name in sorted(names)[::2]:
            os.unlink(os.path.join(parent, name))  # noqa: PTH108, PTH118


class _System:
    """A module of the system whose calls go by way of a disk."""

    def __init__(self, real: Any, owner: str, disk: Disk) -> None:
        self._real = real
        self._owner = owner
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name == "create" or name not in FAULTS or _OWNERS.get(name, "os") != self._owner:
            return found

        def by_way_of_the_disk(*given: Any, **named: Any) -> Any:
            return self._disk.call(name, found, *given, **named)

        return by_way_of_the_disk


@contextmanager
def installed(disk: Disk) -> Iterator[Disk]:
    """Put a disk between `fernwood.files` and the system while the block runs."""
    replaced = []
    try:
        for name in _ROOM:
            module = import_module(f"fernwood.files.{name}")
            for owner in _SYSTEM:
                if hasattr(module, owner):
                    real = getattr(module, owner)
                    replaced.append((module, owner, real))
                    setattr(module, owner, _System(real, owner, disk))
        yield disk
    finally:
        for module, owner, real in replaced:
            setattr(module, owner, real)
