"""Every call that a life makes on files fails in turn, in every way it can (`torture/failing.py`)."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from torture.any_order import in_any_order
from torture.failing import Case, all_cases, tried
from torture.life import lived
from torture.part import Asked, Bar, Part
from torture.quick_disk import quick_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PART"]

_FEWEST = 2000


def run(asked: Asked) -> Sequence[Bar]:
    """Try all cases; with less time, as many of them as there is time for."""
    met, passed_over = 0, 0
    calls: Counter[str] = Counter()

    def attempt(case: Case) -> tuple[str, ...]:
        nonlocal met, passed_over
        outcome = tried(life, case)
        met += outcome.met
        passed_over += outcome.passed_over
        calls[case.fault.call] += outcome.met
        return outcome.wrong

    with tempfile.TemporaryDirectory(dir=quick_disk()) as place:
        life = lived(Path(place).resolve())
        done = in_any_order({str(case): case for case in all_cases(life)}, asked, PART.minutes, attempt)
    asked.tell(", ".join(f"{call} {n}" for call, n in calls.most_common()))
    return [
        Bar(
            "injected faults: every call on files × every fault of a scripted life of stores and runs",
            f"at least {_FEWEST} cases, 0 corrupt states",
            f"{met} cases ({passed_over} passed over by the command itself), {len(done.wrong)} corrupt{done.named}",
            met >= _FEWEST and not done.wrong,
        )
    ]


PART = Part("faults", "every call on files fails in turn: EIO, ENOSPC, EINTR, short reads and writes", 15, run)
