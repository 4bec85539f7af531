"""Searches whose work items travel: the answer is that of threads, bit for bit, whatever the method and the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.result import Result
from fernwood.search.boruta import BorutaSettings
from fernwood.search.ferns import FernSettings
from fernwood.search.methods import Settings, select
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store import Store
from tests.work.conftest import HereEngine, ThreadsEngine

MADELON = make_madelon(300, 120, class_sep=2.0, random_state=4)
QUICK = SnowballSettings(n_contexts=32, max_waves=4, n_confirming=32, max_contexts=32)


def plain() -> Store:
    return fernwood.ingest(MADELON.data, target=MADELON.target)


def narrow(n_columns: int) -> Store:
    return fernwood.ingest(MADELON.data[:, :n_columns], target=MADELON.target)


def mixed(**roles: Any) -> Store:
    """Numbers, few values, categories, missing values."""
    rng = np.random.default_rng(5)
    n = len(MADELON.target)
    frame = pd.DataFrame(MADELON.data[:, :40].copy(), columns=[f"n{i}" for i in range(40)])
    for i in range(10):
        frame[f"c{i}"] = rng.choice(list("abcdef")[: 2 + i // 2], n)
        frame[f"w{i}"] = rng.integers(0, 2 + i, n)
    frame.iloc[rng.random(n) < 0.2, 3] = np.nan
    frame["told"] = np.where(MADELON.target == 1, rng.choice(list("xy"), n), rng.choice(list("yz"), n))
    return fernwood.ingest(frame, target=roles.pop("target", MADELON.target), **roles)


GROUPS = np.arange(300) // 3
WEIGHTS = np.where(np.arange(300) % 7 == 0, 0.0, 1.0 + np.arange(300) % 3)
NUMBERS = MADELON.data[:, 0] * 2 + np.random.default_rng(6).standard_normal(300)

CASES: dict[str, tuple[Any, Settings]] = {
    "snowball": (plain, QUICK),
    "mixed columns": (mixed, QUICK),
    "numbers to explain": (lambda: mixed(target=NUMBERS), QUICK),
    "weights": (lambda: mixed(weights=WEIGHTS), QUICK),
    "groups": (lambda: mixed(groups=GROUPS), QUICK),
    "covariates": (mixed, SnowballSettings(n_contexts=32, max_waves=3, n_confirming=32, given=("c0", "n1"))),
    "a sample of rows": (mixed, SnowballSettings(n_contexts=32, max_waves=4, n_confirming=32, max_rows=150)),
    "nothing to find": (
        lambda: fernwood.ingest(np.random.default_rng(0).standard_normal((90, 50)), target=np.arange(90) % 2),
        QUICK,
    ),
    "some rows of a store": (lambda: plain().rows(np.arange(20, 280)), QUICK),
    "few that suffice": (
        lambda: narrow(16),
        SnowballSettings(n_contexts=32, max_waves=4, n_confirming=32, goal="minimal"),
    ),
    "subspaces": (mixed, SubspaceSettings(n_iter=50, round_size=7)),
    "subspaces, weighted": (
        plain,
        SubspaceSettings(n_iter=24, weighted=True, round_size=8, importance="permutation", max_samples=0.7),
    ),
    "subspaces of ferns": (plain, SubspaceSettings(n_iter=70, learner="ferns")),
    "ferns": (mixed, FernSettings(scans=100)),
    "boruta": (mixed, BorutaSettings(max_iter=12)),
    "boruta with fixed shadows": (plain, BorutaSettings(max_iter=8, correction="fixed-shadows")),
    "boruta of ferns": (plain, BorutaSettings(max_iter=8, learner="ferns", max_depth=5)),
}


def same(one: Result, other: Result) -> None:
    for name in ("confirmed", "tentative", "draws", "score", "p", "q"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b, err_msg=name)
    assert one.summary() == other.summary()


@pytest.mark.parametrize("case", CASES)
def test_items_give_the_answer_of_threads(case: str, here: HereEngine) -> None:
    make, settings = CASES[case]
    store = make()
    expected = select(store, settings, 3, n_threads=2)
    got = select(store, settings, 3, engine=here)
    same(expected.result, got.result)
    assert here.n_rounds > 2


def test_columns_in_many_small_blocks(here: HereEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of very many rows: the shadows that say what chance does come in several blocks, too."""
    store = mixed()
    expected = select(store, QUICK, 3).result
    monkeypatch.setattr("fernwood.run.plan._BLOCK_BYTES", 300 * 37)
    same(expected, select(store, QUICK, 3, engine=here).result)


@pytest.mark.parametrize("case", ["mixed columns", "a sample of rows", "subspaces", "boruta of ferns"])
def test_a_worker_of_several_threads(case: str) -> None:
    make, settings = CASES[case]
    store = make()
    same(select(store, settings, 3).result, select(store, settings, 3, engine=ThreadsEngine()).result)


def test_boruta_in_several_blocks(here: HereEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.search.forests._FIT_COLUMNS", 50)
    store, settings = plain(), BorutaSettings(max_iter=5)
    same(select(store, settings, 1).result, select(store, settings, 1, engine=here).result)


def test_a_store_on_disk_is_opened_where_it_is(here: HereEngine, tmp_path: Path) -> None:
    store = fernwood.ingest(MADELON.data, tmp_path / "m.fern", target=MADELON.target)
    got = select(store, QUICK, 3, engine=here).result
    same(select(store, QUICK, 3).result, got)
    assert [path.name for path in tmp_path.iterdir()] == ["m.fern"]


def test_nothing_stays_of_items_that_were_done_here(here: HereEngine) -> None:
    from fernwood.search import working

    before = list(working._known)
    select(plain(), FernSettings(scans=20), 3, engine=here)
    assert list(working._known) == before


def test_little_is_sent(here: HereEngine) -> None:
    """Never codes nor contexts: most of a round are the addresses of 20 000 shadows, of eight bytes each."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 5000)).astype(np.float32)
    store = fernwood.ingest(x, target=x[:, 7] + x[:, 8] > 0)
    select(store, SnowballSettings(max_waves=3, n_confirming=32, max_contexts=0), 0, engine=here)
    assert 160_000 < here.largest_round < 2**19


def test_other_learners_stay_in_this_process(here: HereEngine) -> None:
    from fernwood.search.filter import FilterSettings

    settings = FilterSettings(estimator="naive-bayes", cv=2)
    same(select(plain(), settings, 0).result, select(plain(), settings, 0, engine=here).result)
    assert here.n_rounds == 0


def test_a_card_of_this_process_is_none_of_the_workers() -> None:
    """One that was asked for is refused; where it was to be chosen, the work goes to the workers."""
    store = plain()
    with pytest.raises(
        fernwood.ParameterError, match="^device is 'cuda', a card of this process, and workers of other"
    ):
        select(store, QUICK, 0, engine=HereEngine(), device="cuda", device_memory=None)
    chosen = select(store, QUICK, 0, engine=HereEngine(), device="auto", device_memory=10**9).result
    assert np.array_equal(chosen.p, select(store, QUICK, 0).result.p)
