"""Tables as others keep them: how fast and how small AnnData becomes a store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench, Run

Outcome = tuple[dict[str, Any], dict[str, bool]]

_TIMES = "7"


def formats_h5ad(bench: Bench) -> Outcome:
    """CSR of 5000 × 30 000, 5 % not zero, with 512 MB: counts and measures, plain and gzip, beside read_h5ad."""
    figures: dict[str, Any] = {}
    bars = {}
    for values in ("counts", "measures"):
        folder = bench.scratch / values
        bench.script("make_cells.py", str(folder), "5000", "30000", "0.05", values)
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
    bench.script("make_cells.py", str(folder), "5000", "100000", "0.01", "counts")
    runs = [_ingest(bench, str(folder / "packed.h5ad"), "400MB") for _ in range(2)]
    figures = {"process_seconds": runs[-1].seconds, "process_peak_bytes": max(run.peak_bytes for run in runs)}
    return figures, {"peak ≤ 400 MB": figures["process_peak_bytes"] <= 400e6}


def _ingest(bench: Bench, path: str, memory: str) -> Run:
    return bench.fernwood(
        *("ingest", path, "--target", "kind", "--out", f"{path}.fern", "--memory", memory, "--quiet", "--force")
    )


FORMAT_CASES = {"formats-h5ad": formats_h5ad, "formats-wide": formats_wide}
