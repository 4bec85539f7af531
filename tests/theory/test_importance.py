"""Exact importances: published values, slow twins, and the theorems on random distributions."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fernwood import seeds, theory
from fernwood.errors import ParameterError
from fernwood.theory.importance import choice_chances
from tests.reference import theory_trees
from tests.theory.strategies import KINDS, distributions, normalised

if TYPE_CHECKING:
    from fernwood.theory import Distribution

examples = settings(derandomize=True, max_examples=200, deadline=None)

SEVEN_SEGMENT = {
    1: [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372],
    7: [0.306, 0.798, 0.475, 0.410, 0.835, 0.122, 0.375],
}
"""The exact importances of the checked numbers, for K = 1 and K = 7."""


@pytest.mark.parametrize("k", [1, 7])
def test_seven_segment(k: int) -> None:
    importances = theory.seven_segment().importances(max_features=k)
    assert list(importances.values()) == pytest.approx(SEVEN_SEGMENT[k], abs=5e-4)
    assert sum(importances.values()) == pytest.approx(math.log2(10), abs=1e-12)


def test_strong_versus_weak() -> None:
    example = theory.strong_versus_weak("0.05")
    assert example.probability(X1=0, X2=0, X3=0, Y=1) == Fraction(95, 400)
    assert example.probability(X1=0, X2=1, X3=0, Y=0) == Fraction(5, 400)
    importances = theory.strong_versus_weak("0.05").importances()
    assert list(importances.values()) == pytest.approx([0.262, 0.262, 0.476], abs=5e-4)


def test_masking() -> None:
    example = theory.masking("0.05")
    alone = example.importances(max_features=1)
    assert alone["X2"] == pytest.approx(example.mutual_information("X2", "Y") / 2, abs=1e-12)
    assert example.importances(max_features=2) == {"X1": 1.0, "X2": 0.0}
    # One irrelevant column lifts the mask: X1 is not always drawn.
    assert example.with_irrelevant().importances(max_features=2)["X2"] > 0.2


def test_copies_share_importance_and_raise_that_of_partners() -> None:
    """K = 1 and Y = X1 xor X2: with c exact copies, X2 matters unless it comes before all of the c + 1 others."""
    shares = []
    for copies in (0, 1, 2, 3):
        importances = theory.noisy_copies(copies).importances() if copies else theory.xor(2).importances()
        others = [value for name, value in importances.items() if name != "X2"]
        assert others == pytest.approx([others[0]] * (copies + 1), abs=1e-12)
        assert importances["X2"] == pytest.approx(1 - 1 / (copies + 2), abs=1e-12)
        shares.append(others[0])
    assert shares == sorted(shares, reverse=True)
    noisy = theory.noisy_copies(1, "1/10").importances()
    assert theory.noisy_copies(1).importances()["X1"] < noisy["X1"] < 0.5


@pytest.mark.parametrize("kind", KINDS)
@settings(derandomize=True, max_examples=50, deadline=None)
@given(data=st.data())
def test_closed_form_and_node_recursion_agree_at_one(kind: str, data: st.DataObject) -> None:
    """200 random distributions in all, 50 of each kind."""
    distribution = data.draw(distributions(kinds=(kind,)))
    p = distribution.n_inputs
    depth = data.draw(st.integers(1, p))
    closed = list(distribution.importances(max_depth=depth).values())
    recursive = list(theory.by_nodes(distribution, 1, depth, p).values())
    assert closed == pytest.approx(recursive, abs=1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(distributions(max_inputs=3), st.data())
def test_recursion_equals_trees_grown_by_enumeration(distribution: Distribution, data: st.DataObject) -> None:
    p = distribution.n_inputs
    q = data.draw(st.integers(1, p))
    k, depth = data.draw(st.integers(1, q)), data.draw(st.integers(1, q))
    expected = theory_trees.importances(distribution, k, depth, q)
    assert list(theory.by_nodes(distribution, k, depth, q).values()) == pytest.approx(expected, abs=1e-11)
    assert list(distribution.importances(k, depth, q).values()) == pytest.approx(expected, abs=1e-11)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(distributions())
def test_closed_form_is_the_mean_over_orders(distribution: Distribution) -> None:
    expected = theory_trees.shapley_importances(distribution)
    assert list(distribution.importances().values()) == pytest.approx(expected, abs=1e-11)


@examples
@given(distributions())
def test_irrelevant_is_zero_at_one_and_strong_is_positive_at_all(distribution: Distribution) -> None:
    labels = distribution.relevance()
    totally_random = distribution.importances()
    for name, label in labels.items():
        assert (totally_random[name] == 0.0) == (label == "irrelevant")
    for k in range(1, distribution.n_inputs + 1):
        importances = distribution.importances(max_features=k)
        assert all(importances[name] > 0 for name, label in labels.items() if label == "strong")
        assert all(importances[name] == 0 for name, label in labels.items() if label == "irrelevant")
        told = distribution.mutual_information(distribution.inputs, distribution.output)
        assert sum(importances.values()) == pytest.approx(told, abs=1e-12)


def test_random_distributions_have_columns_of_every_sort() -> None:
    """What the properties above are asked of: all labels occur, and some weak columns are masked at K = p."""
    labels, masked = set(), 0

    @settings(derandomize=True, max_examples=200, deadline=None, database=None)
    @given(distributions())
    def collect(distribution: Distribution) -> None:
        nonlocal masked
        importances = distribution.importances(max_features=distribution.n_inputs)
        for name, label in distribution.relevance().items():
            labels.add(label)
            masked += label == "weak" and importances[name] == 0

    collect()
    assert labels == {"strong", "weak", "irrelevant"}
    assert masked > 0


@examples
@given(distributions(max_inputs=3), st.integers(1, 2))
def test_irrelevant_inputs_change_nothing_at_one(distribution: Distribution, n: int) -> None:
    before, after = distribution.importances(), distribution.with_irrelevant(n).importances()
    assert [after[name] for name in before] == pytest.approx(list(before.values()), abs=1e-12)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(distributions(), st.data())
def test_subspaces_are_depth_at_one(distribution: Distribution, data: st.DataObject) -> None:
    p = distribution.n_inputs
    q = data.draw(st.integers(1, p))
    drawn = list(theory.by_nodes(distribution, 1, q, q).values())
    assert drawn == pytest.approx(list(distribution.importances(max_depth=q).values()), abs=1e-12)
    assert drawn == pytest.approx(list(distribution.importances(subspace=q).values()), abs=1e-12)


def test_decomposition_adds_up() -> None:
    digits = theory.seven_segment()
    parts = digits.decomposition()
    assert parts.total == pytest.approx(math.log2(10), abs=1e-12)
    assert parts.by_column == digits.importances()
    assert len(parts.terms) == 7 * 2**6
    for i, name in enumerate(parts.inputs):
        for k in range(7):
            terms = [term for term in parts.terms if term.column == name and len(term.given) == k]
            assert sum(term.weight * term.information for term in terms) == pytest.approx(
                parts.by_degree[i, k], abs=1e-12
            )
    # All sizes of conditionings weigh the same in an order of the columns, so the weights of a column sum to one.
    assert sum(term.weight for term in parts.terms if term.column == "X1") == pytest.approx(1.0, abs=1e-12)
    pruned = digits.decomposition(max_depth=3)
    assert np.array_equal(pruned.by_degree[:, :3], parts.by_degree[:, :3])
    assert not pruned.by_degree[:, 3:].any()


def test_chances_of_choice() -> None:
    gains = np.array([[0.5, 0.1], [0.2, 0.1], [0.2, 0.1], [0.0, 0.1]])
    assert choice_chances(gains, 1) == pytest.approx(np.full((4, 2), 0.25))
    two = choice_chances(gains, 2)
    assert two[:, 0] == pytest.approx([0.5, 0.25, 0.25, 0.0])
    assert two[:, 1] == pytest.approx([0.25] * 4)
    assert choice_chances(gains, 9)[:, 0].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_twelve_inputs_take_seconds() -> None:
    """The bar is ten seconds each, on a busy machine too."""
    rng = seeds.generator(0)
    weights = rng.integers(1, 20, 2**13)
    table = {tuple(map(int, f"{cell:013b}")): int(weight) for cell, weight in enumerate(weights)}
    twelve = normalised(table)
    start = time.perf_counter()
    terms = twelve.decomposition().terms
    assert time.perf_counter() - start < 10
    assert len(terms) == 12 * 2**11
    eight = twelve.keep(twelve.inputs[:8])
    start = time.perf_counter()
    importances = eight.importances(max_features=8)
    assert time.perf_counter() - start < 10
    assert sum(importances.values()) == pytest.approx(eight.mutual_information(eight.inputs, "Y"), abs=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"subspace": 8}, r"subspace is 8; give a whole number from 1 to 7, the number of inputs"),
        ({"max_features": 0}, r"max_features is 0; give a whole number from 1 to 7"),
        ({"max_features": 4, "subspace": 3}, r"max_features is 4; give a whole number from 1 to 3"),
        ({"max_depth": 0}, r"max_depth is 0"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        theory.seven_segment().importances(**parameters)
