"""What bins cost a forest: cross-validated accuracy on raw values, on default codes and on codes of 255 bins."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

import fernwood
from benchmarks.data import find_data


def accuracy(table: np.ndarray, target: np.ndarray) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(
        np.mean(
            [
                cross_val_score(ExtraTreesClassifier(200, random_state=seed), table, target, cv=folds, n_jobs=2).mean()
                for seed in range(3)
            ]
        )
    )


tables = {"breast_cancer": load_breast_cancer(return_X_y=True)}
if (madelon := find_data("madelon.parquet")) is not None:
    frame = pq.read_table(madelon)
    columns = [name for name in frame.column_names if name.startswith("f")]
    tables["madelon"] = (
        np.column_stack([frame.column(name).to_numpy() for name in columns]),
        frame.column("target").to_numpy(),
    )
figures = {}
for name, (table, target) in tables.items():
    figures[f"{name}_raw_accuracy"] = accuracy(table, target)
    for label, bins in (("default", None), ("255_bins", 255)):
        with tempfile.TemporaryDirectory() as folder:
            store = fernwood.ingest(table, Path(folder) / "s.fern", target=target, bins=bins)
            codes = store.read(np.arange(store.n_columns)).T
            figures[f"{name}_{label}_accuracy"] = accuracy(codes, target)
print(json.dumps(figures))
