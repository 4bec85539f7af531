"""What searches find in the limit: Propositions 3 to 5, Theorem 2, and single trees."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings, strategies as st

from fernwood import seeds, theory
from fernwood.errors import ParameterError
from fernwood.theory import Distribution
from tests.reference import theory_trees
from tests.theory.strategies import distributions

examples = settings(derandomize=True, max_examples=100, deadline=None)
shares = st.sampled_from(["0", "1/4", "1/2", "3/4", "1"])


def labelled(distribution: Distribution, *labels: str) -> set[str]:
    return {name for name, label in distribution.relevance().items() if label in labels}


def hidden_strong() -> Distribution:
    """A strongly relevant column of degree 0 that every other column masks in pairs.

    X1 = (noisy a, c), X2 = (a, e), X3 = (a, f) and Y = (a, c xor e xor f), in fair bits a, c, e, f. Given X2 or X3
    alone, X1 tells nothing: a is known, and the parity lacks a bit. Given both, it tells the parity.
    """
    outcomes: dict[tuple, Fraction] = {}
    for a, flip, c, e, f in product((0, 1), repeat=5):
        outcome = ((a ^ flip, c), (a, e), (a, f), (a, c ^ e ^ f))
        outcomes[outcome] = outcomes.get(outcome, 0) + Fraction(1 if flip else 3, 64)
    return Distribution(outcomes)


@examples
@given(distributions(), shares, st.data())
def test_proposition_3_all_relevant_columns_at_one(distribution: Distribution, alpha: str, data: st.DataObject) -> None:
    relevant = labelled(distribution, "strong", "weak")
    assume(relevant)
    q = data.draw(st.integers(len(relevant), distribution.n_inputs))
    assert set(distribution.found(1, alpha, q).surely) == relevant


@examples
@given(distributions(), shares, st.data())
def test_theorem_2_strong_columns_at_any_k(distribution: Distribution, alpha: str, data: st.DataObject) -> None:
    relevant = labelled(distribution, "strong", "weak")
    assume(relevant)
    q = data.draw(st.integers(len(relevant), distribution.n_inputs))
    k = data.draw(st.integers(1, q))
    answer = distribution.found(k, alpha, q)
    assert labelled(distribution, "strong") <= set(answer.surely) <= set(answer.possibly) <= relevant


@examples
@given(distributions(min_inputs=3), shares, st.data())
def test_proposition_4_low_degrees_at_one(distribution: Distribution, alpha: str, data: st.DataObject) -> None:
    relevant = labelled(distribution, "strong", "weak")
    q = data.draw(st.integers(1, distribution.n_inputs))
    room = (1 - Fraction(alpha)) * q
    low = {name for name in relevant if distribution.degree(name) < room}
    answer = distribution.found(1, alpha, q)
    assert low <= set(answer.surely)
    if alpha == "0":
        assert set(answer.surely) == set(answer.possibly) == low


@examples
@given(distributions(max_inputs=3), st.data())
def test_proposition_5_without_memory_and_with_irrelevant_columns_to_fill_a_draw(
    distribution: Distribution, data: st.DataObject
) -> None:
    """The case in which it can be proven: a draw of the column, its conditioning and irrelevant columns is possible."""
    q = data.draw(st.integers(1, 3))
    k = data.draw(st.integers(1, q))
    wide = distribution.with_irrelevant(q - 1) if q > 1 else distribution
    assume(q <= wide.n_inputs)
    strong = {name for name in labelled(wide, "strong") if wide.degree(name) < q}
    assert strong <= set(wide.found(k, 0, q).surely)


def test_proposition_5_does_not_hold_as_it_is_printed() -> None:
    """The paper gives it without proof: X1 is strong, of degree 0 < q = 2, and no tree with K = 2 ever finds it."""
    example = hidden_strong()
    assert example.relevance()["X1"] == "strong"
    assert example.degree("X1") == 0
    # It speaks alone and given both others, but given neither of them: the larger set is not a minimal conditioning.
    assert example.minimal_conditionings("X1") == [()]
    assert example.found(2, 0, 2) == (("X2", "X3"), ("X2", "X3"), (("X2", "X3"),))
    assert example.importances(max_features=2, subspace=2)["X1"] == 0.0
    # Theorem 2 is not touched (q = r finds it), nor is Proposition 4 (K = 1 finds it).
    assert "X1" in example.found(2, 0, 3).surely
    assert "X1" in example.found(1, 0, 2).surely


@examples
@given(distributions(), st.data())
def test_without_memory_found_is_a_positive_importance(distribution: Distribution, data: st.DataObject) -> None:
    q = data.draw(st.integers(1, distribution.n_inputs))
    k = data.draw(st.integers(1, q))
    positive = {name for name, value in distribution.importances(k, subspace=q).items() if value > 0}
    answer = distribution.found(k, 0, q)
    assert set(answer.surely) == set(answer.possibly) == positive


def test_memory_can_shut_the_door() -> None:
    """Four independent coins matter by themselves and two fit: with α = 1 the first two found are the last."""
    coin = {0: "1/2", 1: "1/2"}
    marginal = Distribution.from_function(lambda *x: sum(x), {f"X{i}": coin for i in range(4)})
    full = marginal.found(1, 1, 2)
    assert full.surely == ()
    assert full.possibly == marginal.inputs
    assert {len(end) for end in full.ends} == {2}
    assert marginal.found(1, "1/2", 2).surely == marginal.inputs


def test_a_chain_longer_than_a_draw_stops_at_its_length() -> None:
    chain = theory.chain(4)
    assert chain.found(1, 1, 3).surely == ("X1", "X2", "X3")
    assert chain.found(3, 1, 3).surely == ("X1", "X2", "X3")


@examples
@given(distributions(max_inputs=3), st.integers(0, 2**32))
def test_one_tree_finds_all_strong_columns_under_the_condition(distribution: Distribution, seed: int) -> None:
    assume(theory.one_tree_suffices(distribution))
    found = theory_trees.one_tree(distribution, seeds.generator(seed))
    assert labelled(distribution, "strong") <= {distribution.inputs[i] for i in found}


def test_one_tree_does_not_suffice_for_a_parity() -> None:
    found = [theory_trees.one_tree(theory.xor(2), seeds.generator(seed)) for seed in range(20)]
    assert {frozenset(part) for part in found} == {frozenset({0}), frozenset({1})}
    assert not theory.one_tree_suffices(theory.xor(3))
    assert theory.masking().with_irrelevant().one_tree_suffices()


@examples
@given(distributions(max_inputs=3), st.integers(0, 2**32))
def test_a_tree_that_is_grown_is_one_that_can_be(distribution: Distribution, seed: int) -> None:
    p = distribution.n_inputs
    grown = theory_trees.one_tree(distribution, seeds.generator(seed))
    assert sum(1 << i for i in grown) in theory.tree_outcomes(distribution, tuple(range(p)), p)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((1, 1, 8), r"q is 8 and p is 7; a draw holds from 1 to p columns"),
        ((3, 1, 2), r"max_features is 3; give a whole number from 1 to q = 2"),
        ((1, 1.5, 2), r"alpha is 1\.5; the memory share lies in \[0, 1\]"),
        ((1, 1, 7), r"trees on 7 of 7 inputs have up to 2,187 different nodes; at most q = 6"),
    ],
)
def test_bad_parameters_are_refused(parameters: tuple, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        theory.seven_segment().found(*parameters)
