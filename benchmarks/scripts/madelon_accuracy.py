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

from benchmarks import madelon
from fernwood import SubspaceForestClassifier


def accuracies(number: int) -> dict[str, float]:
    split = madelon.split(number)
    found = {}
    for name, alpha in (("srs", 0.5), ("rs", 0.0)):
        forest = SubspaceForestClassifier(q=madelon.Q, alpha=alpha, n_iter=10_000, round_size=1, random_state=number)
        found[name] = forest.fit(split.x, split.y).score(split.x_test, split.y_test)
    return found


runs = Parallel(n_jobs=2)(delayed(accuracies)(number) for number in range(10))
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
