"""Convergence: the checked numbers, the chains by counting, and tens of millions of columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fernwood import theory
from fernwood.errors import ParameterError
from tests.reference import theory_trees

EXACT = [
    ("chaining", 10**4, 100, 1, "100", "100"),
    ("chaining", 10**4, 100, 2, "10100", "200.0"),
    ("chaining", 10**4, 100, 3, "1030406.12", "301.020"),
    ("chaining", 10**4, 100, 5, "11057613421.5", "506.207"),
    ("chaining", 10**5, 100, 3, "1030684395.2", "3028.479"),
    ("clique", 10**4, 100, 1, "100", "100"),
    ("clique", 10**4, 100, 2, "30300", "10302"),
    ("clique", 10**4, 100, 3, "5667233.67", "1046168.28"),
    ("clique", 10**4, 100, 4, "884963058.9", "107632949.0"),
    ("clique", 10**4, 10**3, 4, "83785.13", "11635.79"),
    ("marginal", 10**4, 100, 10, "291.940", "312.583"),
    ("marginal", 10**4, 100, 50, "448.185", "757.027"),
    ("marginal", 10**4, 100, 90, "506.232", "2797.973"),
    ("marginal", 10**4, 100, 100, "516.661", "16187.658"),
    ("marginal", 25_000, 100, 50, "1123.068", "1900.337"),
]
"""The exact columns of the checked numbers, digits as given there."""


def digits(text: str) -> int:
    return len(text.partition(".")[2])


@pytest.mark.parametrize(("scenario", "p", "q", "r", "rs", "srs"), EXACT)
def test_checked_numbers(scenario: str, p: int, q: int, r: int, rs: str, srs: str) -> None:
    for alpha, expected in ((0, rs), (1, srs)):
        value = theory.expected_iterations(scenario, p, q, r, alpha)
        assert f"{value:.{digits(expected)}f}" == expected
        if r <= 10:
            exact = theory.expected_iterations(scenario, p, q, r, alpha, exact=True)
            assert isinstance(exact, Fraction)
            assert value == pytest.approx(float(exact), rel=1e-13)


def test_other_checked_numbers() -> None:
    assert f"{theory.blind_share(10_000, 50, 10):.3f}" == "0.951"
    assert f"{theory.expected_draws(10_000, 50, 1):.0f}" == "40812"
    assert theory.blind_share(10, 8, 3) == 0.0


def test_table_1_and_its_misprint() -> None:
    rows = theory.table1()
    assert [(row.scenario, row.p, row.q, row.r) for row in rows] == [row[:4] for row in EXACT]
    (wrong,) = [row for row in rows if row.misprints]
    assert (wrong.scenario, wrong.r, wrong.rs_printed, wrong.misprints) == ("marginal", 100, "1123", ("rs",))


searches = st.tuples(
    st.sampled_from(theory.SCENARIOS), st.integers(4, 7), st.integers(1, 4), st.integers(1, 4), st.integers(0, 4)
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(searches)
def test_chains_equal_counting_all_draws(search: tuple[str, int, int, int, int]) -> None:
    scenario, p, q, r, quarters = search
    alpha = Fraction(quarters, 4)
    kept = theory.memory_size(q, alpha)
    if r > q and (scenario != "marginal" or kept == q):
        return
    matrix = theory_trees.transition(scenario, p, q, r, kept)
    expected = theory_trees.expected_iterations(matrix)
    assert theory.expected_iterations(scenario, p, q, r, alpha, exact=True) == expected
    assert theory.expected_iterations(scenario, p, q, r, alpha) == pytest.approx(float(expected), rel=1e-12)
    curve = theory.expected_found(scenario, p, q, r, alpha, [0, 1, 2, 5, 13])
    counted = [float(theory_trees.expected_found(matrix, n)) for n in (0, 1, 2, 5, 13)]
    assert curve == pytest.approx(counted, abs=1e-12)


def test_curves_end_at_all_columns_and_agree_with_the_mean_time() -> None:
    """The expected time of the last column is the sum over iterations of the chance that it is still missing."""
    n = np.arange(4000)
    last = theory.expected_found("chaining", 200, 20, 1, 1, n)
    assert np.sum(1 - last) == pytest.approx(theory.expected_iterations("chaining", 200, 20, 1, 1), rel=1e-9)
    for scenario in theory.SCENARIOS:
        curve = theory.expected_found(scenario, 200, 50, 3, 1, n)
        assert np.all(np.diff(curve) >= -1e-12)
        assert curve[-1] == pytest.approx(3, abs=1e-6)
    assert isinstance(theory.expected_found("clique", 200, 50, 3, 1, 7), float)


def test_small_chances_survive_many_iterations() -> None:
    """One chance in 10²⁰: after a million iterations it is 10⁻¹⁴, which 1 − chance in doubles would lose."""
    rare = theory.expected_found("clique", 10**7, 100, 4, 0, 10**6)
    single = theory.expected_found("clique", 10**7, 100, 4, 0, 1)
    assert 0 < single < 1e-19
    assert rare == pytest.approx(10**6 * single, rel=1e-9)


@pytest.mark.parametrize("alpha", [0, Fraction(1, 2), 1])
@pytest.mark.parametrize("scenario", theory.SCENARIOS)
def test_ten_million_columns(scenario: str, alpha: Fraction) -> None:
    p, q, r = 10**7, 1000, 5
    exact = theory.expected_iterations(scenario, p, q, r, alpha, exact=True)
    assert theory.expected_iterations(scenario, p, q, r, alpha) == pytest.approx(float(exact), rel=1e-12)
    assert theory.expected_iterations("marginal", p, 100_000, 1000, alpha) > 100 * np.log(1000)


def test_memory_between_the_extremes() -> None:
    """A share that holds all r columns is as good as one that holds everything; less lies in between."""
    times = [theory.expected_iterations("chaining", 1000, 100, 5, alpha) for alpha in (0, 0.02, 0.04, 0.5, 1)]
    assert times[0] > times[1] > times[2] >= times[3] == times[4]
    assert theory.memory_size(100, 0.29) == 29
    assert theory.memory_size(7, Fraction(1, 2)) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: theory.expected_iterations("chains", 10, 5, 2, 1),
            r"scenario is 'chains'; give one of 'chaining', 'cl",
        ),
        (
            lambda: theory.expected_iterations("clique", 10, 11, 2, 1),
            r"q is 11 and p is 10; .* give q between 1 and 10",
        ),
        (lambda: theory.expected_iterations("clique", 10, 5, 0, 1), r"r is 0 and p is 10"),
        (
            lambda: theory.expected_iterations("clique", 10, 5, 6, 0),
            r"r is 6 and q is 5; clique .* needs r ≤ q, .* raise q",
        ),
        (lambda: theory.expected_iterations("marginal", 10, 5, 6, 1), r"r is 6 and q is 5; marginal .* lower alpha"),
        (
            lambda: theory.expected_iterations("clique", 10, 5, 2, 1.5),
            r"alpha is 1\.5; the memory share lies in \[0, 1\]",
        ),
        (lambda: theory.expected_iterations("clique", 10, 5, 2, -1), r"alpha is -1"),
        (lambda: theory.expected_iterations("clique", 10, 5, 2, float("nan")), r"alpha is nan"),
        (
            lambda: theory.expected_iterations("clique", 1e4, 5, 2, 1),
            r"p is 10000\.0; columns are counted: give a whole",
        ),
        (lambda: theory.expected_iterations("clique", 10**7, 90, 90, 0), r"too small for a float .* exact=True"),
        (lambda: theory.expected_found("clique", 10, 5, 2, 1, -1), r"n_iter is -1; .* give 0 or more"),
        (lambda: theory.blind_share(10, 11, 1), r"q is 11 and p is 10"),
        (lambda: theory.expected_draws(100, 5, 5), r"r is 6 and q is 5"),
    ],
)
def test_bad_numbers_are_refused(make, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_marginal_columns_need_not_fit_a_draw() -> None:
    assert theory.expected_iterations("marginal", 10, 2, 6, 0) > theory.expected_iterations("marginal", 10, 2, 5, 0)
