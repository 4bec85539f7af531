"""The loop, its learner replaced by an oracle, against the exact chains of the theory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from fernwood import theory
from fernwood.relevance import ImportanceRule, ProbeRule
from fernwood.search.subspace import Learner, Scores, SubspaceSearch, start, step


def oracle(scenario: str, r: int) -> Learner:
    """What an infinite sample says of a draw; the relevant columns are the first r."""

    def fit(columns: NDArray[np.int64], draw: int) -> Scores:
        inside = set(columns[columns < r].tolist())
        if scenario == "marginal":
            seen = inside
        elif scenario == "chaining":
            seen = {i for i in inside if set(range(i)) <= inside}
        else:  # a clique: only the last of a branch that holds them all
            seen = {int(np.random.default_rng(draw).integers(r))} if len(inside) == r else set()
        return Scores(np.array([float(c in seen) for c in columns.tolist()]), 0.5)

    return fit


def iterations(scenario: str, p: int, q: int, r: int, alpha: float, seed: int) -> int:
    search = SubspaceSearch(p, q, alpha, ImportanceRule(), oracle(scenario, r), seed)
    state = start(search)
    while len(state.found) < r:
        state = step(search, state)
    assert state.found.tolist() == list(range(r))
    return state.n_draws


@pytest.mark.parametrize(
    ("scenario", "p", "q", "r", "alpha"),
    [
        ("chaining", 1000, 100, 3, 1),
        ("chaining", 60, 30, 3, 0),
        ("clique", 60, 30, 3, 1),
        ("marginal", 500, 50, 10, 0),
        ("marginal", 500, 50, 10, 1),
    ],
)
def test_expected_draws(scenario: str, p: int, q: int, r: int, alpha: float) -> None:
    """300 searches, five standard errors: a false alarm in two million seeds a case."""
    counts = np.array([iterations(scenario, p, q, r, alpha, seed) for seed in range(300)])
    expected = float(theory.expected_iterations(scenario, p, q, r, alpha))
    assert abs(counts.mean() - expected) < 5 * counts.std() / np.sqrt(len(counts))


def test_rounds_of_many_draws_see_the_same_columns() -> None:
    """The draws of a round do not see what others of it found, but the second round does."""
    search = SubspaceSearch(40, 20, 1.0, ImportanceRule(), oracle("chaining", 3), seed=2, round_size=50)
    first = step(search, start(search))
    assert first.n_draws == 50
    assert 0 in first.found
    second = step(search, first)
    assert second.found.tolist() == [0, 1, 2]


def test_stopping_between_rounds_changes_nothing() -> None:
    search = SubspaceSearch(60, 12, 0.5, ProbeRule(), oracle("marginal", 8), seed=4, round_size=5)
    state = start(search)
    for _ in range(20):
        state = step(search, state)
    again = start(search)
    for _ in range(20):
        again = step(search, type(again)(again.n_draws, again.evidence, again.found.copy()))
    for a, b in zip((*state.evidence, state.found), (*again.evidence, again.found), strict=True):
        np.testing.assert_array_equal(a, b)
    assert state.evidence.draws.sum() == 100 * 12


def test_the_probe_rule_needs_draws_and_wins() -> None:
    search = SubspaceSearch(30, 10, 0.5, ProbeRule(), oracle("marginal", 3), seed=0, round_size=10)
    state = start(search)
    for _ in range(30):
        state = step(search, state)
        assert (state.evidence.draws[state.found] > 5).all()
    assert state.found.tolist() == [0, 1, 2]


def test_weights_carry_what_is_important() -> None:
    search = SubspaceSearch(200, 10, 0.5, ImportanceRule(), oracle("marginal", 6), seed=1, round_size=10, weighted=True)
    state = start(search)
    for _ in range(60):
        state = step(search, state)
    assert state.found.tolist() == list(range(6))
    assert state.evidence.draws[:6].min() > 2 * state.evidence.draws[6:].max()
