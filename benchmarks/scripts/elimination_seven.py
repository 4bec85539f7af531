"""Seven of ten relevant bits among a hundred, by a thermal perceptron: elimination_seven.py WAY R_MAX FIRST N.

WAY is `known` (RVE), `one` (RVE, a column at a time), `binary` (RVErS) or `halving`; R_MAX counts for the last two.
Problems are those of section 5.2 of Stracuzzi and Utgoff (2004): 1000 rows to train on and 1000 to validate. Their
tolerance of 0.06, which they say is 15 rows of 1000, is that of a squared error of outputs −1 and 1: here 0.015 of the
rows. Prints JSON: means over the problems.
"""

import json
import sys
import time
from pathlib import Path
from statistics import fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fernwood.learner.subsets import evaluation_of, subset_errors
from fernwood.models import ThermalPerceptron
from fernwood.run.driving import drive
from fernwood.search.elimination import EliminationLoop, EliminationSettings

N, R, TOLERANCE = 100, 10, 0.015


def updates(n: int) -> int:
    return 1897 * 1000 * (n + 1)


def problem(seed: int) -> tuple:
    rng = np.random.default_rng([7, seed])
    relevant = rng.choice(N, R, replace=False)
    x = rng.integers(0, 2, (2000, N)).astype(float)
    return x, x[:, relevant].sum(axis=1) >= 7, set(relevant.tolist())


way, r_max, first, n_problems = sys.argv[1], *map(int, sys.argv[2:5])
if way in ("known", "one"):
    how = {"n_relevant": R, "step": 1 if way == "one" else None}
else:
    how = {"search": way, "r_max": r_max}
told: dict[str, list[float]] = {
    name: [] for name in ("calls", "updates", "removal_updates", "inputs", "relevant", "seconds")
}
exact = 0
for seed in range(first, first + n_problems):
    x, y, relevant = problem(seed)
    learner = ThermalPerceptron(random_state=seed)
    settings = EliminationSettings(learner, tolerance=TOLERANCE, cost=updates, **how)
    rows = [(np.arange(1000), np.arange(1000, 2000))]
    errors = subset_errors(evaluation_of(learner, x, y, cv=rows, scoring=None))
    started = time.perf_counter()
    state, *_ = drive(EliminationLoop(errors, settings.removals(N, seed), TOLERANCE, baseline="last"))
    kept = set(np.flatnonzero(state.left).tolist())
    told["seconds"].append(time.perf_counter() - started)
    told["calls"].append(state.n_calls)
    told["updates"].append(sum(updates(n) for n in state.trace.left.tolist()))
    told["removal_updates"].append(told["updates"][-1] - updates(N))
    told["inputs"].append(len(kept))
    told["relevant"].append(len(kept & relevant))
    exact += kept == relevant
means = {name: fmean(values) for name, values in told.items()}
means |= {"billions": means["updates"] / 1e9, "removal_billions": means["removal_updates"] / 1e9}
print(json.dumps({**means, "exact": exact, "problems": n_problems}))
