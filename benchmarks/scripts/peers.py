"""One way of choosing columns on one table, in a process of its own: peers.py WHO N_COLUMNS SEED.

WHO is fernwood, borutapy, forest (importances of scikit-learn's random forest above their mean) or univariate
(scikit-learn's `SelectFdr`, at the same rate as ours). BorutaPy is as its documentation has it: a balanced forest of
depth 5, `n_estimators="auto"`, at most 100 rounds. All have two threads. Prints JSON: columns found, others taken, and
seconds of the search alone.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fernwood.datasets import make_madelon

who, n_columns, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
table = make_madelon(1000, n_columns, class_sep=1.5, random_state=seed)
data, target, relevant = np.asarray(table.data), np.asarray(table.target), set(table.relevant.tolist())


def fernwood() -> Callable[[], NDArray[np.bool_]]:
    from fernwood import SnowballSelector

    SnowballSelector(random_state=1).fit(data[:100, :50], target[:100])  # kernels are loaded
    return lambda: SnowballSelector(fdr=0.1, n_jobs=2, random_state=seed).fit(data, target).support_


def borutapy() -> Callable[[], NDArray[np.bool_]]:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
    return lambda: BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=seed).fit(data, target).support_


def forest() -> Callable[[], NDArray[np.bool_]]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import SelectFromModel

    chosen = SelectFromModel(RandomForestClassifier(500, n_jobs=2, random_state=seed))
    return lambda: chosen.fit(data, target).get_support()


def univariate() -> Callable[[], NDArray[np.bool_]]:
    from sklearn.feature_selection import SelectFdr

    return lambda: SelectFdr(alpha=0.1).fit(data, target).get_support()


fit = {"fernwood": fernwood, "borutapy": borutapy, "forest": forest, "univariate": univariate}[who]()
started = time.perf_counter()
support = fit()
seconds = time.perf_counter() - started
taken = set(np.flatnonzero(support).tolist())
print(json.dumps({"found": len(taken & relevant), "others": len(taken - relevant), "seconds": seconds}))
