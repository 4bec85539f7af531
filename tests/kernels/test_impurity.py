"""Scores against impurities from their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fernwood.kernels.impurity import COARSE, class_score, class_term, decrease, make_measure, value_score
from tests.reference.nodes import CRITERIA
from tests.reference.trees import impurity


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_score_of_classes(criterion: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    measure = make_measure(CRITERIA[criterion], 200, False)
    for _ in range(20):
        y, w = rng.integers(0, n_classes, 50), rng.choice([0.5, 1.0, 2.0], 50)
        sizes = np.bincount(y, w, n_classes)
        slow = impurity(y, w, criterion)
        found = class_score(sizes, w.sum(), measure)
        assert found == pytest.approx(-slow if criterion == "entropy" else w.sum() - slow, abs=1e-9)
    assert class_score(np.zeros(3), 0.0, measure) == 0


def test_score_of_numbers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, w = rng.standard_normal(40), rng.choice([0.5, 1.0, 2.0], 40)
        found = value_score((w * y).sum(), w.sum())
        assert found == pytest.approx((w * y * y).sum() - impurity(y, w, "variance"))
    assert value_score(0.0, 0.0) == 0


def test_terms_lie_on_the_grid_and_sums_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(1)
    measure = make_measure(CRITERIA["entropy"], 3000, False)
    sizes = rng.integers(0, 100, 60).astype(float)
    terms = np.array([class_term(size, measure.fine) for size in sizes])
    assert (terms * measure.fine == np.rint(terms * measure.fine)).all()
    assert terms == pytest.approx([x * math.log2(x) if x else 0.0 for x in sizes], abs=1 / measure.fine)
    assert len({float(np.add.accumulate(rng.permutation(terms))[-1]) for _ in range(50)}) == 1
    assert sum(terms) == math.fsum(terms)


def test_tables() -> None:
    entropy, gini = make_measure(CRITERIA["entropy"], 50, False), make_measure(CRITERIA["gini"], 50, False)
    assert entropy.table.tolist() == [class_term(float(k), entropy.fine) for k in range(51)]
    assert gini.table.tolist() == [0.0] + [1.0 / k for k in range(1, 51)]
    assert gini.gini
    assert not entropy.gini
    assert len(entropy.both) == 51


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_a_split_that_tells_nothing_brings_nothing(criterion: str) -> None:
    """Branches of the same shares as the node."""
    measure = make_measure(CRITERIA[criterion], 90, False)
    node, one, two = np.array([30.0, 45.0, 15.0]), np.array([10.0, 15.0, 5.0]), np.array([20.0, 30.0, 10.0])
    base = class_score(node, 90.0, measure)
    branches = class_score(one, 30.0, measure) + class_score(two, 60.0, measure)
    assert decrease(branches, base, measure.node[COARSE]) == 0
    assert decrease(base + 1.0, base, measure.node[COARSE]) == measure.node[COARSE]
