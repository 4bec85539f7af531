"""The test suite with every index of compiled code checked, with plain Python for it, and with a careful allocator."""

from __future__ import annotations

import tempfile
import time
from typing import TYPE_CHECKING

from torture.part import Bar, Part
from torture.suites import Suite, plain_python, run_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torture.part import Asked

__all__ = ["PART"]

_CACHED = "counts what comes from the usual cache, or what was compiled how often"
_KERNELS = ("kernels", "learner", "importance", "subspace", "relevance")
_ALL = (*_KERNELS, "store", "search", "models", "selectors", "sources", "contracts", "work", "run", "properties")

SUITES = (
    Suite(
        "indices of compiled code checked (NUMBA_BOUNDSCHECK=1)",
        {"NUMBA_BOUNDSCHECK": "1"},
        _ALL,
        {"test_nothing_is_compiled_twice": _CACHED, "test_what_searches_call_was_compiled_before": _CACHED},
    ),
    plain_python(_KERNELS, most_s=20),
    Suite("a careful allocator (PYTHONMALLOC=debug)", {"PYTHONMALLOC": "debug"}, _ALL, {}),
)


def _run(asked: Asked) -> Sequence[Bar]:
    ends = time.monotonic() + 60 * asked.minutes
    return [_bar(suite, asked, ends) for suite in SUITES]


def _bar(suite: Suite, asked: Asked, ends: float) -> Bar:
    n_passed = too_long = 0
    failed: list[str] = []
    left_out: list[str] = []
    with tempfile.TemporaryDirectory(prefix="torture-") as cache:
        for folder in suite.folders:
            if time.monotonic() > ends:
                left_out.append(folder)
                continue
            # Compiled code goes to a cache of its own, since it is not what others want.
            outcome = run_tests(suite, [folder], {"NUMBA_CACHE_DIR": cache})
            n_passed, too_long = n_passed + outcome.n_passed, too_long + outcome.too_long
            failed += outcome.failed
            asked.tell(f"{suite.about}: tests/{folder}, {outcome.n_passed} passed, {len(outcome.failed)} failed")
            for line in outcome.failed:
                asked.tell(f"  {line}")
    measured = f"{n_passed:,} tests pass, {len(failed)} fail"
    measured += f", {too_long} take too long to be run so" if too_long else ""
    measured += f"; no time for {', '.join(left_out)}" if left_out else ""
    measured += f"; first: {failed[0][:200]}" if failed else ""
    return Bar(suite.about, "every test passes", measured, not failed and not left_out and n_passed > 0)


PART = Part("bounds", "the tests with indices checked, without compiled code, and with a careful allocator", 60, _run)
