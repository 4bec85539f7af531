"""Time trees against scikit-learn's on one table: grow_trees.py ROWS COLUMNS TARGET REPEATS.

TARGET is ``two``, ``ten`` (classes) or ``numbers``. Ours grow on the codes that the store makes of the same table by
default, theirs on the table; both look at all columns of every node and grow to full depth, on one thread. Rounds of
ours and theirs alternate, so that a busy machine is busy for both. Prints JSON: medians of seconds and, for quality,
the accuracy (or the squared error over the variance) on other rows of one tree each, averaged over the rounds; theirs
also when they grow on the codes, in a few rounds, to tell the trees from the bins.
"""

import json
import sys
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from fernwood import seeds
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import class_target, value_target
from fernwood.learner.trees import grow, predict_shares, predict_values
from fernwood.store.quantise import bin_count, quantise

n_rows, n_columns, kind, repeats = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
rng = np.random.default_rng(0)
table = rng.standard_normal((2 * n_rows, n_columns)).astype(np.float32)
signal = table[:, 0] * table[:, 1] + table[:, 2] + rng.standard_normal(2 * n_rows)
if kind == "numbers":
    target = signal
else:
    n_classes = {"two": 2, "ten": 10}[kind]
    target = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
codes = quantise(np.ascontiguousarray(table.T), bin_count(n_rows)).codes
ours, other = np.ascontiguousarray(codes[:, :n_rows]), np.ascontiguousarray(codes[:, n_rows:])
train, test, y, z = table[:n_rows], table[n_rows:], target[:n_rows], target[n_rows:]
peers = {
    "extra": ExtraTreeRegressor if kind == "numbers" else ExtraTreeClassifier,
    "cart": DecisionTreeRegressor if kind == "numbers" else DecisionTreeClassifier,
}


def quality(prediction: np.ndarray) -> float:
    if kind == "numbers":
        return float(np.mean((prediction - z) ** 2) / np.var(z))
    return float(np.mean(prediction == z))


figures = {}
for rule, peer in peers.items():
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    scores: dict[str, list[float]] = {"ours": [], "peer": [], "peer_on_codes": []}
    settings = TreeSettings(rule=rule, criterion="variance" if kind == "numbers" else "gini")
    wanted = value_target(y) if kind == "numbers" else class_target(y)
    started = time.perf_counter()
    grow(ours, wanted, settings, state=seeds.state(0))
    figures["first_call_seconds"] = max(figures.get("first_call_seconds", 0), time.perf_counter() - started)
    for i in range(repeats):
        started = time.perf_counter()
        tree = grow(ours, wanted, settings, state=seeds.state(0, i))
        seconds["ours"].append(time.perf_counter() - started)
        started = time.perf_counter()
        fitted = peer(max_features=None, random_state=i).fit(train, y)
        seconds["peer"].append(time.perf_counter() - started)
        if kind == "numbers":
            scores["ours"].append(quality(predict_values(tree, other, wanted)))
        else:
            shares = predict_shares(tree, other, len(wanted.classes))
            scores["ours"].append(quality(wanted.classes[shares.argmax(axis=1)]))
        scores["peer"].append(quality(fitted.predict(test)))
        if i < (5 if ours.size <= 10**6 else 2):
            fitted = peer(max_features=None, random_state=i).fit(ours.T, y)
            scores["peer_on_codes"].append(quality(fitted.predict(other.T)))
    for who in seconds:
        figures[f"{rule}_{who}_seconds"] = float(np.median(seconds[who]))
    for who, found in scores.items():
        figures[f"{rule}_{who}_quality"] = float(np.mean(found))
    figures[f"{rule}_ratio"] = figures[f"{rule}_peer_seconds"] / figures[f"{rule}_ours_seconds"]
print(json.dumps(figures))
