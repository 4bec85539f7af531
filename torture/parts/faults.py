"""Every call that a life makes on files fails in turn, in every way it can (`torture/failing.py`)."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from torture.failing import all_cases, tried
from torture.life import lived
from torture.part import Asked, Bar, Part
from torture.quick_disk import quick_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PART"]

_FEWEST = 2000
_TOLD_EVERY = 500
_SHOWN = 20


def run(asked: Asked) -> Sequence[Bar]:
    """Try all cases, in any order; with less time, as many of them as there is time for."""
    ends = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory(dir=quick_disk()) as place:
        life = lived(Path(place).resolve())
        cases = all_cases(life)
        whole = asked.minutes >= PART.minutes
        met, passed_over, wrong = 0, 0, []
        calls: Counter[str] = Counter()
        for number, case in enumerate(random.Random(asked.seed).sample(cases, len(cases)), 1):
            if not whole and time.monotonic() > ends:
                break
            outcome = tried(life, case)
            met += outcome.met
            passed_over += outcome.passed_over
            calls[case.fault.call] += outcome.met
            if outcome.wrong:
                wrong.append(case)
                asked.tell(f"{case}: {'; '.join(outcome.wrong)}")
            if number % _TOLD_EVERY == 0:
                asked.tell(f"{number} of {len(cases)} cases, {len(wrong)} of them wrong")
    asked.tell(", ".join(f"{call} {n}" for call, n in calls.most_common()))
    named = "".join(f"; {case}" for case in wrong[:_SHOWN])
    return [
        Bar(
            "injected faults: every call on files × every fault of a scripted life of stores and runs",
            f"at least {_FEWEST} cases, 0 corrupt states",
            f"{met} cases ({passed_over} passed over by the command itself), {len(wrong)} corrupt{named}",
            met >= _FEWEST and not wrong,
        )
    ]


PART = Part("faults", "every call on files fails in turn: EIO, ENOSPC, EINTR, short reads and writes", 15, run)
