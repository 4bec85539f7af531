"""The foundation: how fast and how small tables become stores, and how fast columns come back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]


def ingest_npy(bench: Bench) -> Outcome:
    """1000 × 100 000 float32 .npy (400 MB) with --memory 256MB, on one core."""
    store = _wide_store(bench)
    run = bench.fernwood(*_ingest(bench, "wide.npy", "256MB"), "--force", one_core=True)
    source = 1000 * 100_000 * 4
    size = _directory_size(store)
    figures = {
        "seconds": run.seconds,
        "source_bytes_per_second": source / run.seconds,
        "peak_bytes": run.peak_bytes,
        "store_bytes_per_cell": size / (1000 * 100_000),
    }
    return figures, {
        "peak ≤ 256 MB": run.peak_bytes <= 256e6,
        "≥ 60 MB/s of source on one core": source / run.seconds >= 60e6,
        "store ≤ 1.1 bytes a cell": size <= 1.1 * 1000 * 100_000,
    }


def ingest_csv(bench: Bench) -> Outcome:
    """500 × 20 000 CSV (about 90 MB) with --memory 512MB, beside pyarrow.csv.read_csv of the same file."""
    _make(bench, "wide.csv", "500", "20000")
    bench.fernwood(*_ingest(bench, "wide.csv", "512MB"), "--force")  # compiles, where nothing is compiled yet
    runs = [bench.fernwood(*_ingest(bench, "wide.csv", "512MB"), "--force") for _ in range(3)]
    peers = [bench.script("read_csv.py", str(bench.scratch / "wide.csv")) for _ in range(3)]
    ours = sorted(run.seconds for run in runs)[1]
    theirs = sorted(json.loads(peer.output)["seconds"] for peer in peers)[1]
    peak = max(run.peak_bytes for run in runs)
    figures = {
        "seconds_whole_process": ours,
        "read_csv_seconds": theirs,
        "ratio": ours / theirs,
        "peak_bytes": peak,
        "read_csv_peak_bytes": max(peer.peak_bytes for peer in peers),
        "source_bytes": (bench.scratch / "wide.csv").stat().st_size,
    }
    return figures, {"peak ≤ 512 MB": peak <= 512e6, "≤ 0.6 × the time of read_csv": ours <= 0.6 * theirs}


def read_columns(bench: Bench) -> Outcome:
    """10 000 random columns of the 1000 × 100 000 store: cold handles, warm cache, beside sequential reads."""
    store = _wide_store(bench)
    figures = json.loads(bench.script("read_columns.py", str(store)).output)
    ratio = figures["random_bytes_per_second"] / figures["sequential_bytes_per_second"]
    return {**figures, "ratio": ratio}, {"≥ 40 % of the sequential rate": ratio >= 0.4}


def ingest_short(bench: Bench) -> Outcome:
    """30 × 1 000 000 .npy with --memory 512MB: ingest, open, info."""
    _make(bench, "short.npy", "30", "1000000")
    run = bench.fernwood(*_ingest(bench, "short.npy", "512MB"), "--force")
    store = bench.scratch / "short.npy.fern"
    opened = json.loads(bench.script("open_store.py", str(store)).output)["seconds"]
    info = bench.fernwood("info", str(store))
    peak = max(run.peak_bytes, info.peak_bytes)
    figures = {
        "ingest_seconds": run.seconds,
        "open_seconds": opened,
        "info_seconds": info.seconds,
        "peak_bytes": peak,
        "store_bytes_per_cell": _directory_size(store) / 30e6,
    }
    return figures, {"peak ≤ 512 MB": peak <= 512e6, "opens in < 1 s": opened < 1, "info in < 2 s": info.seconds < 2}


def bins(bench: Bench) -> Outcome:
    """What quantile bins cost a forest: accuracy on raw values, on default codes and with 255 bins."""
    figures = json.loads(bench.script("bin_accuracy.py").output)
    raw = {key: value for key, value in figures.items() if key.endswith("_raw_accuracy")}
    kept = all(figures[key.replace("_raw_", "_default_")] >= value - 0.01 for key, value in raw.items())
    return figures, {"default codes within 0.01 of raw values": kept}


def _ingest(bench: Bench, table: str, memory: str) -> list[str]:
    path = bench.scratch / table
    target = str(bench.scratch / f"{table}.target.npy")
    return ["ingest", str(path), "--target", target, "--out", f"{path}.fern", "--memory", memory, "--quiet"]


def _make(bench: Bench, name: str, *shape: str) -> None:
    bench.script("make_table.py", str(bench.scratch / name), *shape)


def _wide_store(bench: Bench) -> Path:
    _make(bench, "wide.npy", "1000", "100000")
    store = bench.scratch / "wide.npy.fern"
    bench.fernwood(*_ingest(bench, "wide.npy", "256MB"))
    return store


def _directory_size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir())
