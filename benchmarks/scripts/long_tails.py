"""Forests on targets with long tails beside scikit-learn's: long_tails.py ROWS TREES REPEATS.

The target is lognormal, or normal but for one outlier among the rows that both learn from. Columns have 200 values
each, so that no bins come between; all columns are looked at in every node. The error is the median, over other rows,
of how far a prediction is from the target without noise; repeats are other tables. Prints JSON: the mean errors of ours
and of theirs, and their ratio.
"""

import json
import sys

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

import fernwood

n_rows, n_trees, repeats = map(int, sys.argv[1:])
N_COLUMNS = 8
TAILS = {"lognormal": None, "1e3": 1e3, "1e6": 1e6, "1e9": 1e9, "1e12": 1e12}
PEERS = {"extra": ExtraTreesRegressor, "cart": RandomForestRegressor}

errors: dict[str, list[tuple[float, float]]] = {}
for repeat in range(repeats):
    rng = np.random.default_rng(repeat)
    table = rng.integers(0, 200, (2 * n_rows, N_COLUMNS)) / 200
    said = 3 * table[:, 0] + 2 * (table[:, 1] > 0.5) + table[:, 2] * table[:, 3]
    noisy = said + 0.3 * rng.standard_normal(2 * n_rows)
    train, test = table[:n_rows], table[n_rows:]
    for tail, outlier in TAILS.items():
        target, truth = (np.exp(noisy), np.exp(said)) if outlier is None else (noisy.copy(), said)
        if outlier is not None:
            target[n_rows // 3] = outlier
        for learner, peer in PEERS.items():
            settings = {"q": N_COLUMNS, "alpha": 0, "n_iter": n_trees, "bootstrap": learner == "cart"}
            ours = fernwood.SubspaceForestRegressor(learner=learner, random_state=repeat, **settings)
            theirs = peer(n_trees, max_features=None, random_state=repeat)
            off = [
                float(np.median(np.abs(model.fit(train, target[:n_rows]).predict(test) - truth[n_rows:])))
                for model in (ours, theirs)
            ]
            errors.setdefault(f"{learner}_{tail}", []).append((off[0], off[1]))

figures = {}
for name, found in errors.items():
    ours_off, peer_off = np.mean(found, axis=0)
    figures |= {f"{name}_ours": ours_off, f"{name}_peer": peer_off, f"{name}_ratio": ours_off / peer_off}
print(json.dumps({name: float(value) for name, value in figures.items()}))
