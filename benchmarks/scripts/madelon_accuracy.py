"""Madelon as in the slides of Sutera et al.: accuracy of 10 000 trees of SRS and of RS on ten splits.

1000 rows to learn and 500 to test, q = 50, K = q, random thresholds, no bootstrap. Splits are drawn from seeds 0 to 9.
The file comes from the data collection (see ``benchmarks/data.py``) or else from OpenML. Prints JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.data import find_data
from fernwood import SubspaceForestClassifier


def madelon() -> tuple[np.ndarray, np.ndarray]:
    path = find_data("madelon.parquet")
    if path is not None:
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        names = [name for name in table.column_names if name not in ("target", "split")]
        return np.column_stack([table.column(name).to_numpy() for name in names]), table.column("target").to_numpy()
    from sklearn.datasets import fetch_openml

    data = fetch_openml("madelon", version=1, as_frame=False)
    return data.data, data.target


def accuracies(x: np.ndarray, y: np.ndarray, split: int) -> dict[str, float]:
    rows = np.random.default_rng(split).permutation(len(x))[:1500]
    learn, test = rows[:1000], rows[1000:]
    found = {}
    for name, alpha in (("srs", 0.5), ("rs", 0.0)):
        forest = SubspaceForestClassifier(q=50, alpha=alpha, n_iter=10_000, round_size=1, random_state=split)
        found[name] = forest.fit(x[learn], y[learn]).score(x[test], y[test])
    return found


data, target = madelon()
runs = Parallel(n_jobs=2)(delayed(accuracies)(data, target, split) for split in range(10))
srs, rs = np.array([r["srs"] for r in runs]), np.array([r["rs"] for r in runs])
print(
    json.dumps(
        {
            "srs_accuracy": float(srs.mean()),
            "rs_accuracy": float(rs.mean()),
            "srs_standard_error": float(srs.std(ddof=1) / np.sqrt(len(srs))),
            "rs_standard_error": float(rs.std(ddof=1) / np.sqrt(len(rs))),
            "srs_lowest": float(srs.min()),
            "srs_highest": float(srs.max()),
        }
    )
)
