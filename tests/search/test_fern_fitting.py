"""Ferns in subspaces and in Boruta: a fit against its slow twin, what it depends on, what is found and refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood import BorutaSelector, SubspaceForestClassifier, SubspaceSelector, seeds
from fernwood.errors import BudgetError, FernwoodWarning, ParameterError, TargetError
from fernwood.learner.ferns import draw_columns, fern_rows
from fernwood.search import fern_fitting, forests
from fernwood.search.boruta import BorutaSettings
from fernwood.search.dealing import Dealer
from fernwood.search.fern_fitting import FernColumns, FernFits, FernFitSettings
from fernwood.search.forests import FernForests
from fernwood.search.iterating import select_by_boruta
from fernwood.search.methods import settings_of
from fernwood.search.settings import SubspaceSettings
from fernwood.sources.base import Kind
from fernwood.store import Store
from fernwood.subspace.candidates import candidates
from tests.reference import ferns as twin

RNG = np.random.default_rng(0)
SMALL = RNG.integers(0, 6, (40, 7)).astype(float)
SMALL[:4, 2] = np.nan
SMALL_Y = (SMALL[:, 0] + RNG.integers(0, 4, 40)).astype(int) % 3
WIDE = RNG.standard_normal((300, 250))
SIDE = (WIDE[:, 3] > 0).astype(int) + (WIDE[:, 7] > 0)
Y = RNG.integers(0, 2, 300) < SIDE
STORE = fernwood.ingest(WIDE, target=Y)


def fits(store: Store, settings: FernFitSettings, seed: int = 3) -> FernFits:
    return FernFits(FernColumns(store, candidates(store), fern_rows(store), seed), settings, seed)


def store_of(**roles: Any) -> Store:
    return fernwood.ingest(SMALL, target=SMALL_Y, **roles)


@pytest.mark.parametrize(
    "roles", [{}, {"groups": np.arange(40) // 2}, {"weights": np.append(np.zeros(5), np.ones(35))}]
)
def test_a_fit_is_its_slow_twin(roles: dict[str, Any]) -> None:
    """The mean over the ferns that use a column of (6), and of (7) for each of its shadows."""
    store, columns, draw, seed = store_of(**roles), np.array([0, 2, 3, 6]), 5, 3
    settings = FernFitSettings(depth=3, n_ferns=8, shadows=2, first_shadow=4)
    scores = fits(store, settings, seed)(columns, draw)
    rows, ids = fern_rows(store), candidates(store)[columns]
    codes = store.read(ids) if rows.kept is None else np.ascontiguousarray(store.read(ids)[:, rows.kept])
    units = rows.units if "groups" in roles else None
    for copy in range(2):
        shadows = Dealer(seed, groups=units)(codes.copy(), store.checksums[ids], np.full(4, 4 + copy, np.uint64))
        states = seeds.states(8, seed, fern_fitting._FERNS, draw)
        trunks = draw_columns(states, 4, 3)
        terms: dict[int, list[tuple[float, float]]] = {column: [] for column in range(4)}
        for trunk, state in zip(trunks, states, strict=True):
            fern = twin.draw_fern(
                codes, store.kinds[ids] == Kind.CATEGORY, rows.labels, 3, trunk.tolist(), state, units
            )
            for column, both in twin.importances(fern, codes, shadows, state).items():
                terms[column].append(both)
        for column, told in terms.items():
            mean = [math.fsum(each) / len(told) for each in zip(*told, strict=True)]
            assert (scores.importance[column], scores.shadows[copy, column]) == pytest.approx(mean, rel=1e-9, abs=1e-12)


def test_seed_and_draw_are_the_address_and_the_order_of_columns_is_none() -> None:
    settings, columns = FernFitSettings(4, 30, shadows=1), np.arange(6)
    told = {(seed, draw): fits(store_of(), settings, seed)(columns, draw) for seed in (0, 1) for draw in (0, 1)}
    assert len({tuple(scores.importance) for scores in told.values()}) == 4
    again = fernwood.ingest(SMALL[:, ::-1], target=SMALL_Y)
    for address, scores in told.items():
        assert fits(again, settings, address[0])(columns, address[1]).shadows.tolist() == scores.shadows.tolist()


def test_the_probe_is_one_more_column_that_says_nothing() -> None:
    settings, columns = FernFitSettings(2, 400, probe=True), np.flatnonzero(candidates(STORE) == 3)
    told = [fits(STORE, settings)(columns, draw) for draw in range(5)]
    assert min(scores.importance[0] for scores in told) > 3 * max(abs(scores.probe) for scores in told)
    assert len({scores.probe for scores in told}) == 5
    assert told[0].shadows.shape == (0, 1)


def test_a_column_that_no_fern_uses_scores_nothing() -> None:
    scores = fits(STORE, FernFitSettings(2, 1, shadows=1))(np.arange(50), 0)
    assert np.count_nonzero(scores.importance) <= 2
    assert np.isfinite(scores.shadows).all()


# Subspaces ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["shadow", "probe"])
def test_a_subspace_search_with_ferns(rule: Any) -> None:
    quick: dict[str, Any] = {"learner": "ferns", "rule": rule, "q": 40, "n_iter": 160, "max_depth": 5}
    one, two = (SubspaceSelector(**quick, n_jobs=n, random_state=0).fit(STORE) for n in (1, 2))
    assert one.result_.to_table().equals(two.result_.to_table())
    assert {3, 7} <= set(one.result_.confirmed.tolist())
    assert one.support_.sum() <= 4
    parameters = one.result_.facts.parameters
    assert (parameters["learner"], parameters["max_depth"], parameters["importance"]) == ("ferns", 5, "permutation")
    again = settings_of("subspace", parameters)
    assert isinstance(again, SubspaceSettings)
    assert again.fern_fitting(40).n_ferns == 160
    assert again.to_json() == parameters


def test_a_stopped_subspace_search_with_ferns_goes_on(tmp_path: Any) -> None:
    quick: dict[str, Any] = {"learner": "ferns", "q": 40, "n_iter": 60, "n_trees": 20, "random_state": 0}
    whole = SubspaceSelector(**quick).fit(STORE)

    def stop(progress: Any) -> None:
        if progress.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SubspaceSelector(**quick, run_dir=tmp_path / "r", progress=stop).fit(STORE)
    rest = SubspaceSelector(**quick, run_dir=tmp_path / "r").fit(STORE)
    assert rest.result_.to_table().equals(whole.result_.to_table())


def test_noise_is_not_found_by_a_subspace_search_with_ferns() -> None:
    rng = np.random.default_rng(1)
    quick: dict[str, Any] = {"learner": "ferns", "max_depth": 4, "n_iter": 60}
    taken = [
        int(
            SubspaceSelector(**quick, random_state=k)
            .fit(rng.standard_normal((80, 300)), np.arange(80) % 2)
            .support_.sum()
        )
        for k in range(5)
    ]
    assert sum(count > 0 for count in taken) <= 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"rule": "mirror"}, "rule is 'mirror' and the learner is 'ferns', which this rule is not made for; use 'shad"),
        ({"rule": "importance"}, "rule is 'importance' and the learner is 'ferns'"),
        ({"max_features": 3}, "max_features is 3, which is of trees, and the learner is 'ferns'; leave it out, or use"),
        ({"importance": "impurity"}, "importance is 'impurity', which is of trees"),
        ({"class_weight": "balanced"}, "class_weight is 'balanced', which is of trees"),
        ({"bootstrap": True}, "bootstrap is True, which is of trees"),
        ({"max_samples": 0.5}, "max_samples is 0.5, which is of trees"),
        ({"max_depth": 20}, "max_depth is 20; it must be from 1 to 16: a fern of depth 20 takes 8.4 MB a class"),
        ({"max_depth": None}, "max_depth is None; it must be an integer from 1 to 16"),
        ({"n_trees": 0}, "n_trees is 0; it must be an integer from 1 on, or 'auto'"),
    ],
)
def test_what_a_subspace_search_with_ferns_refuses(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        SubspaceSettings(learner="ferns", **wrong)


NUMBERS = "is numbers, and ferns tell classes apart; use learner='extra', whose trees take numbers"


def test_numbers_and_forests_are_refused() -> None:
    with pytest.raises(TargetError, match=NUMBERS):
        SubspaceSelector(learner="ferns").fit(WIDE[:, 1:], WIDE[:, 0])
    with pytest.raises(TargetError, match=NUMBERS):
        BorutaSelector(learner="ferns").fit(WIDE[:, 1:], WIDE[:, 0])
    with pytest.raises(ParameterError, match="this forest is of trees; use RandomFernsClassifier, or learner='extra'"):
        SubspaceForestClassifier(learner="ferns").fit(WIDE, Y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="ferns count every row once"):
        SubspaceSelector(learner="ferns").fit(WIDE, Y, sample_weight=np.arange(300))


def test_empty_leaves_are_said() -> None:
    subspace = SubspaceSelector(learner="ferns", max_depth=9, random_state=0, n_iter=2)
    with pytest.warns(FernwoodWarning, match="depth is 9, which makes 512 leaves for 300 rows"):
        subspace.fit(STORE)
    with pytest.warns(FernwoodWarning, match="depth is 9, which makes 512 leaves for 300 rows"):
        select_by_boruta(STORE, BorutaSettings(learner="ferns", max_depth=9, max_iter=1, n_estimators=50), 0)


# Boruta -------------------------------------------------------------------------------------------------------------


def grown(n_threads: int = 1, iteration: int = 0, first: int = 0, n_shadows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    ids = candidates(STORE)
    forest = FernForests(STORE, ids, fern_rows(STORE), 5, "auto", 1, n_threads)
    importance, shadows = forest(np.arange(len(ids)), iteration, n_shadows, first)
    out = np.empty((1 + n_shadows, len(ids)))
    out[:, ids] = importance, *shadows
    return out[0], out[1:]


def test_ferns_of_an_iteration() -> None:
    importance, shadows = grown()
    assert sorted(np.argsort(importance)[-2:].tolist()) == [3, 7]
    assert shadows.max() < importance[[3, 7]].min()
    for again in (grown(2), grown(n_shadows=2)):
        np.testing.assert_array_equal(again[0], importance)
        np.testing.assert_array_equal(again[1][0], shadows[0])
    np.testing.assert_array_equal(grown(first=1)[0], importance)  # shadows take no part in the ferns themselves
    np.testing.assert_array_equal(grown(first=1)[1][0], grown(n_shadows=2)[1][1])
    assert (grown(first=1)[1] != shadows).any()
    assert (grown(iteration=1)[0] != importance).any()


def test_an_iteration_is_the_mean_of_its_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forests, "_FIT_COLUMNS", 100)
    ids, rows = candidates(STORE), fern_rows(STORE)
    forest = FernForests(STORE, ids, rows, 5, 1500, 1, 1)
    importance, shadows = forest(np.arange(250), 2, 1, 9)
    blocks = forest._blocks(250, 2, 1)
    assert [len(block) for block in blocks] == [84, 83, 83]
    # 1500 ferns of 5 columns are 30 scans of 250 columns, which makes three fits of every block.
    settings = FernFitSettings(5, 167, False, 1, 9)
    for number, block in enumerate(blocks):
        scores = [fits(STORE, settings, 1)(block, 2 * forests._FIT_NUMBERS + 3 * number + part) for part in range(3)]
        np.testing.assert_allclose(importance[block], np.mean([each.importance for each in scores], axis=0))
        np.testing.assert_allclose(shadows[:, block], np.mean([each.shadows for each in scores], axis=0))


@pytest.mark.parametrize("correction", [None, "fixed-shadows"])
def test_boruta_with_ferns(correction: Any) -> None:
    settings = BorutaSettings(learner="ferns", max_iter=40, correction=correction, n_estimators=2500)
    one, two = (select_by_boruta(STORE, settings, 0, n_threads=n).result for n in (1, 2))
    assert one.to_table().equals(two.to_table())
    assert {3, 7} <= set(one.confirmed.tolist())
    assert len(one.confirmed) <= 6
    assert one.facts.parameters["max_depth"] == 7
    again = settings_of("boruta", one.facts.parameters)
    assert again.to_json() == settings.to_json()
    assert again.kernels == ("ferns",)


def test_boruta_with_ferns_is_planned() -> None:
    with pytest.raises(BudgetError, match="a memory budget of 1.0 MB is too small"):
        select_by_boruta(STORE, BorutaSettings(learner="ferns"), 0, memory=10**6)


def test_trees_are_as_deep_as_before() -> None:
    assert (BorutaSettings().max_depth, BorutaSettings(learner="ferns").max_depth) == (5, 7)
    assert BorutaSettings(max_depth=None).max_depth is None


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"max_features": 3}, "max_features is '3' and the learner is 'ferns', which grow without it; leave max_feat"),
        ({"class_weight": "balanced"}, "class_weight is .* and the learner is 'ferns'"),
        ({"estimator": SubspaceForestClassifier()}, "estimator is .* and the learner is 'ferns', which grow without"),
        ({"max_depth": 17}, "max_depth is 17; it must be from 1 to 16"),
        ({"max_depth": None}, "max_depth is None; it must be an integer from 1 to 16"),
    ],
)
def test_what_boruta_with_ferns_refuses(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        BorutaSettings(learner="ferns", **wrong)
