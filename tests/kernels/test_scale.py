"""What a node sees of the target: exact, in its own units, whatever else there is in the tree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fernwood.kernels.impurity import COARSE, GINI, HEAVY, MEAN, SCORE, UNIT, VARIANCE, WHOLE, make_measure
from fernwood.kernels.scale import look, make_seen
from fernwood.learner.target import class_target, value_target

NONE = np.empty(0)


@pytest.mark.parametrize("unit", [1e-250, 1e-12, 1.0, 1e250])
@pytest.mark.parametrize("company", [0.0, 1e9, -1e15])
def test_numbers(unit: float, company: float) -> None:
    """Four rows, beside one that is far from them."""
    target = value_target(np.array([0.0, 1.0, 2.0, 5.0, company]) * unit)
    seen, measure, rows = make_seen(target.kernel, True), make_measure(VARIANCE, 5, False), np.arange(4, dtype=np.int32)
    values = np.empty(5)
    assert not look(target.kernel, seen, rows, np.array([4]), 0.0, measure, values)
    assert seen.values[rows].tolist() == values[:4].tolist()
    assert (values[:4] == np.rint(values[:4])).all()
    assert values[:4] / values[0] == pytest.approx([1.0, 0.5, 0.0, -1.5], abs=1e-12)
    squares = float((values[:4] ** 2).sum())
    assert 2**39 <= squares * measure.node[COARSE] <= 2**40
    assert measure.node[SCORE] * measure.node[COARSE] < 0.5
    assert target.centre + target.unit * measure.node[MEAN] == pytest.approx(2 * unit, rel=1e-12)
    assert math.sqrt(squares * measure.node[UNIT]) * target.unit == pytest.approx(math.sqrt(14) * unit, rel=1e-12)


@pytest.mark.parametrize("heavy", [1.0, 1e3, 1e12, 1e30])
def test_weights(heavy: float) -> None:
    """Rows of weights 1 and 3 weigh as much in a node of their own, whatever one weighs above it."""
    target = class_target([0, 1, 0, 1], [heavy, 1, 3, 1])
    seen, measure = make_seen(target.kernel, False), make_measure(GINI, 4, True)
    rows = np.array([0, 2, 1, 3], np.int32)
    assert not look(target.kernel, seen, rows, np.array([2, 4]), 0.0, measure, NONE)
    assert measure.node[WHOLE] == math.fsum(seen.weights) <= 1
    assert measure.node[WHOLE] * measure.node[HEAVY] == pytest.approx(target.kernel.weights.sum(), rel=1e-15)
    assert (seen.weights > 0).all()
    light = rows[1:]
    assert not look(target.kernel, seen, light, np.array([1, 3]), measure.node[HEAVY], measure, NONE)
    assert seen.weights[1:] / seen.weights[1] == pytest.approx([1, 3, 1], rel=1e-12)
    assert 1 / 64 <= measure.node[WHOLE] == math.fsum(seen.weights[light]) <= 1
    assert measure.node[WHOLE] * measure.node[HEAVY] == pytest.approx(target.kernel.weights[light].sum(), rel=1e-12)
    assert measure.node[SCORE] == pytest.approx(measure.node[WHOLE] * (3 * 3 + 2 * 2) / 25, rel=1e-12)


def test_numbers_with_weights() -> None:
    rng = np.random.default_rng(0)
    y, w = np.exp(5 * rng.standard_normal(50)), np.exp(5 * rng.standard_normal(50))
    target = value_target(y, w)
    seen, measure, values = make_seen(target.kernel, True), make_measure(VARIANCE, 50, True), np.empty(50)
    rows = np.arange(50, dtype=np.int32)
    look(target.kernel, seen, rows, np.array([50]), 0.0, measure, values)
    mean = np.average(y, weights=w)
    assert target.centre + target.unit * measure.node[MEAN] == pytest.approx(mean, rel=1e-12)
    wanted = w * (y - mean)
    assert values / abs(values).max() == pytest.approx(wanted / abs(wanted).max(), abs=1e-12)
    assert math.fsum(values) == np.add.accumulate(values)[-1]
    assert measure.node[SCORE] * measure.node[COARSE] < 1


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0]])
def test_rows_that_are_alike(weights: list[float] | None) -> None:
    target = value_target([7.0, 7.0, 9.0], weights)
    seen, measure = make_seen(target.kernel, True), make_measure(VARIANCE, 3, weights is not None)
    rows = np.arange(2, dtype=np.int32)
    assert look(target.kernel, seen, rows, np.array([2]), 0.0, measure, np.empty(3))
    assert target.centre + target.unit * measure.node[MEAN] == 7
    assert look(target.kernel, seen, rows[:1], np.array([1]), 0.0, measure, np.empty(3))
