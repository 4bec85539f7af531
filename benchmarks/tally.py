"""What searches of tables with a known answer come to, added up over the tables."""

from __future__ import annotations

from statistics import fmean, median
from typing import Any


class Tally:
    """Columns found and others taken, sums over runs; F1 and the share of others, means; seconds, median and most."""

    def __init__(self) -> None:
        self._found: list[int] = []
        self._others: list[int] = []
        self._relevant: list[int] = []
        self._seconds: list[float] = []

    def add(self, taken: set[int], relevant: set[int], seconds: float) -> None:
        """One more run: the columns it took, those that it should have taken, and how long it needed."""
        self._found.append(len(taken & relevant))
        self._others.append(len(taken - relevant))
        self._relevant.append(len(relevant))
        self._seconds.append(seconds)

    def figures(self) -> dict[str, Any]:
        """As results files have them."""
        found, others = self._found, self._others
        return {
            "n_seeds": len(found),
            "relevant": sum(self._relevant),
            "found": sum(found),
            "others": sum(others),
            "most_others": max(others),
            "f1": fmean(2 * f / max(f + o + r, 1) for f, o, r in zip(found, others, self._relevant, strict=True)),
            "others_share": fmean(o / max(f + o, 1) for f, o in zip(found, others, strict=True)),
            "runs_with_others": sum(o > 0 for o in others),
            "seconds": median(self._seconds),
            "most_seconds": max(self._seconds),
        }
