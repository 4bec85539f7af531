"""Tables with a known answer: each takes a generator and returns data, target, relevant columns and the task."""

import sys

import numpy as np
import pyarrow.parquet as pq
from sklearn.datasets import load_iris, make_friedman1

import fernwood
from benchmarks.data import find_data, how_to_have_it


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    path = find_data(name)
    if path is None:
        sys.exit(how_to_have_it(name))
    table = pq.read_table(path)
    columns = [c for c in table.column_names if c not in ("target", "split")]
    return np.column_stack([table.column(c).to_numpy() for c in columns]), table.column("target").to_numpy()


MADELON = (29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494)


def madelon(_: np.random.Generator) -> tuple:
    x, y = real("madelon.parquet")
    return x[:2000], y[:2000], [k - 1 for k in MADELON], "classification"


def madelon_among(n_irrelevant: int):
    """Madelon's twenty relevant columns first, and as many of the others, drawn at random."""

    def make(rng: np.random.Generator) -> tuple:
        x, y, relevant, task = madelon(rng)
        others = np.setdiff1d(np.arange(x.shape[1]), relevant)
        return x[:, np.r_[relevant, rng.choice(others, n_irrelevant, replace=False)]], y, range(len(relevant)), task

    return make


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


def iris_1000(rng: np.random.Generator) -> tuple:
    x, y, relevant, task = iris(rng)
    return x[:, :1004], y, relevant, task


def friedman(n_columns: int):
    def make(rng: np.random.Generator) -> tuple:
        x, y = make_friedman1(1000, n_columns, noise=1.0, random_state=int(rng.integers(2**31)))
        return x, y, range(5), "regression"

    return make


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


def blocks(n_rows: int, n_columns: int):
    """Twenty independent columns with an effect, among noise in blocks of fifty that correlate by 0.9."""

    def make(rng: np.random.Generator) -> tuple:
        relevant = rng.standard_normal((n_rows, 20))
        noise = [
            np.sqrt(0.9) * rng.standard_normal((n_rows, 1)) + np.sqrt(0.1) * rng.standard_normal((n_rows, 50))
            for _ in range(n_columns // 50)
        ]
        x = np.concatenate([relevant, *noise], axis=1)[:, :n_columns]
        effect = 0.3 if n_rows == 500 else 0.15
        y = (effect * relevant.sum(axis=1) + rng.standard_normal(n_rows) > 0).astype(int)
        return x, y, range(20), "classification"

    return make


def exclusive_or_of(n_rows: int, n_columns: int):
    def make(rng: np.random.Generator) -> tuple:
        x = rng.standard_normal((n_rows, n_columns))
        return x, ((x[:, 3] > 0) ^ (x[:, 9] > 0)).astype(int), [3, 9], "classification"

    return make


exclusive_or = exclusive_or_of(1000, 2000)


def parity(rng: np.random.Generator) -> tuple:
    x = rng.standard_normal((2000, 1000))
    return x, (x[:, [3, 9, 27]].prod(axis=1) > 0).astype(int), [3, 9, 27], "classification"


def gaussian(rng: np.random.Generator) -> tuple:
    return rng.standard_normal((100, 5000)), rng.integers(0, 2, 100), [], "classification"


def permuted(name: str):
    def make(rng: np.random.Generator) -> tuple:
        x, y = real(name)
        return x, rng.permutation(y), [], "classification"

    return make


def shuffled(name: str):
    """A table whose columns are permuted, each by itself."""

    def make(rng: np.random.Generator) -> tuple:
        x, y = real(name)
        return rng.permuted(x, axis=0), y, [], "classification"

    return make


GOLUB, SINGH = "golub_leukemia.parquet", "singh_prostate_12600.parquet"

FERN_PROBLEMS = {
    "iri": iris,
    "iri2": iris_1000,
    "madelon": madelon,
    "rnd": shuffled(GOLUB),
    "rnd2": shuffled(SINGH),
    "rnd3": permuted(SINGH),
}
"""The tables of Kursa (2017)."""
