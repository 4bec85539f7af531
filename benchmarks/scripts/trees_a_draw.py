"""How many trees a draw deserves: relevant and other columns confirmed on Madelon-like tables of 1000 × 8000.

Seeds 0 and 1, class_sep 2, two threads, everything else by default. Prints JSON: sums over the seeds.
"""

import json
import time

import fernwood
from fernwood.search.selecting import select_by_subspaces
from fernwood.search.settings import SubspaceSettings

figures = {}
for n_trees in (1, 3, 10):
    found = others = 0
    started = time.perf_counter()
    for seed in (0, 1):
        table = fernwood.datasets.make_madelon(1000, 8000, class_sep=2.0, shuffle=True, random_state=seed)
        store = fernwood.ingest(table.data, target=table.target)
        result, _ = select_by_subspaces(store, SubspaceSettings(n_trees=n_trees, rule="probe"), seed, n_threads=2)
        confirmed, relevant = set(result.confirmed.tolist()), set(table.relevant.tolist())
        found += len(confirmed & relevant)
        others += len(confirmed - relevant)
    figures[f"found_{n_trees}"] = found
    figures[f"others_{n_trees}"] = others
    figures[f"seconds_{n_trees}"] = time.perf_counter() - started
print(json.dumps(figures))
