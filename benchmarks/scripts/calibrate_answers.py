"""The false discovery rate that is asked for and the one that comes out: calibrate_answers.py FIRST_SEED N_SEEDS.

Tables with a known answer are searched at false discovery rates of 0.05, 0.1, 0.2 and 0.5; and at 0.1 once more with
other stopping rules, one changed at a time. Means over seeds: the share of the relevant columns that is found, the
share of others among those taken with its standard error, and in how many runs there are any others. Prints JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks import tables
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

TABLES = {
    "madelon": tables.madelon_like(2000, 1.5),
    "blocks": tables.blocks(2000, 2000),
    "friedman": tables.friedman(2000),
}
SETTINGS = {
    "5": SnowballSettings(fdr=0.05),
    "10": SnowballSettings(fdr=0.1),
    "20": SnowballSettings(fdr=0.2),
    "50": SnowballSettings(fdr=0.5),
    "idle_1": SnowballSettings(n_idle=1),
    "idle_4": SnowballSettings(n_idle=4),
    "waves_4": SnowballSettings(max_waves=4),
    "waves_24": SnowballSettings(max_waves=24),
}

first, n_seeds = int(sys.argv[1]), int(sys.argv[2])
figures: dict[str, float] = {"n_seeds": n_seeds}
for name, make in TABLES.items():
    found, false = np.empty((2, len(SETTINGS), n_seeds))
    for number in range(n_seeds):
        seed = first + number
        data, target, relevant, task = make(np.random.default_rng(seed))
        store = fernwood.ingest(data, target=target, task=task)
        for row, settings in enumerate(SETTINGS.values()):
            result, _ = select_by_snowball(store, settings, seed, n_threads=2)
            taken = set(result.confirmed.tolist())
            found[row, number] = len(taken & set(relevant)) / len(relevant)
            false[row, number] = len(taken - set(relevant)) / max(len(taken), 1)
    for row, setting in enumerate(SETTINGS):
        figures |= {
            f"{name}_{setting}_found": float(found[row].mean()),
            f"{name}_{setting}_false": float(false[row].mean()),
            f"{name}_{setting}_false_error": float(false[row].std(ddof=1) / np.sqrt(n_seeds)),
            f"{name}_{setting}_runs": int(np.count_nonzero(false[row])),
        }
print(json.dumps(figures))
