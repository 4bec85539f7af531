"""The snowball on tables whose answer is known, and what its answer does not depend on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray

import fernwood
from fernwood import seeds
from fernwood.errors import BudgetError, ParameterError
from fernwood.result import Result
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress
from fernwood.search import drawn, snowball
from fernwood.search.examining import Shadows
from fernwood.search.ledger import SnowballState
from fernwood.search.rolling import prepare, select_by_snowball
from fernwood.search.snowball import Snowball
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store import Store, writer
from fernwood.store.columns_cache import CachedStore

MADELON = fernwood.datasets.make_madelon(500, 400, class_sep=2.0, shuffle=True, random_state=1)
RELEVANT = set(MADELON.relevant.tolist())
QUICK = SnowballSettings(n_contexts=64, n_confirming=64)


def search(store: Store, settings: SnowballSettings = QUICK, seed: int = 0, **how: object) -> Result:
    return select_by_snowball(store, settings, seed, **how).result


@pytest.fixture(scope="module")
def answer() -> Result:
    return search(fernwood.ingest(MADELON.data, target=MADELON.target))


def test_columns_that_tell_in_context_are_found(answer: Result) -> None:
    found = set(answer.confirmed.tolist())
    assert len(found & RELEVANT) >= 18
    assert len(found - RELEVANT) <= 2
    told = answer.to_table().column("reason").to_pylist()
    assert any("by itself" in reason for reason in told)
    assert any("in the context of others" in reason for reason in told)
    assert answer.facts.finished


def test_by_itself_a_table_like_this_tells_less(answer: Result) -> None:
    """The problem is not trivial: without a wave, only some of the columns are found."""
    alone = int(np.count_nonzero(answer.verdicts.reason[answer.confirmed] == 0))
    assert 0 < alone < len(answer.confirmed) - 3


def same(first: Result, second: Result) -> bool:
    return bool((first.p == second.p).all()) and first.confirmed.tolist() == second.confirmed.tolist()


def test_threads_and_stores_change_nothing(answer: Result, tmp_path: Path) -> None:
    store = fernwood.ingest(MADELON.data, tmp_path / "s.fern", target=MADELON.target)
    assert same(search(store, n_threads=3), answer)
    assert not same(search(store, seed=1), answer)


def cells() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Counts of 700 cells of ten sorts as they come out of scanpy, with ten to fifty columns of most kinds."""
    rng = np.random.default_rng(12)
    sort = rng.choice(10, 700, p=[0.3, 0.18, 0.14, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02])
    usual = np.exp(rng.normal(-2, 2, 765))
    marked = np.where(rng.random((10, 765)) < 0.05, np.exp(rng.normal(1, 0.7, (10, 765))), 1)
    depth = np.exp(rng.normal(0, 0.4, 700))[:, None]
    counts = rng.poisson(usual * marked[sort] * depth)
    return np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4).astype(np.float32), sort


def test_shadows_of_kinds_with_few_columns_are_the_same_from_any_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such columns are read again and again for their shadows."""
    table, sort = cells()
    few_waves = replace(QUICK, max_waves=3)
    expected = search(fernwood.ingest(table, target=sort), few_waves)
    sparse = fernwood.ingest(scipy.sparse.csr_array(table), tmp_path / "whole.fern", target=sort)
    monkeypatch.setattr(writer.DiskWriter.__init__, "__defaults__", (100 * 700,))
    shards = fernwood.ingest(table, tmp_path / "shards.fern", target=sort)
    for store in (sparse, shards):
        assert same(search(store, few_waves), expected)
        assert same(search(CachedStore(store, 300 * 700), few_waves), expected)


def test_block_size_changes_nothing(answer: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.run.plan._BLOCK_BYTES", 500 * 37)
    assert same(search(fernwood.ingest(MADELON.data, target=MADELON.target)), answer)


def test_the_order_of_columns_changes_nothing(answer: Result) -> None:
    order = np.random.default_rng(0).permutation(400)
    other = search(fernwood.ingest(MADELON.data[:, order], target=MADELON.target))
    assert (other.p == answer.p[order]).all()


def test_names_of_classes_and_increasing_transforms_change_nothing(answer: Result) -> None:
    data = MADELON.data.astype(float)
    data[:, ::2] = np.exp(data[:, ::2])
    names = np.where(MADELON.target == 1, "a", "b")
    assert same(search(fernwood.ingest(data, target=names)), answer)


def test_noise_is_left_alone() -> None:
    """Ten tables of noise at a rate of 0.1; more than five with anything selected would be a chance of 1 in 7000."""
    rng = np.random.default_rng(5)
    taken = [
        len(search(fernwood.ingest(rng.standard_normal((100, 300)), target=np.arange(100) % 2)).confirmed) > 0
        for _ in range(10)
    ]
    assert sum(taken) <= 5


def test_nothing_found_says_why() -> None:
    rng = np.random.default_rng(6)
    result = search(fernwood.ingest(rng.standard_normal((60, 50)), target=np.arange(60) % 2))
    said = result.why_nothing()
    assert "no column is confirmed: 50 of 50 usable columns were examined, in" in said
    assert "contexts each (median), and the best, 'x" in said
    assert "has p = " in said


@pytest.mark.parametrize("n_tables", [4, pytest.param(8, marks=pytest.mark.long)])
def test_chance_is_told_of_rightly_where_few_rows_weigh_most(n_tables: int) -> None:
    """Noise in some tables; the share of a table has a deviation of 0.012, five standard errors: a false alarm in
    two million seeds. Shadows that were scored by the weights of their columns made this share 0.02.
    """
    shares = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_normal((100, 1500)), rng.integers(0, 2, 100)
        store = fernwood.ingest(x, target=y, task="classification", weights=rng.lognormal(sigma=1.5, size=100))
        shares.append(np.mean(search(store, seed=seed).p <= 0.1))
    assert abs(np.mean(shares) - 0.1) < 5 * 0.012 / np.sqrt(n_tables)


def test_numbers_categories_missing_values_and_weights() -> None:
    rng = np.random.default_rng(7)
    import pandas as pd

    n = 400
    frame = pd.DataFrame(rng.standard_normal((n, 40)), columns=[f"n{i}" for i in range(40)])
    frame["kind"] = rng.choice(list("abcdef"), n)
    for i in range(20):
        frame[f"k{i}"] = rng.choice(list("uvwxyz"), n)
    frame.loc[rng.random(n) < 0.3, "n1"] = np.nan
    frame.loc[rng.random(n) < 0.3, "n2"] = np.nan
    effect = frame["kind"].map({"a": 0, "b": 2, "c": 0, "d": 2, "e": 1, "f": 0})
    y = frame["n0"] + frame["n1"].fillna(0) + 1.5 * frame["n2"].isna() + effect + 0.5 * rng.standard_normal(n)
    result = search(fernwood.ingest(frame, target=y.to_numpy(), task="regression"))
    names = set(result.summary()["confirmed"])
    assert {"n0", "n1", "n2", "kind"} <= names
    assert len(names) <= 6
    weights = np.ones(n)
    weights[:100] = 0
    part = search(fernwood.ingest(frame, target=y.to_numpy(), task="regression", weights=weights))
    rest = fernwood.ingest(frame, target=y.to_numpy(), task="regression")
    assert part.summary()["confirmed"] != []
    assert part.summary()["confirmed"] != search(rest).summary()["confirmed"] or (part.p != search(rest).p).any()


def test_many_classes_each_with_its_own_column() -> None:
    """Eight tables: all found, and a mean share of others as promised.

    The share of one table varies by 0.07 (60 tables), a mean of eight by 0.025: above 0.18 would be three of those
    beyond a true rate of 0.1, a chance of about 1 in 700.
    """
    rng = np.random.default_rng(8)
    others = []
    for seed in range(8):
        y = rng.integers(0, 10, 600)
        x = rng.standard_normal((600, 200))
        x[np.arange(600), y] += 2
        taken = search(fernwood.ingest(x, target=y, task="classification"), seed=seed).confirmed
        assert set(range(10)) <= set(taken.tolist())
        others.append(1 - 10 / len(taken))
    assert np.mean(others) <= 0.18


def test_duplicates_are_both_found() -> None:
    rng = np.random.default_rng(9)
    x = rng.standard_normal((200, 60))
    x[:, 30] = x[:, 3]
    result = search(fernwood.ingest(x, target=(x[:, 3] > 0)))
    assert {3, 30} <= set(result.confirmed.tolist())


@pytest.mark.parametrize("stop", range(5))
def test_a_stopped_search_goes_on_to_the_same_answer(answer: Result, tmp_path: Path, stop: int) -> None:
    store = fernwood.ingest(MADELON.data, target=MADELON.target)
    run = RunDirectory.of_memory(tmp_path / "r", RunManifest("snowball", QUICK.to_json(), 0, store.fingerprint, ""))
    seen = 0

    def interrupt(_: SearchProgress) -> None:
        nonlocal seen
        seen += 1
        if seen == stop + 1:
            raise KeyboardInterrupt

    early, stopped_by = select_by_snowball(store, QUICK, 0, directory=run, progress=interrupt)
    assert isinstance(stopped_by, KeyboardInterrupt)
    assert not early.facts.finished or stop > 2
    assert same(search(store, directory=run), answer)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"fdr": 0}, "fdr is 0; it is a rate: give a number between 0 and 1"),
        ({"fdr": 1.0}, "fdr is 1.0"),
        ({"fdr": "low"}, "fdr is 'low'"),
        ({"n_contexts": 0}, "n_contexts is 0; it must be an integer from 1 on"),
        ({"max_waves": 2.5}, "max_waves is 2.5"),
        ({"given": "age"}, "given is 'age'; give a list of columns"),
        ({"given": 3}, "given is 3; give a list of columns"),
        ({"given": b"age"}, "given is b'age'; give a list of columns"),
        ({"given": iter(["age"])}, "given is <list_iterator.*; give a list of columns"),
        ({"given": {"age": 1}}, "given is {'age': 1}; give a list of columns"),
        ({"given": np.array(3)}, r"given is array\(3\); give a list of columns"),
        ({"max_contexts": -1}, "max_contexts is -1; it must be an integer from 0 on, or 'auto'"),
    ],
)
def test_parameters_out_of_range(wrong: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        SnowballSettings(**wrong)


def test_a_budget_too_small_names_one_that_does(answer: Result) -> None:
    store = fernwood.ingest(MADELON.data, target=MADELON.target)
    with pytest.raises(BudgetError, match="at least") as caught:
        search(store, memory=10**6)
    assert same(search(store, memory=caught.value.least), answer)


def exclusive_or(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(seed).standard_normal((n_rows, n_columns))
    return x, ((x[:, 3] > 0) ^ (x[:, 9] > 0)).astype(int)


def test_columns_that_tell_nothing_but_together_are_met_in_random_contexts() -> None:
    x, y = exclusive_or(500, 300, 10)
    store = fernwood.ingest(x, target=y)
    assert search(store).confirmed.tolist() == [3, 9]
    assert search(store, SnowballSettings(n_contexts=64, max_contexts=0)).confirmed.tolist() == []


def test_exploring_beside_what_is_found_is_asked_for() -> None:
    """A strong column starts the snowball, so that the other two are looked for only on request."""
    x, y = exclusive_or(600, 200, 11)
    both = y + 2 * (x[:, 50] > 0)
    store = fernwood.ingest(x, target=both, task="classification")
    plain, asked = (
        set(search(store, SnowballSettings(n_contexts=64, max_contexts=most)).confirmed.tolist()) for most in (0, 400)
    )
    assert 50 in plain
    assert {3, 9, 50} <= asked


def a_wave() -> tuple[Snowball, list[Shadows], SnowballState, SnowballState]:
    loop = prepare(fernwood.ingest(MADELON.data, target=MADELON.target), QUICK, 0).loop
    before = loop.start()
    return loop, [kind for kind, _ in loop.told.kinds], before, loop.step(before)


def test_a_column_is_not_examined_in_contexts_that_use_it() -> None:
    """The ledger after one wave, for columns in its contexts, is the sum over the other contexts."""
    loop, shadows, before, after = a_wave()
    found = before.found
    assert len(found) > 2
    rng = seeds.generator(0, snowball._WAVES, 0)
    legs = [next(loop._ferns(rng, found, n, loop.whole)) for n in (16, 48)]
    for kind in shadows:
        mine = found[kind.kinds[found] == kind.number]
        told = np.concatenate([loop.told.each(kind, mine, leg)[0] for leg in legs], axis=1)
        uses = legs[0].uses + legs[1].uses
        for row, rank in enumerate(mine.tolist()):
            beside = np.array([rank not in found[use] for use in uses])
            assert 0 < np.count_nonzero(~beside) < len(uses)
            assert after.ledger[rank] == pytest.approx(told[row, beside].sum(dtype=float), rel=1e-6)
            assert after.contexts[rank] == np.count_nonzero(beside)


def test_columns_and_shadows_that_tell_little_rest_alike() -> None:
    """One in ten shadows, and about as many columns of noise, are examined in all contexts; the others in a quarter."""
    _, _, before, after = a_wave()
    for counts in (after.contexts_null, after.contexts[before.wave < 0]):
        assert set(np.unique(counts).tolist()) == {16, 64}
        assert np.mean(counts == 64) == pytest.approx(0.1, abs=0.06)


def test_many_rows_are_laid_out_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out, plain = [], drawn.draw_ferns

    def noting(rng: np.random.Generator, codes: np.ndarray, *rest: object) -> object:
        laid_out.append(rest[-1])
        return plain(rng, codes, *rest)

    monkeypatch.setattr("fernwood.learner.contexts._CELLS_AT_ONCE", 500 * 7)
    monkeypatch.setattr(drawn, "draw_ferns", noting)
    result = search(fernwood.ingest(MADELON.data, target=MADELON.target))
    assert max(laid_out) == 7
    assert laid_out[:10] == [7, 7, 2, 7, 7, 7, 7, 7, 7, 6]  # a quarter of 64 contexts, and the rest
    assert len(set(result.confirmed.tolist()) & RELEVANT) >= 18


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", [0, 0, -3, 0]),
        ("step", [-1, 0, -1, 0]),
        ("step", [10**9, 0, -1, 0]),
        ("step", [0, 0, 6, 0]),
        ("step", [0, 0, -1, 10**9]),
        ("alone", 0),
        ("alone", np.nan),
        ("alone_null", np.inf),
        ("ledger", -1),
        ("ledger_null", np.nan),
        ("contexts", -1),
        ("contexts_null", -5),
        ("wave", -2),
        ("chance", 0),
        ("chance", -0.5),
        ("chance", np.nan),
        ("chance", 1.5),
    ],
)
def test_a_checkpoint_that_no_search_comes_to_is_refused(name: str, value: float | list[int]) -> None:
    loop = prepare(fernwood.ingest(MADELON.data[:, :40], target=MADELON.target), QUICK, 0).loop
    packed = loop.pack(loop.step(loop.start()))
    assert loop.unpack(packed).chance.tolist() == packed["chance"].tolist()
    wrong = packed[name].copy()
    wrong[-1 if np.ndim(value) == 0 else slice(None)] = value
    with pytest.raises(ValueError, match="the checkpoint's .* cannot be"):
        loop.unpack({**packed, name: wrong})
