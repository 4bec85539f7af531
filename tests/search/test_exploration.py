"""What contexts of random columns came to, in words."""

from __future__ import annotations

import pytest

from fernwood.search.exploration import Exploration


@pytest.mark.parametrize("n_contexts", [0, 24, 10_000])
def test_contexts_of_one_column_promise_nothing_about_three(n_contexts: int) -> None:
    said = Exploration(n_contexts, 1, 8).said
    assert len(said) < 250  # no number that nobody can count to
    assert "any two" in said
    assert "(three)" not in said
    assert "any three" not in said


def test_what_more_would_cost() -> None:
    assert Exploration(0, 6, 2000).said.endswith("max_contexts=498 would meet any two of them with a chance of 95 %, "
                                                 "133076 any three")  # fmt: skip
    assert Exploration(10, 6, 2000).said.endswith(
        "max_contexts=498 (two) or max_contexts=133076 (three) would make that 95 %"
    )
    assert Exploration(1000, 6, 2000).said.endswith("; max_contexts=133076 (three) would make that 95 %")
    assert Exploration(200_000, 6, 2000).said.endswith("any three with 98.9 %")
