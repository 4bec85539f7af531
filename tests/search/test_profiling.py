"""How columns go with the target by themselves: the right words, for every kind of column and target."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.insight import Profile
from fernwood.relations import Minimal
from fernwood.relevance import Decision, Verdicts
from fernwood.result import Facts, result_of
from fernwood.search.profiling import profiles_of
from fernwood.search.wording import NOTHING
from fernwood.store import Store
from fernwood.store.roles import Roles
from fernwood.store.view import ColumnView, Kept

RNG = np.random.default_rng(3)
N = 400
X = RNG.standard_normal(N)
CASE = np.where(X > 0, "case", "control")


def profiles(store: Store, decision: Any = None, seed: int = 0, **about: Any) -> dict[int, Profile]:
    """Of a result that confirms all columns, or decides as said."""
    n = store.n_columns
    decided = np.full(n, Decision.CONFIRMED, np.uint8) if decision is None else np.asarray(decision, np.uint8)
    facts = Facts.of(
        store, method="filter", n_usable=n, n_draws=1, n_planned=1, against="", seed=0, parameters={}, versions={}
    )
    verdicts = Verdicts(decided, np.zeros(n, np.uint8), ("so",))
    score = np.arange(n, 0, -1.0)
    result = result_of(store, np.arange(n), facts, verdicts, draws=np.ones(n, np.int32), score=score)
    found = profiles_of(store, replace(result, **about), seed)
    json.dumps([asdict(profile) for profile in found.values()], allow_nan=False)
    return found


def one(values: Any, target: Any, **options: Any) -> Profile:
    """Of one column of a table; the other is noise."""
    frame = pd.DataFrame({"a": values, "b": RNG.standard_normal(len(target))})
    return profiles(fernwood.ingest(frame, target=target, **options))[0]


def noisy(scale: float = 0.5) -> np.ndarray:
    return X + scale * RNG.standard_normal(N)


@pytest.mark.parametrize(
    ("values", "target", "effect"),
    [
        (noisy(), CASE, "lower in control"),
        (-noisy(), CASE, "higher in control"),
        (noisy(), X > 0, "higher in True"),
        (RNG.standard_normal(N), CASE, NOTHING),
        (noisy(), np.where(np.abs(X) < 0.6, "yes, in it", "no"), "most 'yes, in it' in the middle"),
        (noisy(0.2), np.where(np.abs(X) > 1, "yes", "no"), "most yes at both ends"),
        (noisy(), np.digitize(X, [-0.5, 0.5]).astype(str), "highest in 2, lowest in 0"),
        (noisy(0.2), np.where(np.abs(X) < 0.3, "mid", RNG.choice(["a", "b"], N)), "most mid in the middle"),
        (noisy(), X + 0.3, "rises"),
        (-noisy(), X**3, "falls"),
        (noisy(), X**2, "lowest in the middle"),
        (noisy(), -np.abs(X), "highest in the middle"),
        (RNG.standard_normal(N), X, NOTHING),
        (np.digitize(noisy(), [-1, 1]).astype("U") + "th", CASE, "differs by category: most control in 0th"),
        (np.array(["n", "e", "s"])[np.digitize(noisy(), [-1, 1])], X, "differs by category: highest in s, lowest in n"),
        (RNG.choice(list("abc"), N), CASE, NOTHING),
        (np.array([f"{i // 3}" for i in range(120)]), np.arange(120) // 3 % 2 == 0, "differs by category"),
        (np.where(np.arange(N) < 3, "a", None), X, NOTHING),
        (RNG.choice(list("abc"), N), X, NOTHING),
        (noisy() > 0, CASE, "lower in control"),
        (pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(1e7 * noisy()), unit="s"), CASE, "lower in control"),
        (np.where(X > 0, np.nan, RNG.standard_normal(N)), CASE, "missing most often in case"),
        (
            np.where(RNG.random(N) < 0.3 * (X > 0), np.nan, RNG.standard_normal(N)),
            X,
            "missing where the target is high",
        ),
    ],
)
def test_the_words(values: Any, target: Any, effect: str) -> None:
    profile = one(values, target)
    assert profile.effect == effect
    assert 0 <= profile.strength <= 1
    if effect == NOTHING:
        assert profile.strength < 0.2
    else:
        assert profile.strength > 0.1


def test_strength_is_what_it_says() -> None:
    from sklearn.metrics import roc_auc_score

    values = np.round(noisy(1.0), 1)  # with ties
    assert one(values, CASE).strength == pytest.approx(abs(2 * roc_auc_score(CASE, values) - 1), abs=1e-3)
    from scipy.stats import spearmanr

    assert one(values, X).strength == pytest.approx(spearmanr(values, X).statistic, abs=1e-3)
    assert one(np.arange(N) % 97, np.arange(N) % 97 >= 50).strength == 1.0


def test_chance_is_seldom_named() -> None:
    rng = np.random.default_rng(0)
    store = fernwood.ingest(rng.standard_normal((300, 60)), target=rng.integers(0, 2, 300))
    named = [p.effect for p in profiles(store).values() if p.effect != NOTHING]
    assert len(named) <= 5  # about two of a hundred


def test_bins_and_lines_of_a_number() -> None:
    profile = one(noisy(), CASE)
    assert profile.kind == "number"
    assert len(profile.edges) == len(profile.rows) + 1 <= 25
    assert profile.edges == sorted(profile.edges)
    assert sum(profile.rows) == N
    assert np.diff(profile.edges) == pytest.approx(profile.edges[1] - profile.edges[0])
    assert list(profile.lines) == ["case", "control"]
    for line in profile.lines.values():
        assert sum(x for x in line if x is not None) == pytest.approx(1, abs=1e-4)


def test_a_picture_has_the_shape_of_the_distribution() -> None:
    """Bins of equal width hold about the rows that a histogram of the values themselves has, outliers at the ends."""
    rng = np.random.default_rng(0)
    values = np.append(rng.exponential(size=5000), [1e6])
    profile = one(values, np.arange(len(values)) % 2)
    assert profile.edges[-1] < 20
    clipped = np.clip(values, profile.edges[0], profile.edges[-1])
    counts = np.histogram(clipped, profile.edges)[0]
    assert np.abs(np.array(profile.rows) - counts).max() < 0.03 * len(values)
    assert sum(profile.rows) == len(values)


def test_few_values_have_a_bin_each() -> None:
    values = RNG.integers(0, 4, N).astype(float)
    profile = one(values, CASE)
    assert profile.edges == [0.0, 0.5, 1.5, 2.5, 3.0]
    assert profile.rows == np.bincount(values.astype(int)).tolist()


def test_quartiles_of_a_target_of_numbers() -> None:
    values = RNG.integers(0, 3, N).astype(float)
    profile = one(values, X)
    for k in range(3):
        wanted = np.quantile(X[values == k], (0.25, 0.5, 0.75))
        found = [profile.lines[name][k] for name in ("lower quartile", "median", "upper quartile")]
        np.testing.assert_allclose(found, wanted)


def test_booleans_and_dates_have_names_for_their_bins() -> None:
    assert one(X > 0.5, CASE).categories == ["false", "true"]
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 2000, N), unit="D")
    profile = one(days, CASE)
    assert profile.kind == "category"
    assert profile.categories[-1].startswith("from 2025-0")
    assert len(profile.categories) == len(profile.rows) == len(set(profile.categories))
    hours = pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 3000, N), unit="min")
    assert one(hours, CASE).categories[1].startswith("from 2020-01-01T")


def test_many_categories_and_classes_are_folded() -> None:
    words = np.array([f"w{i:02d}" for i in range(60)])
    classes = np.array([f"class {i:02d}" for i in np.minimum(RNG.geometric(0.15, N) - 1, 30)])
    profile = one(words[np.minimum(RNG.geometric(0.1, N) - 1, 59)], classes)
    assert len(profile.categories) == 20
    assert profile.categories[-1].endswith(" others")
    assert sum(profile.rows) == N
    assert len(profile.lines) == 10
    assert list(profile.lines)[-1].endswith(" others")


def test_long_and_hostile_names_are_cut_and_stay_apart() -> None:
    long = "<b>" + "x" * 500
    classes = np.where(X > 0, long + "1", long + "2")
    profile = one(noisy(), classes)
    assert len(profile.lines) == 2
    assert all(len(name) <= 44 for name in profile.lines)
    assert len(profile.effect) < 70
    assert "\x1b" not in one(noisy(), np.where(X > 0, "\x1b[31mred", "plain")).effect


def test_missing_values_are_counted_and_left_out() -> None:
    values = noisy()
    values[:50] = np.nan
    profile = one(values, CASE)
    assert profile.missing == 50
    assert sum(profile.rows) == N - 50


def test_a_class_without_values_has_no_shares() -> None:
    profile = one(np.where(X > 0, np.nan, noisy()), CASE)
    assert set(profile.lines["case"]) == {None}
    assert sum(x or 0 for x in profile.lines["control"]) == pytest.approx(1, abs=1e-4)


def test_columns_that_say_nothing_at_all() -> None:
    values = np.full(N, 2.5)
    table = np.column_stack([values, np.full(N, np.nan), np.where(X > 0, 1.0, np.nan)])
    for target in (CASE, X):
        found = profiles(fernwood.ingest(table, target=target))
        assert (found[0].effect, found[0].strength, found[0].rows) == (NOTHING, 0.0, [N])
        assert (found[1].effect, found[1].rows, found[1].missing) == (NOTHING, [], N)
        assert found[2].effect.startswith("missing")


def test_rows_of_weight_zero_are_left_out() -> None:
    weights = np.where(X > 0.1, 0.0, 2.0)
    frame = pd.DataFrame({"a": X, "b": noisy()})
    profile = profiles(fernwood.ingest(frame, target=np.where(X > -0.5, "u", "v"), weights=weights))[0]
    assert sum(profile.rows) == np.count_nonzero(weights)
    gone = profiles(fernwood.ingest(frame, target=np.where(X > 0.1, "u", "v"), weights=weights))[0]
    assert list(gone.lines) == ["v"]  # one class has no row that counts
    assert (gone.effect, gone.strength) == (NOTHING, 0.0)


def test_many_rows_are_sampled_by_the_seed() -> None:
    rng = np.random.default_rng(0)
    store = fernwood.ingest(rng.standard_normal((60_000, 2)), target=rng.integers(0, 2, 60_000))
    first, again, other = profiles(store), profiles(store), profiles(store, seed=1)
    assert sum(first[0].rows) == 50_000
    assert first == again
    assert first != other


def test_missing_values_are_counted_in_all_rows_that_count() -> None:
    """Not in those that are looked at: it is shown as a number of rows of the table."""
    rng = np.random.default_rng(0)
    values = np.where(np.arange(120_000) % 3 == 0, np.nan, rng.standard_normal(120_000))
    weights = np.where(np.arange(120_000) < 60_000, 1.0, 0.0)
    target = rng.integers(0, 2, 120_000)
    for given, missing in ((None, 40_000), (weights, 20_000)):
        store = fernwood.ingest(np.column_stack([values, values]), target=target, weights=given)
        profile = profiles(store)[0]
        assert profile.missing == missing
        assert 30_000 < sum(profile.rows) < 36_000


def test_the_rare_classes_together_may_lack_a_value_most_often() -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(3000) < 0.9, rng.integers(0, 9, 3000), rng.integers(100, 110, 3000))
    values = np.where(rng.random(3000) < np.where(labels >= 100, 0.8, 0.1), np.nan, 1.0)
    assert one(values, labels.astype(str)).effect == "missing most often in '10 others'"


def test_the_best_are_looked_at_first() -> None:
    store = fernwood.ingest(RNG.standard_normal((60, 200)), target=RNG.integers(0, 2, 60))
    decision = np.repeat([Decision.CONFIRMED, Decision.TENTATIVE, Decision.REJECTED], [70, 70, 60])
    assert list(profiles(store, decision)) == [*range(60), *range(70, 90)]
    decision = np.repeat([Decision.CONFIRMED, Decision.TENTATIVE, Decision.REJECTED], [5, 100, 95])
    assert list(profiles(store, decision)) == list(range(80))
    assert profiles(store, np.full(200, Decision.REJECTED)) == {}
    decision = np.full(200, Decision.CONFIRMED)
    few = Minimal([150, 3], {}, 0.1, 0.1, 0.02, 5)
    assert list(profiles(store, decision, minimal=few))[:4] == [150, 3, 0, 1]


def test_every_store_says_the_same(tmp_path: Any) -> None:
    frame = pd.DataFrame({"a": noisy(), "b": RNG.choice(list("xyz"), N), "c": RNG.integers(0, 2, N)})
    memory = fernwood.ingest(frame, target=CASE)
    disk = fernwood.ingest(frame, tmp_path / "s.fern", target=CASE)
    wanted = profiles(memory)
    assert profiles(disk) == wanted
    assert profiles(Kept(disk)) == wanted
    assert profiles(disk.with_roles(Roles(memory.target))) == wanted
    assert profiles(ColumnView(disk, np.array([2, 0])))[1] == wanted[0]
    part = profiles(disk.rows(np.arange(0, N, 2)))[0]
    assert sum(part.rows) == N // 2


def test_it_is_fast() -> None:
    rng = np.random.default_rng(0)
    store = fernwood.ingest(rng.standard_normal((1000, 80)), target=rng.integers(0, 2, 1000))
    decision = np.repeat([Decision.CONFIRMED, Decision.TENTATIVE], [60, 20])
    took = []
    for _ in range(3):
        started = time.perf_counter()
        assert len(profiles(store, decision)) == 80
        took.append(time.perf_counter() - started)
    assert min(took) < 0.3


def test_rows_without_a_value_have_no_distribution() -> None:
    """Those looked at may be such, where the rows that have one are few."""
    store = fernwood.ingest(X[:, None], target=CASE)
    weights = np.zeros(N)
    values = X.copy()
    values[::2], weights[::2] = np.nan, 1.0
    store = fernwood.ingest(np.column_stack([values, X]), target=CASE, weights=weights)
    profile = profiles(store)[0]
    assert profile.missing == N // 2
    assert sum(profile.rows) == 0


def test_a_range_beyond_what_a_number_holds() -> None:
    wide = profiles(fernwood.ingest((X / np.abs(X).max() * 1.7e308)[:, None], target=CASE))[0]
    assert np.isfinite(wide.edges).all()
    assert sum(wide.rows) == N
