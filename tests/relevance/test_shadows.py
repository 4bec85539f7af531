"""From scores to p-values: against SciPy, against counting, and calibrated on shadows that say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from fernwood.relevance.shadows import combined, false_discoveries, found_at, inverse_chances, tail_chances


def test_false_discovery_rates_are_those_of_scipy() -> None:
    p = np.random.default_rng(0).random(500) ** 3
    assert false_discoveries(p) == pytest.approx(stats.false_discovery_control(p, method="bh"))


def test_inverse_chances_of_chi_square_scores() -> None:
    """Wilson and Hilferty's root is good to a few percent of the exponent over nine decades."""
    scores = stats.chi2.isf(np.array([0.1, 1e-3, 1e-5, 1e-8]), 8)[:, None, None]
    told = inverse_chances(scores.astype(np.float32), np.array([[8.0]]), np.array([[4.0]]))[:, 0]
    z = stats.norm.isf([0.1, 1e-3, 1e-5, 1e-8])
    assert np.sqrt(2 * np.log(told)) == pytest.approx(z, rel=0.03)


def test_contexts_without_spread_tell_nothing() -> None:
    nothing = np.zeros((1, 2))
    assert inverse_chances(np.zeros((3, 1, 2), np.float32), nothing, nothing).tolist() == [[1.0]] * 3


def test_of_several_scores_the_mean_of_what_they_tell_counts() -> None:
    scores = np.array([[[9.0, 1.0]], [[30.0, 4.0]]], np.float32)
    mean, spread = np.array([[2.0, 1.0]]), np.array([[2.0, 1.4]])
    each = [inverse_chances(scores[:, :, [k]], mean[:, [k]], spread[:, [k]]) for k in range(2)]
    assert inverse_chances(scores, mean, spread) == pytest.approx((each[0] + each[1]) / 2, rel=1e-5)


def test_one_telling_context_is_enough() -> None:
    n = 100
    assert combined(np.ones(1), np.array([n - 1 + 1e9]), n)[0] > np.log(1e6)
    assert combined(np.array([1e9]), np.array([float(n)]), n)[0] > np.log(1e8)
    assert combined(np.array([5.0]), np.zeros(1), 0)[0] == pytest.approx(np.log(5.0))


def test_chances_fall_with_evidence_and_are_never_zero() -> None:
    shadows = np.random.default_rng(1).exponential(size=3000)
    chances = tail_chances(np.linspace(-1, 900, 4000), shadows)
    assert (np.diff(chances) <= 0).all()
    assert chances[0] == 1
    assert chances[-1] > 0


def test_counted_chances_hold_exactly_for_one_more_shadow() -> None:
    """Up to the tail: a shadow among n + 1 of its kind is in the best k with chance k/(n + 1), so p ≤ k/(n + 1) as often."""
    rng = np.random.default_rng(2)
    p = [tail_chances(values[:1], values[1:])[0] for values in rng.standard_normal((4000, 200))]
    for level in (0.5, 0.2):
        share = np.mean(np.array(p) <= level)
        assert abs(share - level) < 5 * np.sqrt(level * (1 - level) / 4000)


@pytest.mark.parametrize("draw", ["exponential", "standard_normal", "uniform"])
def test_modelled_chances_are_not_too_small(draw: str) -> None:
    """Of 400 000 shadows against 2000 others, at most 1.6 times as many pass p ≤ 1e-4 as should (five standard errors)."""
    rng = np.random.default_rng(3)
    passed = 0
    for _ in range(200):
        shadows, others = getattr(rng, draw)(size=2000), getattr(rng, draw)(size=2000)
        passed += np.count_nonzero(tail_chances(others, shadows) <= 1e-4)
    assert passed <= 40 * 1.6 + 5 * np.sqrt(40)


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=60), st.sampled_from([0.01, 0.05, 0.2, 0.9]))
def test_columns_found_at_a_level_are_those_of_a_rate_as_low(chances: list[float], level: float) -> None:
    p = np.array(chances)
    assert found_at(level, p).tolist() == (false_discoveries(p) <= level).tolist()
    few = p[p < 0.5]
    wanted = false_discoveries(np.concatenate([few, np.ones(100)]))[: len(few)] <= level
    assert found_at(level, few, len(few) + 100).tolist() == wanted.tolist()
