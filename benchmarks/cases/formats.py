"""Formats of the sciences: how fast and how small their files become stores, beside the readers that others use."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]

_GENOTYPES = 1000 * 500_000


def plink(bench: Bench) -> Outcome:
    """1000 × 500 000 genotypes (.bed) with --memory 512MB, on one core; bed-reader beside it."""
    path = bench.scratch / "cohort.bed"
    if not path.exists():
        bench.script("make_plink.py", str(path), "1000", "500000")
    out = str(bench.scratch / "cohort.fern")
    command = ["ingest", str(path), "--target", "phenotype", "--out", out, "--memory", "512MB", "--quiet", "--force"]
    bench.fernwood(*command)  # compiles, where nothing is compiled yet
    runs = [bench.fernwood(*command, one_core=True) for _ in range(3)]
    # Starting Python and loading compiled code takes a second: what a core does is timed inside a process.
    inside = json.loads(bench.script("ingest_again.py", str(path), out, "phenotype", one_core=True).output)
    peer = json.loads(bench.script("read_bed.py", str(path), one_core=True).output)
    whole, peak = median(run.seconds for run in runs), max(run.peak_bytes for run in runs)
    figures = {
        "genotypes_per_second": _GENOTYPES / inside["seconds"],
        "genotypes_per_cpu_second": _GENOTYPES / inside["cpu_seconds"],
        "seconds": inside["seconds"],
        "seconds_whole_process": whole,
        "cpu_seconds_whole_process": median(run.cpu_seconds for run in runs),
        "genotypes_per_second_whole_process": _GENOTYPES / whole,
        "peak_bytes": peak,
        "bed_reader_seconds": peer["seconds"],
        "bed_reader_names_seconds": peer["names_seconds"],
    }
    return figures, {
        "≥ 300 MB/s of genotypes a core": _GENOTYPES / inside["cpu_seconds"] >= 300e6,
        "peak ≤ 512 MB": peak <= 512e6,
    }


def matrix_market(bench: Bench) -> Outcome:
    """5000 cells × 30 000 features, 5 % non-zero, as a 10x folder with --memory 512MB; scipy.io.mmread beside it."""
    folder = bench.scratch / "cells"
    if not folder.exists():
        bench.script("make_cells.py", str(folder), "5000", "30000", "0.05")
    command = ["ingest", str(folder), "--target", str(bench.scratch / "cells.target.csv")]
    command += ["--out", str(bench.scratch / "cells.fern"), "--memory", "512MB", "--quiet", "--force"]
    bench.fernwood(*command)
    runs = [bench.fernwood(*command, one_core=True) for _ in range(3)]
    peers = [
        json.loads(bench.script("read_mtx.py", str(folder / "matrix.mtx"), one_core=True).output) for _ in range(3)
    ]
    ours, theirs = median(run.seconds for run in runs), median(peer["seconds"] for peer in peers)
    peak = max(run.peak_bytes for run in runs)
    figures = {
        "seconds_whole_process": ours,
        "mmread_to_columns_seconds": theirs,
        "ratio": ours / theirs,
        "peak_bytes": peak,
        "source_bytes": (folder / "matrix.mtx").stat().st_size,
    }
    return figures, {"peak ≤ 512 MB": peak <= 512e6}


FORMAT_CASES = {"formats-plink": plink, "formats-mtx": matrix_market}
