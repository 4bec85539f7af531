"""Many cases, tried in any order, so that a part of them is spread over all; and which of them went wrong."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torture.part import Asked

__all__ = ["Tried", "in_any_order"]

_TOLD_EVERY = 500
_SHOWN = 20

Case = TypeVar("Case")


class Tried(NamedTuple):
    """How many cases were tried, and the names of those that went wrong."""

    n: int
    wrong: list[str]

    @property
    def named(self) -> str:
        """The first few that went wrong, to stand behind how many there are."""
        return "".join(f"; {name}" for name in self.wrong[:_SHOWN])


def in_any_order(
    cases: Mapping[str, Case], asked: Asked, full: float, attempt: Callable[[Case], Iterable[str]]
) -> Tried:
    """Try cases.

    Parameters
    ----------
    cases : by name
    asked
    full : minutes from which on all cases are tried, however long that takes; below, those there is time for
    attempt : tries a case; what it gives is wrong with it
    """
    ends = time.monotonic() + 60 * asked.minutes
    n, wrong = 0, []
    for name in random.Random(asked.seed).sample(list(cases), len(cases)):
        if asked.minutes < full and time.monotonic() > ends:
            break
        n += 1
        found = "; ".join(attempt(cases[name]))
        if found:
            wrong.append(name)
            asked.tell(f"{name}: {found}")
        if n % _TOLD_EVERY == 0:
            asked.tell(f"{n} of {len(cases)} cases, {len(wrong)} of them wrong")
    return Tried(n, wrong)
