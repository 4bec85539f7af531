"""Random jobs with random faults in one process for half an hour."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torture.part import Asked, Bar, Part
from torture.soak import Sample, Soak

__all__ = ["PART"]

_MB = 1e6
_WARM_UP = 1 / 3
"""Share of the time in which caches fill and twins are made."""
_MOST_GROWTH = 0.02
_BETWEEN = 10


def run(asked: Asked) -> Sequence[Bar]:
    """Jobs until the time is over; a look at what the process holds after every tenth."""
    began = time.monotonic()
    faults: list[str] = []
    samples: list[tuple[float, Sample]] = []
    with tempfile.TemporaryDirectory(prefix="fernwood-soak-") as folder:
        soak = Soak(Path(folder), asked.seed)
        number = 0
        while (passed := time.monotonic() - began) < 60 * asked.minutes:
            new = soak.job(number)
            faults += new
            for fault in new:
                asked.tell(fault)
            number += 1
            if number % _BETWEEN == 0:
                samples.append((passed, Sample.now()))
            if number % (10 * _BETWEEN) == 0:
                last = samples[-1][1]
                asked.tell(f"{passed:.0f} s, {number} jobs, {last.resident / _MB:.0f} MB, {last.descriptors} files")
    return [
        Bar("random jobs with random faults, answers unlike those of twins", "0", _said(soak, faults), not faults),
        *_held(samples, 60 * asked.minutes),
    ]


def _said(soak: Soak, faults: list[str]) -> str:
    done = soak.done
    kinds = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(done.items()) if name != "jobs")
    return f"{'; '.join(faults) or '0'} ({done['jobs']} jobs; {kinds})"


def _held(samples: list[tuple[float, Sample]], seconds: float) -> list[Bar]:
    """Whether what the process holds stays as it is, after a while."""
    after = [(moment, sample) for moment, sample in samples if moment >= _WARM_UP * seconds]
    if len(after) < 3:
        return [Bar("resident size", "flat", "too few jobs to say", False)]
    moments = np.array([moment for moment, _ in after])
    held = np.array([sample.resident for _, sample in after], float)
    slope = float(np.polyfit(moments, held, 1)[0])
    growth = slope * (moments[-1] - moments[0]) / held.mean()
    most = max(sample.descriptors for _, sample in after)
    first, last = after[0][1], after[-1][1]
    return [
        Bar(
            "resident size after a third of the time",
            f"grows by at most {_MOST_GROWTH:.0%} of itself",
            f"{growth:+.1%} ({held.mean() / _MB:.0f} MB, {60 * slope / _MB:+.2f} MB a minute)",
            bool(growth <= _MOST_GROWTH),
        ),
        Bar(
            "open descriptors and threads at the end, and at a third of the time",
            "equal",
            f"{last.descriptors} and {first.descriptors} (at most {most}); {last.threads} and {first.threads} threads",
            last.descriptors <= first.descriptors and last.threads <= first.threads,
        ),
    ]


PART = Part("soak", "random jobs with random faults in one process", 30, run)
