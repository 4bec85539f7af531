"""The tests of the suite, run in a way of their own, and what became of them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from benchmarks.provenance import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Outcome", "Suite", "plain_python", "run_tests"]


class Suite(NamedTuple):
    """Tests that are run in a way of their own.

    Attributes
    ----------
    about : how
    environment : what makes it so
    folders : of tests, or files of them
    without : tests that cannot be run so, by what their names hold, and why
    most_s : seconds that a test may take, where those that take longer are left out; 0 where all must end
    options : more of pytest's
    """

    about: str
    environment: dict[str, str]
    folders: tuple[str, ...]
    without: dict[str, str]
    most_s: int = 0
    options: tuple[str, ...] = ()


def plain_python(folders: tuple[str, ...], most_s: int) -> Suite:
    """Tests of tables so small that kernels can run without being compiled."""
    counted = "counts what was compiled, or warnings"
    return Suite(
        "kernels as plain Python (NUMBA_DISABLE_JIT=1)",
        {"NUMBA_DISABLE_JIT": "1"},
        folders,
        {
            "test_importing_compiles_nothing": counted,
            "test_one_kind_of_tree_is_compiled_once": counted,
            "test_row_numbers_and_copies_of_the_target_are_noticed": counted,
        },
        most_s,
        # NumPy warns where an integer wraps around, which compiled code does without a word, and on purpose.
        ("-W", "ignore::RuntimeWarning"),
    )


class Outcome(NamedTuple):
    """What became of the tests of a suite."""

    n_passed: int
    n_skipped: int
    too_long: int
    failed: list[str]


def run_tests(
    suite: Suite,
    folders: Sequence[str],
    environment: Mapping[str, str],
    pytest: Sequence[str] = (sys.executable, "-m", "pytest"),
) -> Outcome:
    """Run the tests of some folders, of all where none is named; `environment` is beside that of the suite."""
    with tempfile.TemporaryDirectory(prefix="torture-") as scratch:
        report = Path(scratch) / "report.xml"
        command = [*pytest, *(f"tests/{folder}" for folder in folders), "-q", f"--junitxml={report}"]
        command += ["-p", "no:cacheprovider", *suite.options]
        if suite.without:
            command += ["-k", " and ".join(f"not {name}" for name in suite.without)]
        if suite.most_s:
            command += [f"--timeout={suite.most_s}"]
        about = {**os.environ, **suite.environment, **environment}
        run = subprocess.run(command, cwd=ROOT, env=about, capture_output=True, text=True, check=False)
        if not report.is_file():
            said = (run.stdout + run.stderr).strip().splitlines()[-1:]
            return Outcome(0, 0, 0, [f"{' '.join(folders) or 'the suite'} ended with {run.returncode}: {said}"])
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
