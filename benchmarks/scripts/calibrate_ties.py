"""Noise whose scores tie, through every method that tests: calibrate_ties.py METHOD FIRST_SEED N_SEEDS N_GRID.

Counted are the tables in which anything is confirmed at a false discovery rate of 0.1: N_SEEDS of rare columns, N_SEEDS
of rare and common ones, and N_GRID of every cell of a grid of frequencies and targets. Prints JSON.
"""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood as fw
from benchmarks.noise import GRID, TIES, Noise

METHODS = {
    "snowball": lambda seed: fw.SnowballSelector(random_state=seed),
    "subspace": lambda seed: fw.SubspaceSelector(random_state=seed),
    "mirror": lambda seed: fw.SubspaceSelector(rule="mirror", random_state=seed),
    "ferns": lambda seed: fw.FernSelector(random_state=seed),
    "boruta": lambda seed: fw.BorutaSelector(correction="fixed-shadows", alpha=0.1, random_state=seed),
}


def n_confirming(make: Callable[[np.random.Generator], Noise], seeds: range) -> int:
    """In how many tables anything is confirmed."""
    n = 0
    for seed in seeds:
        values, roles = make(np.random.default_rng([seed, 33]))
        n += bool(METHODS[method](seed).fit(values, roles["target"]).support_.any())
    return n


method, first, n_seeds, n_grid = sys.argv[1], *(int(argument) for argument in sys.argv[2:5])
warnings.simplefilter("ignore", fw.errors.FernwoodWarning)  # more leaves than rows: as many as by default
figures: dict[str, float] = {"n_seeds": n_seeds}
for name, make in TIES.items():
    figures[f"{name}_any"] = n_confirming(make, range(first, first + n_seeds))
cells = [
    n_confirming(make, range(first, first + n_grid))
    for (_, target), make in GRID.items()
    if not (method == "ferns" and target == "numbers")  # ferns tell classes
]
print(json.dumps(figures | {"n_cells": len(cells), "n_grid": n_grid, "grid_any": sum(cells), "worst_any": max(cells)}))
