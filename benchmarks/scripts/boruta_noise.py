"""Boruta on Gaussian noise, 100 x 5000, as published and with fixed shadows: boruta_noise.py FIRST_SEED N_SEEDS.

Prints JSON: of both, in how many runs anything is confirmed, and how many columns in a run on average.
"""

import json
import sys
import time
from pathlib import Path
from statistics import fmean, median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks import tables
from fernwood.search.boruta import BorutaSettings
from fernwood.search.iterating import select_by_boruta

first, n_seeds = int(sys.argv[1]), int(sys.argv[2])
figures: dict[str, float] = {"n_seeds": n_seeds}
taken: dict[str, list[int]] = {"plain": [], "fixed": []}
seconds: dict[str, list[float]] = {"plain": [], "fixed": []}
for seed in range(first, first + n_seeds):
    data, target, _, task = tables.gaussian(np.random.default_rng(seed))
    store = fernwood.ingest(data, target=target, task=task)
    for name, correction in (("plain", None), ("fixed", "fixed-shadows")):
        started = time.perf_counter()
        result, _ = select_by_boruta(store, BorutaSettings(correction=correction), seed, n_threads=2)
        taken[name].append(len(result.confirmed))
        seconds[name].append(time.perf_counter() - started)
for name, counts in taken.items():
    figures[f"{name}_runs_with_any"] = sum(count > 0 for count in counts)
    figures[f"{name}_confirmed"] = fmean(counts)
    figures[f"{name}_most_confirmed"] = max(counts)
    figures[f"{name}_seconds"] = median(seconds[name])
print(json.dumps(figures))
