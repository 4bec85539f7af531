"""One node the slow way: random rows, classes or numbers, weights; every cut's decrease from the definition."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fernwood.kernels.histograms import Target
from fernwood.kernels.impurity import COARSE, ENTROPY, GINI, SCORE, UNIT, VARIANCE, Measure, make_measure
from fernwood.kernels.scale import look, make_seen
from tests.reference.trees import gain

CRITERIA = {"entropy": ENTROPY, "gini": GINI, "variance": VARIANCE}
CLOSE = 1e-7
"""Decreases of random nodes are equal on paper or differ by more."""


@dataclass(frozen=True)
class Node:
    """Some rows of a random table, ordered by class, some of them twice; `seen` is the target as kernels see it."""

    columns: np.ndarray
    target: Target
    seen: Target
    rows: np.ndarray
    ends: np.ndarray
    measure: Measure
    criterion: str

    @property
    def y(self) -> np.ndarray:
        return (self.target.labels if self.target.classes else self.target.values)[self.rows]

    @property
    def weights(self) -> np.ndarray:
        return self.target.weights[self.rows]

    def codes(self, column: int) -> np.ndarray:
        return self.columns[column, self.rows]

    def decrease(self, branch: np.ndarray) -> float:
        """The decrease of weight times impurity that branches bring."""
        return gain(self.y, self.weights, branch, self.criterion)

    def found(self, steps: float) -> float:
        """A kernel's decrease, which is in steps of the coarse grid of the node."""
        return steps / self.measure.node[COARSE] * self.measure.node[UNIT]

    def cuts(self, column: int, min_leaf: int) -> dict[int, float]:
        """The decrease of every allowed cut of a column without missing values."""
        codes = self.codes(column)
        out = {}
        for cut in sorted(set(codes.tolist()))[:-1]:
            branch = (codes > cut).astype(int)
            if min(branch.sum(), len(branch) - branch.sum()) >= min_leaf:
                out[cut] = self.decrease(branch)
        return out

    def best(self, column: int, min_leaf: int) -> tuple[float, int]:
        """The largest decrease and the lowest cut that brings it; −∞ and −1 where no cut is allowed."""
        cuts = self.cuts(column, min_leaf)
        if not cuts:
            return -math.inf, -1
        most = max(cuts.values())
        return most, next(cut for cut, value in cuts.items() if value > most - CLOSE)


def make_node(
    seed: int,
    n: int,
    width: int,
    *,
    n_codes: int = 41,
    n_classes: int = 2,
    criterion: str = "entropy",
    weighted: bool = False,
    missing: float = 0.0,
) -> Node:
    """A random node of n rows of a table of 2n; numbers where the criterion is the variance."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, n_codes, (width, 2 * n)).astype(np.uint8)
    columns[rng.random(columns.shape) < missing] = 255
    columns[0] = columns[0, 0]  # one is constant
    values = rng.integers(-20, 21, 2 * n) / 4.0 if criterion == "variance" else np.zeros(2 * n)
    labels = np.zeros(2 * n, np.int32)
    rows = rng.integers(0, 2 * n, n).astype(np.int32)
    if criterion != "variance":
        labels = rng.integers(0, n_classes, 2 * n).astype(np.int32)
        labels[rows[: min(n, n_classes)]] = np.arange(min(n, n_classes))
        rows = rows[np.argsort(labels[rows], kind="stable")]
    weights = rng.choice([0.25, 1.0, 1.5], 2 * n) if weighted else np.ones(2 * n)
    target = Target(labels, values, weights, criterion != "variance", weighted)
    ends = np.cumsum(np.unique(labels[rows], return_counts=True)[1]).astype(np.int64)
    measure, seen = make_measure(CRITERIA[criterion], n, weighted), make_seen(target, True)
    if look(target, seen, rows, ends, 0.0, measure, np.empty(n)) and criterion == "variance":
        seen.values[:], measure.node[[SCORE, COARSE, UNIT]] = 0, (0, 1, 1)  # what growing never splits
    return Node(columns, target, seen, rows, ends, measure, criterion)
