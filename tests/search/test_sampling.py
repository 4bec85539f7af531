"""Tables of very many rows: waves look at a sample, and all rows decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.errors import ParameterError
from fernwood.result import Result
from fernwood.run.plan import plan_waves
from fernwood.search import rolling
from fernwood.search.rolling import select_by_snowball
from fernwood.search.sampling import sampled_rows
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball import Snowball
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.selectors import SubspaceSelector
from fernwood.store.base import Store
from fernwood.store.view import Kept, RowView

RNG = np.random.default_rng(0)
N = 6000
NOISE = RNG.standard_normal((N, 60))


def store_of(x: np.ndarray, y: np.ndarray, **roles: Any) -> Store:
    return fernwood.ingest(x, target=y, **roles)


def found(store: Store, *, n_threads: int = 2, seed: int = 0, memory: int | None = None, **settings: Any) -> Result:
    return select_by_snowball(store, SnowballSettings(**settings), seed, n_threads=n_threads, memory=memory).result


def same(one: Result, other: Result) -> bool:
    """Whether two results say the same, but for what the parameters were."""
    return one.to_table().equals(other.to_table())


# The rows of a sample --------------------------------------------------------------------------------------------------


def test_few_rows_are_all_taken() -> None:
    store = store_of(NOISE[:, :2], NOISE[:, 5] > 0)
    assert sampled_rows(store, N, 0) is None
    assert sampled_rows(store, "all", 0) is None
    rows = sampled_rows(store, N - 1, 0)
    assert rows is not None
    assert len(np.unique(rows)) == N - 1


def test_rare_classes_are_kept() -> None:
    labels = np.where(np.arange(N) % 100 == 0, "rare", np.where(np.arange(N) % 3 == 0, "some", "many"))
    rows = sampled_rows(store_of(NOISE[:, :2], labels), 1000, 0)
    assert rows is not None
    assert (np.diff(rows) > 0).all()
    assert dict(zip(*np.unique(labels[rows], return_counts=True), strict=True)) == {
        "rare": 60,
        "some": 470,
        "many": 470,
    }


def test_rows_without_weight_are_not_drawn() -> None:
    weights = (np.arange(N) % 2).astype(float)
    for y in (NOISE[:, 5] > 0, NOISE[:, 5]):
        rows = sampled_rows(store_of(NOISE[:, :2], y, weights=weights), 500, 0)
        assert rows is not None
        assert len(rows) == 500
        assert (rows % 2 == 1).all()
        assert sampled_rows(store_of(NOISE[:, :2], y, weights=weights), N // 2, 0) is None


def test_groups_are_taken_whole() -> None:
    groups = RNG.integers(0, 300, N)
    rows = sampled_rows(store_of(NOISE[:, :2], NOISE[:, 5] > 0, groups=groups), 500, 0)
    assert rows is not None
    assert 500 <= len(rows) < 600
    sizes = np.bincount(groups, minlength=300)
    assert all(count in (0, sizes[group]) for group, count in enumerate(np.bincount(groups[rows], minlength=300)))


def test_the_seed_decides() -> None:
    store = store_of(NOISE[:, :2], NOISE[:, 5])
    rows = [sampled_rows(store, 500, seed) for seed in (0, 0, 1)]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


# The answer ------------------------------------------------------------------------------------------------------------


def test_a_sample_of_enough_rows_changes_nothing() -> None:
    store = store_of(NOISE[:2000], NOISE[:2000, 0] + NOISE[:2000, 1] * NOISE[:2000, 2] > 0)
    whole = found(store, max_rows="all")
    assert len(whole.confirmed) >= 3
    assert same(found(store), whole)
    assert same(found(store, max_rows=2000), whole)
    assert whole.facts.sampling == {}
    assert not same(found(store, max_rows=1000), whole)


@pytest.mark.parametrize("numbers", [False, True])
def test_neither_threads_nor_memory_change_the_answer(numbers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    y = NOISE[:, 0] + NOISE[:, 1] * NOISE[:, 2] + NOISE[:, 59]
    store = store_of(NOISE[:, :50], y if numbers else y > 0)
    kept = []
    monkeypatch.setattr(rolling, "Kept", lambda *given: kept.append(1) or Kept(*given))
    one = found(store, max_rows=500)
    assert kept == [1]
    assert same(found(store, max_rows=500, n_threads=1), one)
    plan = plan_waves(N, 50, 2, 256, 256, 1, None, sample=(500, 256), counts=not numbers, in_place=True)
    small = found(store, max_rows=500, memory=plan.total - 1)  # too little to keep the sample as well
    assert len(kept) == 2
    assert same(small, one)


def test_the_result_says_what_was_sampled() -> None:
    result = found(store_of(NOISE, NOISE[:, 0] + NOISE[:, 1] > 0), max_rows=500)
    assert result.facts.sampling["rows"] == 500
    assert any("500 of 6,000 rows" in said and "--max-rows all" in said for said in result.remarks())
    assert result.facts.parameters["max_rows"] == 500


def test_a_weak_column_tells_by_itself_on_all_rows() -> None:
    """With 200 rows it is far from found; every column has one look at all rows."""
    rng = np.random.default_rng(3)
    y = 0.12 * NOISE[:, 7] + rng.standard_normal(N) > 0
    result = found(store_of(NOISE, y), max_rows=200)
    assert result.confirmed.tolist() == [7]
    part = sampled_rows(store_of(NOISE, y), 200, 0)
    assert 7 not in found(store_of(NOISE[part], y[part]), max_contexts=0).confirmed


def test_what_is_ahead_beside_others_is_looked_at_on_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the first column the second tells a little: too little for the sample, enough to be ahead in it."""
    rng = np.random.default_rng(4)
    y = 1.5 * NOISE[:, 0] + 0.4 * NOISE[:, 0] * NOISE[:, 1] + 1.5 * rng.standard_normal(N)
    y -= np.polyval(np.polyfit(NOISE[:, 1], y, 2), NOISE[:, 1])  # by itself it tells nothing
    store = store_of(NOISE, y)
    assert found(store, max_rows=300, seed=1).confirmed.tolist() == [0, 1]

    def passed_by(self: Snowball, state: Any) -> Any:
        step = state.step.copy()
        step[2] = -1
        return state._replace(step=step)

    monkeypatch.setattr(Snowball, "_on_all_rows", passed_by)
    assert found(store, max_rows=300, seed=1).confirmed.tolist() == [0]


def test_false_alarms_are_as_rare_as_asked_for() -> None:
    """One strong column, and 59 that say nothing: at a rate of 0.1, some run in ten may have a false one, not more.

    Of 30 runs, eight or more would have one with a chance of 2 % if it were so.
    """
    with_others = 0
    for seed in range(30):
        rng = np.random.default_rng([11, seed])
        x = rng.standard_normal((1500, 60))
        y = x[:, 0] + rng.standard_normal(1500) > 0
        confirmed = found(store_of(x, y), seed=seed, max_rows=200, n_contexts=32, n_confirming=64).confirmed.tolist()
        assert 0 in confirmed
        with_others += len(confirmed) > 1
    assert with_others <= 7


def test_a_rare_code_outside_the_sample() -> None:
    """Missing values that the sample has not: the column is of a kind of its own, and everything is still judged."""
    x = NOISE[:, :30].copy()
    x[RNG.choice(N, 3, replace=False), 4] = np.nan
    result = found(store_of(x, x[:, 0] + NOISE[:, 40] > 0), max_rows=200)
    assert 0 in result.confirmed
    assert result.p is not None
    assert result.p[4] > 1e-4


def test_kept_rows_are_the_rows() -> None:
    store = store_of(NOISE, NOISE[:, 0] > 0.5)
    rows = np.sort(RNG.choice(N, 100, replace=False))
    kept, view = Kept(store.rows(rows)), RowView(store, rows)
    assert np.array_equal(kept.read([5, 3, 5]), view.read([5, 3, 5]))
    assert kept.n_bytes == 60 * 100
    assert kept.fingerprint == view.fingerprint


@pytest.mark.parametrize("wrong", [99, 0, "some", 2.5, None])
def test_bad_numbers_of_rows_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="max_rows is .*; it must be an integer from 100 on, or 'all'"):
        SnowballSettings(max_rows=wrong)


# Random patches of subspaces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("patch_rows", [400, 0.1])
def test_patches_find_what_is_there(patch_rows: float) -> None:
    selector = SubspaceSelector(q=20, patch_rows=patch_rows, random_state=0, n_jobs=2)
    y = NOISE[:, 0] - NOISE[:, 1] + 0.5 * NOISE[:, 59] > 0
    selector.fit(NOISE[:, :40], y)
    assert selector.get_support(indices=True).tolist() == [0, 1]
    result = selector.result_
    assert result.facts.parameters["patch_rows"] == (400 if patch_rows == 400 else 600)
    assert any("every draw looked at" in said and "--patch-rows all" in said for said in result.remarks())
    again = SubspaceSelector(q=20, patch_rows=patch_rows, random_state=0).fit(store_of(NOISE[:, :40], y))
    assert result.to_table().equals(again.result_.to_table())


def test_patches_by_default() -> None:
    assert SubspaceSettings().patch(100_000) is None
    assert SubspaceSettings().patch(100_001) == 50_000
    assert SubspaceSettings(patch_rows=None).patch(10**7) is None
    assert SubspaceSettings(patch_rows=1.0).patch(500) is None
    assert SubspaceSettings(patch_rows=300).patch(500) == 300
    assert SubspaceSettings(learner="ferns").patch(10**6) is None
    with pytest.raises(ParameterError, match="patch_rows is 600 and there are 500 rows"):
        SubspaceSettings(patch_rows=600).patch(500)
    with pytest.raises(ParameterError, match="patch_rows is 0; give a number of rows from 1 on"):
        SubspaceSettings(patch_rows=0)
    with pytest.raises(ParameterError, match="patch_rows is 300, which is of trees"):
        SubspaceSettings(learner="ferns", patch_rows=300)
