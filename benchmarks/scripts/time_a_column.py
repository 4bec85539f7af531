"""Seconds a column, for stores of different widths: time_a_column.py STORE...; prints JSON, by method and width."""

import json
import sys
import time

from fernwood.search.methods import prepare
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store import open_store

_PASSES = 3


def seconds_a_column(path: str, method: str) -> float:
    """One wave, or 80 draws of an eightieth of the columns (the default); what comes before is not counted."""
    with open_store(path) as store:
        n = store.n_columns
        settings = SnowballSettings() if method == "snowball" else SubspaceSettings(n_iter=80, n_trees=2)
        loop = prepare(store, settings, 200, n_threads=2).loop
        state = loop.start()
        started = time.perf_counter()
        state = loop.step(state)
        while method == "subspace" and (now := loop.progress(state)).done < now.total:
            state = loop.step(state)
        return (time.perf_counter() - started) / n


told: dict[str, dict[str, float]] = {}
for method in ("snowball", "subspace"):
    for _ in range(_PASSES):
        for path in sys.argv[1:]:
            width = path.rpartition("-")[2].removesuffix(".fern")
            seconds = seconds_a_column(path, method)
            best = told.setdefault(method, {})
            best[width] = min(seconds, best.get(width, seconds))
print(json.dumps(told))
