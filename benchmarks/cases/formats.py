"""Formats of the sciences: how fast and how small their files become stores, beside the readers that others use."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench, Run

Outcome = tuple[dict[str, Any], dict[str, bool]]

_GENOTYPES = 1000 * 500_000
_TIMES = "7"


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


def formats_h5ad(bench: Bench) -> Outcome:
    """CSR of 5000 × 30 000, 5 % not zero, with 512 MB: counts and measures, plain and gzip, beside read_h5ad."""
    figures: dict[str, Any] = {}
    bars = {}
    for values in ("counts", "measures"):
        folder = bench.scratch / values
        bench.script("make_h5ad.py", str(folder), "5000", "30000", "0.05", values)
        for form in ("packed", "plain"):
            path = folder / f"{form}.h5ad"
            whole = [_ingest(bench, str(path), "512MB") for _ in range(2)][-1]
            # In the library the budget is what is added: half, as the process holds the other half.
            timed = json.loads(bench.script("ingest_cells.py", str(path), _TIMES, "256MB").output)
            ratio = timed["ingest_seconds_least"] / timed["read_seconds_least"]
            about = {
                **timed,
                "ratio": ratio,
                "ratio_of_medians": timed["ingest_seconds"] / timed["read_seconds"],
                "file_bytes": path.stat().st_size,
                "process_seconds": whole.seconds,
                "process_peak_bytes": whole.peak_bytes,
            }
            figures |= {f"{values}_{form}_{name}": value for name, value in about.items()}
            bars[f"{values}, {form}: peak ≤ 512 MB"] = whole.peak_bytes <= 512e6
            bars[f"{values}, {form}: ingest ≤ 2 × read_h5ad"] = ratio <= 2
    return figures, bars


def formats_wide(bench: Bench) -> Outcome:
    """CSR of 5000 × 100 000, 1 % not zero, with 400 MB: a dense copy would take 2 GB in single precision."""
    folder = bench.scratch / "wide-cells"
    bench.script("make_h5ad.py", str(folder), "5000", "100000", "0.01", "counts")
    runs = [_ingest(bench, str(folder / "packed.h5ad"), "400MB") for _ in range(2)]
    figures = {"process_seconds": runs[-1].seconds, "process_peak_bytes": max(run.peak_bytes for run in runs)}
    return figures, {"peak ≤ 400 MB": figures["process_peak_bytes"] <= 400e6}


def _ingest(bench: Bench, path: str, memory: str) -> Run:
    return bench.fernwood(
        *("ingest", path, "--target", "kind", "--out", f"{path}.fern", "--memory", memory, "--quiet", "--force")
    )


FORMAT_CASES = {
    "formats-plink": plink,
    "formats-mtx": matrix_market,
    "formats-h5ad": formats_h5ad,
    "formats-wide": formats_wide,
}
