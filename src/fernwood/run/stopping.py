"""Stopping on request: what a signal raises, so that a run can keep its best answer so far."""

from __future__ import annotations

__all__ = ["Stopped", "ask_to_stop", "stop_if_asked"]


class Stopped(BaseException):
    """A signal asked the process to stop; not a KeyboardInterrupt, which command-line libraries take for themselves."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_asked: list[Stopped] = []


def ask_to_stop(number: int) -> Stopped:
    """What a signal handler raises, remembered: Python drops what is raised while it clears up an object."""
    _asked.append(Stopped(number))
    return _asked[-1]


def stop_if_asked() -> None:
    """Raise what a signal handler raised in vain."""
    if _asked:
        raise _asked.pop()
