"""The loss after permuting a column, against predictions of a table that was permuted by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest

from fernwood import seeds
from fernwood.importance.trees import permutation_loss
from fernwood.kernels.random import shuffle
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import TreeTarget, class_target, value_target
from fernwood.learner.trees import Tree, grow, predict_shares, predict_values


def slow_loss(tree: Tree, codes: np.ndarray, target: TreeTarget, rows: np.ndarray) -> float:
    if target.kernel.classes:
        said = predict_shares(tree, codes, len(target.classes)).argmax(axis=1)
        return float(np.mean(said[rows] != target.kernel.labels[rows]))
    said = (predict_values(tree, codes, target) - target.centre) / target.unit
    return float(np.mean((said[rows] - target.kernel.values[rows]) ** 2))


@pytest.mark.parametrize("classes", [0, 2, 3, 9])
@pytest.mark.parametrize("seed", range(5))
def test_the_loss_is_that_of_a_permuted_table(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (5, 80)).astype(np.uint8)
    codes[1, :9] = 255
    kinds = np.array([0, 0, 3, 0, 0], np.uint8)
    target = class_target(rng.integers(0, classes, 80)) if classes else value_target(rng.random(80))
    settings = TreeSettings("extra", "gini" if classes else "variance", min_samples_leaf=4)
    rows = np.arange(50, 80, dtype=np.int32)
    tree = grow(codes, target, settings, state=seeds.state(seed), kinds=kinds, rows=np.arange(50))
    loss = permutation_loss(tree, codes, target, rows, seed=7, address=(seed,))
    assert loss.any()
    for column in range(5):
        others = rows.copy()
        shuffle(seeds.state(7, seed, column), others, len(others))
        permuted = codes.copy()
        permuted[column, rows] = codes[column, others]
        by_hand = slow_loss(tree, permuted, target, rows) - slow_loss(tree, codes, target, rows)
        assert loss[column] == pytest.approx(by_hand, abs=1e-12)


def test_a_far_row_that_stays_where_it_is_leaves_the_losses_of_others() -> None:
    """It has a leaf of its own, above the splits of the column that is permuted."""
    rng = np.random.default_rng(0)
    codes = np.zeros((2, 80), np.uint8)
    codes[0, [0, 40]] = 200
    codes[1] = rng.integers(0, 30, 80)
    for far in (1e3, 1e9, 1e12):
        y = codes[1] / 3.0
        y[0], y[40] = far, 1.5 * far
        target = value_target(y)
        tree = grow(
            codes, target, TreeSettings("cart", "variance"), state=seeds.state(0), rows=np.arange(40, dtype=np.int32)
        )
        loss = permutation_loss(tree, codes, target, np.arange(40, 80), seed=1, address=(0,))[1] * target.unit**2
        others = np.arange(40, 80, dtype=np.int32)
        shuffle(seeds.state(1, 0, 1), others, 40)
        moved = codes.copy()
        moved[1, 40:] = codes[1, others]
        after, before = (predict_values(tree, table, target)[41:] for table in (moved, codes))
        wanted = np.sum((after - y[41:]) ** 2 - (before - y[41:]) ** 2) / 40
        assert wanted > 1
        assert loss == pytest.approx(wanted, rel=1e-3)


def test_many_classes_take_no_array_of_rows_by_classes() -> None:
    """20 000 rows of 10 000 classes: such an array would take 1.6 GB for every column."""
    codes = np.random.default_rng(0).integers(0, 255, (3, 20_000)).astype(np.uint8)
    target = class_target(np.arange(20_000) // 2)
    tree = grow(codes, target, TreeSettings(max_depth=6), state=seeds.state(0))
    started = time.monotonic()
    permutation_loss(tree, codes, target, np.arange(20_000), seed=0, address=(0,))
    assert time.monotonic() - started < 5
