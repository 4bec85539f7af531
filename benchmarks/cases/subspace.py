"""Random subspaces: what the loop costs beside its trees, how well sequential ones do on Madelon, and the demo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]


def srs_overhead(bench: Bench) -> Outcome:
    """Time outside of kernels, draws of 250 columns."""
    figures = json.loads(bench.script("search_overhead.py", one_core=True).output)
    return figures, {
        "overhead ≤ 10 %, one tree a draw": figures["one_tree_overhead"] <= 0.1,
        "overhead ≤ 10 %, default": figures["default_overhead"] <= 0.1,
    }


def srs_madelon(bench: Bench) -> Outcome:
    """Madelon of the slides: 10 000 trees, ten splits."""
    figures = json.loads(bench.script("madelon_accuracy.py").output)
    return figures, {
        "SRS ≥ 0.81": figures["srs_accuracy"] >= 0.81,
        "RS at least 0.08 below": figures["srs_accuracy"] - figures["rs_accuracy"] >= 0.08,
    }


def srs_trees(bench: Bench) -> Outcome:
    """One, three and ten trees a draw: relevant and other columns confirmed, of 40 relevant in two tables."""
    return json.loads(bench.script("trees_a_draw.py").output), {}


def select_demo(bench: Bench) -> Outcome:
    """The demo: 1000 rows, 20 000 columns, from CSV to the answer in 512 MB."""
    run = bench.fernwood("demo", "--out", str(bench.scratch / "demo"))
    told = next(line for line in run.output.splitlines() if line.startswith("3. against the truth"))
    numbers = [int(word.replace(",", "")) for word in told.split() if word.replace(",", "").isdigit()]
    figures = {
        "seconds": run.seconds,
        "peak_bytes": run.peak_bytes,
        "relevant_found": numbers[0],
        "others_taken": numbers[2],
    }
    return figures, {"within 90 s": run.seconds <= 90, "within 512 MB": run.peak_bytes <= 512 * 10**6}
