"""How long it takes to begin: a small search, with nothing compiled and with everything, the demo, and help."""

from __future__ import annotations

import os
import random
import statistics
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.cases.foundation import Outcome
    from benchmarks.run import Bench

_ROWS, _COLUMNS, _TIMES = 300, 500, 10


def start_select(bench: Bench) -> Outcome:
    """`select` on a CSV of 300 × 500, and `--help`: processor seconds of the whole process, children included."""
    table = bench.scratch / "t.csv"
    _write(table)
    search = ("select", str(table), "--target", "y", "--seed", "1", "--force", "--out", str(bench.scratch / "t.run"))
    with _nothing_compiled(bench.scratch / "compiled"):
        first = bench.fernwood(*search)
        again = [bench.fernwood(*search) for _ in range(_TIMES)]
        help_ = [bench.fernwood("--help") for _ in range(_TIMES)]
    warm = statistics.median(run.cpu_seconds for run in again)
    peak = max(run.peak_bytes for run in again)
    figures = {
        "first_cpu_seconds": first.cpu_seconds,
        "first_seconds": first.seconds,
        "warm_cpu_seconds": warm,
        "warm_seconds": statistics.median(run.seconds for run in again),
        "warm_peak_bytes": peak,
        "help_cpu_seconds": statistics.median(run.cpu_seconds for run in help_),
    }
    return figures, {
        "first time ≤ 7 s of processors": first.cpu_seconds <= 7,
        "compiled ≤ 0.75 s of processors": warm <= 0.75,
        "help ≤ 0.3 s of processors": figures["help_cpu_seconds"] <= 0.3,
        "≤ 200 MB": peak <= 200 * 10**6,
    }


def start_demo(bench: Bench) -> Outcome:
    """The demo from an empty compile cache, as `make demo` runs it after installing."""
    with _nothing_compiled(bench.scratch / "compiled"):
        run = bench.fernwood("demo", "--out", str(bench.scratch / "demo"))
    return {"seconds": run.seconds, "peak_bytes": run.peak_bytes}, {"within 25 s": run.seconds <= 25}


def _write(path: Path) -> None:
    """Two columns that matter for a target of two classes, among noise."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join([*(f"c{i}" for i in range(_COLUMNS)), "y"]) + "\n")
        for _ in range(_ROWS):
            row = [draw.gauss(0, 1) for _ in range(_COLUMNS)]
            label = row[3] + 1.5 * row[7] + draw.gauss(0, 1) > 0
            file.write(",".join([*(f"{value:.5f}" for value in row), str(int(label))]) + "\n")


@contextmanager
def _nothing_compiled(folder: Path) -> Iterator[None]:
    """A compile cache that is empty at first, for the processes that are started meanwhile."""
    before = os.environ.get("NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    try:
        yield
    finally:
        del os.environ["NUMBA_CACHE_DIR"]
        if before is not None:
            os.environ["NUMBA_CACHE_DIR"] = before
