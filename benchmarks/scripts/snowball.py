"""The snowball on tables whose answer is known: snowball.py PROBLEM FIRST_SEED N_SEEDS.

Every seed makes a table (or permutes its labels) and searches it with defaults on two threads; the parity of three
columns alone has `max_contexts` raised, as `docs/snowball.md` says it takes. Prints JSON, as `benchmarks/tally.py` adds
it up; seconds are of the search, without reading the table and without compiling.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.problems import PROBLEMS
from benchmarks.tally import Tally
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

SETTINGS = {"parity": SnowballSettings(max_contexts=60_000)}

name, first, n_seeds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
settings = SETTINGS.get(name, SnowballSettings())
select_by_snowball(fernwood.ingest(np.eye(20), target=np.arange(20) % 2), SnowballSettings(), 0)  # kernels are loaded
tally = Tally()
for seed in range(first, first + n_seeds):
    data, target, relevant, task = PROBLEMS[name](np.random.default_rng(seed))
    store = fernwood.ingest(data, target=target, task=task)
    started = time.perf_counter()
    result, _ = select_by_snowball(store, settings, seed, n_threads=2)
    tally.add(set(result.confirmed.tolist()), set(relevant), time.perf_counter() - started)
print(json.dumps(tally.figures()))
