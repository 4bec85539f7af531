"""The power goes after every change that a life makes to the disk (`torture/blackout.py`)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from torture.any_order import in_any_order
from torture.blackout import Cut, all_cuts, judged
from torture.life import lived
from torture.part import Asked, Bar, Part
from torture.quick_disk import quick_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PART"]

_SEEDS = 3


def run(asked: Asked) -> Sequence[Bar]:
    """Try all cuts; with less time, as many of them as there is time for."""
    n_refused = 0

    def attempt(case: tuple[Cut, dict[str, bytes | None]]) -> tuple[str, ...]:
        nonlocal n_refused
        after = judged(life, *case)
        n_refused += after.refused
        return after.wrong

    with tempfile.TemporaryDirectory(dir=quick_disk()) as place:
        life = lived(Path(place).resolve())
        # Recording a step does it in the folder where cuts are laid out, so the cuts come first.
        cuts = {str(cut): (cut, laid_out) for cut, laid_out in all_cuts(life, _SEEDS)}
        done = in_any_order(cuts, asked, PART.minutes, attempt)
    return [
        Bar(
            "power loss: states of the disk in which writes that were not synced are lost or torn",
            "the old or the new answer, or refused in a sentence; a rerun succeeds; 0 wrong",
            f"{done.n} states, {n_refused} refused, {len(done.wrong)} wrong{done.named}",
            bool(done.n) and not done.wrong,
        )
    ]


PART = Part("power", "the power goes after every change of the disk", 5, run)
