"""A process that dies at a chosen call on the file system: before it, after it, or with a write half done.

Nothing is caught and nothing is cleared up: the process is killed, as SIGKILL from outside would have met it there.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["HOW", "Death", "count_calls", "die_at"]

_CALLS = ("mkdir", "open", "write", "pwrite", "fsync", "rename", "replace", "unlink", "rmdir")
"""All that Fernwood changes a disk with, through `os` or what calls it."""
HOW = ("before", "half", "after")


class Death(NamedTuple):
    """Which of the calls, from 1 on, and how."""

    call: int
    how: str


def count_calls() -> Callable[[], int]:
    """Count the calls from now on; what comes back says how many there were."""
    return _replace(lambda _number, _name: "")


def die_at(death: Death) -> Callable[[], int]:
    """Let the process die at one of the calls that follow; it counts them too."""
    return _replace(lambda number, _name: death.how if number == death.call else "")


def _replace(fate: Callable[[int, str], str]) -> Callable[[], int]:
    lock, made = threading.Lock(), 0

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal made
            if name == "open" and not _changes(*arguments, **options):
                return real(*arguments, **options)
            with lock:
                made += 1
                how = fate(made, name)
            if how == "before":
                _die()
            if how == "half" and "write" in name:
                descriptor, data, *place = arguments
                real(descriptor, memoryview(data)[: memoryview(data).nbytes // 2], *place)
                _die()
            done = real(*arguments, **options)
            if how:
                _die()
            return done

        setattr(os, name, call)

    for name in _CALLS:
        wrap(name)
    return lambda: made


def _changes(_path: Any, flags: int = 0, *_: Any, **__: Any) -> bool:
    return bool(flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
