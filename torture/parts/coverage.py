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
from torture.suites import Suite, plain_python, run_tests

if TYPE_CHECKING:
    from torture.part import Asked

_SCRATCH = ROOT / "torture" / "scratch" / "coverage"
_DATA = {"COVERAGE_FILE": str(_SCRATCH / ".coverage")}
_PLAIN = (
    "kernels",
    "learner",
    "importance",
    "models/test_perceptron.py",
    "sources/test_sparse_text.py",
    "store/test_sparse.py",
)
_LINES, _BRANCHES = 95, 90
_WORST = 10
_PYTEST = (sys.executable, "-m", "coverage", "run", "-m", "pytest", "-n", "2", "--dist", "worksteal")

SUITES = (
    # Measuring takes some megabytes of its own, which the edges of budgets do not have.
    Suite("the whole suite", {}, (), {}, options=("--deselect", "tests/test_memory.py")),
    # Compiled code cannot be traced.
    plain_python(
        _PLAIN,
        most_s=20,
    ),
)


def _run(asked: Asked) -> list[Bar]:
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    _SCRATCH.mkdir(parents=True)
    failed = []
    for suite in SUITES:
        asked.tell(suite.about)
        outcome = run_tests(suite, suite.folders, _DATA, _PYTEST)
        asked.tell(f"{outcome.n_passed:,} passed, {len(outcome.failed)} failed, {outcome.too_long} left out: too long")
        failed += outcome.failed
    for line in failed:
        asked.tell(f"  {line}")
    _coverage("combine", "--quiet")
    _coverage("json", "--quiet", "-o", str(_SCRATCH / "told.json"))
    told = json.loads((_SCRATCH / "told.json").read_text(encoding="utf-8"))
    for name, summary in sorted(told["files"].items(), key=lambda item: _missed(item[1]["summary"]))[-_WORST:]:
        lines, branches = _shares(summary["summary"])
        asked.tell(f"{name}: {lines:.1f} % of lines, {branches:.1f} % of branches")
    lines, branches = _shares(told["totals"])
    but = f", but {len(failed)} tests failed" if failed else ""
    return [
        Bar("lines of `src` that tests reach", f"≥ {_LINES} %", f"{lines:.1f} %{but}", lines >= _LINES and not failed),
        Bar("branches of `src` that tests reach", f"≥ {_BRANCHES} %", f"{branches:.1f} %", branches >= _BRANCHES),
    ]


def _coverage(*arguments: str) -> None:
    command = [sys.executable, "-m", "coverage", *arguments]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **_DATA}, check=True)


def _missed(summary: dict[str, Any]) -> int:
    return int(summary["missing_lines"] + summary["missing_branches"])


def _shares(summary: dict[str, Any]) -> tuple[float, float]:
    """Lines and branches reached, in percent; all where there are none."""
    return (
        100 * summary["covered_lines"] / summary["num_statements"] if summary["num_statements"] else 100.0,
        100 * summary["covered_branches"] / summary["num_branches"] if summary["num_branches"] else 100.0,
    )


PART = Part("coverage", "which lines and branches the tests reach, with kernels as plain Python too", 45, _run)
