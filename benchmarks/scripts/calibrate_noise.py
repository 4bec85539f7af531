"""What the snowball makes of noise: calibrate_noise.py FIRST_SEED N_LOOKS N_SEARCHES.

Two things, for every sort of noise. N_LOOKS tables are looked at without any context, and their p compared with what
they should be: how many times too many columns have a p of at most 0.0001, 0.0003, … 0.5, with the standard error over
tables. N_SEARCHES tables are searched at false discovery rates of 0.05, 0.1 and 0.2; counted are the searches that
confirm anything, and the columns confirmed. Prints JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.noise import NOISE
from fernwood.run.driving import SearchProgress
from fernwood.search.rolling import prepare, select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store.base import Store

LEVELS = {"1e4": 1e-4, "3e4": 3e-4, "1e3": 1e-3, "3e3": 3e-3, "1e2": 1e-2, "3e2": 3e-2, "1e1": 0.1, "half": 0.5}
RATES = {"20": 0.2, "10": 0.1, "5": 0.05}


def confirmed(store: Store, seed: int) -> dict[str, int]:
    """How many columns are confirmed at every rate."""
    out = dict.fromkeys(RATES, 0)
    seen: list[SearchProgress] = []
    for rate, fdr in RATES.items():
        seen.clear()
        result, _ = select_by_snowball(store, SnowballSettings(fdr=fdr), seed, n_threads=2, progress=seen.append)
        out[rate] = len(result.confirmed)
        if not any(at.found for at in seen):  # where no wave finds a column, waves are the same at any smaller rate
            break
    return out


first, n_looks, n_searches = (int(argument) for argument in sys.argv[1:4])
figures: dict[str, float] = {"n_looks": n_looks, "n_searches": n_searches}
for name, make in NOISE.items():
    shares = np.empty((n_looks, len(LEVELS)))
    taken = {rate: [] for rate in RATES}
    for number in range(n_looks):
        seed = first + number
        values, roles = make(np.random.default_rng(seed))
        store = fernwood.ingest(values, **roles)
        chances = prepare(store, SnowballSettings(), seed, n_threads=2).loop.start().chance
        shares[number] = [np.mean(chances <= level) / level for level in LEVELS.values()]
        if number < n_searches:
            for rate, n_confirmed in confirmed(store, seed).items():
                taken[rate].append(n_confirmed)
    errors = shares.std(axis=0, ddof=1) / np.sqrt(n_looks)
    for level, share, error in zip(LEVELS, shares.mean(axis=0).tolist(), errors.tolist(), strict=True):
        figures |= {f"{name}_{level}": share, f"{name}_{level}_error": error}
    for rate, counts in taken.items():
        figures |= {f"{name}_any_{rate}": int(np.count_nonzero(counts)), f"{name}_columns_{rate}": sum(counts)}
for rate in RATES:
    figures[f"any_{rate}"] = sum(figures[f"{name}_any_{rate}"] for name in NOISE)
print(json.dumps(figures))
