"""Stopping on request: what a signal raises, so that a run can keep its best answer so far."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Stopped", "ask_to_stop", "finishing_first", "hear", "heard", "stop_if_asked"]


class Stopped(BaseException):
    """A signal asked the process to stop; not a KeyboardInterrupt, which command-line libraries take for themselves."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_asked: list[Stopped] = []
_finishing: list[None] = []


@contextmanager
def finishing_first() -> Iterator[None]:
    """A block that a signal lets come to its end; a second one does not wait."""
    _finishing.append(None)
    try:
        yield
    finally:
        _finishing.pop()


def hear(number: int) -> None:
    """What a signal handler does: raise, unless something is to be finished first and this is the first signal."""
    waits = bool(_finishing) and not _asked
    stop = ask_to_stop(number)
    if not waits:
        raise stop
    if os.isatty(2):
        os.write(2, b"\nfernwood: stopping after the step in hand; once more stops at once\n")


def ask_to_stop(number: int) -> Stopped:
    """What a signal handler raises, remembered: Python drops what is raised while it clears up an object."""
    _asked.append(Stopped(number))
    return _asked[-1]


def stop_if_asked() -> None:
    """Raise what a signal handler raised in vain, or did not raise yet."""
    if _asked:
        raise _asked[-1]


def heard() -> None:
    """What was asked for is being done: do not ask again."""
    _asked.clear()
