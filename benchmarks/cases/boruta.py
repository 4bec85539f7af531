"""Boruta beside BorutaPy, and on noise as published and with fixed shadows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]

FIRST_SEED = 200  # the seeds below were looked at while the method was made
_NOISE_SEEDS = 50


def _beside(bench: Bench, table: str, n_peers: int) -> Outcome:
    figures = json.loads(bench.script("boruta_peer.py", table, str(FIRST_SEED), str(n_peers)).output)
    return figures, {
        "relevant columns decided alike up to one": figures["relevant_differing"] <= 1,
        "all columns decided alike up to one, mean": figures["differing"] <= 1,
        "≥ 10 × faster than BorutaPy": figures["times_faster"] >= 10,
        "≥ 10 × less time of the processor": figures["times_less_processor"] >= 10,
    }


def boruta_madelon(bench: Bench) -> Outcome:
    """Real Madelon: two runs of BorutaPy between three of ours, two cores each."""
    return _beside(bench, "madelon", 2)


def boruta_iris(bench: Bench) -> Outcome:
    """Iris and 4996 shuffled columns: three runs of BorutaPy between four of ours, two cores each."""
    return _beside(bench, "iris", 3)


def boruta_memory(bench: Bench) -> Outcome:
    """Iris and 4996 shuffled columns: peak memory of the command line, of the selector in Python, and of BorutaPy."""
    table = bench.scratch / "iris"
    bench.script("boruta_memory.py", "table", str(table), str(FIRST_SEED))
    store, options = str(table.with_suffix(".fern")), ("--method", "boruta", "--max-iter", "3", "--jobs", "2")
    figures = {
        "peak_bytes": bench.fernwood("select", store, *options, "--quiet").peak_bytes,
        "peak_bytes_library": bench.script("boruta_memory.py", "ours", str(table)).peak_bytes,
        "boruta_peak_bytes": bench.script("boruta_memory.py", "peer", str(table)).peak_bytes,
    }
    half = figures["boruta_peak_bytes"] / 2
    return figures, {"command line: ≤ half of BorutaPy's peak": figures["peak_bytes"] <= half}


def boruta_noise(bench: Bench) -> Outcome:
    """Gaussian noise, 100 x 5000, fifty seeds: as published, and with fixed shadows."""
    figures = json.loads(bench.script("boruta_noise.py", str(FIRST_SEED), str(_NOISE_SEEDS)).output)
    share = figures["fixed_runs_with_any"] / figures["n_seeds"]
    return figures, {"fixed shadows: any selection in ≤ 14 % of runs": share <= 0.14}
