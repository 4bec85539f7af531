"""Tables without an answer, 2000 columns of one sort: a generator makes the table and what else `ingest` is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

N_COLUMNS = 2000
Noise = tuple[np.ndarray | pl.DataFrame, dict[str, Any]]


def gaussian(n_rows: int):
    def make(rng: np.random.Generator) -> Noise:
        return rng.standard_normal((n_rows, N_COLUMNS)), {"target": rng.integers(0, 2, n_rows)}

    return make


def blocks(rng: np.random.Generator) -> Noise:
    """Blocks of fifty columns that correlate by 0.9."""
    shared = np.repeat(rng.standard_normal((200, N_COLUMNS // 50)), 50, axis=1)
    values = np.sqrt(0.9) * shared + np.sqrt(0.1) * rng.standard_normal((200, N_COLUMNS))
    return values, {"target": rng.integers(0, 2, 200)}


def categories(rng: np.random.Generator) -> Noise:
    """Two to five categories, of very unequal sizes."""
    columns = {}
    for number in range(N_COLUMNS):
        words = np.array(list("abcde"[: rng.integers(2, 6)]))
        columns[f"x{number}"] = rng.choice(words, 200, p=rng.dirichlet(np.ones(len(words))))
    return pl.DataFrame(columns), {"target": rng.integers(0, 2, 200)}


def missing(rng: np.random.Generator) -> Noise:
    """Up to half of the values of a column are missing."""
    values = rng.standard_normal((200, N_COLUMNS))
    values[rng.random(values.shape) < rng.uniform(0, 0.5, N_COLUMNS)] = np.nan
    return values, {"target": rng.integers(0, 2, 200)}


def zeros(rng: np.random.Generator) -> Noise:
    """Counts, of which 20 to 98 % are zero, for the rarer of two classes that stand 85 : 15."""
    rates = rng.exponential(2, (200, N_COLUMNS)) * (rng.random((200, N_COLUMNS)) > rng.uniform(0.2, 0.98, N_COLUMNS))
    return rng.poisson(rates).astype(float), {"target": (rng.random(200) < 0.15).astype(int)}


def unbalanced(rng: np.random.Generator) -> Noise:
    """Ten rows of one class, 190 of the other."""
    return rng.standard_normal((200, N_COLUMNS)), {"target": rng.permutation(np.arange(200) < 10).astype(int)}


def heavy(rng: np.random.Generator) -> Noise:
    """A target of numbers with heavy tails (Student's t, two degrees of freedom)."""
    return rng.standard_normal((200, N_COLUMNS)), {"target": rng.standard_t(2, 200), "task": "regression"}


def weighted(rng: np.random.Generator) -> Noise:
    """Rows of very unequal weights."""
    values = rng.standard_normal((200, N_COLUMNS))
    return values, {"target": rng.integers(0, 2, 200), "weights": rng.exponential(1, 200) + 0.01}


NOISE = {
    "gaussian_100": gaussian(100),
    "gaussian_500": gaussian(500),
    "blocks": blocks,
    "categories": categories,
    "missing": missing,
    "zeros": zeros,
    "unbalanced": unbalanced,
    "heavy": heavy,
    "weighted": weighted,
}


def few_ones(n_rows: int, n_ones: list[int], target: Callable[[np.random.Generator], np.ndarray]):
    """A column of noughts for every number of ones in it, which stand in rows drawn at random."""

    def make(rng: np.random.Generator) -> Noise:
        values = np.zeros((n_rows, len(n_ones)))
        for column, n in enumerate(n_ones):
            values[rng.choice(n_rows, n, replace=False), column] = 1
        return values, {"target": target(rng)}

    return make


TARGETS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "even": lambda rng: rng.integers(0, 2, 100),
    "fifth": lambda rng: (rng.random(100) < 0.2).astype(int),
    "twentieth": lambda rng: rng.permutation(np.arange(100) < 5).astype(int),
    "four": lambda rng: rng.integers(0, 4, 100),
    "ten": lambda rng: rng.integers(0, 10, 100),
    "numbers": lambda rng: rng.standard_normal(100),
}
"""Targets of a hundred rows: two classes of equal size, a fifth or a twentieth of the rows, more classes, numbers."""

TIES = {
    "rare": few_ones(100, [5] * 300, TARGETS["fifth"]),
    "mixed": few_ones(200, [40 if j % 9 == 0 else 1 for j in range(400)], lambda rng: rng.integers(0, 2, 200)),
}
"""Noise whose scores tie, and whose columns differ in what chance does for them."""

GRID = {(n, name): few_ones(100, [n] * 300, target) for n in (1, 2, 3, 5, 10, 40) for name, target in TARGETS.items()}
"""Columns of so many ones among a hundred rows, for every target."""
