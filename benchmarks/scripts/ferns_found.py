"""What ferns find in tables with a known answer, over seeds. Prints JSON.

python ferns_found.py PROBLEM RULE WAY FIRST_SEED N_SEEDS [SCANS]

WAY is `sequential` or `blind`, of `FernSelector`; `subspace`, ferns as the learner of `SubspaceSelector`; `boruta` or
`fixed-shadows`, ferns as the learner of `BorutaSelector`, whose rule is its own.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.tables import FERN_PROBLEMS
from benchmarks.tally import Tally
from fernwood.errors import FernwoodWarning


def noise(n_columns: int):
    def make(rng: np.random.Generator) -> tuple:
        return rng.standard_normal((200, n_columns)), rng.permutation(np.arange(200) % 2), [], "classification"

    return make


PROBLEMS = {**FERN_PROBLEMS, "noise-30": noise(30), "noise-300": noise(300)}

problem, rule, way, first, n_seeds = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
scans = int(sys.argv[6]) if len(sys.argv) > 6 else 1000
warnings.simplefilter("ignore", FernwoodWarning)
tally = Tally()
for seed in range(first, first + n_seeds):
    x, y, relevant, _ = PROBLEMS[problem](np.random.default_rng(seed))
    how = {"n_jobs": 2, "random_state": seed}
    if way == "subspace":
        selector = fernwood.SubspaceSelector(learner="ferns", rule=rule, **how)
    elif way in ("boruta", "fixed-shadows"):
        selector = fernwood.BorutaSelector(learner="ferns", correction=None if way == "boruta" else way, **how)
    else:
        selector = fernwood.FernSelector(scans=scans, rule=rule, sequential=way == "sequential", **how)
    started = time.perf_counter()
    selector.fit(x, y)
    taken = set(np.flatnonzero(selector.support_).tolist())
    tally.add(taken, set(relevant), time.perf_counter() - started)
print(json.dumps({"first_seed": first, "scans": scans, **tally.figures()}))
