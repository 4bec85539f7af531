"""Random subspaces that test: what they find, how often they are wrong, and what their answer depends on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import ParameterError
from fernwood.result import Result
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress
from fernwood.saved import load_result, save_result
from fernwood.search.selecting import SubspaceLoop, prepare, select_by_subspaces
from fernwood.search.settings import SubspaceSettings
from fernwood.search.subspace import SearchState
from fernwood.store import Store

MADELON = make_madelon(400, 200, class_sep=2.0, shuffle=True, random_state=2)
RELEVANT = set(MADELON.relevant.tolist())
RULES = ("shadow", "mirror")
QUICK: dict[str, Any] = {"n_iter": 60, "n_trees": 3}


def search(store: Store, rule: str = "shadow", seed: int = 0, n_threads: int = 2, **settings: Any) -> Result:
    return select_by_subspaces(store, SubspaceSettings(rule=rule, **settings), seed, n_threads=n_threads).result


def same(first: Result, second: Result) -> bool:
    """Bit for bit, column by column."""
    return first.to_table(np.arange(len(first.draws))).equals(second.to_table(np.arange(len(second.draws))))


@pytest.fixture(scope="module")
def store() -> Store:
    return fernwood.ingest(MADELON.data, target=MADELON.target)


@pytest.fixture(scope="module")
def answer(store: Store) -> Result:
    return search(store)


# What is found ------------------------------------------------------------------------------------------------------


def test_relevant_columns_are_found(answer: Result) -> None:
    taken = set(answer.confirmed.tolist())
    assert len(taken & RELEVANT) >= 9
    assert len(taken - RELEVANT) <= 2
    assert answer.facts.against == "shadows"
    assert answer.facts.finished


def test_the_mirror_finds_what_is_strong() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 60))
    found = search(fernwood.ingest(x, target=x[:, 3] + x[:, 7] > 0), "mirror")
    assert {3, 7} <= set(found.confirmed.tolist())
    assert len(found.confirmed) <= 4
    assert found.facts.against == "mirror"


def test_few_columns_have_many_shadows() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 4))
    assert search(fernwood.ingest(x, target=x[:, 2] > 0)).confirmed.tolist() == [2]


def test_numbers_as_a_target() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 50))
    found = search(fernwood.ingest(x, target=x[:, 30] - 2 * x[:, 31] + 0.1 * rng.standard_normal(200)))
    assert {30, 31} <= set(found.confirmed.tolist())
    assert len(found.confirmed) <= 4


@pytest.mark.parametrize(
    ("rule", "n_tables"), [("shadow", 24), pytest.param("shadow", 60, marks=pytest.mark.long), ("mirror", 20)]
)
def test_noise_is_seldom_taken(rule: str, n_tables: int) -> None:
    """At a rate of 0.1, at most one table in ten by right: the bounds are passed by chance once in 20 000 runs."""
    taken = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        noise = fernwood.ingest(rng.standard_normal((80, 40)), target=rng.permutation(np.arange(80) % 2))
        taken += len(search(noise, rule, seed, n_iter=40, n_trees=4).confirmed) > 0
    assert taken <= {60: 16, 24: 9, 20: 9}[n_tables]


def test_columns_of_many_values_have_no_advantage() -> None:
    """Binary columns and a few with many values, none of which says anything; best thresholds favour the latter."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 260))
    x[:, :140] = x[:, :140] > 0
    found = search(fernwood.ingest(x, target=rng.permutation(np.arange(150) % 2)), learner="cart")
    assert len(found.confirmed) <= 1


# What the answer depends on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_threads(store: Store, rule: str) -> None:
    assert same(search(store, rule, n_threads=1, **QUICK), search(store, rule, n_threads=3, **QUICK))


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_columns_and_memory_or_disk(rule: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(MADELON.data, columns=[f"c{i}" for i in range(200)])
    order = np.random.default_rng(1).permutation(200)
    on_disk = fernwood.ingest(frame.iloc[:, order], tmp_path / "s.fern", target=MADELON.target)
    first, second = (
        search(store, rule, **QUICK).to_table().drop_columns(["position"]).sort_by("column")
        for store in (fernwood.ingest(frame, target=MADELON.target), on_disk)
    )
    assert first.equals(second)


@pytest.mark.parametrize("change", [{"carry": 1.0}, {"max_depth": None}, {"seed": 1}, {"fdr": 0.4}, {"rule": "mirror"}])
def test_what_the_answer_depends_on(store: Store, change: dict[str, Any]) -> None:
    """That the answer is the same elsewhere says something only because here it is not."""
    assert not same(search(store, **QUICK), search(store, **{**QUICK, **change}))


def test_rows_of_weight_zero_take_no_part() -> None:
    weights = np.ones(400)
    weights[::3] = 0
    other = MADELON.target.copy()
    other[::3] = 1 - other[::3]
    for rule in RULES:
        first, second = (
            search(fernwood.ingest(MADELON.data, target=y, weights=weights), rule, **QUICK)
            for y in (MADELON.target, other)
        )
        assert same(first, second)


# When it ends -------------------------------------------------------------------------------------------------------


def test_it_ends_when_the_answer_stands(store: Store) -> None:
    """One strong column is found at once, and nothing changes after."""
    x = np.random.default_rng(3).standard_normal((300, 200))
    strong = fernwood.ingest(x, target=x[:, 7] > 0)
    early = search(strong)
    assert early.facts.n_draws == early.facts.n_planned < SubspaceSettings().draws(200, 50)
    assert early.confirmed.tolist() == [7]
    assert early.draws.min() > 5
    assert same(early, search(strong, n_iter=early.facts.n_draws))
    every = search(store, n_iter=None, n_trees=1)
    assert every.facts.n_draws == 200  # 50 a column


def test_rarely_drawn_columns_are_not_confirmed(store: Store) -> None:
    few = search(store, n_iter=5)
    assert few.confirmed.size == 0
    assert (few.p == 1).all()
    assert "draws each (median)" in few.why_nothing()
    said = set(few.to_table().column("reason").to_pylist())
    assert said <= {
        "more important than shadows so far, but drawn 5 times or fewer",
        "drawn 5 times or fewer, too rarely to tell",
        "never drawn",
    }


def test_a_run_goes_on_to_the_same_answer(store: Store, answer: Result, tmp_path: Path) -> None:
    settings = SubspaceSettings()
    manifest = RunManifest(settings.method, settings.to_json(), 0, store.fingerprint, store="")

    def stop(progress: SearchProgress) -> None:
        if progress.done == 80:
            raise KeyboardInterrupt

    run = RunDirectory.of_memory(tmp_path / "run", manifest)
    cut = select_by_subspaces(store, settings, 0, directory=run, progress=stop)
    assert cut.stopped_by is not None
    assert not cut.result.facts.finished
    assert same(select_by_subspaces(store, settings, 0, directory=run, n_threads=2).result, answer)
    assert SubspaceSettings.from_json(run.manifest.parameters) == settings


def test_checkpoints_that_cannot_be(store: Store) -> None:
    search = prepare(store, SubspaceSettings(n_trees=1), 0, n_threads=1).search
    loop = SubspaceLoop(search, 100, 5)
    state: SearchState = loop.step(loop.start())
    whole = loop.pack(state)
    again = loop.unpack(whole)
    assert again.changed == state.changed
    np.testing.assert_array_equal(again.evidence.shadow, state.evidence.shadow)
    assert again.evidence.shadow.any()
    broken: list[Mapping[str, Any]] = [
        {"shadow": whole["shadow"][:, :-1]},
        {"shadow": whole["shadow"].astype(np.float32)},
        {"shadow": np.where(whole["shadow"] > 0, np.nan, 0)},
        {"changed": np.array(21)},
        {"changed": np.array(-1)},
    ]
    for change in broken:
        with pytest.raises(ValueError, match="the checkpoint's"):
            loop.unpack({**whole, **change})
    with pytest.raises(KeyError):
        loop.unpack({name: value for name, value in whole.items() if name != "shadow"})


# What the result says -----------------------------------------------------------------------------------------------


def test_p_and_q(answer: Result, tmp_path: Path) -> None:
    assert answer.p is not None
    assert answer.q is not None
    assert (answer.q[answer.confirmed] <= 0.05).all()
    assert (answer.p <= answer.q).all()
    table = answer.to_table()
    assert {"p", "q", "score", "draws"} <= set(table.column_names)
    assert "wins" not in table.column_names
    assert table.column("reason")[0].as_py() == "more important than shadows, at a false discovery rate of 0.1"
    save_result(answer, tmp_path)
    again = load_result(tmp_path)
    assert again.p is not None
    assert again.p.tolist() == answer.p.tolist()
    assert again.facts.against == "shadows"


# Settings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["probe", "importance"])
def test_auto_is_the_paper_s_with_its_rules(rule: Any) -> None:
    said = SubspaceSettings(
        rule=rule,
        alpha=0.5,
        carry=1.0,
        n_iter=None,
        n_trees=10,
        max_features=None,
        max_depth=None,
        importance="impurity",
        max_samples=None,
    )
    assert SubspaceSettings(rule=rule) == said


def test_auto_with_rules_that_test() -> None:
    assert SubspaceSettings(rule="mirror").importance == "permutation"
    assert SubspaceSettings(rule="mirror").max_samples == 0.5
    assert SubspaceSettings(importance="permutation").max_samples == 0.7
    assert SubspaceSettings(importance="permutation", bootstrap=True).max_samples is None
    settings = SubspaceSettings()
    assert (settings.alpha, settings.carry, settings.max_depth, settings.adapts) == (0.5, 0.4, 6, True)
    assert "auto" not in {value for name, value in settings.to_json().items() if name not in ("n_iter", "patch_rows")}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"fdr": 0}, "fdr is 0; it is a rate: give a number between 0 and 1, such as 0.1"),
        ({"fdr": 1.0}, "fdr is 1.0; it is a rate"),
        ({"fdr": "auto"}, "fdr is 'auto'; it is a rate"),
        ({"carry": 1.5}, "carry is 1.5; it is a share: give a number from 0 to 1"),
        ({"n_iter": "many"}, "n_iter is 'many'; it must be an integer from 1 on, 'auto' or None"),
        ({"rule": "mirror", "importance": "impurity"}, "importance is 'impurity', which chance does not make as neg"),
        ({"rule": "mirror", "importance": "out-of-sample"}, "use importance='permutation', or rule='shadow'"),
        ({"rule": "mirror", "bootstrap": True}, "leave bootstrap out, or use rule='shadow'"),
        ({"rule": "mirror", "max_samples": None}, "trees grow on all rows; give max_samples=0.7"),
    ],
)
def test_settings_that_do_not_fit(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as refusal:
        SubspaceSettings(**wrong)
    assert "\n" not in str(refusal.value)
