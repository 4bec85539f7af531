"""The rules that test, against the slowest clear version of each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from fernwood.errors import ParameterError
from fernwood.relevance import Decision, Evidence, MirrorRule, ShadowRule
from fernwood.relevance.tested import check_fdr, decoys_needed, null_strata
from tests.reference.tail import slow_tail_pvalue


@st.composite
def evidences(draw) -> Evidence:
    """Importances with many zeros and ties, some above all shadows; few and many columns, draws and shadows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_columns = draw(st.integers(12, 300))
    draws = rng.integers(0, draw(st.sampled_from([3, 12, 60])), n_columns).astype(np.int32)
    n_shadows = draw(st.sampled_from([1, 1, 4]))

    def importances(*shape: int) -> np.ndarray:
        # Parts of a power of two, so that a mean over draws is exact and ties are ties.
        return draws * rng.choice([0.0, 0.25, 1.0], shape) * np.rint(64 * rng.exponential(size=shape)) / 64

    strong = np.where(rng.random(n_columns) < 0.05, 40.0, 1.0)
    shift = draw(st.sampled_from([0.0, 0.25]))
    importance = strong * importances(n_columns) - shift * draws
    return Evidence(draws, importance, np.zeros(n_columns, np.int32), importances(n_shadows, n_columns))


def root(value: float) -> float:
    return math.copysign(abs(value) ** (1 / 3), value)


def slow_chances(evidence: Evidence, least: int, rule: str) -> np.ndarray:
    judged = [j for j in range(len(evidence.draws)) if evidence.draws[j] > least]
    mean = {j: evidence.importance[j] / evidence.draws[j] for j in judged}
    if rule == "shadow":
        null = [row[j] / evidence.draws[j] for row in evidence.shadow for j in judged]
    else:
        below = [mean[j] for j in judged if mean[j] < 0]
        null = below + [-x for x in below] + [0.0 for j in judged if mean[j] == 0] if len(below) >= 10 else []
    out = np.ones(len(evidence.draws))
    if null:
        for j in judged:
            out[j] = slow_tail_pvalue(root(mean[j]), [root(x) for x in null])
    return out


@pytest.mark.parametrize("name", ["shadow", "mirror"])
@given(evidence=evidences(), least=st.integers(0, 8))
def test_chances_and_verdicts(name: str, evidence: Evidence, least: int) -> None:
    rule = ShadowRule(0.2, least) if name == "shadow" else MirrorRule(0.2, least)
    p = slow_chances(evidence, least, name)
    np.testing.assert_allclose(rule.chances(evidence), p, rtol=1e-6)
    q = stats.false_discovery_control(p, method="bh")
    if np.isclose(q, 0.1, rtol=1e-6).any() or np.isclose(q, 0.2, rtol=1e-6).any():
        return  # on the edge, where the last bit decides
    verdicts = rule.judge(evidence)
    ahead = stats.false_discovery_control(slow_chances(evidence, 1, name), method="bh") <= 0.1
    assert rule.found(evidence).tolist() == np.flatnonzero(ahead).tolist()
    for j, (draws, rate) in enumerate(zip(evidence.draws.tolist(), q.tolist(), strict=True)):
        if draws > least:
            decision = Decision.CONFIRMED if rate <= 0.1 else Decision.TENTATIVE if rate <= 0.2 else Decision.REJECTED
        else:
            decision = Decision.TENTATIVE if ahead[j] else Decision.UNEXAMINED
        assert verdicts.decision[j] == decision
        assert verdicts.reasons[verdicts.reason[j]].startswith("never drawn") == (draws == 0)


def test_importance_zero_is_no_evidence() -> None:
    """However many shadows have none either: a column that no tree split on has p = 1."""
    shadow = np.zeros((1, 500))
    shadow[0, :3] = 1.0
    importance = np.zeros(500)
    importance[7] = 50.0
    p = ShadowRule().chances(Evidence(np.full(500, 10, np.int32), importance, np.zeros(500, np.int32), shadow))
    assert (np.delete(p, 7) == 1).all()
    assert p[7] < 0.05


def test_columns_are_compared_with_their_stratum() -> None:
    """Shadows of one stratum are a hundred times as important by chance, which hides no column of another."""
    rng = np.random.default_rng(0)
    scale = np.repeat([1.0, 100.0], [800, 200])
    shadow, importance = scale * rng.exponential(size=(1, 1000)), scale * rng.exponential(size=1000)
    importance[5] = 100.0
    evidence = Evidence(np.full(1000, 10, np.int32), importance, np.zeros(1000, np.int32), shadow)
    assert ShadowRule(0.1).found(evidence).tolist() == []
    assert ShadowRule(0.1, strata=np.repeat([0, 1], [800, 200])).found(evidence).tolist() == [5]


def test_columns_of_three_strata() -> None:
    """Each stratum by itself gives the p-values that all three have together."""
    evidence, strata = made(600, 9, {3: 2.0, 301: 2.0, 599: 2.0}), np.tile([0, 1, 2], 200)
    together = ShadowRule(strata=strata).chances(evidence)
    for stratum in range(3):
        one = strata == stratum
        part = Evidence(evidence.draws[one], evidence.importance[one], evidence.wins[one], evidence.shadow[:, one])
        np.testing.assert_array_equal(together[one], ShadowRule().chances(part))


def test_a_small_stratum_borrows_from_those_above_and_lends_them_nothing() -> None:
    """Forty columns that chance favours less are compared with their shadows and those of the next stratum, which is
    compared with its own alone; of three strata, no more are borrowed from than are needed."""
    rng = np.random.default_rng(1)
    strata = rng.permutation(np.repeat([0, 1, 2], [40, 150, 160]))
    scale = np.array([0.01, 1.0, 10.0])[strata]
    shadow, importance = 9 * scale * rng.exponential(size=(1, 350)), 9 * scale * rng.exponential(size=350)
    evidence = Evidence(np.full(350, 9, np.int32), importance, np.zeros(350, np.int32), shadow)
    p = ShadowRule(strata=strata).chances(evidence)
    for stratum, lenders in ((0, [0, 1]), (1, [1]), (2, [2])):
        null = shadow[0, np.isin(strata, lenders)] / 9
        for j in np.flatnonzero(strata == stratum):
            assert p[j] == pytest.approx(slow_tail_pvalue(root(importance[j] / 9), [root(x) for x in null]), rel=1e-9)


@pytest.mark.parametrize("rule", [ShadowRule, MirrorRule])
def test_decoys_are_null_and_are_not_judged(rule: type[ShadowRule | MirrorRule]) -> None:
    """A hundred columns and fifty decoys: the null of a shadow rule is made of 150 shadows and 50 importances."""
    rng = np.random.default_rng(2)
    importance, shadow = rng.standard_normal(150), rng.standard_normal((1, 150))
    importance[[3, 120]] = 1e6  # a decoy far beyond all others hides the column, and is not found itself
    evidence = Evidence(np.full(150, 9, np.int32), 9 * importance, np.zeros(150, np.int32), 9 * shadow)
    told = rule(strata=np.zeros(150, np.int64), n_decoys=50)
    p = told.chances(evidence)
    assert len(p) == len(told.judge(evidence).decision) == len(told.modelled(evidence)) == 100
    if rule is ShadowRule:
        null = [root(x) for x in np.concatenate([shadow[0], importance[100:]])]
        assert p[:9].tolist() == pytest.approx([slow_tail_pvalue(root(x), null) for x in importance[:9]], rel=1e-9)
        assert p[3] == 2 / 201
    assert told.found(evidence).tolist() == ([] if rule is ShadowRule else [3])
    evidence.draws[:100] = 0
    assert (told.chances(evidence) == 1).all()


@pytest.mark.parametrize(
    ("n_highest", "n_shadows", "wanted"),
    [(100, 1, 0), (99, 1, 1), (98, 1, 1), (1, 1, 50), (30, 4, 0), (7, 0, 93), (24, 4, 1)],
)
def test_how_many_decoys_there_are(n_highest: int, n_shadows: int, wanted: int) -> None:
    strata = np.repeat([0, 1], [500, n_highest])
    assert decoys_needed(strata, n_shadows) == wanted
    assert n_highest * max(n_shadows, 1) + wanted * (1 + n_shadows) >= 100


def test_too_few_below_zero() -> None:
    importance = np.r_[np.full(9, -1.0), np.full(100, 5.0)]
    evidence = Evidence(np.full(109, 10, np.int32), importance, np.zeros(109, np.int32))
    assert (MirrorRule().chances(evidence) == 1).all()
    assert MirrorRule().found(evidence).size == 0
    assert MirrorRule().advice(evidence).startswith("fewer than 10 columns are below zero, too few to mirror")
    assert "larger fdr" in ShadowRule().advice(evidence)


@pytest.mark.parametrize("rule", [ShadowRule(), MirrorRule()])
def test_without_draws_nothing_is_found(rule: ShadowRule | MirrorRule) -> None:
    none = Evidence.none(30, 1)
    assert rule.found(none).tolist() == []
    assert (rule.judge(none).decision == Decision.UNEXAMINED).all()


def test_evidence_of_shadows_grows_by_draws() -> None:
    before = Evidence.none(4, 2)
    after = before.with_shadows(
        [
            (np.array([0, 2]), np.array([[0.5, 0.25], [1.0, 2.0]])),
            (np.array([2, 3]), np.array([[1.0, 0.0], [0.0, 3.0]])),
        ]
    )
    assert after.shadow.tolist() == [[0.5, 0.0, 1.25, 0.0], [1.0, 0.0, 2.0, 3.0]]
    assert not before.shadow.any()


@pytest.mark.parametrize("fdr", [0, 1, -0.1, float("nan"), "low", None])
def test_a_rate_out_of_range(fdr: float) -> None:
    for rule in (ShadowRule, MirrorRule):
        with pytest.raises(ParameterError, match="it is a rate: give a number between 0 and 1, such as 0.1"):
            rule(fdr)


def test_a_straight_tail_is_that_of_the_importances_themselves() -> None:
    rng = np.random.default_rng(0)
    draws, importance = np.full(500, 8, np.int32), 8 * rng.standard_normal(500)
    importance[7] = 8 * 9.0
    evidence = Evidence(draws, importance, np.zeros(500, np.int32), 8 * rng.standard_normal((1, 500)))
    bent, straight = (ShadowRule(straight=way).chances(evidence) for way in (False, True))
    null = np.sort(evidence.shadow[0] / 8)
    assert straight[7] == pytest.approx(slow_tail_pvalue(9.0, null.tolist()))
    assert straight[7] < bent[7]
    counted = importance / 8 <= null[-1]
    np.testing.assert_array_equal(straight[counted], bent[counted])


def made(n: int, draws: int, strong: dict[int, float]) -> Evidence:
    """Columns as important as their shadows, which are spread evenly up to 1, but for some; drawn so often."""
    rng = np.random.default_rng(7)
    importance = rng.permutation(np.linspace(0, 1, n))
    for column, value in strong.items():
        importance[column] = value
    shadow = rng.permutation(np.linspace(0, 1, n))[None]
    return Evidence(np.full(n, draws, np.int32), draws * importance, np.zeros(n, np.int32), draws * shadow)


@pytest.mark.parametrize(
    ("draws", "value", "decision", "reason"),
    [
        (9, 90.0, Decision.CONFIRMED, "more important than shadows, at a false discovery rate of 0.1"),
        (
            9,
            None,
            Decision.TENTATIVE,
            "more important than shadows, but barely: at a false discovery rate of 0.1 without its halving",
        ),
        (9, 0.5, Decision.REJECTED, "not more important than shadows, at a false discovery rate of 0.1"),
        (5, 90.0, Decision.TENTATIVE, "more important than shadows so far, but drawn 5 times or fewer"),
        (2, 90.0, Decision.TENTATIVE, "more important than shadows so far, but drawn 5 times or fewer"),
        (1, 90.0, Decision.UNEXAMINED, "drawn 5 times or fewer, too rarely to tell"),
        (0, 0.0, Decision.UNEXAMINED, "never drawn"),
    ],
)
def test_every_verdict(draws: int, value: float | None, decision: Decision, reason: str) -> None:
    rule = ShadowRule()
    if value is None:  # the weakest importance that is found at the whole rate is not found at half of it
        values = np.linspace(1, 3, 400)
        rates = [stats.false_discovery_control(rule.chances(made(400, draws, {3: v})), method="bh")[3] for v in values]
        value = float(values[np.flatnonzero(np.array(rates) <= 0.1)[0]])
    told = rule.judge(made(400, draws, {3: value}))
    assert (told.decision[3], told.reasons[told.reason[3]]) == (decision, reason)


def test_words_of_the_mirror() -> None:
    importance = np.linspace(-10, 10, 400)
    importance[3] = 9000.0
    told = MirrorRule().judge(Evidence(np.full(400, 10, np.int32), importance, np.zeros(400, np.int32)))
    wanted = "more important than chance makes others harmful, at a false discovery rate of 0.1"
    assert [told.reasons[told.reason[j]] for j in (3, 4)] == [wanted, f"not {wanted}"]
    assert (MirrorRule().against, ShadowRule().against) == ("mirror", "shadows")


def test_advice() -> None:
    plain = "more rows, or a larger fdr, make weak columns visible"
    evidence = made(50, 9, {})
    assert ShadowRule().advice(evidence) == plain
    few = "fewer than 10 columns are below zero, too few to mirror: use the rule 'shadow'"
    for n_below, wanted in ((9, few), (10, plain)):
        importance = np.r_[np.full(n_below, -1.0), np.zeros(20)]
        assert MirrorRule().advice(evidence._replace(importance=importance)) == wanted


def test_ten_below_zero_are_enough_to_mirror() -> None:
    importance = np.r_[np.arange(-10.0, 0.0), 0.0, 0.0, 500.0]
    evidence = Evidence(np.full(13, 10, np.int32), importance, np.zeros(13, np.int32))
    null = MirrorRule().null(evidence, np.arange(13))
    assert sorted(null) == pytest.approx(sorted([*np.arange(-1.0, 0.0, 0.1), 0, 0, *np.arange(0.1, 1.05, 0.1)]))
    assert MirrorRule().null(evidence, np.arange(1, 13)).tolist() == []


def test_what_rules_that_test_compare_with() -> None:
    evidence = made(50, 9, {})
    evidence.draws[:10] = 5
    told = ShadowRule().compared_with(evidence._replace(shadow=np.vstack([evidence.shadow] * 2)))
    assert (len(told.scores), told.n, told.threshold) == (80, 80, None)
    assert told.scores[:40] == pytest.approx(evidence.shadow[0, 10:] / 9)
    nothing = ShadowRule().compared_with(Evidence.none(4, 1))
    assert (nothing.n, nothing.scores.tolist()) == (0, [])


def test_of_many_columns_some_stand_for_all() -> None:
    n = 200_001
    evidence = Evidence(np.full(n, 9, np.int32), np.zeros(n), np.zeros(n, np.int32), np.zeros((1, n)))
    told = ShadowRule().compared_with(evidence)
    assert (len(told.scores), told.n) == (100_001, n)


def test_whose_chance_is_modelled() -> None:
    """Those beyond all shadows of their stratum: of 400, and of a hundred others."""
    evidence = made(500, 9, {3: 90.0, 7: 0.5, 450: 90.0, 460: 0.5})
    evidence.draws[480] = 5
    rule = ShadowRule(strata=np.repeat([0, 1], [400, 100]))
    told = rule.modelled(evidence)
    assert np.flatnonzero(told).tolist() == [3, 450]
    assert told.dtype == bool
    assert rule.chances(evidence)[[3, 450]].max() < 1 / 401
    assert not MirrorRule().modelled(evidence).any()
    few = made(19, 9, {3: 90.0})
    assert not ShadowRule().modelled(few).any()


def test_least_draws_are_not_enough() -> None:
    """Five by default, and one to be carried: more than that is asked for."""
    for draws, found, judged in ((1, [], False), (2, [3], False), (5, [3], False), (6, [3], True)):
        evidence = made(400, draws, {3: 90.0})
        assert ShadowRule().found(evidence).tolist() == found
        assert bool(ShadowRule().chances(evidence)[3] < 0.01) == judged
        assert ShadowRule(least_draws=draws).chances(evidence)[3] == 1


def stratum_of(*, category: bool, n_codes: int, missing: int, n_uncommon: float) -> tuple[int, int, bool, bool]:
    """What the order of strata is by: rows that set a column apart, codes, categories, missing values."""
    return round(math.log2(max(n_uncommon, 1))), round(math.log2(max(n_codes, 1))), category, missing > 0


def test_strata_are_numbered_in_order() -> None:
    """Every combination, against sorting what they are made of; no two are one."""
    each = [
        {"category": category, "n_codes": n_codes, "missing": missing, "n_uncommon": n_uncommon}
        for category in (False, True)
        for n_codes in (0, 1, 2, 3, 5, 8, 16, 90, 255, 256)
        for missing in (0, 1, 70)
        for n_uncommon in (0.5, 1.0, 1.4, 1.5, 40.0, 50.0, 199.0, 1e6)
    ]
    keys = [stratum_of(**one) for one in each]
    wanted = [sorted(set(keys)).index(key) for key in keys]
    columns = (np.array([one[name] for one in each]) for name in ("category", "n_codes", "missing", "n_uncommon"))
    assert null_strata(*columns).tolist() == wanted
    assert null_strata(np.empty(0, bool), *(np.empty(0),) * 3).tolist() == []


@pytest.mark.parametrize("fdr", [0, 1, "low", None])
def test_the_whole_sentence_about_a_rate(fdr: object) -> None:
    with pytest.raises(
        ParameterError, match=f"^fdr is {fdr!r}; it is a rate: give a number between 0 and 1, such as 0.1$"
    ):
        check_fdr(fdr)
    check_fdr(np.float32(0.5))


def test_one_column_is_compared_with_its_one_shadow() -> None:
    told = ShadowRule().compared_with(made(1, 9, {}))
    assert (len(told.scores), told.n) == (1, 1)


def test_a_chance_at_the_edge_of_the_null_is_modelled() -> None:
    """Twenty shadows count, of which two are the tail; those of columns drawn too rarely are not among them."""
    draws = np.repeat([8, 5], [20, 30]).astype(np.int32)
    shadow = np.r_[np.arange(-17.0, 3.0), np.full(30, 100.0)]
    importance = np.zeros(50)
    importance[:3] = 8 * np.array([2 * (1 + 1e-5), 2.0, 9.0])
    evidence = Evidence(draws, importance, np.zeros(50, np.int32), shadow[None] * draws)
    rule = ShadowRule(straight=True)
    p = rule.chances(evidence)
    assert p[[1, 3, 20]].tolist() == [2 / 21, 4 / 21, 1]
    assert p[0] == 1 / 21  # the model says more there than was counted
    assert p[2] == pytest.approx(3 / 21 * (1 + 9 / 1.5 / 2) ** -2)
    assert np.flatnonzero(rule.modelled(evidence)).tolist() == [2]


@pytest.mark.parametrize(
    ("fdr", "wanted"), [(0.5, Decision.CONFIRMED), (0.25, Decision.TENTATIVE), (0.2, Decision.REJECTED)]
)
def test_a_rate_as_large_as_allowed_is_small_enough(fdr: float, wanted: Decision) -> None:
    """Above all of three shadows: p is a quarter, and so is the rate of the only column."""
    evidence = Evidence(np.array([9]), np.array([90.0]), np.zeros(1, int), np.array([[1.0], [2.0], [3.0]]))
    assert ShadowRule(fdr).judge(evidence).decision.tolist() == [wanted]


def test_rates_are_said_in_few_digits() -> None:
    told = ShadowRule(0.1 + 0.2).judge(made(40, 9, {}))
    assert told.reasons[0] == "more important than shadows, at a false discovery rate of 0.3"


def test_a_table_of_no_columns() -> None:
    rule = ShadowRule(strata=np.empty(0, np.int64))
    assert rule.chances(Evidence.none(0, 1)).tolist() == []
    assert rule.modelled(Evidence.none(0, 1)).tolist() == []
