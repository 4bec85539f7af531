"""How a run went on its machine: time, memory against the budget, and what was found when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Course", "Sample"]


class Sample(NamedTuple):
    """A moment of a run: seconds of work until then, draws made, columns found, bytes that the process held."""

    seconds: float
    stage: str
    done: int
    found: int
    resident: int


@dataclass(frozen=True)
class Course:
    """How a run went; it differs from machine to machine, where the answer does not.

    Attributes
    ----------
    seconds : of work, in all processes together
    peak : the most bytes that a process held
    memory : bytes that a process was allowed to hold; 0 where nobody said
    n_processes : how often it was begun or gone on with
    samples : a few hundred at most, in order
    call : what was asked for, as a command or as Python, so that it can be asked again
    """

    seconds: float
    peak: int
    memory: int = 0
    n_processes: int = 1
    samples: list[Sample] = field(default_factory=list)
    call: str = ""
