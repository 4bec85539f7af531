"""Relevance, degrees, conditionings and Markov boundaries, by hand and as properties of random distributions."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given, settings

from fernwood import theory
from fernwood.errors import ParameterError
from fernwood.theory import Distribution
from tests.reference import theory_trees
from tests.theory.strategies import composed, distributions

examples = settings(derandomize=True, max_examples=200, deadline=None)


def subsets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [part for k in range(len(names) + 1) for part in combinations(names, k)]


def test_named_examples() -> None:
    assert theory.xor(3).relevance() == {"X1": "strong", "X2": "strong", "X3": "strong"}
    assert theory.masking().relevance() == {"X1": "strong", "X2": "weak"}
    digits = theory.seven_segment()
    assert [name for name, label in digits.relevance().items() if label == "weak"] == ["X6", "X7"]
    assert digits.markov_boundaries() == [("X1", "X2", "X3", "X4", "X5")]
    assert theory.noisy_copies(2).markov_boundaries() == [("X1", "X2"), ("X2", "X1.1"), ("X2", "X1.2")]
    assert theory.noisy_copies(1, "1/4").markov_boundaries() == [("X1", "X2")]


@pytest.mark.parametrize("r", [1, 2, 3, 4, 5])
def test_chain_and_clique_have_the_conditionings_of_their_scenarios(r: int) -> None:
    chain, clique = theory.chain(r), theory.clique(r)
    for i in range(r):
        assert chain.minimal_conditionings(i) == [chain.inputs[:i]]
        assert clique.minimal_conditionings(i) == [(*clique.inputs[:i], *clique.inputs[i + 1 :])]
        assert (chain.degree(i), clique.degree(i)) == (i, r - 1)


def test_chain_is_of_the_class_the_snowball_is_proven_for() -> None:
    assert theory.chain(4).is_strictly_positive()
    assert theory.chain(4).has_composition()
    assert not theory.xor(2).has_composition()
    assert not theory.xor(2).has_composition(output_only=True)
    assert not theory.noisy_copies().is_strictly_positive()


@examples
@given(distributions())
def test_definitions(distribution: Distribution) -> None:
    """Labels, degrees and minimal conditionings against the definitions, set by set, in plain fractions."""
    rows = theory_trees.rows_of(distribution)

    def depends(i: int, condition: tuple[int, ...]) -> bool:
        values = {tuple(outcome[j] for j in condition) for outcome, _ in rows}
        nodes = ([row for row in rows if tuple(row[0][j] for j in condition) == value] for value in values)
        return any(theory_trees.is_informative(node, (i,)) for node in nodes)

    labels = distribution.relevance()
    for i, name in enumerate(distribution.inputs):
        others = [j for j in range(distribution.n_inputs) if j != i]
        speaking = [set(part) for k in range(len(others) + 1) for part in combinations(others, k) if depends(i, part)]
        assert (labels[name] == "irrelevant") == (not speaking)
        assert (labels[name] == "strong") == (set(others) in speaking)
        assert distribution.degree(i) == (min(map(len, speaking)) if speaking else None)
        minimal = [part for part in speaking if not any(other < part for other in speaking)]
        found = [{distribution.position(member) for member in part} for part in distribution.minimal_conditionings(i)]
        assert sorted(map(sorted, found)) == sorted(map(sorted, minimal))


@examples
@given(distributions())
def test_markov_boundaries_are_minimal_and_all(distribution: Distribution) -> None:
    names, y = distribution.inputs, distribution.output
    full = distribution.entropy(y, names)
    blankets = [set(part) for part in subsets(names) if distribution.entropy(y, part) <= full + 1e-11]
    expected = [part for part in blankets if not any(other < part for other in blankets)]
    assert sorted(map(sorted, distribution.markov_boundaries())) == sorted(map(sorted, expected))
    strong = {name for name, label in distribution.relevance().items() if label == "strong"}
    assert all(strong <= set(boundary) for boundary in distribution.markov_boundaries())


@examples
@given(distributions(kinds=("positive",)))
def test_strictly_positive_means_one_boundary_of_strong_columns(distribution: Distribution) -> None:
    assert distribution.is_strictly_positive()
    strong = tuple(name for name, label in distribution.relevance().items() if label == "strong")
    assert distribution.markov_boundaries() == [strong]


@examples
@given(distributions())
def test_proposition_1_conditionings_are_made_of_relevant_columns(distribution: Distribution) -> None:
    labels = distribution.relevance()
    for name in distribution.inputs:
        for conditioning in distribution.minimal_conditionings(name):
            assert all(labels[member] != "irrelevant" for member in conditioning)


@examples
@given(distributions())
def test_proposition_2_members_have_no_larger_degree(distribution: Distribution) -> None:
    for name in distribution.inputs:
        for conditioning in distribution.minimal_conditionings(name):
            assert all(distribution.degree(member) <= len(conditioning) for member in conditioning)


def composes(distribution: Distribution) -> bool:
    """Property 1 as it is written: all disjoint R, S, T, U."""
    names = distribution.columns
    for s in subsets(names)[1:]:
        for r in subsets(tuple(n for n in names if n not in s)):
            rest = tuple(n for n in names if n not in (*r, *s))
            silent = [t for t in subsets(rest)[1:] if distribution.independent(s, t, r)]
            for t, u in combinations(silent, 2):
                if not set(t) & set(u) and not distribution.independent(s, (*t, *u), r):
                    return False
    return True


@settings(derandomize=True, max_examples=60, deadline=None)
@given(distributions(max_inputs=3))
def test_composition_is_what_its_definition_says(distribution: Distribution) -> None:
    assert distribution.has_composition() == composes(distribution)
    if distribution.has_composition():
        assert distribution.has_composition(output_only=True)


def test_composition_occurs_and_fails_among_random_distributions() -> None:
    """The property above says something: both answers occur."""
    answers = set()

    @settings(derandomize=True, max_examples=200, deadline=None, database=None)
    @given(distributions(max_inputs=3))
    def collect(distribution: Distribution) -> None:
        answers.add((distribution.has_composition(), distribution.has_composition(output_only=True)))

    collect()
    assert {everywhere for everywhere, _ in answers} == {output for _, output in answers} == {True, False}


def test_composition_of_the_output_asks_less() -> None:
    """Columns that are a parity among themselves, and an output that has nothing to do with them."""
    apart = Distribution({(a, b, a ^ b, y): "1/8" for a in (0, 1) for b in (0, 1) for y in (0, 1)})
    assert apart.has_composition(output_only=True)
    assert not apart.has_composition()


def test_proposition_6_and_theorem_3_under_composition() -> None:
    """Members have smaller degrees, can be ordered with the i-th degree below i, and snowball; on real chains."""
    lengths = set()

    @settings(derandomize=True, max_examples=200, deadline=None, database=None)
    @given(composed())
    def check(distribution: Distribution) -> None:
        assume(distribution.is_strictly_positive() and distribution.has_composition(output_only=True))
        for name in distribution.inputs:
            for conditioning in filter(None, distribution.minimal_conditionings(name)):
                degrees = sorted(distribution.degree(member) for member in conditioning)
                assert degrees[-1] < len(conditioning)  # Proposition 6
                assert all(degree < i for i, degree in enumerate(degrees, start=1))  # Theorem 3
                lengths.add(len(conditioning))
            if distribution.degree(name):
                chain = distribution.conditioning_chain(name)
                assert chain.is_snowball
                assert all(degree < i for i, degree in enumerate(chain.degrees, start=1))

    check()
    assert lengths >= {1, 2, 3}


def test_chains_of_conditionings() -> None:
    chain = theory.chain(4).conditioning_chain("X4")
    assert (chain.members, chain.degrees, chain.is_snowball) == (("X1", "X2", "X3"), (0, 1, 2), True)
    clique = theory.clique(4).conditioning_chain("X4")
    assert (clique.degrees, clique.is_snowball) == ((3, 3, 3), False)
    assert theory.masking().conditioning_chain("X1").members == ()


def test_bad_questions_are_refused() -> None:
    with pytest.raises(ParameterError, match="N1 is irrelevant, so no conditioning makes it relevant"):
        theory.xor(2).with_irrelevant().conditioning_chain("N1")
    with pytest.raises(ParameterError, match=r"composition of 11 columns means 177,147 pairs .* output_only=True"):
        theory.xor(10).has_composition()
