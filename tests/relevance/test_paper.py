"""The rules of the papers against the slowest clear version of each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.errors import ParameterError
from fernwood.relevance import Decision, Evidence, ImportanceRule, MaxShadowRule, ProbeRule, Rule


@st.composite
def evidences(draw) -> Evidence:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_columns = draw(st.integers(1, 40))
    most = draw(st.sampled_from([1, 7, 40, 3000]))
    draws = rng.integers(0, most + 1, n_columns).astype(np.int32)
    wins = np.minimum(rng.binomial(draws, rng.choice([0.0, 0.5, 0.95, 1.0], n_columns)), draws).astype(np.int32)
    importance = np.where(draws > 0, rng.choice([-0.5, 0.0, 0.25], n_columns), 0.0)
    return Evidence(draws, importance, wins)


def slow_importance(evidence: Evidence) -> list[tuple[Decision, str]]:
    out = []
    for draws, importance in zip(evidence.draws.tolist(), evidence.importance.tolist(), strict=True):
        if importance > 0:
            out.append((Decision.CONFIRMED, "its importance is above zero"))
        elif draws:
            out.append((Decision.REJECTED, "its importance is zero"))
        else:
            out.append((Decision.UNEXAMINED, "never drawn"))
    return out


def slow_probe(evidence: Evidence, percent: int, least: int) -> list[tuple[Decision, str]]:
    """In whole numbers: no rounding to argue about."""
    out = []
    for draws, wins in zip(evidence.draws.tolist(), evidence.wins.tolist(), strict=True):
        if draws == 0:
            out.append((Decision.UNEXAMINED, "never drawn"))
        elif 100 * wins < percent * draws:
            out.append((Decision.REJECTED, f"above the probe in fewer than {percent} % of its draws"))
        elif draws <= least:
            too_few = f", but drawn {least} times or fewer"
            out.append((Decision.TENTATIVE, f"above the probe in at least {percent} % of its draws{too_few}"))
        else:
            out.append((Decision.CONFIRMED, f"above the probe in at least {percent} % of its draws"))
    return out


def judged(rule: Rule, evidence: Evidence) -> list[tuple[Decision, str]]:
    verdicts = rule.judge(evidence)
    words = [verdicts.reasons[place] for place in verdicts.reason.tolist()]
    return list(zip(map(Decision, verdicts.decision.tolist()), words, strict=True))


@given(evidences())
def test_any_importance_at_all(evidence: Evidence) -> None:
    wanted = slow_importance(evidence)
    assert judged(ImportanceRule(), evidence) == wanted
    assert ImportanceRule().found(evidence).tolist() == [i for i, (d, _) in enumerate(wanted) if d == 0]


@given(evidences(), st.integers(1, 100), st.integers(0, 12))
def test_the_probe(evidence: Evidence, percent: int, least: int) -> None:
    rule = ProbeRule(least, percent / 100)
    wanted = slow_probe(evidence, percent, least)
    assert judged(rule, evidence) == wanted
    assert rule.found(evidence).tolist() == [i for i, (d, _) in enumerate(wanted) if d == 0]


def test_found_needs_more_than_l_draws() -> None:
    evidence = Evidence(np.array([5, 6, 0]), np.zeros(3), np.array([5, 6, 0]))
    assert ProbeRule(5).found(evidence).tolist() == [1]
    assert [decision for decision, _ in judged(ProbeRule(5), evidence)] == [
        Decision.TENTATIVE,
        Decision.CONFIRMED,
        Decision.UNEXAMINED,
    ]
    assert ProbeRule(0).found(evidence).tolist() == [0, 1]


@pytest.mark.parametrize("percent", range(1, 101))
def test_exactly_the_share_is_enough(percent: int) -> None:
    """55 % of 20 is 11.000000000000002 in doubles: a product would refuse the eleven wins that the rule asks for."""
    share = Fraction(percent, 100)
    draws = np.arange(1, 400) * share.denominator
    wins = np.arange(1, 400) * share.numerator
    rule = ProbeRule(0, percent / 100)
    assert len(rule.found(Evidence(draws, np.zeros(399), wins))) == 399
    assert len(rule.found(Evidence(draws, np.zeros(399), wins - 1))) == 0


@pytest.mark.parametrize("rule", [ImportanceRule(), ProbeRule(0, 0.01)])
def test_without_draws_nothing_is_found(rule: Rule) -> None:
    none = Evidence.none(3)
    assert rule.found(none).tolist() == []
    assert judged(rule, none) == 3 * [(Decision.UNEXAMINED, "never drawn")]


def test_evidence_grows_by_draws() -> None:
    before = Evidence.none(4)
    after = before.with_draws(
        [
            (np.array([0, 2]), np.array([0.5, 0.25]), 0.25),
            (np.array([2, 3]), np.array([1.0, 0.0]), 0.5),
        ]
    )
    assert after.draws.tolist() == [1, 0, 2, 1]
    assert after.wins.tolist() == [1, 0, 1, 0]  # as important as the probe is not above it
    assert after.mean_importance().tolist() == [0.5, 0.0, 0.625, 0.0]
    assert after.mean_importance(np.array([2])).tolist() == [0.625]
    assert not before.draws.any()


def test_which_rule_needs_a_probe() -> None:
    assert ImportanceRule().against == ""
    assert ProbeRule().against == "probe"


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan")])
def test_a_share_out_of_range(share: float) -> None:
    with pytest.raises(ParameterError, match=f"min_share is {share!r}; it is a share: give a number above 0"):
        ProbeRule(5, share)


@pytest.mark.parametrize("least", [-1, float("nan")])
def test_draws_out_of_range(least: int) -> None:
    with pytest.raises(ParameterError, match=f"min_draws is {least!r}; it must be an integer from 0 on"):
        ProbeRule(least)


def test_the_most_important_shadow() -> None:
    draws = np.array([10, 10, 10, 3, 0, 20], np.int32)
    importance = np.array([5.0, 2.0, 1.0, 90.0, 0.0, 4.0])
    shadow = np.array([[1.0, 2.0, -4.0, 60.0, 0.0, 3.0]])
    evidence = Evidence(draws, importance, np.zeros(6, np.int32), shadow)
    rule = MaxShadowRule(5)
    assert rule.found(evidence).tolist() == [0]  # 0.5 is above 0.2, which 0.2 is not; three draws are too few
    told = rule.judge(evidence)
    assert told.decision.tolist() == [
        Decision.CONFIRMED,
        Decision.REJECTED,
        Decision.REJECTED,
        Decision.UNEXAMINED,
        Decision.UNEXAMINED,
        Decision.REJECTED,
    ]
    assert told.reasons[told.reason[3]] == "drawn 5 times or fewer, too rarely to tell"
    assert told.reasons[told.reason[4]] == "never drawn"
    assert rule.chances(evidence) is rule.modelled(evidence) is None
    assert MaxShadowRule(50).found(evidence).tolist() == []
    both = evidence._replace(shadow=np.array([shadow[0], [6.0, 0.0, 0.0, 0.0, 0.0, 0.0]]))
    assert rule.found(both).tolist() == []
