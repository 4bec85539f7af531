"""What columns leave open of a target: against a slow twin, for any number of threads, with groups kept together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fernwood import seeds
from fernwood.importance.out_of_bag import OutOfBag
from fernwood.learner.rows import RowSampling
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import TreeTarget, class_target, value_target
from fernwood.learner.trees import grow, predict_shares, predict_values

N, P, TREES = 60, 4, 7
CODES = np.random.default_rng(0).integers(0, 6, (P, N)).astype(np.uint8)
KINDS = np.array([0, 0, 1, 0], np.uint8)
ADDRESSES = np.arange(10, 10 + P, dtype=np.uint64)
WEIGHTS = np.random.default_rng(1).integers(1, 4, N).astype(float)
CLASSES = (CODES[0] + CODES[1]) % 3
VALUES = CODES[0] + np.random.default_rng(2).standard_normal(N)


def bag(target: TreeTarget, **more: object) -> OutOfBag:
    return OutOfBag(CODES, KINDS, ADDRESSES, target, **{"n_trees": TREES, "seed": 5, "address": (9,)} | more)


def slow_share(target: TreeTarget, truth: np.ndarray, places: list[int]) -> float:
    """Row by row, from the trees that did not grow on it; losses against the weighted mean."""
    criterion = "entropy" if len(target.classes) else "variance"
    said: list[list[np.ndarray]] = [[] for _ in range(N)]
    for number in range(TREES):
        drawn = RowSampling(with_replacement=True).draw(N, 5, 9, 1, number)
        tree = grow(
            np.ascontiguousarray(CODES[places]),
            target,
            TreeSettings(criterion=criterion),
            state=seeds.state(5, 9, 0, number),
            kinds=KINDS[places],
            addresses=ADDRESSES[places],
            rows=drawn.grown,
        )
        inside = np.ascontiguousarray(CODES[places])
        if len(target.classes):
            told = predict_shares(tree, inside, len(target.classes))
        else:
            told = predict_values(tree, inside, target)[:, None]
        for row in set(range(N)) - set(drawn.grown.tolist()):
            said[row].append(told[row])
    rows = [row for row in range(N) if said[row]]
    weights = target.kernel.weights[rows]
    middle = np.average(truth[rows], axis=0, weights=weights)
    lost = [((np.mean(said[row], axis=0) - truth[row]) ** 2).sum() for row in rows]
    unknowing = [((middle - truth[row]) ** 2).sum() for row in rows]
    return float(np.average(lost, weights=weights) / np.average(unknowing, weights=weights))


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [2], [3, 1]])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_classes_as_the_slow_twin_has_them(places: list[int], weights: np.ndarray | None) -> None:
    target = class_target(CLASSES, weights)
    truth = np.eye(3)[target.kernel.labels]
    assert bag(target)(np.array(places)).share == pytest.approx(slow_share(target, truth, places), rel=1e-12)


def test_numbers_as_the_slow_twin_has_them() -> None:
    target = value_target(VALUES, WEIGHTS)
    assert bag(target)(np.arange(P)).share == pytest.approx(slow_share(target, VALUES[:, None], [0, 1, 2, 3]), rel=1e-9)


def test_threads_change_nothing() -> None:
    one, two = (bag(class_target(CLASSES), n_threads=n)(np.arange(P)) for n in (1, 2))
    assert one.share == two.share
    assert (one.rows == two.rows).all()
    assert (one.importance == two.importance).all()


def test_columns_that_tell_leave_less_open_and_are_more_important() -> None:
    told = bag(value_target(VALUES), n_trees=50)
    everything = told(np.arange(P))
    assert everything.importance.argmax() == 0
    assert told(np.array([1, 2, 3])).share > everything.share + 0.3
    assert told(np.array([1, 2, 3])).share > 0.8


def test_rows_of_a_group_are_predicted_by_trees_that_saw_none_of_them() -> None:
    """A column that names the group tells everything, unless its rows stay together."""
    group = np.repeat(np.arange(15), 4).astype(np.int32)
    codes = group.astype(np.uint8)[None]
    target = value_target(np.random.default_rng(3).standard_normal(15)[group])
    how = {"n_trees": 60, "seed": 0}
    apart = OutOfBag(codes, np.ones(1, np.uint8), ADDRESSES[:1], target, **how)
    together = OutOfBag(codes, np.ones(1, np.uint8), ADDRESSES[:1], target, groups=group, **how)
    assert apart(np.zeros(1, np.int64)).share < 0.1
    assert together(np.zeros(1, np.int64)).share > 0.7


@pytest.mark.parametrize("weights", [None, WEIGHTS / 3])
@pytest.mark.parametrize("make", [class_target, value_target])
def test_a_target_that_does_not_vary_is_left_open(make: Callable[..., TreeTarget], weights: np.ndarray | None) -> None:
    left = bag(make(np.full(N, 0.1), weights))(np.arange(P))
    assert left.share == 1
    assert (left.rows == 1).all()
    assert left.importance.tolist() == [0.0] * P
