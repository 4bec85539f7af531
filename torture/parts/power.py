"""The power goes after every change that a life makes to the disk (`torture/blackout.py`)."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from torture.blackout import all_cuts, judged
from torture.life import lived
from torture.part import Asked, Bar, Part
from torture.quick_disk import quick_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PART"]

_SEEDS = 3
_TOLD_EVERY = 500
_SHOWN = 20


def run(asked: Asked) -> Sequence[Bar]:
    """Try all cuts, in any order; with less time, as many of them as there is time for."""
    ends = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory(dir=quick_disk()) as place:
        life = lived(Path(place).resolve())
        n_cuts, n_refused, wrong = 0, 0, []
        # Recording a step does it in the folder where cuts are laid out, so the cuts come first.
        cuts = list(all_cuts(life, _SEEDS))
        for cut, laid_out in random.Random(asked.seed).sample(cuts, len(cuts)):
            if asked.minutes < PART.minutes and time.monotonic() > ends:
                break
            after = judged(life, cut, laid_out)
            n_cuts += 1
            n_refused += after.refused
            if after.wrong:
                wrong.append(cut)
                asked.tell(f"{cut}: {'; '.join(after.wrong)}")
            if n_cuts % _TOLD_EVERY == 0:
                asked.tell(f"{n_cuts} cuts, {len(wrong)} of them wrong")
    named = "".join(f"; {cut}" for cut in wrong[:_SHOWN])
    return [
        Bar(
            "power loss: states of the disk in which writes that were not synced are lost or torn",
            "the old or the new answer, or refused in a sentence; a rerun succeeds; 0 wrong",
            f"{n_cuts} states, {n_refused} refused, {len(wrong)} wrong{named}",
            bool(n_cuts) and not wrong,
        )
    ]


PART = Part("power", "the power goes after every change of the disk", 5, run)
