"""BorutaPy beside our Boruta on one table, two cores each: boruta_peer.py TABLE SEED.

BorutaPy as its documentation has it: a balanced forest of depth 5, `n_estimators="auto"`, at most 100 iterations. Ours
runs with two seeds before it and two after, so that what else the machine does meets both, and so that there is a
measure of how much decisions of one and the same method differ. Prints JSON: seconds of the search alone (of ours, the
median), those of the processor, columns confirmed, and on how many columns two answers differ. A tentative column is
between confirmed and rejected, and differs from neither.
"""

import json
import sys
import time
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

import numpy as np
from sklearn.ensemble import RandomForestClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks import tables
from fernwood.search.boruta import BorutaSettings
from fernwood.search.iterating import select_by_boruta

try:
    from boruta import BorutaPy
except ImportError:
    sys.exit("boruta is not here; install it with: pip install 'fernwood[bench]'")

name, seed = sys.argv[1], int(sys.argv[2])
data, target, relevant, task = getattr(tables, name)(np.random.default_rng(seed))
relevant = set(relevant)
store = fernwood.ingest(data, target=target, task=task)
select_by_boruta(store, BorutaSettings(max_iter=1), 0, n_threads=2)  # kernels are loaded
Answer = tuple[set[int], set[int]]
ours: list[Answer] = []
seconds: list[float] = []
on_processors: list[float] = []


def search(number: int) -> None:
    started, working = time.perf_counter(), time.process_time()
    result, _ = select_by_boruta(store, BorutaSettings(), number, n_threads=2)
    seconds.append(time.perf_counter() - started)
    on_processors.append(time.process_time() - working)
    ours.append((set(result.confirmed.tolist()), set(result.tentative.tolist())))


def differing(first: Answer, second: Answer) -> int:
    """Columns that one answer confirms and the other rejects."""
    return len(first[0] - second[0] - second[1]) + len(second[0] - first[0] - first[1])


search(seed)
search(seed + 1)
forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
boruta = BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=seed)
started, working = time.perf_counter(), time.process_time()
boruta.fit(data, target)
their_seconds, their_processors = time.perf_counter() - started, time.process_time() - working
theirs = set(np.flatnonzero(boruta.support_).tolist()), set(np.flatnonzero(boruta.support_weak_).tolist())
search(seed + 2)
search(seed + 3)

figures = {
    "relevant": len(relevant),
    "found": fmean(len(confirmed & relevant) for confirmed, _ in ours),
    "others": fmean(len(confirmed - relevant) for confirmed, _ in ours),
    "tentative": fmean(len(tentative) for _, tentative in ours),
    "boruta_found": len(theirs[0] & relevant),
    "boruta_others": len(theirs[0] - relevant),
    "boruta_tentative": len(theirs[1]),
    "relevant_differing": max(len((confirmed ^ theirs[0]) & relevant) for confirmed, _ in ours),
    "differing": fmean(differing(answer, theirs) for answer in ours),
    "differing_among_ours": fmean(differing(*pair) for pair in combinations(ours, 2)),
    "seconds": median(seconds),
    "boruta_seconds": their_seconds,
    "processor_seconds": median(on_processors),
    "boruta_processor_seconds": their_processors,
    "times_faster": their_seconds / median(seconds),
    "times_less_processor": their_processors / median(on_processors),
}
print(json.dumps(figures))
