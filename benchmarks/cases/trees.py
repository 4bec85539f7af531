"""Trees beside scikit-learn's: how fast they grow, on one thread and on two, and what they make of long tails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]


def _grow(bench: Bench, shape: tuple[int, int], target: str, repeats: int, bars: tuple[float, float | None]) -> Outcome:
    figures = json.loads(bench.script("grow_trees.py", *map(str, shape), target, str(repeats), one_core=True).output)
    met = {f"extra ≥ {bars[0]:g} × scikit-learn": figures["extra_ratio"] >= bars[0]}
    if bars[1] is not None:
        met[f"cart ≥ {bars[1]:g} × scikit-learn"] = figures["cart_ratio"] >= bars[1]
    for rule in ("extra", "cart"):
        ours, peer = figures[f"{rule}_ours_quality"], figures[f"{rule}_peer_on_codes_quality"]
        good = ours <= 1.1 * peer if target == "numbers" else ours >= peer - 0.04
        met[f"{rule} predicts as well on the same codes"] = good
    return figures, met


def trees_50(bench: Bench) -> Outcome:
    """1000 rows, 50 columns, two classes."""
    return _grow(bench, (1000, 50), "two", 20, (6, None))


def trees_250(bench: Bench) -> Outcome:
    """1000 rows, 250 columns, two classes."""
    return _grow(bench, (1000, 250), "two", 20, (8, 20))


def trees_2500(bench: Bench) -> Outcome:
    """1000 rows, 2500 columns, two classes."""
    return _grow(bench, (1000, 2500), "two", 20, (8, 20))


def trees_ten_classes(bench: Bench) -> Outcome:
    """1000 rows, 250 columns, ten classes."""
    return _grow(bench, (1000, 250), "ten", 20, (4, 15))


def trees_numbers(bench: Bench) -> Outcome:
    """1000 rows, 250 columns, regression."""
    return _grow(bench, (1000, 250), "numbers", 20, (4, 15))


def trees_20000(bench: Bench) -> Outcome:
    """20 000 rows, 250 columns, two classes (three rounds: scikit-learn takes its time)."""
    return _grow(bench, (20_000, 250), "two", 3, (4, 15))


def trees_threads(bench: Bench) -> Outcome:
    """200 trees on two threads against one: total processor time."""
    figures = json.loads(bench.script("grow_on_threads.py").output)
    return figures, {"CPU time ≤ 1.15 ×": figures["cpu_ratio"] <= 1.15}


def trees_long_tails(bench: Bench) -> Outcome:
    """Forests on lognormal targets and beside one outlier of 1e3 to 1e12: errors on 400, 5000 and 200 000 rows."""
    figures, met = {}, {}
    for n_rows, n_trees, repeats in ((400, 50, 40), (5000, 20, 6), (200_000, 10, 1)):
        run = bench.script("long_tails.py", str(n_rows), str(n_trees), str(repeats))
        found = {f"{name}_{n_rows}": value for name, value in json.loads(run.output).items()}
        worst = max(value for name, value in found.items() if "_ratio_" in name)
        met[f"{n_rows} rows: error ≤ 1.05 × scikit-learn"] = worst <= 1.05
        figures |= found
    return figures, met
