"""The whole search on small tables: what it finds, what its answer depends on, and what it refuses."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import BudgetError, FernwoodError, FernwoodWarning, ParameterError, SourceError, TargetError
from fernwood.result import Result
from fernwood.saved import save_result
from fernwood.search.methods import settings_of
from fernwood.search.selecting import select_by_subspaces
from fernwood.search.settings import SubspaceSettings
from fernwood.store import Store

MADELON = make_madelon(240, 60, class_sep=3.0, random_state=0)
SMALL: dict[str, Any] = {"q": 15, "n_iter": 100, "n_trees": 3, "rule": "probe"}
RNG = np.random.default_rng(1)


def store_of(table: Any = MADELON.data, target: Any = MADELON.target, **roles: Any) -> Store:
    return fernwood.ingest(table, target=target, **roles)


def search(store: Store, seed: int = 0, n_threads: int = 1, memory: int | None = None, **settings: Any) -> Result:
    chosen = SubspaceSettings(**{**SMALL, **settings})
    return select_by_subspaces(store, chosen, seed, n_threads=n_threads, memory=memory).result


def same(first: Result, second: Result) -> bool:
    """Bit for bit, column by column."""
    return first.to_table(np.arange(len(first.draws))).equals(second.to_table(np.arange(len(second.draws))))


@pytest.fixture(scope="module")
def store() -> Store:
    return store_of()


@pytest.fixture(scope="module")
def answer(store: Store) -> Result:
    return search(store)


def test_what_is_found_is_relevant(answer: Result) -> None:
    assert len(answer.confirmed) >= 5
    assert set(answer.confirmed.tolist()) <= set(MADELON.relevant.tolist())
    assert answer.facts.n_draws == answer.facts.n_planned == 100
    assert answer.facts.finished
    assert answer.draws.sum() == 100 * 15


# What the answer does not depend on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"weighted": True}, {"importance": "permutation", "bootstrap": True}])
def test_threads(store: Store, settings: dict[str, Any]) -> None:
    assert same(search(store, **settings), search(store, n_threads=2, **settings))


def test_memory_and_disk(answer: Result, tmp_path: Path) -> None:
    on_disk = fernwood.ingest(MADELON.data, tmp_path / "s.fern", target=MADELON.target)
    assert same(answer, search(on_disk, n_threads=2))


def test_the_order_of_columns(store: Store) -> None:
    order = RNG.permutation(60)
    frame = pd.DataFrame(MADELON.data, columns=[f"c{i}" for i in range(60)])
    first = search(store_of(frame)).to_table()
    second = search(store_of(frame.iloc[:, order])).to_table()
    assert (
        first.drop_columns(["position"]).sort_by("column").equals(second.drop_columns(["position"]).sort_by("column"))
    )


@pytest.mark.parametrize("labels", [["b", "a"], [7, -7], [True, False]])
def test_the_names_of_classes(answer: Result, labels: list[Any]) -> None:
    assert same(answer, search(store_of(target=np.array(labels)[MADELON.target])))


def test_the_names_of_many_classes() -> None:
    target = (MADELON.data[:, 0] * 2).round().astype(int) % 12
    first = search(store_of(target=target))
    second = search(store_of(target=np.array([f"{(7 * i) % 12}" for i in range(12)])[target]))
    assert same(first, second)


def test_units_of_columns(answer: Result) -> None:
    table = MADELON.data.astype(float)
    table[:, ::3] = np.exp(table[:, ::3])
    table[:, 1::3] = 1e6 * table[:, 1::3] - 5
    assert same(answer, search(store_of(table)))


def test_the_unit_of_a_target() -> None:
    target = MADELON.data[:, 0] + MADELON.data[:, 1]
    first = search(store_of(target=target, task="regression"))
    second = search(store_of(target=8 * target, task="regression"))
    assert first.confirmed.tolist() == second.confirmed.tolist()
    assert first.wins.tolist() == second.wins.tolist()


def test_a_budget_changes_threads_and_nothing_else(store: Store, answer: Result) -> None:
    with pytest.raises(BudgetError, match="at least .* would do, or a smaller q") as refusal:
        search(store, memory=1_000_000)
    assert same(answer, search(store, n_threads=64, memory=refusal.value.least))


def test_weights_that_are_all_alike(answer: Result) -> None:
    for weight in (1.0, 0.3):
        assert same(answer, search(store_of(weights=np.full(240, weight))))


# What it does depend on ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"round_size": 7}, {"alpha": 0}, {"n_trees": 4}, {"weighted": True}, {"q": 16}, {"learner": "cart"}]
)
def test_what_the_answer_depends_on(store: Store, answer: Result, change: dict[str, Any]) -> None:
    """That the answer is the same elsewhere says something only because here it is not."""
    assert not same(answer, search(store, **change))


def test_the_seed_matters(store: Store, answer: Result) -> None:
    assert not same(answer, search(store, seed=1))


def test_random_subspaces_are_sequential_ones_that_carry_nothing(store: Store, answer: Result) -> None:
    """With alpha 0 every column is as likely in a draw: 25 of 100, variance 18.75; six deviations for 60 columns."""
    blind = search(store, alpha=0.0)
    assert np.abs(blind.draws - 25).max() < 6 * np.sqrt(18.75)
    assert answer.draws[answer.confirmed].mean() > 1.5 * blind.draws[answer.confirmed].mean()
    assert same(blind, search(store, alpha=0.05))  # ⌊0.05 · 15⌋ = 0


def test_weighted_draws_carry_what_is_important(store: Store) -> None:
    carried = search(store, weighted=True)
    assert len(set(carried.confirmed.tolist()) - set(MADELON.relevant.tolist())) <= 2
    most = carried.confirmed[np.argsort(-carried.score[carried.confirmed])]
    half = len(most) // 2
    assert carried.draws[most[:half]].mean() > carried.draws[most[half:]].mean()


def test_the_rule_of_algorithm_1(store: Store) -> None:
    found = search(store, rule="importance", n_iter=10, q=10)
    assert "wins" not in found.to_table().column_names
    assert found.confirmed.tolist() == np.flatnonzero(found.score > 0).tolist()


# Tables of every kind -----------------------------------------------------------------------------------------------


def test_numbers_as_a_target() -> None:
    target = MADELON.data[:, 30] - 2 * MADELON.data[:, 31] + 0.1 * RNG.standard_normal(240)
    found = search(store_of(target=target))
    assert found.facts.task == "regression"
    assert found.confirmed.tolist() == [30, 31]


def test_twelve_classes() -> None:
    target = (
        np.digitize(MADELON.data[:, 30], [-0.5, 0.5]) + 3 * np.digitize(MADELON.data[:, 31], [-0.7, 0.0, 0.7])
    ) % 12
    assert len(set(target.tolist())) == 12
    assert search(store_of(target=target)).confirmed.tolist() == [30, 31]


@pytest.mark.parametrize("learner", ["extra", "cart"])
def test_missing_values(learner: str) -> None:
    table = MADELON.data.astype(float)
    table[RNG.random(table.shape) < 0.1] = np.nan
    table[:, 40] = np.nan
    target = np.nan_to_num(table[:, 30]) > 0
    found = search(store_of(table, target), learner=learner)
    assert 30 in found.confirmed.tolist()
    assert found.draws[40] == 0
    assert found.to_table(np.array([40])).column("reason")[0].as_py().startswith("constant, or all values missing")


def test_being_missing_can_be_what_matters() -> None:
    table = RNG.standard_normal((240, 20))
    target = RNG.integers(0, 2, 240)
    table[target == 1, 7] = np.nan
    assert 7 in search(store_of(table, target), q=8).confirmed.tolist()


@pytest.mark.parametrize("categories", ["multiway", "subset"])
def test_categories(categories: str) -> None:
    frame = pd.DataFrame(RNG.standard_normal((240, 20)), columns=[f"n{i}" for i in range(20)])
    for i in range(10):
        frame[f"c{i}"] = np.array(["u", "v", "w", "x", None], object)[RNG.integers(0, 5, 240)]
    target = frame["c4"].isin(["u", "w"]).to_numpy()
    store = store_of(frame, target)
    found = search(store, q=10, categories=categories)
    assert [store.names[i] for i in found.confirmed.tolist()] == ["c4"]


def test_rows_of_weight_zero_take_no_part() -> None:
    """Half of the rows say the opposite, and count for nothing."""
    table = RNG.standard_normal((300, 20))
    target = table[:, 3] > 0
    target[::2] = ~target[::2]
    weights = np.ones(300)
    assert 3 not in search(store_of(table, target, weights=weights), q=8).confirmed.tolist()
    weights[::2] = 0
    found = search(store_of(table, target, weights=weights), q=8)
    assert found.confirmed.tolist() == [3]
    target[::2] = RNG.integers(0, 2, 150).astype(bool)
    assert same(found, search(store_of(table, target, weights=weights), q=8))


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b"], [False, True]])
def test_class_weights(labels: list[Any]) -> None:
    target = np.array(labels)[(MADELON.data[:, 30] > 1.2).astype(int)]
    store = store_of(target=target)
    plain, balanced = search(store), search(store, class_weight="balanced")
    n_rare = int((target == labels[1]).sum())
    by_hand = search(store, class_weight={labels[0]: 240 / 2 / (240 - n_rare), labels[1]: 240 / 2 / n_rare})
    assert 30 in balanced.confirmed.tolist()
    assert balanced.wins.tolist() == by_hand.wins.tolist()
    assert not same(plain, balanced)


def test_class_weights_are_kept_as_plain_values(store: Store, tmp_path: Path) -> None:
    given = {np.int64(0): np.float32(1.0), np.int64(1): 2}
    result = search(store, class_weight=given)
    assert result.facts.parameters["class_weight"] == [[0, 1.0], [1, 2.0]]
    save_result(result, tmp_path)
    settings = SubspaceSettings(**SMALL, class_weight=given)
    assert SubspaceSettings.from_json(settings.to_json()) == SubspaceSettings(**SMALL, class_weight={0: 1.0, 1: 2.0})


def test_ten_thousand_classes() -> None:
    """Three rows a class, in seconds and without arrays of rows by classes or nodes by classes."""
    table = RNG.integers(0, 255, (30_000, 3)).astype(float)
    target = np.array([f"k{i}" for i in range(10_000)])[np.arange(30_000) % 10_000]
    store = store_of(table, target)
    started = time.monotonic()
    for importance in ("impurity", "permutation", "out-of-sample"):
        found = search(store, q=2, n_iter=2, n_trees=1, max_samples=0.7, importance=importance)
        assert found.facts.finished
    assert time.monotonic() - started < 20


def test_two_columns_and_four_rows() -> None:
    table = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    assert search(store_of(table, [0, 0, 1, 1]), q=1).facts.finished


# What is refused ----------------------------------------------------------------------------------------------------


def test_more_columns_than_there_are(store: Store) -> None:
    with pytest.warns(FernwoodWarning, match="q is 61 and 60 columns are usable, so every draw holds all"):
        result = search(store, q=61, n_iter=2)
    assert result.facts.parameters["q"] == 60
    assert result.draws.tolist() == [2] * 60


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"q": 0}, "q is 0; give a number of columns from 1 on, or None"),
        ({"q": 2.5}, "q is 2.5; give a number of columns"),
        ({"alpha": 1.5}, "alpha is 1.5; it is a share: give a number from 0 to 1"),
        ({"alpha": float("nan")}, "alpha is nan; it is a share"),
        ({"alpha": "half"}, "alpha is 'half'; it is a share"),
        ({"n_iter": 0}, "n_iter is 0; it must be an integer from 1 on"),
        ({"n_iter": 2.0}, "n_iter is 2.0; it must be an integer"),
        ({"round_size": 0}, "round_size is 0; it must be an integer from 1 on"),
        ({"rule": "x"}, "rule is 'x'; it must be one of 'shadow', 'mirror', 'probe', 'importance'"),
        ({"min_draws": -1}, "min_draws is -1; it must be an integer from 0 on"),
        ({"min_draws": 2.5}, "min_draws is 2.5; it must be an integer from 0 on"),
        ({"min_share": 0}, "min_share is 0; it is a share: give a number above 0"),
        ({"criterion": "mse"}, "criterion is 'mse'; it must be one of 'gini', 'entropy', 'variance'"),
        ({"n_trees": 0}, "n_trees is 0; it must be an integer from 1 on"),
        ({"learner": "boosting"}, "is 'boosting'; it must be one of 'extra', 'cart', 'random'"),
        ({"importance": "permutation"}, "give max_samples=0.7, say, or bootstrap=True"),
        ({"max_samples": 241}, "max_samples is 241 and there are 240 rows; give at most that many"),
        ({"class_weight": "even"}, "class_weight is 'even'; give a mapping"),
        ({"class_weight": {5: 1.0}}, "class_weight names 5, which is no class of the target"),
        ({"class_weight": {0: -1.0}}, "weight of -1.0; weights must be numbers from zero on"),
    ],
)
def test_parameters_out_of_range(store: Store, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as refusal:
        search(store, **wrong)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("weighted", [2, "no", None])
def test_flags_are_booleans(weighted: object) -> None:
    for name in ("weighted", "bootstrap"):
        with pytest.raises(ParameterError, match=f"{name} is {weighted!r}; give True or False"):
            SubspaceSettings(**{name: weighted})


ONES = np.ones((20, 4))
NUMBERS = RNG.standard_normal((20, 4))
HALVES = np.arange(20) % 2


@pytest.mark.filterwarnings("ignore:column:fernwood.errors.FernwoodWarning")  # such targets are given away, too
@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (lambda: fernwood.ingest(NUMBERS), TargetError, "the store has no target; make it with one"),
        (lambda: store_of(ONES, HALVES), SourceError, "0 of n_features = 4 columns are usable.*needs at least 2"),
        (lambda: store_of(NUMBERS[:, :1], HALVES), SourceError, "1 of n_features = 1 columns are usable"),
        (lambda: store_of(NUMBERS[:3], [0, 1, 0]), SourceError, r"too few rows \(n_samples = 3\); give at least 4"),
        (
            lambda: store_of(NUMBERS, HALVES).rows(HALVES == 0),
            TargetError,
            "has one class only, '0'; it needs at least",
        ),
        (lambda: store_of(NUMBERS, [*"abcdefghijklmnopqrst"]), TargetError, "20 classes in 20 rows, as an identifier"),
        (lambda: store_of(NUMBERS, HALVES, weights=-np.ones(20)), TargetError, "none missing, infinite or negative"),
        (lambda: store_of(NUMBERS, HALVES, weights=np.zeros(20)), TargetError, "all zero; at least one row must count"),
        (lambda: store_of(NUMBERS, HALVES, weights=1.0 - HALVES), TargetError, "has one class only, '0'"),
        (
            lambda: store_of(NUMBERS, NUMBERS[:, 0], weights=[1.0] + 19 * [0.0]),
            TargetError,
            "in every row; there is nothing to explain",
        ),
    ],
)
def test_tables_that_cannot_be_searched(given: Any, kind: type[FernwoodError], words: str) -> None:
    with pytest.raises(kind, match=words) as refusal:
        search(given(), q=None)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("criterion", "task", "words"),
    [
        (
            "variance",
            "classification",
            "criterion is 'variance' and the task is classification; use 'gini' or 'entropy'",
        ),
        ("gini", "regression", "criterion is 'gini' and the task is regression; use 'variance'"),
    ],
)
def test_a_criterion_of_the_other_task(criterion: str, task: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        search(store_of(target=MADELON.target, task=task), criterion=criterion)


def test_groups_that_a_mirror_would_tear_apart() -> None:
    sentence = "rule is 'mirror', which does not keep groups of rows together; use 'shadow', or leave the groups out"
    with pytest.raises(ParameterError, match=sentence):
        search(store_of(NUMBERS, HALVES, groups=np.arange(20) // 2), q=None, rule="mirror")


def test_a_method_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="the method 'magic' is not known here; use snowball, .*, or another Fern"):
        settings_of("magic", {})


def test_class_weights_of_numbers() -> None:
    with pytest.raises(ParameterError, match="class_weight is given and the target is numbers; leave it out"):
        search(store_of(target=RNG.random(240)), class_weight="balanced")
