"""The rules of random subspaces on tables whose answer is known: subspace_rules.py RULE PROBLEM SEED N_SEEDS [all].

Every seed makes a table and searches it with the defaults of the rule on two threads; with `all`, in 50 draws a column
instead of ending when the answer stands. Prints JSON: columns found and
others taken, summed up over the seeds; the share of others among those taken, mean over seeds; runs that took others;
seconds of a search and draws a column, medians.
"""

import json
import sys
import time

import numpy as np

import fernwood
from fernwood.search.selecting import select_by_subspaces
from fernwood.search.settings import SubspaceSettings


def madelon_like(n_rows: int, n_columns: int):
    def make(seed: int) -> tuple:
        table = fernwood.datasets.make_madelon(n_rows, n_columns, class_sep=2.0, shuffle=True, random_state=seed)
        return table.data, table.target, table.relevant.tolist()

    return make


def noise(n_columns: int):
    def make(seed: int) -> tuple:
        rng = np.random.default_rng(seed)
        return rng.standard_normal((100, n_columns)), rng.integers(0, 2, 100), []

    return make


def mixed_noise(seed: int) -> tuple:
    """Columns of two values, of many, and with missing values, none of which tells anything."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((200, 600))
    x[:, :400] = x[:, :400] > 0
    x[:, 550:][rng.random((200, 50)) < 0.2] = np.nan
    return x, rng.integers(0, 2, 200), []


PROBLEMS = {
    "like-5500": madelon_like(1000, 5500),
    "like-200": madelon_like(400, 200),
    "noise-30": noise(30),
    "noise-300": noise(300),
    "noise-5000": noise(5000),
    "noise-mixed": mixed_noise,
}

rule, problem, first, n_seeds = sys.argv[1], PROBLEMS[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4])
settings = SubspaceSettings(rule=rule, **({"n_iter": None} if "all" in sys.argv[5:] else {}))
select_by_subspaces(fernwood.ingest(np.eye(20), target=np.arange(20) % 2), settings, 0)  # kernels are loaded
runs = []
for seed in range(first, first + n_seeds):
    data, target, relevant = problem(seed)
    store = fernwood.ingest(data, target=target)
    started = time.perf_counter()
    result, _ = select_by_subspaces(store, settings, seed, n_threads=2)
    taken = set(result.confirmed.tolist())
    n_found = len(taken & set(relevant))
    runs.append((len(relevant), n_found, len(taken) - n_found, time.perf_counter() - started, result.median_draws))
truth, found, others, seconds, draws = np.array(runs).T
print(
    json.dumps(
        {
            "first_seed": first,
            "n_seeds": n_seeds,
            "relevant": int(truth.sum()),
            "found": int(found.sum()),
            "others": int(others.sum()),
            "others_share": float(np.mean(others / np.maximum(found + others, 1))),
            "runs_with_others": int(np.count_nonzero(others)),
            "seconds": float(np.median(seconds)),
            "draws_a_column": float(np.median(draws)),
        }
    )
)
