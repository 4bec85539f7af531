"""Boruta as a search: the loops with an oracle in place of a forest, and our forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.errors import BudgetError, ParameterError
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import store_target
from fernwood.relevance import Decision, ShadowRule
from fernwood.relevance.boruta import BorutaRule
from fernwood.run.driving import drive
from fernwood.search import forests
from fernwood.search.boruta import BorutaLoop, BorutaSettings, FixedShadowsLoop
from fernwood.search.forests import Forests, Growing
from fernwood.search.iterating import select_by_boruta
from fernwood.search.methods import select, settings_of
from fernwood.subspace.candidates import candidates
from tests.reference import boruta as reference

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 30))
Y = (X[:, 3] + X[:, 7] > 0).astype(int)
STORE = fernwood.ingest(X, target=Y)
QUICK: dict[str, Any] = {"max_iter": 25, "n_estimators": 60}


class Oracle:
    """Says what it was told, and keeps what it was asked."""

    def __init__(self, n_columns: int, n_iterations: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.strength = rng.choice([0.0, 0.6, 2.0], n_columns)
        self.importance = self.strength + rng.random((n_iterations, n_columns))
        self.shadow = rng.random((n_iterations, 200, n_columns))
        self.asked: list[tuple[list[int], int, int]] = []

    def __call__(
        self, columns: np.ndarray, iteration: int, n_shadows: int, first_shadow: int
    ) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append((columns.tolist(), n_shadows, first_shadow))
        return self.importance[iteration, columns], self.shadow[iteration, :n_shadows, columns].T


@pytest.mark.parametrize("two_step", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_loop_decides_as_the_reference(two_step: bool, seed: int) -> None:
    oracle = Oracle(12, 40, seed)
    loop = BorutaLoop(oracle, 12, BorutaRule(two_step=two_step), 40)
    state, *_ = drive(loop)
    iterations = [
        (dict(enumerate(oracle.importance[n])), oracle.shadow[n, :n_shadows, columns].ravel().tolist())
        for n, (columns, n_shadows, _) in enumerate(oracle.asked)
    ]
    expected, hits = reference.boruta(iterations, 12, alpha=0.05, perc=100, two_step=two_step)
    assert [Decision(d).word for d in state.decision] == expected
    assert state.evidence.wins.tolist() == hits


def test_rejected_columns_leave_and_few_columns_have_several_shadows() -> None:
    oracle = Oracle(12, 60, 1)
    loop = BorutaLoop(oracle, 12, BorutaRule(), 60)
    state, *_ = drive(loop)
    first, last = oracle.asked[0], oracle.asked[-1]
    assert first[0] == list(range(12))
    assert set(np.flatnonzero(oracle.strength == 2.0)) <= set(last[0]) < set(first[0])
    for columns, n_shadows, _ in oracle.asked:
        assert len(columns) * n_shadows >= 5
    ranges = [range(start, start + number) for _, number, start in oracle.asked]
    assert sum(map(len, ranges)) == len(set().union(*ranges))  # no iteration has a shadow of another
    assert state.evidence.draws.max() == len(oracle.asked)
    assert loop.progress(state).total == loop.progress(state).done


def test_fixed_shadows_are_the_same_and_no_column_leaves() -> None:
    oracle = Oracle(250, 40)
    loop = FixedShadowsLoop(oracle, 250, ShadowRule(0.05, 1), 40, n_fixed=1)
    state, *_ = drive(loop)
    assert {(len(columns), number, start) for columns, number, start in oracle.asked} == {(250, 1, 0)}
    assert 20 <= state.iteration < 40
    assert (state.decision[oracle.strength == 2.0] == Decision.CONFIRMED).all()
    p = loop.tested(state).p
    assert p is not None
    assert p[oracle.strength == 2.0].max() < p[oracle.strength == 0.0].min()


@pytest.mark.parametrize("kind", [BorutaLoop, FixedShadowsLoop])
def test_a_checkpoint_is_the_state(kind: Any) -> None:
    rule = BorutaRule() if kind is BorutaLoop else ShadowRule(0.05, 1)
    loop = kind(Oracle(30, 40), 30, rule, 40, **({} if kind is BorutaLoop else {"n_fixed": 7}))
    state = loop.start()
    for _ in range(12):
        state = loop.step(state)
    packed = {name: array.copy() for name, array in loop.pack(state).items()}
    again = loop.unpack(packed)
    assert loop.pack(loop.step(again)).keys() == packed.keys()
    for name, array in loop.pack(loop.step(state)).items():
        np.testing.assert_array_equal(loop.pack(loop.step(again))[name], array)
    for name, wrong, sentence in (
        ("decision", np.full(30, 9, np.uint8), "decisions cannot be"),
        ("decision", packed["decision"][:-1], "decisions cannot be"),
        ("iteration", np.array(11), "iterations do not add up"),
        ("iteration", np.array(41), "number of draws is none of this search"),
        ("changed", np.array(13), "number of draws is none of this search"),
        ("draws", packed["draws"][:-1], "draws are of another shape or type"),
        ("wins", packed["draws"] + np.int32(1), "wins cannot be"),
        ("importance", np.full(30, np.nan), "scores cannot be"),
        ("best", np.zeros(13), "best shadows cannot be"),
        ("best", np.zeros((2, 2)), "best shadows cannot be"),
        ("best", np.zeros(3, np.float32), "best shadows cannot be"),
        ("best", packed["best"] * np.nan, "best shadows cannot be"),
    ):
        with pytest.raises(ValueError, match=f"^the checkpoint's {sentence}$"):
            loop.unpack({**packed, name: wrong})


# Forests ------------------------------------------------------------------------------------------------------------


def grown(n_threads: int = 1, iteration: int = 0, first: int = 0, store: Any = STORE, **changes: Any) -> Any:
    growing = Growing(TreeSettings("cart", "gini", "sqrt", 5), changes.pop("n_trees", 120), "impurity")
    ids = candidates(store)
    forest = Forests(store, ids, store_target(store), growing, 1, n_threads)
    importance, shadows = forest(np.arange(len(ids)), iteration, 1, first)
    out = np.empty((2, len(ids)))
    out[:, ids] = importance, shadows[0]
    return out


def test_the_number_of_threads_changes_nothing() -> None:
    np.testing.assert_array_equal(grown(1), grown(3))


def test_the_order_of_columns_changes_nothing() -> None:
    order = np.random.default_rng(1).permutation(30)
    np.testing.assert_array_equal(grown()[:, order], grown(store=fernwood.ingest(X[:, order], target=Y)))


def test_other_shadows_are_other_shadows() -> None:
    plain = grown()
    assert (grown(first=1)[1] != plain[1]).any()
    assert (grown(iteration=1)[0] != plain[0]).any()
    assert sorted(np.argsort(plain[0])[-2:].tolist()) == [3, 7]
    assert plain[1].max() < plain[0, [3, 7]].min()


def test_blocks_part_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column is in one block an iteration, and the important ones stay so."""
    monkeypatch.setattr(forests, "_FIT_COLUMNS", 8)
    monkeypatch.setattr(forests, "_FEWEST_COLUMNS", 8)
    parted = grown(n_trees=400)
    np.testing.assert_array_equal(parted, grown(2, n_trees=400))
    assert (parted > 0).all()
    assert sorted(np.argsort(parted[0])[-2:].tolist()) == [3, 7]
    forest = Forests(STORE, candidates(STORE), store_target(STORE), Growing(TreeSettings(), 1, "impurity"), 1, 1)
    first, second = (forest._blocks(30, iteration, 1) for iteration in (0, 1))
    assert sorted(np.concatenate(first).tolist()) == list(range(30))
    assert max(map(len, first)) <= 8
    assert [part.tolist() for part in first] != [part.tolist() for part in second]


# From a store to a result -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"learner": "cart"}, {"importance": "permutation"}, {"two_step": False}])
def test_relevant_columns_are_confirmed(changes: dict[str, Any]) -> None:
    result, stopped_by = select_by_boruta(STORE, BorutaSettings(**{**QUICK, "max_iter": 40, **changes}), 0)
    assert stopped_by is None
    assert {3, 7} <= set(result.confirmed.tolist())
    assert sorted(result.order[:2].tolist()) == [3, 7]
    assert len(result.confirmed) <= 8
    assert result.facts.method == "boruta"
    table = result.to_table().to_pylist()
    assert table[0]["wins"] <= table[0]["draws"]
    assert table[0]["reason"] == "above the best shadow in more iterations than chance explains"


def test_numbers_and_fixed_shadows() -> None:
    store = fernwood.ingest(X, target=X[:, 3] + 0.5 * X[:, 7])
    result, _ = select(store, BorutaSettings(**QUICK, correction="fixed-shadows"), 0)
    assert {3, 7} <= set(result.confirmed.tolist())
    assert result.p is not None
    assert result.facts.finished


def test_weights_groups_categories_and_missing_values() -> None:
    x = X.copy()
    x[::9, 4] = np.nan
    weights = np.ones(120)
    weights[:6] = 0
    store = fernwood.ingest(x, target=Y, weights=weights, groups=np.arange(120) // 2)
    result, _ = select_by_boruta(store, BorutaSettings(**QUICK, class_weight={0: 1.0, 1: 2.0}), 0)
    assert {3, 7} <= set(result.confirmed.tolist())


def test_undecided_columns_are_reported() -> None:
    result, _ = select_by_boruta(STORE, BorutaSettings(max_iter=2, n_estimators=20), 0)
    assert len(result.tentative) == 30
    assert result.remarks() == [result.undecided]
    assert result.undecided.startswith("30 tentative after 2 iterations: neither clearly above the best shadow nor")
    assert "no column is confirmed: 30 of 30 usable columns were examined, in 2 iterations each" in result.why_nothing()


def test_settings_come_back_from_json() -> None:
    settings = BorutaSettings(alpha=np.float64(0.1), class_weight={1: 2.0}, max_iter=np.int64(7))
    again = settings_of("boruta", settings.to_json())
    assert again.to_json() == settings.to_json()


def test_memory_is_planned() -> None:
    with pytest.raises(BudgetError, match="a memory budget of 1.0 MB is too small .* would do$"):
        select_by_boruta(STORE, BorutaSettings(**QUICK), 0, memory=10**6)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"max_iter": 0}, "max_iter is 0; it must be an integer from 1 on"),
        ({"n_estimators": 0}, "n_estimators is 0; it must be an integer from 1 on, or 'auto'"),
        ({"perc": 0}, "perc is 0; it is a percentile"),
        ({"alpha": 1}, "alpha is 1; it is a level"),
        ({"correction": "none"}, "correction is 'none'; it must be one of 'fixed-shadows'"),
        ({"importance": "gain"}, "importance is 'gain'; it must be one of 'model', 'permutation'"),
        ({"learner": "random"}, "learner is 'random'; it must be one of 'extra', 'cart', 'ferns'"),
        ({"max_depth": 0}, "max_depth is 0"),
        ({"estimator": 3}, "estimator is '3', which is no scikit-learn estimator; give one, or None"),
    ],
)
def test_refusals(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        BorutaSettings(**wrong)
