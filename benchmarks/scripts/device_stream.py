"""A sweep of a store that does not fit on the card, beside its copy alone: device_stream.py STORE; prints JSON.

The card may take half of what the store has. 32 contexts, as in the first leg of a wave; the copy brings every column
to the card by the same way and does nothing with it. Best of three each, turn by turn, from the page cache.
"""

import json
import os
import sys
import time

import numpy as np

import fernwood
from fernwood.device import open_card
from fernwood.learner.contexts import divided
from fernwood.relevance.shadows import by_chance
from fernwood.search.on_device import CardExaminer, Room
from fernwood.search.sight import sight

store = fernwood.open(sys.argv[1])
card = open_card()
at = sight(store, np.empty(0, np.int64), 0)
room = max(store.n_rows * store.n_columns // 2, 2**29)
examiner = CardExaminer(at.scorer, np.arange(store.n_columns), os.cpu_count() or 1, Room(card, room), counts=True)
if examiner.keeps_table:
    sys.exit("the store fits on the card; make it larger")
examiner.survey()
rng = np.random.default_rng(0)
contexts = divided(at.ground.target, rng.integers(0, 16, (32, store.n_rows)))
chances = by_chance(np.full((32, 2), 2.0), np.full((32, 2), 2.0))
everyone = np.ones(store.n_columns, bool)


def sweep() -> None:
    examiner.sweep(everyone, contexts, chances, lambda *_: None, {})


def copy() -> None:
    with examiner._working():  # noqa: SLF001
        for _ in examiner._with_codes(examiner._cut(np.arange(store.n_columns), None, 32)):  # noqa: SLF001
            pass


seconds = {"sweep": [], "copy": []}
for _ in range(3):
    for name, work in (("copy", copy), ("sweep", sweep)):
        started = time.perf_counter()
        work()
        card.cupy.cuda.Device().synchronize()
        seconds[name].append(time.perf_counter() - started)
best = {name: min(each) for name, each in seconds.items()}
told = {"bytes": store.n_rows * store.n_columns, "device_memory": room}
told |= {f"seconds_{name}": each for name, each in best.items()}
print(json.dumps({**told, "ratio": best["sweep"] / best["copy"]}))
