"""From scores to p-values: against SciPy, against counting, and calibrated on shadows that say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from fernwood.relevance.shadows import (
    by_chance,
    combined,
    false_discoveries,
    found_at,
    inverse_chances,
    smallest_counted,
    tail_chances,
)
from tests.reference.tail import slow_tail_pvalue


def test_false_discovery_rates_are_those_of_scipy() -> None:
    p = np.random.default_rng(0).random(500) ** 3
    assert false_discoveries(p) == pytest.approx(stats.false_discovery_control(p, method="bh"))


def test_inverse_chances_of_chi_square_scores() -> None:
    """Wilson and Hilferty's root is good to a few percent of the exponent over nine decades."""
    scores = stats.chi2.isf(np.array([0.1, 1e-3, 1e-5, 1e-8]), 8)[:, None, None]
    told = inverse_chances(scores.astype(np.float32), by_chance(np.array([[8.0]]), np.array([[4.0]])))[:, 0]
    z = stats.norm.isf([0.1, 1e-3, 1e-5, 1e-8])
    assert np.sqrt(2 * np.log(told)) == pytest.approx(z, rel=0.03)


def test_contexts_without_spread_tell_nothing() -> None:
    nothing = np.zeros((1, 2))
    assert inverse_chances(np.zeros((3, 1, 2), np.float32), by_chance(nothing, nothing)).tolist() == [[1.0]] * 3


def test_of_several_scores_the_mean_of_what_they_tell_counts() -> None:
    scores = np.array([[[9.0, 1.0]], [[30.0, 4.0]]], np.float32)
    mean, spread = np.array([[2.0, 1.0]]), np.array([[2.0, 1.4]])
    each = [inverse_chances(scores[:, :, [k]], by_chance(mean[:, [k]], spread[:, [k]])) for k in range(2)]
    assert inverse_chances(scores, by_chance(mean, spread)) == pytest.approx((each[0] + each[1]) / 2, rel=1e-5)


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


def slow_inverse_chance(scores: list[float], means: list[float], spreads: list[float]) -> float:
    """Of one column in one context: the mean of exp(z²/2), z from 0 to 12, where z is of the cube root."""
    told = []
    for score, mean, spread in zip(scores, means, spreads, strict=True):
        h = max((spread / mean) ** 2 / 9, 1e-12) if mean > 0 else 1.0
        z = (math.copysign(abs(score / mean) ** (1 / 3), score) - (1 - h)) / math.sqrt(h) if mean > 0 else 0.0
        told.append(math.exp(min(max(z, 0.0), 12.0) ** 2 / 2))
    return sum(told) / len(told)


@pytest.mark.parametrize("n_contexts", [1, 3, 5000])
def test_inverse_chances_one_by_one(n_contexts: int) -> None:
    """Also where a context has no spread or no mean, and where a column alone is more than is worked on at once."""
    rng = np.random.default_rng(n_contexts)
    n_columns = 9 if n_contexts > 3 else 4000
    scores = (3 * rng.exponential(size=(n_columns, n_contexts, 2))).astype(np.float32)
    scores[0] *= 1000
    mean, spread = rng.uniform(0.2, 2.0, (n_contexts, 2)), rng.uniform(0.2, 2.0, (n_contexts, 2))
    mean[0, 1] = 0.0
    told = inverse_chances(scores, by_chance(mean, spread))
    assert told.shape == (n_columns, n_contexts)
    assert told.dtype == np.float32
    for i in (0, 1, 2, n_columns // 2, n_columns - 1):
        for j in {0, n_contexts // 2, n_contexts - 1}:
            slow = slow_inverse_chance(scores[i, j].tolist(), mean[j].tolist(), spread[j].tolist())
            assert told[i, j] == pytest.approx(slow, rel=2e-3)


def test_a_context_without_spread() -> None:
    """Shadows that are all alike: any score above them tells as much as can be told, and any other nothing."""
    mean, spread = np.array([[4.0]]), np.array([[0.0]])
    told = inverse_chances(np.array([[[4.1]], [[3.9]]], np.float32), by_chance(mean, spread))[:, 0]
    assert told.tolist() == pytest.approx([math.exp(72), 1.0])
    # A spread of three millionths is assumed: a score as far above is one standard deviation of its cube root above.
    just_above = np.full((1, 1, 1), 1 + 3e-6, np.float32)
    assert inverse_chances(just_above, by_chance(np.ones((1, 1)), spread))[0, 0] == pytest.approx(
        math.exp(0.5), rel=0.1
    )


def test_evidence_is_the_weighted_mean_of_what_was_told() -> None:
    alone, together = np.array([5.0, 5.0, 5.0]), np.array([14.0, 14.0, 0.0])
    told = combined(alone, together, np.array([1, 7, 0]))
    assert told == pytest.approx(np.log([0.3 * 5 + 0.7 * 14, 0.3 * 5 + 0.7 * 2, 5.0]))
    assert combined(np.float32(5), np.float32(14), 7) == pytest.approx(math.log(0.3 * 5 + 0.7 * 2))


@pytest.mark.parametrize("n_shadows", [2, 9, 19, 20, 21, 57, 990, 1000, 1010, 2500])
@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 30])
def test_tail_chances_one_by_one(n_shadows: int, n_columns: int) -> None:
    rng = np.random.default_rng(100 * n_shadows + n_columns)
    shadows = np.rint(16 * rng.exponential(size=n_shadows)) / 16
    ties = rng.choice(shadows, n_columns)
    for values in (ties, rng.exponential(size=n_columns), np.append(ties[1:], 4 + shadows.max()), -ties):
        wanted = [slow_tail_pvalue(value, shadows.tolist()) for value in values.tolist()]
        assert tail_chances(values, shadows).tolist() == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("n_columns", [1, 20])
def test_shadows_that_are_all_alike(n_columns: int) -> None:
    """They do not say how the tail falls: what is above them is counted, however far it is."""
    for beyond in (1e-3, 1.0, 1e6):
        assert tail_chances(np.full(n_columns, 2.0 + beyond), np.full(40, 2.0)) == pytest.approx(1 / 41)
    assert (tail_chances(np.full(n_columns, 2.0), np.full(40, 2.0)) == 1).all()


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 4.0]) | st.floats(-5, 5), min_size=1, max_size=300),
    st.integers(0, 2**32),
)
def test_a_p_value_is_never_above_the_count_nor_below_it_where_a_shadow_reaches(
    shadows: list[float], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    null = np.array(shadows)
    values = np.concatenate([rng.choice(null, 20), null.max() + rng.exponential(size=20)])
    p = tail_chances(values, null)
    counted = np.array([(np.count_nonzero(null >= value) + 1) / (len(null) + 1) for value in values])
    assert (p[:20] >= counted[:20]).all()
    assert (p <= np.array([(np.count_nonzero(null >= v - 1e-4) + 1) / (len(null) + 1) for v in values])).all()
    assert (np.diff(p[np.argsort(values)]) <= 0).all()


@pytest.mark.parametrize("n_columns", [1, 20])
def test_ties_that_rounding_breaks_are_ties(n_columns: int) -> None:
    """Sums of single precision in another order differ in their last bits: such shadows reach the column, and such
    values of the tail are one."""
    rng = np.random.default_rng(4)
    exact = rng.integers(0, 6, 500).astype(float)
    rounded = exact * (1 + rng.uniform(-1, 1, 500) * 2.0**-22)
    for value in (3.0, 5.0, 9.0):
        values = np.full(n_columns, value)
        assert tail_chances(values, rounded) == pytest.approx(tail_chances(values, exact), rel=1e-3)


@pytest.mark.parametrize(("n_rows", "n_ones", "share"), [(100, 5, 0.2), (100, 5, 0.5), (100, 3, 0.05), (200, 10, 0.2)])
def test_p_values_of_scores_that_tie(n_rows: int, n_ones: int, share: float) -> None:
    """Evidence of columns of few ones, whose exact null is hypergeometric: of 300 columns and 1000 shadows in 400
    tables, no more pass a level than five standard errors above twice its number. The model alone let through forty
    times as many at 1e-4."""
    rng = np.random.default_rng(5)
    n_positive = round(share * n_rows)
    mean = n_ones * share
    sd = np.sqrt(mean * (1 - share) * (n_rows - n_ones) / (n_rows - 1))
    passed = dict.fromkeys((1e-2, 1e-3, 1e-4), 0)
    for _ in range(400):
        ones = rng.hypergeometric(n_positive, n_rows - n_positive, n_ones, 1300)
        evidence = ((ones - mean) / sd) ** 2 / 2
        p = tail_chances(evidence[:300], evidence[300:])
        for level in passed:
            passed[level] += int(np.count_nonzero(p <= level))
    for level, n_passed in passed.items():
        wanted = 300 * 400 * level
        assert n_passed <= 2 * wanted + 5 * np.sqrt(2 * wanted), level


@pytest.mark.parametrize(
    ("n_shadows", "wanted"), [(0, 0), (19, 0), (20, 1 / 21), (500, 1 / 501), (1000, 1 / 1001), (5000, 1 / 5001)]
)
def test_what_can_be_counted(n_shadows: int, wanted: float) -> None:
    assert smallest_counted(n_shadows) == pytest.approx(wanted)


def test_rates_are_never_above_one() -> None:
    assert false_discoveries(np.array([0.9, 0.4, 1.0, 0.7])).tolist() == pytest.approx([1.0, 1.0, 1.0, 1.0])
    assert false_discoveries(np.array([0.004, 0.9])).tolist() == pytest.approx([0.008, 0.9])


def test_a_rate_that_is_the_level_itself_is_found() -> None:
    assert found_at(0.25, np.array([0.25, 0.25])).tolist() == [True, True]
    assert found_at(0.25, np.array([0.125, 1.0])).tolist() == [True, False]
    assert found_at(0.25, np.array([0.125, 1.0]), 3).tolist() == [False, False]
    assert found_at(0.25, np.array([0.5, 1.0])).dtype == bool


def test_chances_handed_over_are_left_alone() -> None:
    chances = np.array([0.5, 0.01, 0.02])
    false_discoveries(chances)
    found_at(0.1, chances)
    assert chances.tolist() == [0.5, 0.01, 0.02]
