"""A store on disk beside the same table in memory: store_or_memory.py STORE SEED; prints JSON, seconds by method."""

import json
import sys
import time

from fernwood.datasets import make_madelon
from fernwood.search.methods import select
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store import ingest, open_store

_TURNS = 5

path, seed = sys.argv[1], int(sys.argv[2])
table = make_madelon(1000, 50_000, class_sep=2.0, shuffle=True, random_state=seed)
ingest(table.data, path, target=table.target)
methods = {"snowball": SnowballSettings(), "subspace": SubspaceSettings(q=500, n_iter=200)}
with open_store(path) as on_disk:
    places = {"disk": on_disk, "memory": ingest(table.data, target=table.target)}
    seconds: dict[str, dict[str, list[float]]] = {}
    answers = {}
    for method, settings in methods.items():
        for _ in range(_TURNS):
            for place, store in places.items():
                started = time.perf_counter()
                result = select(store, settings, seed, n_threads=2, memory=10**9).result
                took = time.perf_counter() - started
                seconds.setdefault(method, {}).setdefault(place, []).append(took)
                answers.setdefault(method, []).append(result.confirmed.tolist())
assert all(answer == told[0] for told in answers.values() for answer in told)
best = {method: {place: min(times) for place, times in took.items()} for method, took in seconds.items()}
print(json.dumps(best))
