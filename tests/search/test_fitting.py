"""One draw, fitted: what its scores depend on, and what they do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.importance.trees import impurity_decrease
from fernwood.learner.rows import RowSampling
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import store_target
from fernwood.learner.trees import grow_on, lay_out
from fernwood.search import fitting
from fernwood.search.fitting import FitSettings, TreeFits
from fernwood.store import Store
from fernwood.subspace.candidates import candidates

RNG = np.random.default_rng(0)
TABLE = RNG.integers(0, 6, (60, 12)).astype(float)
TABLE[:5, 2] = np.nan
TARGET = (TABLE[:, 0] + TABLE[:, 1] + RNG.integers(0, 4, 60) > 6).astype(int)
TREE = TreeSettings(criterion="gini")
SOME_ROWS = RowSampling(size=0.7)


def fits(store: Store, settings: FitSettings, seed: int = 3) -> TreeFits:
    return TreeFits(store, candidates(store), store_target(store), settings, seed)


def store_of(table: np.ndarray = TABLE, **roles) -> Store:
    return fernwood.ingest(table, **{"target": TARGET, **roles})


KINDS_OF_IMPORTANCE = [
    FitSettings(TREE, 3),
    FitSettings(TREE, 3, SOME_ROWS, "out-of-sample"),
    FitSettings(TREE, 3, SOME_ROWS, "permutation"),
    FitSettings(TREE, 3, RowSampling(with_replacement=True), "permutation"),
]


@pytest.mark.parametrize("settings", KINDS_OF_IMPORTANCE)
def test_scores_do_not_depend_on_the_order_of_columns(settings: FitSettings) -> None:
    columns = np.array([0, 2, 3, 7, 8, 11])
    scores = fits(store_of(), settings)(columns, 5)
    assert scores.importance.any()
    permuted = store_of(TABLE[:, RNG.permutation(12)])
    again = fits(permuted, settings)(columns, 5)
    assert again.importance.tolist() == scores.importance.tolist()
    assert again.probe == scores.probe


# Random patches -------------------------------------------------------------------------------------------------------

DIVIDED = RowSampling(size=0.5, once=True)


@pytest.mark.parametrize("settings", [*KINDS_OF_IMPORTANCE, FitSettings(TREE, 4, DIVIDED, "permutation", probe=False)])
@pytest.mark.parametrize("roles", [{}, {"weights": np.arange(60) % 4}, {"groups": np.arange(60) // 3}])
def test_a_patch_of_all_rows_is_no_patch(
    settings: FitSettings, roles: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, columns = store_of(**roles), np.array([0, 2, 3, 7, 8, 11])
    settings = replace(settings, shadows=2)
    plain = fits(store, settings)(columns, 5)
    monkeypatch.setattr(fitting, "_BLOCK_BYTES", 130)  # two columns at a time
    n_counted = int(np.count_nonzero(roles.get("weights", np.ones(60))))
    patched = fits(store, replace(settings, patch=n_counted))(columns, 5)
    assert plain.importance.any()
    assert patched.importance.tolist() == plain.importance.tolist()
    assert patched.shadows.tolist() == plain.shadows.tolist()
    assert patched.probe == plain.probe


@pytest.mark.parametrize("roles", [{}, {"weights": np.arange(60) % 4}, {"groups": np.arange(60) // 3}])
def test_a_draw_sees_the_rows_of_its_patch(roles: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees grow on part of the patch, and what is left out is the rest of it."""
    seen = []

    def spy(tree: Any, codes: np.ndarray, target: Any, rows: np.ndarray, **how: Any) -> np.ndarray:
        seen.append((codes, target.kernel.weights, rows))
        return np.zeros(len(codes))

    monkeypatch.setattr(fitting, "permutation_loss", spy)
    store = store_of((7.0 * np.arange(60)[:, None] + np.arange(12)) % 60, **roles)  # a code for every row
    settings = FitSettings(TREE, 2, SOME_ROWS, "permutation", probe=False, shadows=1, patch=30)
    fit = fits(store, settings)
    for draw in range(3):
        fit(np.arange(4), draw)
    patches = [tuple(codes[0].tolist()) for codes, _, _ in seen]
    assert len(set(patches)) == 3  # one a draw, for both of its trees
    for codes, weights, left_out in seen:
        rows = 43 * (codes[0].astype(int) - candidates(store)[0]) % 60  # 43 · 7 is 1 beyond 300
        assert len(set(rows.tolist())) == len(rows) == 30
        assert (weights > 0).all()
        assert len(left_out) == 9
        if "groups" in roles:
            assert (np.bincount(rows // 3) % 3 == 0).all()  # whole groups
            assert (np.bincount(rows[left_out] // 3) % 3 == 0).all()
    # A shadow is one column, whatever rows of it a draw sees.
    pairs = {pair for codes, _, _ in seen for pair in zip(codes[0].tolist(), codes[4].tolist(), strict=True)}
    assert len(pairs) == len({row for row, _ in pairs}) == len({code for _, code in pairs}) > 30
    assert any(row != code for row, code in pairs)


def test_columns_are_ranks_among_the_candidates() -> None:
    table = np.insert(TABLE, 4, 1.0, axis=1)  # a constant column shifts positions, but no ranks
    columns = np.array([1, 5, 9])
    scores = fits(store_of(), KINDS_OF_IMPORTANCE[0])(columns, 0)
    again = fits(store_of(table), KINDS_OF_IMPORTANCE[0])(columns, 0)
    assert again.importance.tolist() == scores.importance.tolist()


def test_seed_and_draw_are_the_address() -> None:
    columns = np.arange(8)
    store = store_of()
    said = {
        (seed, draw): fits(store, KINDS_OF_IMPORTANCE[0], seed)(columns, draw).importance.tolist()
        for seed in (0, 1)
        for draw in (0, 1)
    }
    assert len({tuple(importance) for importance in said.values()}) == 4
    assert fits(store, KINDS_OF_IMPORTANCE[0], 1)(columns, 1).importance.tolist() == said[1, 1]


def test_the_importance_is_the_mean_over_trees() -> None:
    store, columns = store_of(), np.array([0, 1, 4, 6])
    settings = FitSettings(TREE, 4, probe=False, keep_trees=True)
    scores = fits(store, settings)(columns, 2)
    assert len(scores.trees) == 4
    by_hand = np.mean([impurity_decrease(tree, 4) for tree in scores.trees], axis=0)
    np.testing.assert_allclose(scores.importance, by_hand, rtol=1e-12)
    assert scores.probe == 0.0
    assert len({tree.gain.tobytes() for tree in scores.trees}) == 4
    assert fits(store, FitSettings(TREE, 4, probe=False))(columns, 2).trees == ()


def test_the_probe_is_a_column_of_the_draw_dealt_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    store, columns = store_of(), np.array([0, 3, 5, 10])
    seen = []

    def spy(codes: np.ndarray, target: object, settings: object, kinds: np.ndarray, addresses: np.ndarray):
        seen.append((codes.copy(), kinds, addresses))
        return lay_out(codes, target, settings, kinds, addresses)

    monkeypatch.setattr(fitting, "lay_out", spy)
    models = set()
    for draw in range(12):
        fits(store, FitSettings(TREE))(columns, draw)
        codes, kinds, addresses = seen[-1]
        *drawn, probe = codes
        matches = [i for i, column in enumerate(drawn) if np.array_equal(np.sort(column), np.sort(probe))]
        assert len(matches) == 1
        assert not np.array_equal(drawn[matches[0]], probe)
        assert kinds[-1] == kinds[matches[0]]
        assert addresses[-1] not in addresses[:-1]
        models.add(matches[0])
    assert len(models) > 1
    assert len({codes[-1].tobytes() for codes, _, _ in seen}) == 12


@pytest.mark.parametrize("settings", KINDS_OF_IMPORTANCE)
def test_rows_of_weight_zero_take_no_part(settings: FitSettings) -> None:
    """Whatever the target says in them; the columns themselves have an address each, so they stay."""
    weights = np.ones(60)
    weights[::3] = 0
    other = TARGET.copy()
    other[::3] = 1 - other[::3]
    columns = np.arange(12)
    scores = [fits(store_of(target=y, weights=weights), settings)(columns, 4) for y in (TARGET, other)]
    assert scores[0].importance.any()
    assert scores[0].importance.tolist() == scores[1].importance.tolist()
    assert scores[0].probe == scores[1].probe


@pytest.mark.parametrize("importance", ["impurity", "out-of-sample", "permutation"])
def test_numbers_in_rows_of_weight_zero_take_no_part(importance: str) -> None:
    weights = np.ones(60)
    weights[::3] = 0
    target = TABLE[:, 0] + RNG.random(60)
    other = target.copy()
    other[::3] = 1e6
    settings = FitSettings(TreeSettings(criterion="variance"), 2, SOME_ROWS, importance)
    columns = np.arange(12)
    scores = [
        fits(store_of(target=y, weights=weights, task="regression"), settings)(columns, 4).importance
        for y in (target, other)
    ]
    assert scores[0].any()
    assert scores[0].tolist() == scores[1].tolist()


def test_a_probe_holds_values_of_rows_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.ones(60)
    weights[:30] = 0
    table = TABLE.copy()
    table[:30] += 10
    store = store_of(table, weights=weights)
    seen = []
    monkeypatch.setattr(fitting, "lay_out", lambda codes, *args: seen.append(codes) or lay_out(codes, *args))
    fits(store, FitSettings(TREE))(np.arange(12), 0)
    probe = seen[0][-1]
    assert any(np.array_equal(np.sort(probe[30:]), np.sort(column[30:])) for column in seen[0][:-1])


def test_a_few_rows_of_many_are_drawn_among_those_that_count() -> None:
    weights = np.zeros(60)
    weights[-8:] = 1
    settings = FitSettings(TREE, 20, RowSampling(size=2))
    fits(store_of(weights=weights), settings)(np.arange(12), 0)  # two rows of weight zero would be refused


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_out_of_sample_importance_of_noise_is_zero_on_average(task: str) -> None:
    """400 independent tables; six standard errors for two tests: a false alarm in 250 million runs."""
    sums = []
    for number in range(400):
        rng = seeds.generator(99, number)
        target = rng.integers(0, 2, 24) if task == "classification" else rng.random(24)
        store = store_of(rng.integers(0, 9, (24, 6)).astype(float), target=target, task=task)
        tree = TreeSettings(criterion="gini" if task == "classification" else "variance")
        settings = FitSettings(tree, 1, RowSampling(size=0.5), "out-of-sample", probe=False)
        sums.append(fits(store, settings, number)(np.arange(6), 0).importance.sum())
    assert np.std(sums) > 0
    assert abs(np.mean(sums)) < 6 * np.std(sums) / np.sqrt(len(sums))


def test_impurity_importance_of_noise_is_not_zero() -> None:
    """What the importance above is for."""
    scores = fits(store_of(target=RNG.integers(0, 2, 60)), FitSettings(TREE, 5, probe=False))(np.arange(12), 0)
    assert (scores.importance > 0).all()


@pytest.mark.parametrize("importance", ["out-of-sample", "permutation"])
def test_rows_must_be_left_out(importance: str) -> None:
    for rows in (RowSampling(), RowSampling(size=1.0)):
        with pytest.raises(
            ParameterError, match=f"importance is '{importance}', which is measured on rows that a tree"
        ):
            FitSettings(TREE, rows=rows, importance=importance)
    for rows in (RowSampling(size=60), RowSampling(size=0.995)):
        settings = FitSettings(TREE, rows=rows, importance=importance)
        with pytest.raises(ParameterError, match="which is all of the 60 rows.*give fewer, or bootstrap=True"):
            fits(store_of(), settings)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_trees": 0}, "n_trees is 0; it must be an integer from 1 on"),
        ({"n_trees": 2.0}, "n_trees is 2.0; it must be"),
        ({"importance": "gain"}, "importance is 'gain'; it must be one of 'impurity', 'out-of-sample', 'permutation'"),
    ],
)
def test_parameters_out_of_range(wrong: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        FitSettings(TREE, **wrong)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
def test_importances_of_numbers_are_shares_of_their_variance(scale: float) -> None:
    """Whatever the unit of the target; grown trees explain all of it, the probe's part included."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 5))
    store = fernwood.ingest(x, target=scale * (x[:, 1] + 0.1 * rng.standard_normal(100)), task="regression")
    fits = TreeFits(
        store, np.arange(5), store_target(store), FitSettings(TreeSettings(criterion="variance"), n_trees=3), seed=0
    )
    scores = fits(np.arange(5), 0)
    assert scores.importance.argmax() == 1
    assert scores.importance.sum() + scores.probe == pytest.approx(1, abs=1e-6)


def test_rows_are_divided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees grow on one part and the other in turn, whatever the draw; groups of rows stay in one part."""
    groups = np.arange(60) // 4
    settings = FitSettings(TREE, 3, RowSampling(size=0.5, once=True), "permutation", probe=False)
    seen = []
    monkeypatch.setattr(fitting, "grow_on", lambda *given: seen.append(given[2].tolist()) or grow_on(*given))
    for draw in range(4):
        fits(store_of(groups=groups), settings)(np.arange(12), draw)
    assert len(seen) == 12
    assert len({tuple(rows) for rows in seen}) == 2
    assert seen[0] == seen[2] == seen[4]
    assert sorted(seen[0] + seen[1]) == list(range(60))
    assert not set(groups[seen[0]]) & set(groups[seen[1]])


def test_all_groups_leave_no_rows_out() -> None:
    settings = FitSettings(TREE, rows=RowSampling(size=0.9), importance="permutation")
    with pytest.raises(ParameterError, match="which is all of the 3 groups of rows.*give fewer, or bootstrap=True"):
        fits(store_of(groups=np.arange(60) % 3), settings)


def test_shadows_take_part_in_every_draw_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of every column, dealt among the rows that count; the same in all draws, whichever columns stand beside."""
    weights = np.ones(60)
    weights[:20] = 0
    store = store_of(weights=weights)
    seen = []
    monkeypatch.setattr(fitting, "lay_out", lambda codes, *args: seen.append(codes.copy()) or lay_out(codes, *args))
    settings = FitSettings(TREE, 2, probe=False, shadows=2)
    scores = fits(store, settings)(np.array([1, 4, 6]), 0)
    fits(store, settings)(np.array([4, 6, 8]), 1)
    assert scores.shadows.shape == (2, 3)
    assert scores.shadows.any()
    first, second = (codes.reshape(3, 3, 60) for codes in seen)
    np.testing.assert_array_equal(first[:, 1:], second[:, :2])
    for copy in (1, 2):
        np.testing.assert_array_equal(first[copy, :, :20], first[0, :, :20])
        np.testing.assert_array_equal(np.sort(first[copy, :, 20:]), np.sort(first[0, :, 20:]))
        assert (first[copy] != first[0]).any(axis=1).all()
    assert (first[1] != first[2]).any(axis=1).all()


@pytest.mark.parametrize("rows", [RowSampling(), RowSampling(with_replacement=True), RowSampling(True, 0.5)])
@pytest.mark.parametrize("probe", [True, False])
@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"weights": np.append(np.zeros(7), np.arange(1, 54))},
        {"target": TARGET + TABLE[:, 3], "task": "regression"},
    ],
)
def test_trees_that_grow_together_are_those_that_grow_alone(
    rows: RowSampling, probe: bool, roles: dict[str, Any]
) -> None:
    """Bit for bit: one call that grows all trees of a fit, and one for every tree."""
    store, columns = store_of(**roles), np.arange(10)
    criterion: Any = "variance" if "task" in roles else "gini"
    for tree in (TreeSettings("extra", criterion, 4), TreeSettings("cart", criterion, None, 3)):
        settings = FitSettings(tree, 6, rows, probe=probe, shadows=2)
        together, alone = fits(store, settings), fits(store, settings)
        assert together._together
        alone._together = False
        one, other = together(columns, 9), alone(columns, 9)
        assert one.importance.any()
        assert one.importance.tolist() == other.importance.tolist()
        assert one.shadows.tolist() == other.shadows.tolist()
        assert one.probe == other.probe


@pytest.mark.parametrize(
    ("settings", "roles"),
    [
        (FitSettings(TREE, 2, SOME_ROWS), {}),
        (FitSettings(TREE, 2, keep_trees=True), {}),
        (FitSettings(TREE, 2, SOME_ROWS, "permutation"), {}),
        (FitSettings(TREE, 2, RowSampling(with_replacement=True)), {"groups": np.arange(60) // 2}),
    ],
)
def test_trees_grow_alone_where_more_is_asked(settings: FitSettings, roles: dict[str, Any]) -> None:
    assert not fits(store_of(**roles), settings)._together


def test_many_fits_grow_on_columns_laid_out_once() -> None:
    learner = fits(store_of(), FitSettings(TREE, 3, probe=False, shadows=1))
    laid = learner.lay(np.arange(8))
    for draw in range(3):
        assert learner.fit(laid, draw).importance.tolist() == learner(np.arange(8), draw).importance.tolist()
