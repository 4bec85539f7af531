"""Stopping on request: what a signal raises, so that a run can keep its best answer so far."""

from __future__ import annotations

__all__ = ["Stopped"]


class Stopped(BaseException):
    """A signal asked the process to stop; not a KeyboardInterrupt, which command-line libraries take for themselves."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
