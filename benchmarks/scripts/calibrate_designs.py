"""Study designs in which nothing is relevant: calibrate_designs.py DESIGNS FIRST_SEED N_LOOKS N_COLUMNS N_SEARCHES.

DESIGNS is the name of a dictionary in `benchmarks.designs`, or of one and, behind colons, of some of its designs. For
every design, N_LOOKS tables of N_COLUMNS are looked at without any context: how many times too many columns have a p of
at most 0.1, 0.01, 0.001 and 0.0001, with the standard error over tables. N_SEARCHES tables of 1000 columns are searched
at a false discovery rate of 0.1: how many confirm anything, and how many columns. Prints JSON.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks import designs
from fernwood.search.rolling import prepare, select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

LEVELS = {"1e1": 0.1, "1e2": 0.01, "1e3": 0.001, "1e4": 1e-4}
SEARCHED = 1000

name, *chosen = sys.argv[1].split(":")
first, n_looks, n_columns, n_searches = (int(argument) for argument in sys.argv[2:6])
warnings.simplefilter("ignore", fernwood.errors.FernwoodWarning)  # so few groups allow no smaller p
figures: dict[str, float] = {"n_looks": n_looks, "n_searches": n_searches}
for design, (make, given) in getattr(designs, name).items():
    if chosen and design not in chosen:
        continue
    settings = SnowballSettings(given=given)
    shares = np.empty((n_looks, len(LEVELS)))
    for number in range(n_looks):
        seed = first + number
        values, roles = make(np.random.default_rng([seed, 29]), n_columns)
        chances = prepare(fernwood.ingest(values, **roles), settings, seed, n_threads=1).loop.start().chance
        shares[number] = [np.mean(chances <= level) / level for level in LEVELS.values()]
    if n_looks > 1:
        errors = shares.std(axis=0, ddof=1) / np.sqrt(n_looks)
        for level, share, error in zip(LEVELS, shares.mean(axis=0).tolist(), errors.tolist(), strict=True):
            figures |= {f"{design}_{level}": share, f"{design}_{level}_error": error}
    if n_searches:
        taken = []
        for seed in range(first, first + n_searches):
            values, roles = make(np.random.default_rng([seed, 30]), SEARCHED)
            result, _ = select_by_snowball(fernwood.ingest(values, **roles), settings, seed, n_threads=1)
            taken.append(len(result.confirmed))
        figures |= {f"{design}_any": int(np.count_nonzero(taken)), f"{design}_columns": sum(taken)}
print(json.dumps(figures))
