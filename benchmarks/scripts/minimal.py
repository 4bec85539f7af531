"""Few columns that suffice, on real Madelon after the snowball: minimal.py FIRST_SEED N_SEEDS.

Accuracy is scikit-learn's random forest in ten-fold cross-validation, five times over, on the 2000 training rows.
Prints JSON; seconds are of the search and of the reduction together, without reading the table and without compiling.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks import tables
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

first, n_seeds = int(sys.argv[1]), int(sys.argv[2])


def accuracy(data: np.ndarray, target: np.ndarray, columns: list[int]) -> float:
    """Of a forest on some columns, in the order of the table."""
    scores = [
        cross_val_score(
            RandomForestClassifier(200, random_state=repeat, n_jobs=1),
            data[:, sorted(columns)],
            target,
            cv=StratifiedKFold(10, shuffle=True, random_state=repeat),
            n_jobs=2,
        ).mean()
        for repeat in range(5)
    ]
    return float(np.mean(scores))


data, target, relevant, task = tables.madelon(np.random.default_rng(first))
with_all = accuracy(data, target, list(relevant))
store = fernwood.ingest(data, target=target, task=task)
select_by_snowball(store, SnowballSettings(goal="minimal", slack=0.5), 0)  # kernels are loaded
kept, seconds, lost, fits, stood_in = [], [], [], [], 0
for seed in range(first, first + n_seeds):
    started = time.perf_counter()
    result, _ = select_by_snowball(store, SnowballSettings(goal="minimal"), seed, n_threads=2)
    seconds.append(time.perf_counter() - started)
    kept.append(len(result.minimal.kept))
    fits.append(result.minimal.n_fits)
    stood_in += sum(map(bool, result.minimal.stand_ins.values()))
    lost.append(with_all - accuracy(data, target, result.minimal.kept))
print(
    json.dumps(
        {
            "n_seeds": n_seeds,
            "relevant": len(relevant),
            "most_kept": max(kept),
            "mean_kept": float(np.mean(kept)),
            "accuracy_with_all": with_all,
            "accuracy_lost": float(np.mean(lost)),
            "most_accuracy_lost": max(lost),
            "mean_fits": float(np.mean(fits)),
            "with_stand_ins": stood_in / (len(relevant) * n_seeds - sum(kept)),
            "seconds": float(np.median(seconds)),
        }
    )
)
