"""Drawing without replacement: sets as likely as they should be, against counting and against NumPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood import seeds
from fernwood.kernels.drawing import draw_beside, draw_places, draw_weighted


@given(st.integers(0, 80), st.data())
def test_places_are_different_and_in_order(bound: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, bound))
    drawn = draw_places(seeds.state(data.draw(st.integers(0, 999))), bound, size)
    assert len(drawn) == size
    assert (np.diff(drawn) > 0).all()
    assert not size or 0 <= drawn[0] <= drawn[-1] < bound


def test_every_set_is_as_likely() -> None:
    """The 35 sets of 3 in 7, 35 000 draws: chi-squared beyond its 1 - 1e-6 quantile, a false alarm in a million."""
    from scipy.stats import chi2

    counts = dict.fromkeys(combinations(range(7), 3), 0)
    state = seeds.state(3)
    for _ in range(35_000):
        counts[tuple(draw_places(state, 7, 3).tolist())] += 1
    observed = np.array(list(counts.values()))
    assert ((observed - 1000) ** 2 / 1000).sum() < chi2.ppf(1 - 1e-6, 34)


@given(st.data())
def test_the_rest_is_drawn_beside_the_carried(data: st.DataObject) -> None:
    """Against the obvious way: the same ranks among a list of all columns that are not carried."""
    n = data.draw(st.integers(1, 50))
    carried = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), np.int64)
    q = data.draw(st.integers(len(carried), n))
    seed = data.draw(st.integers(0, 99))
    ranks = draw_places(seeds.state(seed), n - len(carried), q - len(carried))
    rest = [c for c in range(n) if c not in carried.tolist()]
    expected = sorted([*carried.tolist(), *(rest[r] for r in ranks)])
    assert draw_beside(seeds.state(seed), n, carried, q).tolist() == expected


def test_weighted_draws_have_the_chances_of_drawing_one_after_the_other() -> None:
    """20 000 draws of 2 of 4, five standard errors for 4 places: a false alarm in 400 000 seeds."""
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    shares = weights / weights.sum()
    expected = np.zeros(4)
    for first in range(4):
        for second in range(4):
            if first != second and shares[first] and shares[second]:
                chance = shares[first] * shares[second] / (1 - shares[first])
                expected[[first, second]] += chance
    state, counts = seeds.state(5), np.zeros(4)
    for _ in range(20_000):
        counts[draw_weighted(state, weights, 2)] += 1
    error = np.sqrt(expected * (1 - expected) / 20_000) + 1e-12
    assert (abs(counts / 20_000 - expected) < 5 * error).all()
    assert counts[2] == 0
    assert expected.sum() == pytest.approx(2)
