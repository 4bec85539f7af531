"""Distributions: how they are made, what is exact, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings

from fernwood import theory
from fernwood.errors import ParameterError
from fernwood.theory import Distribution
from tests.theory.strategies import distributions

COIN = {0: "1/2", 1: "1/2"}


def test_text_and_fractions_stay_exact() -> None:
    thirds = Distribution({(0, 0): "1/3", (1, 0): Fraction(1, 3), (1, 1): "1/3"})
    assert thirds.exact
    assert thirds.total == 3
    assert thirds.probability(X1=1) == Fraction(2, 3)
    assert sum(thirds.outcomes().values()) == 1


def test_values_that_never_occur_are_none() -> None:
    never = Distribution({(0, 0): "1/2", (1, 1): "1/2", (2, 0): 0, (0, 1): 0})
    assert never.values == ((0, 1), (0, 1))
    assert never.is_strictly_positive()
    assert theory.masking(0).relevance() == {"X1": "weak", "X2": "weak"}


def test_one_float_makes_all_floats() -> None:
    mixed = Distribution({(0, 0): 0.5, (1, 1): "1/2"})
    assert not mixed.exact
    assert mixed.probability(X1=1) == 0.5


def test_exact_and_floating_tables_answer_alike() -> None:
    exact = theory.strong_versus_weak("0.05")
    floating = theory.strong_versus_weak(0.05)
    assert floating.relevance() == exact.relevance()
    assert floating.markov_boundaries() == exact.markov_boundaries()
    for k in (1, 2, 3):
        assert list(floating.importances(k).values()) == pytest.approx(list(exact.importances(k).values()), abs=1e-12)
    noisy = theory.chain(3, 0.1)
    assert noisy.minimal_conditionings("X3") == [("X1", "X2")]
    assert noisy.importances()["X3"] > 0


def test_large_denominators_are_exact_too() -> None:
    """Beyond 2³¹ weights are Python integers: a dependence of one part in 10¹⁵ is still seen."""
    hair = Fraction(1, 10**15)
    outcomes = {(0, 0): Fraction(1, 4) + hair, (0, 1): Fraction(1, 4) - hair, (1, 0): "1/4", (1, 1): "1/4"}
    assert Distribution(outcomes).relevance() == {"X1": "strong"}
    outcomes[1, 0], outcomes[1, 1] = Fraction(1, 4) + hair, Fraction(1, 4) - hair
    assert Distribution(outcomes).relevance() == {"X1": "irrelevant"}
    fine = Distribution({(0, 0): "1/3", (0, 1): Fraction(1, 3) + hair, (1, 1): Fraction(1, 3) - hair})
    coarse = Distribution({(0, 0): "1/3", (0, 1): "1/3", (1, 1): "1/3"})
    assert fine.total > 2**31 > coarse.total
    assert fine.importances()["X1"] == pytest.approx(coarse.importances()["X1"], abs=1e-12)


def test_the_output_may_stand_anywhere() -> None:
    outcomes = {("yes", 0, 1): "1/2", ("no", 1, 1): "1/2"}
    answer = Distribution(outcomes, ["answer", "a", "b"], output="answer")
    assert answer.inputs == ("a", "b")
    assert answer.columns == ("a", "b", "answer")
    assert answer.relevance() == {"a": "strong", "b": "irrelevant"}


def test_a_function_may_return_probabilities() -> None:
    noisy = Distribution.from_function(lambda a: {a: "3/4", 1 - a: "1/4"}, {"A": COIN}, output="B")
    assert noisy.probability(A=1, B=1) == Fraction(3, 8)
    assert noisy.output == "B"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_count_their_rows(frame: type) -> None:
    table = frame({"a": [0, 0, 1, 1], "b": ["u", "v", "u", "v"], "y": [0, 0, 1, 0]})
    counted = Distribution.from_frame(table, output="y")
    assert counted.inputs == ("a", "b")
    assert counted.probability(a=1, b="u", y=1) == Fraction(1, 4)
    assert Distribution.from_frame(table, output="y", columns=["b"]).inputs == ("b",)


def test_missing_values_are_values() -> None:
    table = pd.DataFrame({"a": [0.0, float("nan"), float("nan"), None], "y": [0, 1, 1, 1]})
    assert Distribution.from_frame(table, output="y").probability(a=None, y=1) == Fraction(3, 4)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(distributions())
def test_floats_find_the_same_relevance(distribution: Distribution) -> None:
    floats = {outcome: float(probability) for outcome, probability in distribution.outcomes().items()}
    floating = Distribution(floats, distribution.columns)
    assert not floating.exact
    assert floating.relevance() == distribution.relevance()
    assert floating.markov_boundaries() == distribution.markov_boundaries()
    expected = distribution.importances()
    assert {name: value > 0 for name, value in floating.importances().items()} == {
        name: value > 0 for name, value in expected.items()
    }


def test_keeping_and_adding_columns() -> None:
    digits = theory.seven_segment()
    assert digits.keep(["X5", "X2"]).inputs == ("X5", "X2")
    assert digits.keep(["X5"]).probability(X5=1) == digits.probability(X5=1)
    assert digits.with_irrelevant(2).keep(digits.inputs).outcomes() == digits.outcomes()
    copies = theory.xor(2).with_copies("X2", copies=2, noise="1/8")
    assert copies.probability(X2=0, **{"X2.1": 1}) == Fraction(1, 16)
    assert copies.probability(X2=0, **{"X2.1": 1, "X2.2": 1}) == Fraction(1, 128)


def test_marginals_broadcast() -> None:
    digits = theory.seven_segment()
    table = digits.marginal(digits.mask(["X1", "Y"]))
    assert table.shape == (2, 1, 1, 1, 1, 1, 1, 10)
    assert table.sum() == digits.total
    expected = digits.weights.sum(axis=tuple(range(1, 7)), keepdims=True)
    assert np.array_equal(table, expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Distribution({(0, 0): "1/2", (1, 1): "1/4"}), r"sum to 0\.75, 0\.25 too little; .* divide each"),
        (lambda: Distribution({(0, 0): 0.5, (1, 1): 0.75}), r"sum to 1\.25, 0\.25 too much"),
        (
            lambda: Distribution({(0, 0): "3/2", (1, 1): "-1/2"}),
            r"a probability is -1/2; .* neither negative nor infinite",
        ),
        (lambda: Distribution({(0, 0): float("nan")}), r"a probability is nan"),
        (lambda: Distribution({(0, 0): "half"}), r"a probability is 'half'; give a fraction"),
        (lambda: Distribution({(0, 0): 0}), r"sum to 0, 1 too little"),
        (lambda: Distribution({}), r"table of outcomes is empty"),
        (lambda: Distribution({(0, 0): 1}, ["a", "b"], output="c"), r"output 'c' is not a column; name one of a, b"),
        (lambda: Distribution({(0, 0): 1}, ["a", "a"]), r"two columns share a name"),
        (lambda: Distribution({(0, 0): "1/2", (0, 0, 1): "1/2"}), r"outcomes have \[2, 3\] values for 3 columns"),
        (lambda: Distribution({(0,): 1}), r"at least one input and the output"),
        (
            lambda: Distribution.from_frame(pd.DataFrame({"a": [1], "y": [1]}), output="z"),
            r"no column 'z' in the frame; its columns are a, y",
        ),
        (lambda: Distribution.from_frame(pd.DataFrame({"a": [], "y": []}), output="y"), r"frame has no rows"),
        (
            lambda: Distribution.from_frame(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "y"]), output="y"),
            r"two columns of the frame share a name; give every column its own",
        ),
        (
            lambda: Distribution.from_frame(pd.DataFrame({"a\n\x1b": [1]}), output="y"),
            r"there is no column 'y' in the frame; its columns are a\\n\\x1b",
        ),
        (
            lambda: Distribution.from_function(lambda *x: sum(x), {f"X{i}": COIN for i in range(30)}),
            r"space of outcomes has 1,073,741,824 cells, more than the 2,097,152 .*; keep fewer inputs",
        ),
        (lambda: theory.xor(2).with_irrelevant(30), r"cells, more than"),
        (
            lambda: theory.xor(2).with_irrelevant(13).importances(),
            r"subsets of up to 15 of 15 inputs have 28,697,814 cells, more than the 16,777,216 .* keep fewer inputs",
        ),
        (lambda: theory.xor(2).degree("X9"), r"no column 'X9'; name one of X1, X2, Y"),
        (lambda: theory.xor(2).degree("Y"), r"'Y' is the output; name one of the inputs X1, X2"),
        (lambda: theory.xor(2).with_copies("X1", noise=2), r"noise is 2; it is a probability"),
        (
            lambda: Distribution({(0, 0): "1/2", (0, 1): "1/2"}, ["a", "y"]).with_copies("a", noise="1/4"),
            r"noise is 1/4, but a has one value only; give noise 0",
        ),
        (lambda: theory.masking("10\n"), r"eps is 10\\n; it is a probability"),
        (lambda: theory.xor(2).with_copies("X1", 1, "10\n"), r"noise is 10\\n; it is a probability"),
        (
            lambda: Distribution({(0,) * 70: 1}),
            r"outcomes have 70 columns, more than the 60 that are enumerated; keep fewer inputs",
        ),
        (
            lambda: Distribution({(0,) * 16 + (y,): "1/2" for y in (0, 1)}).relevance(),
            r"16 inputs have 65,536 subsets of up to 16, more than the 32,768 that are enumerated; keep fewer inputs",
        ),
        (lambda: theory.masking(1.5), r"eps is 1\.5; it is a probability"),
        (lambda: theory.xor(0), r"k is 0; .* at least one input"),
        (lambda: theory.chain(0), r"r is 0; .* at least one input"),
        (lambda: theory.xor(10**25), r"k is 10{25}; all outcomes are gone through, .*: give k = 16 or less"),
        (lambda: theory.chain(9), r"r is 9; all outcomes are gone through, .*: give r = 8 or less"),
        (lambda: theory.noisy_copies(10**25), r"copies is 10{25}; all outcomes .*: give copies = 14 or less"),
        (
            lambda: theory.xor(2).with_copies("X1", -1),
            r"copies is -1; inputs are added, .*: give a number from 0 to 18",
        ),
        (lambda: theory.xor(2).with_copies("X1", 10**25), r"copies is 10{25}; .* cells, .* give a number from 0 to 18"),
        (lambda: theory.xor(2).with_irrelevant(10**25), r"n is 10{25}; so many .*: give a number from 0 to 18"),
        (lambda: theory.xor(10**4000), r"k is 10{58}…; "),
        (
            lambda: theory.chain(2, "1e-999999999"),
            r"is '1e-999999999'; .* two digits in an exponent: give fewer, or a float",
        ),
        (
            lambda: theory.chain(2, "1/" + "9" * 60),
            r"a probability is '1/9{57}…'; those given as text have up to 40 char",
        ),
        (
            lambda: theory.chain(4, "1e-99"),
            r"common denominator of 397 digits, more than the 300 that exact ones may have; .*, or floats",
        ),
        (
            lambda: theory.noisy_copies(11, "1/11").relevance(),
            r"have 3,188,646 cells, more than the 2,097,152 that are enumerated with so many digits; .*, or give floats",
        ),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(make, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_depth_makes_wide_tables_affordable() -> None:
    wide = theory.xor(2).with_irrelevant(14)
    shallow = wide.importances(max_depth=2)
    assert shallow["X1"] == pytest.approx(1 / (16 * 15), abs=1e-15)
    assert shallow["N1"] == 0.0


def test_exact_probabilities_of_many_digits_are_used_as_they_are() -> None:
    fine = theory.chain(4, "1e-60")
    assert fine.total > 10**240
    assert fine.relevance() == dict.fromkeys(fine.inputs, "strong")
    assert sum(fine.importances().values()) == pytest.approx(sum(theory.chain(4, 0.0).importances().values()))


@pytest.mark.parametrize("place", [True, False, 1.0, 0.7, np.float64(1), np.True_, "1", -1, 3, None])
def test_what_is_no_place_of_a_column(place: object) -> None:
    with pytest.raises(ParameterError, match="there is no column"):
        theory.xor(2).position(place)  # type: ignore[arg-type]


def test_places_of_columns() -> None:
    xor = theory.xor(2)
    assert [xor.position(place) for place in ("X2", 1, np.int8(2), "Y")] == [1, 1, 2, 2]
    assert xor.mask(np.int64(1)) == xor.mask("X2")  # type: ignore[arg-type]
