"""BorutaPy beside our Boruta on one table, two cores each: boruta_peer.py TABLE SEED N_PEER_RUNS.

BorutaPy as its documentation has it: a balanced forest of depth 5, `n_estimators="auto"`, at most 100 iterations. Ours
runs before and after each of its runs, all with seeds of their own, so that what else the machine does meets both, and
so that there is a measure of how much decisions of one and the same method differ. Prints JSON: seconds of the search
alone (medians), those of the processor, columns confirmed, and on how many columns two answers differ, on average over
pairs. A tentative column is between confirmed and rejected, and differs from neither.
"""

import json
import sys
import time
from collections.abc import Callable
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

name, seed, n_peers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data, target, relevant, task = getattr(tables, name)(np.random.default_rng(seed))
relevant = set(relevant)
store = fernwood.ingest(data, target=target, task=task)
select_by_boruta(store, BorutaSettings(max_iter=1), 0, n_threads=2)  # kernels are loaded
Answer = tuple[set[int], set[int]]
ours: list[Answer] = []
theirs: list[Answer] = []
taken: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}


def measured(whose: str, search: Callable[[], Answer]) -> Answer:
    started, working = time.perf_counter(), time.process_time()
    answer = search()
    taken[whose].append((time.perf_counter() - started, time.process_time() - working))
    return answer


def our_search(number: int) -> Answer:
    result, _ = select_by_boruta(store, BorutaSettings(), number, n_threads=2)
    return set(result.confirmed.tolist()), set(result.tentative.tolist())


def their_search(number: int) -> Answer:
    forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
    boruta = BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=number).fit(data, target)
    return set(np.flatnonzero(boruta.support_).tolist()), set(np.flatnonzero(boruta.support_weak_).tolist())


def differing(first: Answer, second: Answer) -> int:
    """Columns that one answer confirms and the other rejects."""
    return len(first[0] - second[0] - second[1]) + len(second[0] - first[0] - first[1])


ours.append(measured("ours", lambda: our_search(seed)))
for number in range(seed, seed + n_peers):
    theirs.append(measured("theirs", lambda number=number: their_search(number)))
    ours.append(measured("ours", lambda number=number: our_search(number + 1)))
(seconds, on_processors), (their_seconds, their_processors) = (
    [median(each) for each in zip(*taken[whose], strict=True)] for whose in ("ours", "theirs")
)

figures = {
    "relevant": len(relevant),
    "found": fmean(len(confirmed & relevant) for confirmed, _ in ours),
    "others": fmean(len(confirmed - relevant) for confirmed, _ in ours),
    "tentative": fmean(len(tentative) for _, tentative in ours),
    "boruta_found": fmean(len(confirmed & relevant) for confirmed, _ in theirs),
    "boruta_others": fmean(len(confirmed - relevant) for confirmed, _ in theirs),
    "boruta_tentative": fmean(len(tentative) for _, tentative in theirs),
    "boruta_runs": n_peers,
    "relevant_differing": max(len((a ^ b) & relevant) for (a, _), (b, _) in product(ours, theirs)),
    "differing": fmean(differing(*pair) for pair in product(ours, theirs)),
    "differing_among_ours": fmean(differing(*pair) for pair in combinations(ours, 2)),
    "differing_among_theirs": fmean(differing(*pair) for pair in combinations(theirs, 2)),
    "seconds": seconds,
    "boruta_seconds": their_seconds,
    "processor_seconds": on_processors,
    "boruta_processor_seconds": their_processors,
    "times_faster": their_seconds / seconds,
    "times_less_processor": their_processors / on_processors,
}
print(json.dumps(figures))
