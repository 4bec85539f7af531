"""BorutaPy beside our Boruta on one table, two cores each: boruta_peer.py TABLE SEED.

BorutaPy as its documentation has it: a balanced forest of depth 5, `n_estimators="auto"`, at most 100 iterations. Ours
runs with four seeds and BorutaPy with two, in turn, so that what else the machine does meets both, and so that there is
a measure of how much decisions of one and the same method differ. Prints JSON: seconds of the search alone, those of
the processor (medians), columns confirmed (means), and on how many columns two answers differ. A tentative column is
between confirmed and rejected, and differs from neither.
"""

import json
import sys
import time
from itertools import combinations, product
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
theirs: list[Answer] = []
took: dict[str, list[tuple[float, float]]] = {"": [], "boruta_": []}


def search(number: int) -> None:
    started, working = time.perf_counter(), time.process_time()
    result, _ = select_by_boruta(store, BorutaSettings(), number, n_threads=2)
    took[""].append((time.perf_counter() - started, time.process_time() - working))
    ours.append((set(result.confirmed.tolist()), set(result.tentative.tolist())))


def search_with_peer(number: int) -> None:
    forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
    boruta = BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=number)
    started, working = time.perf_counter(), time.process_time()
    boruta.fit(data, target)
    took["boruta_"].append((time.perf_counter() - started, time.process_time() - working))
    theirs.append((set(np.flatnonzero(boruta.support_).tolist()), set(np.flatnonzero(boruta.support_weak_).tolist())))


def differing(first: Answer, second: Answer) -> int:
    """Columns that one answer confirms and the other rejects."""
    return len(first[0] - second[0] - second[1]) + len(second[0] - first[0] - first[1])


search(seed)
search_with_peer(seed)
search(seed + 1)
search(seed + 2)
search_with_peer(seed + 1)
search(seed + 3)

figures: dict[str, float] = {"relevant": len(relevant)}
for prefix, answers in (("", ours), ("boruta_", theirs)):
    seconds, on_processors = zip(*took[prefix], strict=True)
    figures |= {
        f"{prefix}found": fmean(len(confirmed & relevant) for confirmed, _ in answers),
        f"{prefix}others": fmean(len(confirmed - relevant) for confirmed, _ in answers),
        f"{prefix}tentative": fmean(len(tentative) for _, tentative in answers),
        f"{prefix}seconds": median(seconds),
        f"{prefix}processor_seconds": median(on_processors),
        f"{prefix}differing_from_itself": fmean(differing(*pair) for pair in combinations(answers, 2)),
    }
pairs = list(product(ours, theirs))
figures |= {
    "relevant_differing": max(len((first[0] ^ second[0]) & relevant) for first, second in pairs),
    "differing": fmean(differing(*pair) for pair in pairs),
    "times_faster": figures["boruta_seconds"] / figures["seconds"],
    "times_less_processor": figures["boruta_processor_seconds"] / figures["processor_seconds"],
}
print(json.dumps(figures))
