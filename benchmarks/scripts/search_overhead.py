"""What a search of random subspaces spends outside of kernels: draws of 250 of 20 000 columns, 1000 rows, one thread.

Time inside the compiled kernels that grow trees is summed; the rest of the wall time is overhead: drawing, reading
codes from a store in memory, dealing the probe, adding up evidence, deciding. With one tree a draw and with the
default. Prints JSON.
"""

import json
import time

import numpy as np

import fernwood
from fernwood.learner import trees
from fernwood.search.selecting import select_by_subspaces
from fernwood.search.settings import SubspaceSettings

inside = [0.0]


def timed(kernel):
    def call(*arguments):
        started = time.perf_counter()
        try:
            return kernel(*arguments)
        finally:
            inside[0] += time.perf_counter() - started

    return call


table = fernwood.datasets.make_madelon(1000, 20_000, class_sep=2.0, random_state=0)
store = fernwood.ingest(table.data, target=table.target)
select_by_subspaces(store, SubspaceSettings(n_iter=20, rule="probe"), seed=0)  # kernels are loaded
for name in ("grow_tree",):
    setattr(trees, name, timed(getattr(trees, name)))
figures = {}
for name, n_trees, n_draws in (("one_tree", 1, 1000), ("default", SubspaceSettings().n_trees, 200)):
    shares, walls = [], []
    for repeat in range(5):
        inside[0] = 0.0
        started = time.perf_counter()
        select_by_subspaces(store, SubspaceSettings(q=250, n_iter=n_draws, n_trees=n_trees, rule="probe"), seed=repeat)
        walls.append((time.perf_counter() - started) / n_draws)
        shares.append(1 - inside[0] / (walls[-1] * n_draws))
    figures[f"{name}_overhead"] = float(np.median(shares))
    figures[f"{name}_seconds_a_draw"] = float(np.median(walls))
print(json.dumps(figures))
