"""The test suite with every index of compiled code checked, with plain Python for it, and with a careful allocator."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from benchmarks.provenance import ROOT
from torture.part import Bar, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torture.part import Asked

__all__ = ["PART", "Suite", "run_suite"]


class Suite(NamedTuple):
    """Tests that are run in a way of their own.

    Attributes
    ----------
    about : how
    environment : what makes it so
    folders : of tests, each in a process of its own
    without : tests that cannot be run so, and why
    most_s : seconds that a test may take, where those that take longer are left out; 0 where all must end
    """

    about: str
    environment: dict[str, str]
    folders: tuple[str, ...]
    without: dict[str, str]
    most_s: int = 0


_CACHED = "counts what comes from the usual cache, or what was compiled how often"
_KERNELS = ("kernels", "learner", "importance", "subspace", "relevance")
_ALL = (*_KERNELS, "store", "search", "models", "selectors", "sources", "contracts", "work", "run", "properties")

SUITES = (
    Suite(
        "indices of compiled code checked (NUMBA_BOUNDSCHECK=1)",
        {"NUMBA_BOUNDSCHECK": "1"},
        _ALL,
        {"test_nothing_is_compiled_twice": _CACHED},
    ),
    Suite(
        "kernels as plain Python (NUMBA_DISABLE_JIT=1)",
        {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
        _KERNELS,
        {},
        most_s=20,
    ),
    Suite("a careful allocator (PYTHONMALLOC=debug)", {"PYTHONMALLOC": "debug"}, _ALL, {}),
)


class Outcome(NamedTuple):
    """What became of the tests of a suite."""

    n_passed: int
    n_skipped: int
    too_long: int
    failed: list[str]


def run_suite(suite: Suite, folder: str, cache: Path) -> Outcome:
    """Run the tests of a folder; compiled code goes to a cache of its own, since it is not what others want."""
    environment = {**os.environ, **suite.environment, "NUMBA_CACHE_DIR": str(cache)}
    with tempfile.TemporaryDirectory(prefix="torture-") as scratch:
        report = Path(scratch) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            f"tests/{folder}",
            "-q",
            f"--junitxml={report}",
            "-p",
            "no:cacheprovider",
        ]
        if suite.without:
            command += ["-k", " and ".join(f"not {name}" for name in suite.without)]
        if suite.most_s:
            command += [f"--timeout={suite.most_s}"]
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if not report.is_file():
            said = (run.stdout + run.stderr).strip().splitlines()[-1:]
            return Outcome(0, 0, 0, [f"tests/{folder} ended with {run.returncode}: {said}"])
        return _read(report, suite.most_s > 0)


def _read(report: Path, timed: bool) -> Outcome:
    """What a report of pytest says."""
    n_passed = n_skipped = too_long = 0
    failed = []
    for case in ET.parse(report).iter("testcase"):
        wrong = case.find("failure")
        wrong = case.find("error") if wrong is None else wrong
        if wrong is not None and timed and "Timeout" in (wrong.get("message") or ""):
            too_long += 1
        elif wrong is not None:
            said = (wrong.get("message") or "").splitlines() or [""]
            failed.append(f"{case.get('classname')}.{case.get('name')}: {said[0][:200]}")
        elif case.find("skipped") is not None:
            n_skipped += 1
        else:
            n_passed += 1
    return Outcome(n_passed, n_skipped, too_long, failed)


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
            outcome = run_suite(suite, folder, Path(cache))
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
