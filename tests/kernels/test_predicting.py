"""Walking down trees, and decreases on other rows, against slow walks and enumerated deals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fernwood import seeds
from fernwood.kernels.predicting import add_entries, fair_decrease, fair_decreases, find_leaves, find_leaves_permuted
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import class_target, value_target
from fernwood.learner.trees import grow
from tests.reference import trees as slow

CODES = {"entropy": 0, "gini": 1, "variance": 2}


def problem(seed: int, criterion: str):
    """A tree on a table with missing values and categories, and another table of the same columns."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, (6, 80)).astype(np.uint8)
    codes[4:] %= 4
    codes[rng.random(codes.shape) < 0.1] = 255
    other = rng.integers(0, 14, (6, 60)).astype(np.uint8)
    other[rng.random(other.shape) < 0.1] = 255
    y = rng.integers(0, 3, 140)
    target = value_target(y[:80]) if criterion == "variance" else class_target(y[:80])
    settings = TreeSettings(criterion=criterion, categories=("multiway", "subset")[seed % 2], min_samples_leaf=2)
    tree = grow(codes, target, settings, state=seeds.state(seed), kinds=np.array([0, 0, 0, 0, 3, 3]))
    assert (tree.route >= 0).any()
    return tree, other, y[80:]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("criterion", CODES)
def test_leaves(seed: int, criterion: str) -> None:
    tree, other, _ = problem(seed, criterion)
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 60, 45).astype(np.int32)
    others = rng.permutation(rows)
    assert find_leaves(tree, other, rows).tolist() == [slow.leaf_of(tree, other[:, i]) for i in rows]
    for column in range(6):
        mixed = other[:, rows].copy()
        mixed[column] = other[column, others]
        wanted = [slow.leaf_of(tree, mixed[:, i]) for i in range(len(rows))]
        assert find_leaves_permuted(tree, other, rows, column, others).tolist() == wanted


def test_entries_are_added() -> None:
    tree, other, _ = problem(1, "gini")
    leaves = find_leaves(tree, other, np.arange(60, dtype=np.int32))
    out = np.ones((60, 3))
    add_entries(tree, leaves, out)
    for i, leaf in enumerate(leaves.tolist()):
        row = np.ones(3)
        for k in range(tree.begin[leaf], tree.end[leaf]):
            row[tree.entry_class[k]] += tree.entry_value[k]
        assert out[i].tolist() == row.tolist()
        assert row.sum() == pytest.approx(4.0)


def expected(n: int, n_class: int, n_branch: int, function) -> float:
    """The mean of a function of how many rows of a class are among some that are drawn at random."""
    return sum(
        math.comb(n_class, h) * math.comb(n - n_class, n_branch - h) / math.comb(n, n_branch) * function(h)
        for h in range(n_class + 1)
        if 0 <= n_branch - h <= n - n_class
    )


def slow_fair(y: np.ndarray, branch: np.ndarray, criterion: str) -> float:
    """The decrease less its mean over all ways to deal the rows out to branches of these sizes."""
    n, sizes = len(y), [int((branch == b).sum()) for b in sorted(set(branch.tolist()))]
    if n < 2 or len(sizes) < 2:
        return 0.0
    plain = slow.gain(y, np.ones(n), branch, criterion)
    if criterion == "variance":
        return plain - (len(sizes) - 1) * ((y - y.mean()) ** 2).sum() / (n - 1)
    counts = [int((y == c).sum()) for c in set(y.tolist())]

    def term(h: float, size: float) -> float:
        return h * h / size if criterion == "gini" else (h * math.log2(h / size) if h else 0.0)

    node = sum(term(count, n) for count in counts)
    dealt = sum(expected(n, count, size, lambda h, size=size: term(h, size)) for count in counts for size in sizes)
    return plain - (dealt - node)


@pytest.mark.parametrize("criterion", CODES)
def test_fair_decrease_of_one_split(criterion: str) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 9, 30):
        y, branch = rng.integers(0, 3, n), rng.integers(0, 4, n)
        if criterion == "variance":
            parts = [y[branch == b] for b in range(4)]
            tables = np.array([[len(p), p.sum(), (p**2).sum()] for p in parts], float)
        else:
            tables = np.array([np.bincount(y[branch == b], minlength=3) for b in range(4)], float)
        found = fair_decrease(tables, CODES[criterion], criterion == "variance")
        assert found == pytest.approx(slow_fair(y, branch, criterion), abs=1e-9)


@pytest.mark.parametrize("n", [10**4, 10**6, 10**8])
def test_fair_decrease_of_many_rows(n: int) -> None:
    """A split that tells nothing loses what chance would bring, (classes − 1) (branches − 1) / 2 ln 2 bits."""
    shares = np.array([0.5, 0.3, 0.2])
    tables = np.rint(np.outer([0.25, 0.75], shares) * n)
    assert fair_decrease(tables, CODES["entropy"], False) == pytest.approx(
        -1 / math.log(2), rel=1e-2 if n < 10**5 else 1e-3
    )


@pytest.mark.parametrize("far", [1e6, 1e9, -1e12])
def test_fair_decreases_beside_an_outlier(far: float) -> None:
    """Nodes far from the outlier, whose values are nearly alike beside it."""
    rng = np.random.default_rng(0)
    codes = np.stack([np.r_[200, rng.integers(0, 99, 299)], rng.integers(0, 99, 300)]).astype(np.uint8)
    y = np.r_[far, codes[1, 1:] / 9.0]
    target = value_target(y)
    settings = TreeSettings(rule="cart", criterion="variance", max_depth=4)
    tree = grow(codes, target, settings, state=seeds.state(0))
    rows = np.arange(1, 300, dtype=np.int32)  # all but the outlier
    alone = value_target(y[1:])
    found = fair_decreases(tree, codes, target.kernel, rows, CODES["variance"], 2) * (target.unit / alone.unit) ** 2
    codes = np.ascontiguousarray(codes[:, 1:])
    wanted = fair_decreases(tree, codes, alone.kernel, rows - 1, CODES["variance"], 2)
    assert wanted[1] > 0.01
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", CODES)
def test_fair_decreases_of_a_tree(seed: int, criterion: str) -> None:
    tree, other, y = problem(seed, criterion)
    target = value_target(y) if criterion == "variance" else class_target(y)
    wanted = np.zeros(6)
    values = target.kernel.values if criterion == "variance" else y

    def walk(node: int, rows: np.ndarray) -> None:
        column = int(tree.column[node])
        if column < 0 or len(rows) == 0:
            return
        branch = slow.branches_of(tree, node, other[column, rows])
        wanted[column] += slow_fair(values[rows], branch, criterion) / 60
        for b in range(tree.branches[node]):
            walk(int(tree.child[node]) + b, rows[branch == b])

    walk(0, np.arange(60))
    found = fair_decreases(tree, other, target.kernel, np.arange(60, dtype=np.int32), CODES[criterion], 6)
    assert found == pytest.approx(wanted, abs=1e-9)
