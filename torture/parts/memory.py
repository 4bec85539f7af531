"""Commands under limits of memory, from what imports take up to plenty."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from torture.forking import Forker
from torture.part import Asked, Bar, Part
from torture.shortages import JOBS, Shortages, cgroup_of, least_to_import

__all__ = ["PART"]

_MB = 2**20
_BEYOND = (0, 0.5, 2, 8, 12, 16, 20, 24, 32, 64, 128, 256, 1024)
"""MiB that a process may take beyond those it has when all is loaded."""
_BELOW, _ABOVE = (64, 128, 256, 512, 640), (0, 32, 64, 128, 256, 1024)
"""MiB of a fresh process: fewer than imports alone take, and above that."""
_FRESH = ("ingest", "snowball", "boruta", "filter")
_GROUPS = (64, 128, 192, 256, 384)
"""MiB of a control group."""


def run(asked: Asked) -> Sequence[Bar]:
    """Every job at every rung of the ladders."""
    codes: Counter[int] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fernwood-memory-") as folder, Forker() as forker:
        made = Shortages(Path(folder), forker)
        floor = least_to_import()
        asked.tell(f"imports take {floor // _MB} MiB of addresses")
        grouped = _may_group()
        for job in JOBS:
            tried = [made.forked(job, int(more * _MB)) for more in _BEYOND]
            if job in _FRESH:
                tried += [made.fresh(job, limit * _MB) for limit in _BELOW]
                tried += [made.fresh(job, floor + above * _MB) for above in _ABOVE]
            if grouped:
                tried += [made.in_cgroup(job, limit * _MB) for limit in _GROUPS]
            codes.update(one.code for one in tried)
            new = [fault for one in tried for fault in one.faults]
            faults += new
            asked.tell(f"{job}: codes {' '.join(str(one.code) for one in tried)}")
            for fault in new:
                asked.tell(fault)
    ways = ", ".join(f"{n} with code {code}" for code, n in sorted(codes.items()))
    group = "and in control groups" if grouped else "(control groups cannot be made here)"
    return [
        Bar(
            "commands under a hard limit of memory: the right answer or one sentence, and the same answer afterwards",
            "0 others",
            f"{codes.total()} commands under RLIMIT_AS {group}: {ways}; " + ("; ".join(faults) or "0 others"),
            not faults and codes[0] > 0 and codes[2] > 0,
        )
    ]


def _may_group() -> bool:
    try:
        with cgroup_of(2**30):
            return True
    except OSError:
        return False


PART = Part("memory", "commands under hard limits of memory", 15, run)
