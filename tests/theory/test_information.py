"""Entropy, mutual information, and what a finite sample makes of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fernwood import seeds, theory
from fernwood.errors import ParameterError
from tests.reference import theory_trees
from tests.theory.strategies import distributions

examples = settings(derandomize=True, max_examples=100, deadline=None)


def test_entropies_by_hand() -> None:
    digits = theory.seven_segment()
    assert digits.entropy() == pytest.approx(math.log2(10), abs=1e-14)
    assert theory.masking("1/4").entropy("X2", given="X1") == pytest.approx(2 - 0.75 * math.log2(3), abs=1e-14)
    assert theory.xor(3).mutual_information(["X1", "X2"], "Y") == 0.0
    assert theory.xor(3).mutual_information("X1", "Y", given=["X2", "X3"]) == 1.0


def test_informations_of_the_slides() -> None:
    example = theory.strong_versus_weak("0.05")
    assert example.mutual_information("X3", "Y") == pytest.approx(0.714, abs=5e-4)
    assert example.mutual_information("X3", "Y", given="X1") == pytest.approx(0.714, abs=5e-4)
    assert example.mutual_information("X1", "Y", given=["X2", "X3"]) == pytest.approx(0.286, abs=5e-4)
    assert example.mutual_information(["X1", "X2"], "Y") == 1.0
    assert example.mutual_information("X1", "Y", given="X3") == 0.0


@examples
@given(distributions(), st.integers(0, 2**10))
def test_information_is_a_difference_of_entropies(distribution: theory.Distribution, bits: int) -> None:
    given_columns = [name for i, name in enumerate(distribution.inputs[1:]) if bits >> i & 1]
    y = distribution.output
    information = distribution.mutual_information("X1", y, given_columns)
    difference = distribution.entropy(y, given_columns) - distribution.entropy(y, [*given_columns, "X1"])
    assert information == pytest.approx(difference, abs=1e-12)
    assert (information == 0.0) == distribution.independent("X1", y, given_columns)
    gain = theory_trees.gain(theory_trees.rows_of(distribution), 0)
    assert distribution.mutual_information("X1", y) == pytest.approx(gain, abs=1e-12)


def test_bias_formula() -> None:
    assert theory.information_bias(3, 4, 50) == pytest.approx(6 / (100 * math.log(2)), abs=1e-15)
    assert theory.information_bias(1, 5, 10) == 0.0


def test_bias_is_what_samples_show_and_what_the_correction_removes() -> None:
    """Mean over 4000 tables of 300 rows, 3 × 4 values; five standard errors (a false alarm in two million)."""
    rng = seeds.generator(0)
    cells = np.outer([0.2, 0.3, 0.5], [0.4, 0.3, 0.2, 0.1]).ravel()
    tables = rng.multinomial(300, cells, 4000).reshape(4000, 3, 4)
    plain = np.array([theory.information_estimate(table, correction=None) for table in tables])
    error = plain.std() / math.sqrt(len(plain))
    assert theory.information_bias(3, 4, 300) > 50 * error  # the bias is far from nothing
    # The formula is the first order in 1/N; the next is smaller by a factor of about N.
    assert plain.mean() == pytest.approx(theory.information_bias(3, 4, 300), abs=5 * error + 2e-4)
    corrected = np.array([theory.information_estimate(table) for table in tables])
    assert corrected.mean() == pytest.approx(0.0, abs=5 * error + 2e-4)


def test_estimates_of_large_samples_are_the_truth() -> None:
    counts = [[400_000, 100_000], [200_000, 300_000]]
    table = theory.Distribution({(i, j): f"{counts[i][j]}/1000000" for i in (0, 1) for j in (0, 1)})
    plain = theory.information_estimate(counts, correction=None)
    assert plain == pytest.approx(table.mutual_information("X1", "Y"), abs=1e-12)
    assert plain - theory.information_estimate(counts) == pytest.approx(theory.information_bias(2, 2, 10**6), abs=1e-12)
    assert theory.entropy_estimate([1, 1, 2], correction=None) == 1.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: theory.information_bias(0, 2, 10), r"x_values is 0; give a whole number of at least 1"),
        (lambda: theory.information_bias(2, 2, 0), r"n is 0"),
        (lambda: theory.entropy_estimate([1, -1]), r"counts must be non-negative"),
        (lambda: theory.entropy_estimate([0, 0]), r"at least one above zero"),
        (lambda: theory.entropy_estimate([1, 1], correction="none"), r"correction is 'none'; give 'miller-madow'"),
        (lambda: theory.information_estimate([1, 1]), r"1 dimension"),
    ],
)
def test_bad_samples_are_refused(make, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()
