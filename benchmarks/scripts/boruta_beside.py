"""BorutaPy beside the snowball on real Madelon, two cores each: boruta_beside.py SEED N_RUNS.

BorutaPy as its documentation has it: a balanced forest of depth 5, `n_estimators="auto"`, at most 100 rounds. It runs
once, with half of the runs of the snowball before it and half after, so that what else the machine does meets both.
Prints JSON: seconds of the search alone (of the snowball, the median), columns found and others taken.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks import tables
from benchmarks.tally import Tally
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

try:
    from boruta import BorutaPy
except ImportError:
    sys.exit("boruta is not here; install it with: pip install 'fernwood[bench]'")

seed, n_runs = int(sys.argv[1]), int(sys.argv[2])
data, target, relevant, task = tables.madelon(np.random.default_rng(seed))
store = fernwood.ingest(data, target=target, task=task)
select_by_snowball(store, SnowballSettings(), 0, n_threads=2)  # kernels are loaded
snowball, peer = Tally(), Tally()


def roll(seeds: range) -> None:
    for each in seeds:
        started = time.perf_counter()
        result, _ = select_by_snowball(store, SnowballSettings(), each, n_threads=2)
        snowball.add(set(result.confirmed.tolist()), set(relevant), time.perf_counter() - started)


roll(range(seed, seed + n_runs // 2))
forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
boruta = BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=seed)
started = time.perf_counter()
boruta.fit(data, target)
peer.add(set(np.flatnonzero(boruta.support_).tolist()), set(relevant), time.perf_counter() - started)
roll(range(seed + n_runs // 2, seed + n_runs))

figures, theirs = snowball.figures(), peer.figures()
figures |= {f"boruta_{name}": theirs[name] for name in ("relevant", "found", "others", "seconds")}
print(json.dumps(figures | {"times_faster": theirs["seconds"] / figures["seconds"]}))
