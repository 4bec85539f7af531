"""What is found beside what could be: found_in_groups.py FIRST_SEED N_SEEDS.

Tables of 600 rows and 2000 columns, ten of them relevant, in groups of several sizes and without any: how many of the
ten, and of the others, the snowball takes at a false discovery rate of 0.1, and Benjamini and Hochberg's rule at that
rate, on p of a test that is told the true covariance of the rows. Prints JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.designs import ten
from fernwood.relevance.shadows import found_at
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

STRENGTH = 5.0

first, n_seeds = (int(argument) for argument in sys.argv[1:3])
figures: dict[str, float] = {"n_seeds": n_seeds}
for sizes in (None, "equal", "several", "geometric", "mixed"):
    for within in (False, True):
        if sizes is None and within:
            continue
        taken = {"snowball": [], "told": []}
        for seed in range(first, first + n_seeds):
            values, roles, chances = ten(np.random.default_rng([seed, 31]), sizes, STRENGTH, within=within)
            result, _ = select_by_snowball(fernwood.ingest(values, **roles), SnowballSettings(), seed, n_threads=1)
            taken["snowball"].append(np.isin(np.arange(2000), result.confirmed))
            taken["told"].append(found_at(0.1, chances))
        name = "rows" if sizes is None else f"{sizes}_{'within' if within else 'whole'}"
        for method, each in taken.items():
            masks = np.stack(each)
            false = masks[:, 10:].sum(axis=1)
            figures[f"{name}_{method}_found"] = float(masks[:, :10].sum(axis=1).mean())
            figures[f"{name}_{method}_false"] = float(np.mean(false / np.maximum(masks.sum(axis=1), 1)))
        figures[f"{name}_share"] = figures[f"{name}_snowball_found"] / figures[f"{name}_told_found"]
print(json.dumps(figures))
