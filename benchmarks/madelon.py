"""Madelon as in the slides of Geurts (2016): rows drawn anew for every split, and wider tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.data import find_data
from benchmarks.tables import MADELON, real

N_LEARN, N_TEST = 1000, 500
Q = 50


class Split(NamedTuple):
    """Rows to learn from and rows to test on, and which columns are relevant."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    relevant: np.ndarray


def split(number: int, irrelevant: int = 480) -> Split:
    """1000 and 500 rows of the 2600, drawn from this seed, with some irrelevant columns.

    Of these, 480 are Madelon's own; each one more is one of them with its rows in another order, drawn anew for every
    split: a column with the values of Madelon's noise, and no relation to anything.
    """
    x, y = _whole()
    relevant = np.zeros(20 + irrelevant, bool)
    relevant[np.subtract(MADELON, 1)] = True
    noise = np.flatnonzero(~relevant[: x.shape[1]])
    rng = np.random.default_rng([number, irrelevant])
    added = [rng.permutation(x[:, noise[k % len(noise)]]) for k in range(irrelevant - len(noise))]
    x = np.column_stack([x, *added])
    rows = np.random.default_rng(number).permutation(len(x))[: N_LEARN + N_TEST]
    learn, test = rows[:N_LEARN], rows[N_LEARN:]
    return Split(x[learn], y[learn], x[test], y[test], relevant)


def _whole() -> tuple[np.ndarray, np.ndarray]:
    """The file of the data collection (see `benchmarks.data`), or else of OpenML."""
    if find_data("madelon.parquet") is not None:
        return real("madelon.parquet")
    from sklearn.datasets import fetch_openml

    data = fetch_openml("madelon", version=1, as_frame=False)
    return data.data, data.target
