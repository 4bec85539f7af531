"""Boruta's decisions against a slow version of the published algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.errors import ParameterError
from fernwood.relevance import Decision
from fernwood.relevance.boruta import BorutaRule
from tests.reference import boruta as reference


@given(
    seed=st.integers(0, 2**32),
    n_columns=st.integers(1, 25),
    n_iterations=st.integers(1, 60),
    alpha=st.sampled_from([0.01, 0.05, 0.3]),
    perc=st.sampled_from([100, 90, 37.5]),
    two_step=st.booleans(),
)
def test_decisions_are_those_of_the_reference(
    seed: int, n_columns: int, n_iterations: int, alpha: float, perc: float, two_step: bool
) -> None:
    rng = np.random.default_rng(seed)
    strength = rng.choice([0.0, 0.5, 1.0, 2.0], n_columns)
    # Parts of a power of two, so that there are ties.
    importance = np.rint(8 * (strength + rng.random((n_iterations, n_columns)))) / 8
    shadows = np.rint(8 * rng.random((n_iterations, max(n_columns, 5)))) / 8

    rule = BorutaRule(alpha, perc, two_step)
    decision, hits = np.full(n_columns, Decision.TENTATIVE, np.uint8), np.zeros(n_columns, np.int64)
    for n in range(n_iterations):
        still_in = decision != Decision.REJECTED
        hits[still_in] += (importance[n] > rule.best(shadows[n]))[still_in]
        decision = rule.decide(hits, n + 1, decision)

    iterations = [(dict(enumerate(row)), list(others)) for row, others in zip(importance, shadows, strict=True)]
    expected = reference.boruta(iterations, n_columns, alpha=alpha, perc=perc, two_step=two_step)
    assert ([Decision(d).word for d in decision], hits.tolist()) == expected


@pytest.mark.parametrize(("two_step", "first"), [(True, 8), (False, 17)])
def test_when_the_first_column_of_5000_can_be_rejected(two_step: bool, first: int) -> None:
    """0.5ⁿ ≤ 0.05/n with the two-step correction, 0.5ⁿ ≤ 0.05/5000 with Bonferroni's."""
    rule = BorutaRule(two_step=two_step)
    nothing = np.full(5000, Decision.TENTATIVE, np.uint8)
    rejected = [n for n in range(1, 20) if (rule.decide(np.zeros(5000, int), n, nothing) == Decision.REJECTED).all()]
    assert rejected[0] == first


def test_what_is_decided_stays() -> None:
    before = np.array([Decision.CONFIRMED, Decision.REJECTED], np.uint8)
    assert BorutaRule().decide(np.array([0, 20]), 20, before).tolist() == before.tolist()


def test_reasons() -> None:
    verdicts = BorutaRule(perc=90).verdicts(np.array([Decision.REJECTED, Decision.CONFIRMED], np.uint8))
    assert verdicts.reasons[verdicts.reason[0]] == "above 90 % of the shadows in fewer iterations than chance explains"
    assert "the best shadow in more" in BorutaRule().verdicts(verdicts.decision).reasons[verdicts.reason[1]]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"alpha": 0}, "alpha is 0; it is a level: give a number between 0 and 1"),
        ({"alpha": 1.0}, "alpha is 1.0; it is a level"),
        ({"alpha": "low"}, "alpha is 'low'; it is a level"),
        ({"perc": 0}, "perc is 0; it is a percentile of the shadows: give a number above 0 and up to 100"),
        ({"perc": 101}, "perc is 101; it is a percentile"),
        ({"two_step": 1}, "two_step is 1; give True or False"),
    ],
)
def test_refusals(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        BorutaRule(**wrong)


@pytest.mark.parametrize("fine", [{"alpha": 0.999}, {"perc": 100}, {"perc": 0.5}, {"alpha": np.float32(0.5)}])
def test_levels_that_are_allowed(fine: dict[str, Any]) -> None:
    BorutaRule(**fine)
    BorutaRule(two_step=np.True_)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"alpha": True}, {"perc": True}, {"perc": "all"}, {"alpha": -0.5}, {"two_step": None}]
)
def test_other_refusals(wrong: dict[str, Any]) -> None:
    (name, value) = next(iter(wrong.items()))
    with pytest.raises(ParameterError, match=f"^{name} is {value!r}; "):
        BorutaRule(**wrong)


def test_every_reason() -> None:
    decision = np.array([Decision.CONFIRMED, Decision.TENTATIVE, Decision.REJECTED], np.uint8)
    verdicts = BorutaRule().verdicts(decision)
    assert [verdicts.reasons[place] for place in verdicts.reason] == [
        "above the best shadow in more iterations than chance explains",
        "above the best shadow neither more nor less often than chance explains",
        "above the best shadow in fewer iterations than chance explains",
    ]
    assert verdicts.decision.tolist() == decision.tolist()
    assert BorutaRule(perc=90.0).verdicts(decision).reasons[0].startswith("above 90 % of the shadows in more")
    assert BorutaRule(perc=99.5).verdicts(decision).reasons[0].startswith("above 99.5 % of the shadows in more")


def test_a_level_is_reached_when_it_is_met() -> None:
    """2⁻⁵ is the chance of five hits in five, exactly; all iterations count in the second step."""
    tentative = np.full(1, Decision.TENTATIVE, np.uint8)
    assert BorutaRule(2**-5, two_step=False).decide(np.array([5]), 5, tentative).tolist() == [Decision.CONFIRMED]
    assert BorutaRule(2**-6, two_step=False).decide(np.array([5]), 5, tentative).tolist() == [Decision.TENTATIVE]
    assert BorutaRule(2**-5, two_step=False).decide(np.array([0]), 5, tentative).tolist() == [Decision.REJECTED]
    assert BorutaRule(5 * 2**-5).decide(np.array([5]), 5, tentative).tolist() == [Decision.CONFIRMED]
    assert BorutaRule(0.156).decide(np.array([5]), 5, tentative).tolist() == [Decision.TENTATIVE]
    assert BorutaRule(0.5).decide(np.array([1]), 1, tentative).tolist() == [Decision.CONFIRMED]
    assert tentative.tolist() == [Decision.TENTATIVE]


def test_no_hit_at_all_is_as_many_as_chance_has() -> None:
    """Its p is 1, and so is the rate of the other: one hit in one is half a chance for each of two."""
    tentative = np.full(2, Decision.TENTATIVE, np.uint8)
    assert BorutaRule(0.9).decide(np.array([0, 1]), 1, tentative).tolist() == tentative.tolist()
