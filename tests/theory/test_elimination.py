"""Elimination schedules: the checked numbers, the paper's table cell by cell, and large tables."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from fernwood import theory
from fernwood.errors import ParameterError
from tests.reference import theory_trees


def perceptron(n: int) -> float:
    return 1_897_000 * (n + 1)


def test_seven_of_ten() -> None:
    schedule = theory.elimination_schedule(100, 10, perceptron)
    assert f"{schedule.expected_cost:.3e}" == "5.512e+09"
    assert f"{schedule.expected_calls:.1f}" == "89.5"
    steps = dict(schedule.steps)
    first = [(100, 9), (91, 8), (83, 8), (75, 7), (68, 6), (62, 6), (56, 5), (51, 5), (46, 4), (42, 4), (38, 3)]
    assert schedule.steps[: len(first)] == first
    assert steps[19] == 1
    assert schedule.steps[-1] == (11, 1)


def test_one_at_a_time() -> None:
    schedule = theory.elimination_schedule(100, 10, perceptron, step=1)
    assert f"{schedule.expected_cost:.3e}" == "1.215e+10"
    assert f"{schedule.expected_calls:.1f}" == "140.8"
    assert len(schedule.steps) == 90


PRICES = {"constant": lambda n: n**0, "linear": lambda n: n, "quadratic": lambda n: n * n}


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(0, 40), st.sampled_from(sorted(PRICES)))
def test_schedules_equal_the_table_of_the_paper(n: int, r: int, cost: str) -> None:
    r = min(r, n)
    total, best = theory_trees.elimination(n, r, PRICES[cost])
    schedule = theory.elimination_schedule(n, r, cost)
    assert schedule.expected_cost == pytest.approx(total[n], rel=1e-9, abs=1e-9)
    assert sum(k for _, k in schedule.steps) == n - r
    # Costs decide; where the learner is free, several schedules cost the same.
    if cost == "quadratic" and r > 1:
        assert all(best[left] == k for left, k in schedule.steps)


def test_chance_of_success() -> None:
    for n, r, k in ((10, 3, 4), (10, 4, 3), (7, 0, 7), (7, 7, 0), (6, 3, 4)):
        expected = Fraction(1)
        for i in range(k):
            expected *= Fraction(max(n - r - i, 0), n - i)
        assert theory.success_chance(n, r, k) == pytest.approx(float(expected), rel=1e-12)


def test_ten_thousand_columns_take_two_seconds() -> None:
    start = time.perf_counter()
    schedule = theory.elimination_schedule(10_000, 50)
    assert time.perf_counter() - start < 2
    assert schedule.steps[0][0] == 10_000
    rule = sum((left - k) / theory.success_chance(left, 50, k) for left, k in simple(10_000, 50))
    assert schedule.expected_cost < rule


def simple(n: int, r: int) -> list[tuple[int, int]]:
    steps = []
    while n > r:
        k = min(max(n // r, 1), n - r)
        steps.append((n, k))
        n -= k
    return steps


def test_tables_too_large_follow_the_simple_rule() -> None:
    schedule = theory.elimination_schedule(1_000_000, 50)
    assert schedule.steps == simple(1_000_000, 50)
    assert theory.elimination_schedule(30_000, 0).steps == [(30_000, 30_000)]


def test_nothing_to_remove() -> None:
    assert theory.elimination_schedule(5, 5) == ([], 0.0, 0.0)
    assert theory.elimination_schedule(5, 0, "constant").steps == [(5, 5)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: theory.elimination_schedule(10, 11), r"r is 11 and n is 10; .* give r between 0 and 10"),
        (lambda: theory.elimination_schedule(10, -1), r"r is -1"),
        (lambda: theory.elimination_schedule(10.5, 1), r"n is 10\.5 and r is 1; columns are counted"),
        (lambda: theory.elimination_schedule(0, 0), r"n is 0"),
        (
            lambda: theory.elimination_schedule(10, 2, "cubic"),
            r"cost is 'cubic'; give 'constant', 'linear', 'quadratic' or",
        ),
        (lambda: theory.elimination_schedule(10, 2, lambda n: -n), r"cost returned a negative or infinite number"),
        (lambda: theory.elimination_schedule(10, 2, step=0), r"step is 0; a step removes at least one column"),
    ],
)
def test_bad_numbers_are_refused(make, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_among_equals_the_smallest_step_wins() -> None:
    """With four columns, one of them relevant, removing two and then one costs as much as removing three at once."""
    two, three = (
        1 / theory.success_chance(4, 1, 2) + 1 / theory.success_chance(2, 1, 1),
        1 / theory.success_chance(4, 1, 3),
    )
    assert two == pytest.approx(three, rel=1e-12)
    assert theory.elimination_schedule(4, 1, "constant").steps == [(4, 2), (2, 1)]
