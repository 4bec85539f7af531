"""Internet ads, naive Bayes: elimination beside scikit-learn's forward selection, on the same folds: [N_FOLDS].

Forward selection goes on while the inner error falls by at least 0.001, about three rows. Prints JSON: means over the
folds, errors in percent, seconds of a search.
"""

import json
import sys
import time
from pathlib import Path
from statistics import fmean

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.eliminated import learner_of, problem
from fernwood.learner.subsets import evaluation_of, subset_errors
from fernwood.run.driving import drive
from fernwood.search.elimination import EliminationLoop, EliminationSettings

n_folds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
x, y, _ = problem("ads")
learner, table = learner_of("ads", "bayes", x)
splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(table, y))[:n_folds]
told: dict[str, list[float]] = {}


def keep(way: str, columns: np.ndarray, seconds: float, train: np.ndarray, test: np.ndarray) -> None:
    model = learner.fit(table[np.ix_(train, columns)], y[train])
    error = 100 * float(np.mean(model.predict(table[np.ix_(test, columns)]) != y[test]))
    for name, value in (("error", error), ("inputs", len(columns)), ("seconds", seconds)):
        told.setdefault(f"{way}_{name}", []).append(value)


for run, (train, test) in enumerate(splits):
    inner = StratifiedKFold(5, shuffle=True, random_state=run)
    for search in ("binary", "halving"):
        started = time.perf_counter()
        errors = subset_errors(evaluation_of(learner, table[train], y[train], cv=inner, scoring=None))
        settings = EliminationSettings(learner, r_max=100, search=search)
        state, *_ = drive(EliminationLoop(errors, settings.removals(table.shape[1], run), settings.tolerance))
        keep(search, np.flatnonzero(state.left), time.perf_counter() - started, train, test)
        told.setdefault(f"{search}_calls", []).append(state.n_calls)
    started = time.perf_counter()
    forward = SequentialFeatureSelector(learner, n_features_to_select="auto", tol=0.001, cv=inner)
    forward.fit(table[train], y[train])
    keep("forward", np.flatnonzero(forward.get_support()), time.perf_counter() - started, train, test)
    print(f"fold {run} done", file=sys.stderr, flush=True)
figures = {name: fmean(values) for name, values in told.items()}
figures["times_less"] = figures["forward_seconds"] / figures["binary_seconds"]
print(json.dumps({"folds": n_folds, **figures}))
