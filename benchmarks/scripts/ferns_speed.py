"""Times of ferns of depth 7 on 1000 rows and 500 columns: beside a tree of scikit-learn, or on threads. Prints JSON.

    python ferns_speed.py tree|threads

A fern is timed with all that it takes: its random numbers, its columns, and the shadows of the table. The tree is an
`ExtraTreeClassifier` that looks at all of 250 columns of noise.
"""

import json
import sys
import time

import numpy as np
from sklearn.tree import ExtraTreeClassifier

import fernwood
from fernwood import seeds
from fernwood.learner.ferns import draw_columns, fern_rows, grow, new_tally, new_votes
from fernwood.learner.many import in_order
from fernwood.search.dealing import Dealer

N_FERNS = 2000
rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 1000)
store = fernwood.ingest(rng.standard_normal((1000, 500)), target=labels)
rows = fern_rows(store)
field = rows.field(store.read(np.arange(500)), store.kinds)
noise = rng.standard_normal((1000, 250))


def plain(number: int, n_ferns: int = N_FERNS) -> None:
    states = seeds.states(n_ferns, 0, number)
    grow(field, draw_columns(states, 500, 7), states, votes=new_votes(1000, 2))


def important(number: int, n_ferns: int = N_FERNS) -> None:
    states = seeds.states(n_ferns, 0, number)
    shadows = Dealer(0)(field.codes.copy(), store.checksums, np.zeros(500, np.uint64))
    grow(field, draw_columns(states, 500, 7), states, keep=False, tally=new_tally(500), shadows=shadows)


def tree(number: int) -> None:
    ExtraTreeClassifier(max_features=None, random_state=number).fit(noise, labels)


def seconds(work, number: int) -> float:
    started = time.perf_counter()
    work(number)
    return time.perf_counter() - started


def cpu_seconds(n_threads: int) -> float:
    started = time.process_time()
    list(in_order(lambda number: important(number, 200), range(20), n_threads))
    return time.process_time() - started


def beside_a_tree() -> dict[str, float]:
    times = {work: [] for work in (plain, important, tree)}
    for turn in range(9):
        for work, found in times.items():
            found.append(seconds(work, turn))
    a_tree, a_fern, scored = (np.median(found) for found in (times[tree], times[plain], times[important]))
    return {
        "tree_seconds": a_tree,
        "fern_microseconds": 1e6 * a_fern / N_FERNS,
        "fern_with_importance_microseconds": 1e6 * scored / N_FERNS,
        "ferns_a_tree": a_tree * N_FERNS / a_fern,
        "ferns_with_importance_a_tree": a_tree * N_FERNS / scored,
    }


def on_threads() -> dict[str, float]:
    one, two = np.array([(cpu_seconds(1), cpu_seconds(2)) for _ in range(15)]).T
    return {
        "one_thread_cpu_seconds": np.median(one),
        "two_threads_cpu_seconds": np.median(two),
        "cpu_ratio": np.median(two / one),
    }


plain(0, 10)
important(0, 10)
print(json.dumps(beside_a_tree() if sys.argv[1] == "tree" else on_threads()))
