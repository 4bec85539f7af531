"""Which lines and branches of `src` the tests reach: compiled as people run it, and the kernels as plain Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.provenance import ROOT
from torture.part import Bar, Part

if TYPE_CHECKING:
    from torture.part import Asked

_SCRATCH = ROOT / "torture" / "scratch" / "coverage"
_PLAIN = (
    "tests/kernels",
    "tests/learner",
    "tests/importance",
    "tests/models/test_perceptron.py",
    "tests/sources/test_text.py",
    "tests/sources/test_sparse_text.py",
    "tests/store/test_sparse.py",
)
"""Tests on tables so small that kernels can run without being compiled; compiled code cannot be traced."""
_LINES, _BRANCHES = 95, 90
_WORST = 10


def _run(asked: Asked) -> list[Bar]:
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    _SCRATCH.mkdir(parents=True)
    asked.tell("the whole suite")
    passed = [_measured("-n", "2", "--dist", "worksteal")]
    asked.tell("kernels as plain Python")
    # NumPy warns where an integer wraps around, which compiled code does without a word, and on purpose.
    passed.append(_measured(*_PLAIN, "-W", "ignore::RuntimeWarning", NUMBA_DISABLE_JIT="1"))
    _coverage("combine", "--quiet")
    _coverage("json", "--quiet", "-o", str(_SCRATCH / "told.json"))
    told = json.loads((_SCRATCH / "told.json").read_text(encoding="utf-8"))
    for name, summary in sorted(told["files"].items(), key=lambda item: _missed(item[1]["summary"]))[-_WORST:]:
        lines, branches = _shares(summary["summary"])
        asked.tell(f"{name}: {lines:.1f} % of lines, {branches:.1f} % of branches")
    lines, branches = _shares(told["totals"])
    failed = "" if all(passed) else ", but tests failed"
    return [
        Bar(
            "lines of `src` that tests reach", f"≥ {_LINES} %", f"{lines:.1f} %{failed}", lines >= _LINES and not failed
        ),
        Bar("branches of `src` that tests reach", f"≥ {_BRANCHES} %", f"{branches:.1f} %", branches >= _BRANCHES),
    ]


def _measured(*arguments: str, **environment: str) -> bool:
    """Run tests, and say whether they pass."""
    return _coverage("run", "-m", "pytest", "-q", *arguments, **environment) == 0


def _coverage(*arguments: str, **environment: str) -> int:
    files = {"COVERAGE_FILE": str(_SCRATCH / ".coverage"), **environment}
    command = [sys.executable, "-m", "coverage", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **files}, check=False).returncode


def _missed(summary: dict[str, Any]) -> int:
    return int(summary["missing_lines"] + summary["missing_branches"])


def _shares(summary: dict[str, Any]) -> tuple[float, float]:
    """Lines and branches reached, in percent; all where there are none."""
    return (
        100 * summary["covered_lines"] / summary["num_statements"] if summary["num_statements"] else 100.0,
        100 * summary["covered_branches"] / summary["num_branches"] if summary["num_branches"] else 100.0,
    )


PART = Part("coverage", "which lines and branches the tests reach, with kernels as plain Python too", 45, _run)
