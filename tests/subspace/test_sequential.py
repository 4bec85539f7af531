from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.learner.settings import TreeSettings
from fernwood.search.ferns import FernSettings
from fernwood.subspace import draw_subspace
from fernwood.theory.convergence import memory_size


@given(st.data())
def test_a_draw_has_q_different_columns_and_carries_its_share(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 60))
    found = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), np.int64)
    q = data.draw(st.integers(1, n))
    alpha = data.draw(st.floats(0, 1))
    drawn = draw_subspace(n, found, q, alpha, seeds.state(data.draw(st.integers(0, 99))))
    assert len(set(drawn.tolist())) == q
    assert (np.diff(drawn) > 0).all()
    assert 0 <= drawn.min() <= drawn.max() < n
    assert len(set(drawn.tolist()) & set(found.tolist())) >= min(memory_size(q, alpha), len(found))


def test_a_draw_carries_what_the_theory_says() -> None:
    """⌊αq⌋ and ⌈carry · |F|⌉ of shares of two digits, whose products floats round to the wrong side now and then.

    Among four thousand million columns, none of those found is drawn but by being carried.
    """
    for q in (7, 25, 50, 100, 200):
        found = np.arange(q)
        for percent in range(1, 100):
            share = percent / 100
            carried = int(np.count_nonzero(draw_subspace(2**32, found, q, share, seeds.state(0)) < q))
            assert carried == memory_size(q, share) == percent * q // 100
            some = int(np.count_nonzero(draw_subspace(2**32, found, q, 1, seeds.state(0), carry=share) < q))
            assert some == -(-percent * q // 100)
            assert TreeSettings(max_features=share).features(q) == max(1, carried)
            assert FernSettings(depth=7, alpha=share).n_carried == memory_size(7, share)


def test_every_column_is_as_likely_as_its_place_says() -> None:
    """20 000 draws, five standard errors for 30 columns: a false alarm in 50 000 seeds."""
    n, q, alpha, found = 30, 8, 0.5, np.array([2, 3, 11, 12, 13, 29])
    carried = 4
    counts = np.zeros(n)
    for i in range(20_000):
        counts[draw_subspace(n, found, q, alpha, seeds.state(0, i))] += 1
    # In R with chance 4/6; otherwise in C, 4 of the 26 columns that are not in R.
    other = (q - carried) / (n - carried)
    expected = np.full(n, other)
    expected[found] = carried / len(found) + (1 - carried / len(found)) * other
    error = np.sqrt(expected * (1 - expected) / 20_000)
    assert (np.abs(counts / 20_000 - expected) < 5 * error).all()


def test_weights_choose_what_is_carried() -> None:
    found = np.array([1, 5, 9])
    counts = np.zeros(10_000)
    for i in range(4000):
        counts[draw_subspace(10_000, found, 4, 0.25, seeds.state(1, i), np.array([0.0, 1.0, 3.0]))] += 1
    assert counts[9] / 4000 == pytest.approx(0.75, abs=0.05)
    assert counts[5] / 4000 == pytest.approx(0.25, abs=0.05)
    assert counts[1] < 40


def test_a_wide_table_costs_nothing() -> None:
    drawn = draw_subspace(2**32, np.array([5]), 100, 1.0, seeds.state(0))
    assert len(drawn) == 100
    assert 5 in drawn


@pytest.mark.parametrize(
    ("q", "alpha", "sentence"),
    [(0, 0.5, "q is 0"), (11, 0.5, "q is 11"), (3, -0.1, "alpha is -0.1"), (3, 1.5, "alpha is 1.5")],
)
def test_bad_parameters(q: int, alpha: float, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        draw_subspace(10, np.empty(0, np.int64), q, alpha, seeds.state(0))
