"""How long a search should run: bounds that hold in simulation, and that grow the right way."""

from __future__ import annotations

import math

import pytest

from fernwood import theory
from fernwood.errors import ParameterError


def test_one_column_is_a_geometric_wait() -> None:
    assert theory.how_many_iterations(1000, 100, 1, confidence=0.99) == math.ceil(math.log(0.01) / math.log(0.9))
    assert theory.how_many_iterations(100, 100, 5, degree=4) == 1


def test_without_memory_a_column_waits_for_its_whole_conditioning() -> None:
    needed = theory.how_many_iterations(10_000, 100, 10, degree=2, alpha=0)
    chance = 1 / theory.expected_draws(10_000, 100, 2)
    assert 10 * (1 - chance) ** needed <= 0.05 < 10 * (1 - chance) ** (needed - 1)


@pytest.mark.parametrize(
    ("scenario", "degree", "chains", "alpha"),
    [
        ("chaining", 3, True, 1),
        ("chaining", 3, True, 0.1),
        ("chaining", 3, False, 0),
        ("clique", 3, False, 1),
        ("clique", 3, False, 0),
        ("marginal", 0, True, 1),
        ("marginal", 0, True, 0.3),
    ],
)
def test_searches_of_that_length_find_all(scenario: str, degree: int, chains: bool, alpha: float) -> None:
    """At 90 % confidence, and without waste: the slowest of a thousand searches needs a good part of it.

    The share of a thousand may fall short by three of its standard errors, 0.0095 each, where the bound is tight.
    """
    p, q, r = 120, 40, 4
    needed = theory.how_many_iterations(p, q, r, degree, alpha, 0.9, chains=chains)
    course = theory.simulate(scenario, p, q, r, alpha, n_iter=needed, repetitions=1000, random_state=0)
    assert (course.iterations >= 0).mean() >= 0.9 - 3 * 0.0095
    assert course.iterations.max() > needed / 3


def test_more_to_find_takes_longer() -> None:
    base = theory.how_many_iterations(10_000, 100, 10, 1, 1, 0.95)
    assert theory.how_many_iterations(20_000, 100, 10, 1, 1, 0.95) > base
    assert theory.how_many_iterations(10_000, 200, 10, 1, 1, 0.95) < base
    assert theory.how_many_iterations(10_000, 100, 20, 1, 1, 0.95) > base
    assert theory.how_many_iterations(10_000, 100, 10, 2, 1, 0.95) > base
    assert theory.how_many_iterations(10_000, 100, 10, 1, 0, 0.95) > 10 * base
    assert theory.how_many_iterations(10_000, 100, 10, 1, 1, 0.99) > base
    assert theory.how_many_iterations(10_000, 100, 10, 1, 1, 0.95, chains=False) > 10 * base


def test_ten_million_columns_are_quick() -> None:
    needed = theory.how_many_iterations(10**7, 10_000, 100, 5, 0.5, 0.99)
    assert 10**3 < needed < 10**6


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((10, 11, 2), r"q is 11 and p is 10"),
        ((10, 5, 11), r"r is 11 and p is 10"),
        ((10, 5, 3, 3), r"degree is 3 and r is 3; .*[(]Proposition 1[)]: give a degree from 0 to 2"),
        ((10, 2, 5, 2, 0.5), r"degree is 2 and q is 2; .* raise q"),
        ((10, 5, 6), r"r is 6 and q is 5; at alpha = 1 memory fills up .* needs r ≤ q"),
        ((10, 5, 3, 1, 2), r"alpha is 2; the memory share"),
        ((10, 5, 3, 1, 1, 1.0), r"confidence is 1\.0; .* between 0 and 1"),
    ],
)
def test_bad_numbers_are_refused(numbers: tuple, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        theory.how_many_iterations(*numbers)


def test_a_clique_that_memory_leaves_no_room_for_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"memory holds 4 of q = 5 columns and leaves no room .* lower alpha"):
        theory.how_many_iterations(20, 5, 5, 3, 0.8, chains=False)
