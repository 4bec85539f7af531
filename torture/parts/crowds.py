"""Many processes and threads at one store, one name, one run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from torture.crowds import SCENES, Crowd
from torture.forking import Forker
from torture.part import Asked, Bar, Part

__all__ = ["PART"]


def run(asked: Asked) -> Sequence[Bar]:
    """Every scene, as long as the others."""
    bars = []
    seconds = 60 * asked.minutes / len(SCENES)
    with tempfile.TemporaryDirectory(prefix="fernwood-crowds-") as folder, Forker() as forker:
        crowd = Crowd(Path(folder), forker)
        for scene in SCENES:
            counts, faults = scene(crowd, seconds)
            about = scene.__name__.replace("_", " ")
            measured = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
            asked.tell(f"{about}: {measured}")
            bars.append(Bar(about, "0 faults", "; ".join(faults) or f"0 faults ({measured})", not faults))
    return bars


PART = Part("crowds", "many processes at one store, one name, one run; threads under a checking allocator", 7, run)
