"""The snowball on tables whose answer is known: snowball.py PROBLEM FIRST_SEED N_SEEDS.

Every seed makes a table (or permutes its labels) and searches it with defaults on two threads. Prints JSON: columns
found and others taken, summed up over the seeds; F1 and the share of others among those taken, means over seeds; runs
that took others; seconds of the search, median, without reading the table and without compiling.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, make_friedman1

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.data import find_data
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball import SnowballSettings


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow.parquet as pq

    path = find_data(name)
    if path is None:
        sys.exit(f"{name} is not here; set FERNWOOD_DATA to the folder that holds it")
    table = pq.read_table(path)
    columns = [c for c in table.column_names if c not in ("target", "split")]
    return np.column_stack([table.column(c).to_numpy() for c in columns]), table.column("target").to_numpy()


MADELON = (29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494)


def madelon(_: np.random.Generator) -> tuple:
    x, y = real("madelon.parquet")
    return x[:2000], y[:2000], [k - 1 for k in MADELON], "classification"


def madelon_like(n_columns: int, class_sep: float):
    def make(rng: np.random.Generator) -> tuple:
        table = fernwood.datasets.make_madelon(
            1000, n_columns, class_sep=class_sep, shuffle=True, random_state=int(rng.integers(2**31))
        )
        return table.data, table.target, table.relevant.tolist(), "classification"

    return make


def iris(rng: np.random.Generator) -> tuple:
    x, y = load_iris(return_X_y=True)
    noise = np.column_stack([rng.permutation(x[:, i % 4]) for i in range(4996)])
    return np.c_[x, noise], y, range(4), "classification"


def friedman(rng: np.random.Generator) -> tuple:
    x, y = make_friedman1(1000, 5000, noise=1.0, random_state=int(rng.integers(2**31)))
    return x, y, range(5), "regression"


def strong(rng: np.random.Generator) -> tuple:
    x = rng.standard_normal((200, 20_000))
    return x, (x[:, 0] + 0.5 * rng.standard_normal(200) > 0).astype(int), [0], "classification"


def ten_classes(rng: np.random.Generator) -> tuple:
    y = rng.integers(0, 10, 1000)
    x = rng.standard_normal((1000, 5000))
    x[np.arange(1000), y] += 2.0
    return x, y, range(10), "classification"


def imbalance(rng: np.random.Generator) -> tuple:
    y = (rng.random(1000) < 0.05).astype(int)
    x = rng.standard_normal((1000, 5000))
    x[:, :5] += y[:, None]
    return x, y, range(5), "classification"


def blocks(n_rows: int):
    """Twenty independent columns with an effect, among noise in blocks of fifty that correlate by 0.9."""

    def make(rng: np.random.Generator) -> tuple:
        relevant = rng.standard_normal((n_rows, 20))
        noise = [
            np.sqrt(0.9) * rng.standard_normal((n_rows, 1)) + np.sqrt(0.1) * rng.standard_normal((n_rows, 50))
            for _ in range(100)
        ]
        x = np.concatenate([relevant, *noise], axis=1)[:, :5000]
        effect = 0.3 if n_rows == 500 else 0.15
        y = (effect * relevant.sum(axis=1) + rng.standard_normal(n_rows) > 0).astype(int)
        return x, y, range(20), "classification"

    return make


def exclusive_or(rng: np.random.Generator) -> tuple:
    x = rng.standard_normal((1000, 2000))
    return x, ((x[:, 3] > 0) ^ (x[:, 9] > 0)).astype(int), [3, 9], "classification"


def gaussian(rng: np.random.Generator) -> tuple:
    return rng.standard_normal((100, 5000)), rng.integers(0, 2, 100), [], "classification"


def permuted(name: str):
    def make(rng: np.random.Generator) -> tuple:
        x, y = real(name)
        return x, rng.permutation(y), [], "classification"

    return make


PROBLEMS = {
    "madelon": madelon,
    "like-5500-2": madelon_like(5500, 2.0),
    "like-5500-1.5": madelon_like(5500, 1.5),
    "like-5500-1": madelon_like(5500, 1.0),
    "like-50000": madelon_like(50_000, 2.0),
    "iris": iris,
    "friedman": friedman,
    "strong": strong,
    "ten-classes": ten_classes,
    "imbalance": imbalance,
    "blocks-500": blocks(500),
    "blocks-2000": blocks(2000),
    "xor": exclusive_or,
    "null-gaussian": gaussian,
    "null-golub": permuted("golub_leukemia.parquet"),
    "null-singh": permuted("singh_prostate_6033.parquet"),
}

problem, first, n_seeds = PROBLEMS[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
select_by_snowball(fernwood.ingest(np.eye(20), target=np.arange(20) % 2), SnowballSettings(), 0)  # kernels are loaded
found, others, seconds, truth = [], [], [], []
for seed in range(first, first + n_seeds):
    data, target, relevant, task = problem(np.random.default_rng(seed))
    store = fernwood.ingest(data, target=target, task=task)
    started = time.perf_counter()
    result, _ = select_by_snowball(store, SnowballSettings(), seed, n_threads=2)
    seconds.append(time.perf_counter() - started)
    taken = set(result.confirmed.tolist())
    found.append(len(taken & set(relevant)))
    others.append(len(taken - set(relevant)))
    truth.append(len(relevant))
f, o, t = np.array(found), np.array(others), np.array(truth)
print(
    json.dumps(
        {
            "n_seeds": n_seeds,
            "relevant": int(t.sum()),
            "found": int(f.sum()),
            "others": int(o.sum()),
            "most_others": int(o.max()),
            "f1": float(np.mean(2 * f / np.maximum(f + o + t, 1))),
            "others_share": float(np.mean(o / np.maximum(f + o, 1))),
            "runs_with_others": int(np.count_nonzero(o)),
            "seconds": float(np.median(seconds)),
        }
    )
)
