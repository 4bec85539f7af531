"""Elimination on a data set of the paper: elimination_sets.py SET LEARNER N_RUNS VERSION [VERSION ...].

LEARNER is `bayes` or `tree`; a VERSION is `r` and the value of r_max (the paper's search for r), `e` and it (the same
with the early ending), `k1` (one column at a time), `h` and the value of r_max (halving of suspected groups), or
`filter`. Section 7.3 of Stracuzzi and Utgoff
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
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.eliminated import learner_of, problem
from fernwood.errors import FernwoodWarning
from fernwood.learner.subsets import evaluation_of, subset_errors
from fernwood.run.driving import drive
from fernwood.search.elimination import EliminationLoop, EliminationSettings
from fernwood.search.filter import FilterLoop, rank_columns

warnings.simplefilter("ignore", FernwoodWarning)
warnings.filterwarnings("ignore", message="The least populated class")

TOLERANCE = 0.002
name, kind, n_runs, versions = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4:]
x, y, is_test = problem(name)
learner, table = learner_of(name, kind, x)
if is_test is None:
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(table, y))[:n_runs]
else:
    splits = [(np.flatnonzero(~is_test), np.flatnonzero(is_test))] * n_runs


def settings_of(version: str) -> EliminationSettings:
    cost = "quadratic" if kind == "tree" else "linear"
    common = {"estimator": learner, "tolerance": TOLERANCE, "cost": cost}
    if version == "k1":
        return EliminationSettings(**common, step=1)
    search = {"r": "binary", "e": "binary-early", "h": "halving"}[version[0]]
    return EliminationSettings(**common, r_max=int(version[1:]), search=search)


told: dict[str, dict[str, list[float]]] = {}
for run, (train, test) in enumerate(splits):
    made = time.perf_counter()
    inner = StratifiedKFold(5, shuffle=True, random_state=run)
    errors = subset_errors(evaluation_of(learner, table[train], y[train], cv=inner, scoring=None))
    made = time.perf_counter() - made
    outer = subset_errors(evaluation_of(learner, table, y, cv=[(train, test)], scoring=None))
    n = table.shape[1]
    told.setdefault("all", {}).setdefault("error", []).append(100 * outer(np.arange(n)))
    for version in versions:
        started = time.perf_counter()
        if version == "filter":
            order = rank_columns(fernwood.ingest(x[train], target=y[train], task="classification")).columns
            state, *_ = drive(FilterLoop(errors, order))
            kept, calls = np.sort(order[: state.n_best]), len(state.errors)
        else:
            state, *_ = drive(EliminationLoop(errors, settings_of(version).removals(n, run), TOLERANCE))
            kept, calls = np.flatnonzero(state.left), state.n_calls
        seconds = time.perf_counter() - started + made
        figures = {"evals": calls, "inputs": len(kept), "error": 100 * outer(kept), "seconds": seconds}
        for key, value in figures.items():
            told.setdefault(version, {}).setdefault(key, []).append(value)
    print(f"{name} {kind} run {run} done", file=sys.stderr, flush=True)
out: dict[str, float] = {"runs": len(splits), "rows": len(y), "columns": table.shape[1]}
for version, values in told.items():
    out |= {f"{version}_{key}": fmean(of) for key, of in values.items()}
    out[f"{version}_deviation"] = stdev(values["error"]) if len(splits) > 1 else 0.0
print(json.dumps(out))
