"""Kills at random instants and at random calls on files, in ingests and in searches by every method."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from torture.forking import Forker
from torture.kills import CASES, Kills
from torture.part import Asked, Bar, Part

__all__ = ["PART"]

_FEWEST, _MINUTES = 200, 10


def run(asked: Asked) -> Sequence[Bar]:
    """Chains of every case in turn, until the time is over; in full size, until there were enough."""
    until, full = time.monotonic() + 60 * asked.minutes, asked.minutes >= _MINUTES
    kills: Counter[str] = Counter()
    by_instant = fresh = number = 0
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fernwood-kills-") as folder, Forker() as forker:
        made = Kills(Path(folder), asked.seed, forker)
        while time.monotonic() < until or (full and kills.total() < _FEWEST):
            outcome = made.chain(number)
            kills[outcome.case] += outcome.kills
            by_instant += outcome.by_instant
            fresh += outcome.fresh
            faults += outcome.faults
            for fault in outcome.faults:
                asked.tell(fault)
            number += 1
            if number % len(CASES) == 0:
                asked.tell(f"{number} chains, {sum(kills.values())} kills, {len(faults)} differences")
    total = sum(kills.values())
    spared = [case.name for case in CASES if not kills[case.name]]
    how = f"{by_instant} at instants, {total - by_instant} at calls on files, {fresh} of fresh processes"
    return [
        Bar(
            "kills and resumes, over all methods",
            f"≥ {_FEWEST}",
            f"{total} ({how}), in {number} chains of {len(CASES)} kinds"
            + f"; none in: {', '.join(spared)}" * bool(spared),
            total >= _FEWEST and not spared,
        ),
        Bar("answers that differ after kills, states that cannot be used", "0", "; ".join(faults) or "0", not faults),
    ]


PART = Part("kills", "SIGKILL in ingests and searches by every method; the same answer after going on", _MINUTES, run)
