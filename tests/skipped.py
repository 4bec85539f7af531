"""What a run of the tests says of those it skipped: one line, with what each kind of them would need."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NEEDS = {
    "a GPU (docs/gpu.md)": r"CUDA|CuPy|NVRTC",
    "the data sets (FERNWOOD_DATA names their folder)": r"FERNWOOD_DATA",
    "a browser (chromium, npm, make browser)": r"chromium|playwright|axe-core",
    "the documentation's tools (make docs)": r"MkDocs",
    "optional packages (make test installs them)": r"is not installed|could not import|need fsspec|needs aiohttp",
    "another kind of system": r"^this (system|machine)|here$|here:",
}
"""What tests can need that is not there, and what the reasons of their skips have in common."""
DOES_NOT_APPLY = "where they do not apply"


def skip_line(reasons: Iterable[str]) -> str:
    """How many tests were skipped, and what would have them run.

    Examples
    --------
    >>> skip_line(["no CUDA device here", "no CuPy here", "folds are of rows"])
    '3 skipped: 2 need a GPU (docs/gpu.md), 1 where they do not apply'
    """
    counted = Counter(need_of(reason) for reason in reasons)
    parts = [f"{n} {need if need == DOES_NOT_APPLY else f'need {need}'}" for need, n in counted.most_common()]
    return f"{counted.total()} skipped: {', '.join(parts)}"


def need_of(reason: str) -> str:
    """What a skipped test needs."""
    return next((need for need, pattern in NEEDS.items() if re.search(pattern, reason)), DOES_NOT_APPLY)
