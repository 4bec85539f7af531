"""What contexts of random columns came to, in words."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

import fernwood
from fernwood.search.exploration import Exploration
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings


@pytest.mark.parametrize("n_contexts", [0, 24, 10_000])
def test_contexts_of_one_column_promise_nothing_about_three(n_contexts: int) -> None:
    said = Exploration(n_contexts, 1, 8).said
    assert len(said) < 250  # no number that nobody can count to
    assert "any two" in said
    assert "(three)" not in said
    assert "any three" not in said


def test_what_more_would_cost() -> None:
    assert Exploration(0, 6, 2000).said.endswith("max_contexts=500 would meet any two of them with a chance of 95 %, "
                                                 "133343 any three")  # fmt: skip
    assert Exploration(10, 6, 2000).said.endswith(
        "max_contexts=500 (two) or max_contexts=133343 (three) would make that 95 %"
    )
    assert Exploration(1000, 6, 2000).said.endswith("; max_contexts=133343 (three) would make that 95 %")
    assert Exploration(200_000, 6, 2000).said.endswith("any three with 98.9 %")


@pytest.mark.parametrize(("depth", "n_columns"), [(6, 8), (6, 30), (4, 5), (1, 2), (5, 5), (2, 3)])
def test_the_chance_to_meet_is_that_of_contexts_with_all_but_one(depth: int, n_columns: int) -> None:
    """A column is not examined in a context that holds it: counted over all contexts there are."""
    every = np.fromiter(chain.from_iterable(combinations(range(n_columns), depth)), np.int8).reshape(-1, depth)
    for degree in (2, 3):
        shows = np.mean(np.count_nonzero(every < degree, axis=1) == degree - 1)
        if degree <= n_columns:
            assert Exploration(3, depth, n_columns).met(degree) == pytest.approx(1 - (1 - shows) ** 3, abs=1e-12)


def test_nothing_is_said_to_be_certain_that_is_not() -> None:
    assert "a chance of more than 99.9 %" in Exploration(10_000, 6, 200).said
    assert "100 %" not in Exploration(10_000, 6, 200).said
    small = Exploration(40, 6, 6)
    assert small.degree == 1
    assert "a chance of 0 %" in small.said
    assert "max_contexts" not in small.said
    assert Exploration(0, 6, 6).said.endswith("columns found only")


def test_columns_found_take_room_of_random_ones() -> None:
    """A snowball that found two of eight columns explores with contexts of four others, out of six."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1000, 8))
    y = (x[:, 0] + x[:, 1] + 0.2 * rng.standard_normal(1000) > 0).astype(int)
    settings = SnowballSettings(n_contexts=32, n_confirming=32, max_contexts=32)
    result = select_by_snowball(fernwood.ingest(x, target=y), settings, 0).result
    assert result.confirmed.tolist() == [0, 1]
    expected = Exploration(result.facts.exploration["contexts"], 4, 6)
    assert result.facts.exploration == expected.to_json()
