"""The rules of the papers against the slowest clear version of each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.errors import ParameterError
from fernwood.relevance import Decision, Evidence, ImportanceRule, MaxShadowRule, ProbeRule, Rule
from fernwood.relevance.decision import first_that_holds
from fernwood.relevance.paper import NOTHING, some_columns


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


def test_some_columns_of_very_many() -> None:
    chosen = np.ones(400_003, bool)
    chosen[1] = False
    assert some_columns(chosen)[:3].tolist() == [0, 4, 7]
    assert some_columns(np.ones(200_000, bool)).tolist() == list(range(200_000))
    assert some_columns(np.ones(200_001, bool))[-1] == 200_000
    assert len(some_columns(np.ones(200_001, bool))) == 100_001
    assert some_columns(np.zeros(5, bool)).tolist() == []


def test_nothing_was_drawn_yet() -> None:
    none = Evidence.none(3)
    assert (none.draws.dtype, none.wins.dtype, none.importance.dtype) == (np.int32, np.int32, np.float64)
    assert (none.draws.tolist(), none.wins.tolist(), none.importance.tolist()) == ([0] * 3, [0] * 3, [0.0] * 3)
    assert none.shadow.shape == (0, 3)
    assert Evidence.none(3, 2).shadow.tolist() == [[0.0] * 3] * 2
    assert Evidence(none.draws, none.importance, none.wins).shadow.shape == (0, 0)


def test_draws_leave_the_shadows() -> None:
    before = Evidence.none(2, 1).with_shadows([(np.array([1]), np.array([[3.0]]))])
    after = before.with_draws([(np.array([0]), np.array([1.0]), 0.0)])
    assert after.shadow.tolist() == [[0.0, 3.0]]
    assert after.wins.tolist() == [1, 0]
    assert before.importance.tolist() == [0.0, 0.0]
    assert before.wins.tolist() == [0, 0]


@pytest.mark.parametrize("rule", [ImportanceRule(), ProbeRule()])
def test_rules_without_a_scale(rule: Rule) -> None:
    assert rule.chances(Evidence.none(2)) is rule.modelled(Evidence.none(2)) is None
    assert rule.compared_with(Evidence.none(2)) is NOTHING
    assert (NOTHING.n, NOTHING.threshold, NOTHING.scores.tolist()) == (0, None, [])
    wanted = "more rows, more trees a draw or a smaller q make weak columns visible"
    assert rule.advice(Evidence.none(2)) == wanted


def test_what_the_most_important_shadow_is_compared_with() -> None:
    draws = np.array([10, 5, 6, 0], np.int32)
    shadow = np.array([[20.0, 90.0, 6.0, 0.0], [10.0, 0.0, -6.0, 0.0]])
    evidence = Evidence(draws, np.zeros(4), np.zeros(4, np.int32), shadow)
    told = MaxShadowRule().compared_with(evidence)
    assert told.scores.tolist() == [2.0, 1.0, 1.0, -1.0]
    assert (told.n, told.threshold) == (4, 2.0)
    assert MaxShadowRule(20).compared_with(evidence) is NOTHING
    assert MaxShadowRule().advice(evidence) == "more rows or more scans make weak columns visible"
    assert MaxShadowRule().against == ""


def test_every_shadow_below_zero() -> None:
    """The highest of them is still what columns must be above."""
    draws = np.full(3, 6, np.int32)
    evidence = Evidence(draws, np.array([-6.0, -3.0, -12.0]), np.zeros(3, np.int32), np.full((1, 3), -6.0))
    assert MaxShadowRule().found(evidence).tolist() == [1]
    told = MaxShadowRule().judge(evidence)
    words = [told.reasons[place] for place in told.reason]
    assert words == [f"{start}more important than every shadow" for start in ("not ", "", "not ")]


def test_too_rarely_and_never() -> None:
    evidence = Evidence(np.array([0, 1, 5, 6]), np.zeros(4), np.zeros(4, int), np.zeros((1, 4)))
    told = MaxShadowRule().judge(evidence)
    few = "drawn 5 times or fewer, too rarely to tell"
    wanted = ["never drawn", few, few, "not more important than every shadow"]
    assert [told.reasons[place] for place in told.reason] == wanted


def test_mean_importance_of_a_column_drawn_once() -> None:
    evidence = Evidence(np.array([0, 1, 2]), np.array([0.0, 3.0, 3.0]), np.zeros(3, int))
    assert evidence.mean_importance().tolist() == [0.0, 3.0, 1.5]


def test_the_defaults_of_the_slides() -> None:
    evidence = Evidence(np.array([5, 6, 100, 100]), np.zeros(4), np.array([5, 6, 95, 94]))
    assert ProbeRule().found(evidence).tolist() == [1, 2]
    ProbeRule(0, 1)
    with pytest.raises(ParameterError, match="^min_draws is -1; it must be an integer from 0 on$"):
        ProbeRule(-1)
    with pytest.raises(ParameterError, match="^min_share is 2; it is a share: give a number above 0 and up to 1$"):
        ProbeRule(5, 2)
    most = Evidence(np.array([5, 6]), np.array([10.0, 12.0]), np.zeros(2, int), np.zeros((1, 2)))
    assert MaxShadowRule().found(most).tolist() == [1]


def test_the_first_case_that_holds() -> None:
    cases = [np.array([True, False, False]), np.array([True, True, False])]
    told = first_that_holds(cases, [Decision.UNEXAMINED, Decision.REJECTED, Decision.CONFIRMED], ("a", "b", "c"))
    assert told.decision.tolist() == [Decision.UNEXAMINED, Decision.REJECTED, Decision.CONFIRMED]
    assert [told.reasons[place] for place in told.reason] == ["a", "b", "c"]
    assert (told.decision.dtype, told.reason.dtype) == (np.uint8, np.uint8)


def test_decisions_are_numbered_best_first_and_spelled_small() -> None:
    """The numbers are in files: they never change."""
    assert [(int(d), d.word) for d in Decision] == [
        (0, "confirmed"),
        (1, "tentative"),
        (2, "rejected"),
        (3, "unexamined"),
    ]
