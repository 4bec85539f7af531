"""Elimination on a data set of the paper: elimination_sets.py SET LEARNER N_RUNS VERSION [VERSION ...].

LEARNER is `bayes` or `tree`; a VERSION is one of `benchmarks/searches.py`. Section 7.3 of Stracuzzi and Utgoff
(2004): inner cross-validation on five folds; ten outer folds, of which N_RUNS are made, or as many runs on the given
split, with other seeds. Prints JSON: means over the runs, errors in percent.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.searches import found, inner_errors, outer_errors, task
from fernwood.errors import FernwoodWarning

warnings.simplefilter("ignore", FernwoodWarning)
warnings.filterwarnings("ignore", message="The least populated class")

name, kind, n_runs, versions = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4:]
table = task(name, kind).table
told: dict[str, dict[str, list[float]]] = {}
for run in range(n_runs):
    made = time.perf_counter()
    inner_errors(name, kind, run)
    made = time.perf_counter() - made
    outer = outer_errors(name, kind, run)
    told.setdefault("all", {}).setdefault("error", []).append(100 * outer(np.arange(table.shape[1])))
    for version in versions:
        started = time.perf_counter()
        of = found(name, kind, version, run)
        seconds = time.perf_counter() - started + made
        kept = of.chosen
        figures = {"evals": len(of.sizes), "inputs": len(kept), "error": 100 * outer(kept), "seconds": seconds}
        for key, value in figures.items():
            told.setdefault(version, {}).setdefault(key, []).append(value)
    print(f"{name} {kind} run {run} done", file=sys.stderr, flush=True)
out: dict[str, float] = {"runs": n_runs, "rows": len(table), "columns": table.shape[1]}
for version, values in told.items():
    out |= {f"{version}_{key}": fmean(of) for key, of in values.items()}
    out[f"{version}_deviation"] = stdev(values["error"]) if n_runs > 1 else 0.0
print(json.dumps(out))
