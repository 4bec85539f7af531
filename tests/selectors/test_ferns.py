"""`FernSelector` as scikit-learn's users meet it: what it finds, what changes nothing, stopping and going on."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import FernSelector
from fernwood.datasets import make_madelon
from fernwood.errors import BudgetError, FernwoodWarning, ParameterError, SourceError, StoreError, TargetError
from fernwood.run.directory import BEFORE_NAME, CHECKPOINT_NAME
from fernwood.run.driving import SearchProgress
from fernwood.search.ferns import FernSettings
from fernwood.search.methods import settings_of
from tests.real_data import data_file

MADELON = make_madelon(300, 60, class_sep=2.0, random_state=0)
X, Y = MADELON.data, MADELON.target
RELEVANT = (29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494)
WEIGHTS = "ferns count every row once, and say so where rows have different weights"


@parametrize_with_checks(
    [FernSelector(scans=40, depth=3)],
    expected_failed_checks=lambda _: {
        "check_sample_weights_not_overwritten": WEIGHTS,
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
)
@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_scikit_learn(estimator: FernSelector, check: Any) -> None:
    check(estimator)


def selector(**changes: Any) -> FernSelector:
    return FernSelector(**{"scans": 100, "q": 20, "random_state": 0, **changes})


def same(first: FernSelector, second: FernSelector) -> bool:
    """Bit for bit, whatever the columns are called."""
    tables = [
        each.result_.to_table(np.arange(each.n_features_in_)).drop_columns(["column"]) for each in (first, second)
    ]
    return bool(tables[0].equals(tables[1]))


@pytest.fixture(scope="module")
def fitted() -> FernSelector:
    return selector().fit(X, Y)


# What it finds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["shadow", "max-shadow"])
def test_columns_that_tell_are_found(rule: str) -> None:
    found = selector(rule=rule, scans=200).fit(X, X[:, 30] + X[:, 31] > 0)
    assert {30, 31} <= set(np.flatnonzero(found.support_).tolist())
    assert found.support_.sum() <= 4
    assert found.importances_[[30, 31]].min() > np.delete(found.importances_, [30, 31]).max()
    assert hasattr(found, "pvalues_") == (rule == "shadow")
    assert found.result_.facts.method == "ferns"
    assert found.result_.draws.sum() / 60 == pytest.approx(200, rel=0.15)


def test_an_interaction_is_found_beside_what_is_found() -> None:
    """Column 3 tells by itself, column 7 only beside it, and 598 others tell nothing."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((600, 600))
    side, other = np.sign(table[:, 3]), np.sign(table[:, 7])
    y = (rng.random(600) < 0.5 + 0.2 * side + 0.25 * side * other).astype(int)
    sequential, blind = (FernSelector(scans=100, sequential=way, random_state=0).fit(table, y) for way in (True, False))
    assert sequential.support_[[3, 7]].all()
    assert blind.support_[3]
    assert sequential.importances_[7] > 2 * blind.importances_[7]


def test_noise_is_not_found() -> None:
    rng = np.random.default_rng(1)
    counts = [
        int(
            FernSelector(scans=60, depth=5, random_state=seed)
            .fit(rng.standard_normal((80, 400)), np.arange(80) % 2)
            .support_.sum()
        )
        for seed in range(5)
    ]
    assert sum(count > 0 for count in counts) <= 1


def test_iris_among_shuffled_columns() -> None:
    table, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    wide = np.column_stack([table, *(rng.permutation(table[:, i % 4]) for i in range(1000))])
    for rule in ("shadow", "max-shadow"):
        found = FernSelector(scans=50, rule=rule, random_state=0).fit(wide, y)
        assert found.support_[:4].all()
        assert found.support_[4:].sum() <= 3


def madelon() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    frame = pd.read_parquet(data_file("madelon.parquet"))[:2000]
    table = frame.drop(columns=["target", "split"], errors="ignore").to_numpy()
    return table, frame["target"].to_numpy(), np.array(RELEVANT) - 1


def test_real_madelon() -> None:
    table, y, relevant = madelon()
    found = FernSelector(scans=300, n_jobs=2, random_state=0).fit(table, y)
    assert found.support_[relevant].all()
    assert found.support_.sum() <= 22


@pytest.mark.parametrize(("n_noise", "most_others"), [(10, 1), (50, 3), (100, 1)])
def test_the_paper_on_madelon_with_up_to_a_hundred_columns_of_noise(n_noise: int, most_others: int) -> None:
    """D = 7 and 1000 scans solve it, as its Figure 3 has it."""
    table, y, relevant = madelon()
    noise = np.setdiff1d(np.arange(500), relevant)[:n_noise]
    paper = FernSelector(7, 1000, "max-shadow", sequential=False, n_jobs=2, random_state=0)
    found = paper.fit(table[:, np.append(relevant, noise)], y)
    assert found.support_[:20].all()
    assert found.support_[20:].sum() <= most_others


def test_categories_and_missing_values() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.standard_normal((400, 30)), columns=[f"g{i}" for i in range(30)])
    frame["word"] = rng.choice(["u", "v", "w", "x"], 400)
    frame["holes"] = np.where(rng.random(400) < 0.3, np.nan, 1.0)
    y = frame["word"].isin(["u", "x"]) | frame["holes"].isna()
    found = FernSelector(scans=200, depth=4, random_state=0).fit(frame, y)
    assert {"word", "holes"} <= set(found.get_feature_names_out())


# What changes nothing -----------------------------------------------------------------------------------------------


def test_threads_order_and_stores(fitted: FernSelector, tmp_path: Path) -> None:
    assert same(selector(n_jobs=2).fit(X, Y), fitted)
    assert same(selector().fit(fernwood.ingest(X, tmp_path / "s.fern", target=Y)), fitted)
    assert same(selector(memory="100MB", n_jobs=3).fit(X, Y), fitted)
    assert same(pickle.loads(pickle.dumps(fitted)), fitted)
    order = np.random.default_rng(0).permutation(60)
    permuted = selector().fit(X[:, order], Y)
    np.testing.assert_array_equal(permuted.importances_, fitted.importances_[order])
    np.testing.assert_array_equal(permuted.pvalues_, fitted.pvalues_[order])
    assert not same(selector(random_state=1).fit(X, Y), fitted)


def test_rows_of_weight_zero_and_groups() -> None:
    y = Y.copy()
    y[::3] = 1 - y[::3]
    weights = (np.arange(300) % 3 > 0).astype(float)
    assert same(selector().fit(X, y, sample_weight=weights), selector().fit(X, Y, sample_weight=weights))
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(30), 10)
    alike = rng.standard_normal((30, 200))[groups]  # every column is the same within a group, as is the target
    found = FernSelector(scans=40, depth=3, random_state=0).fit(alike, groups % 2, groups=groups)
    assert found.support_.sum() <= 2


# Stopping and going on ----------------------------------------------------------------------------------------------


def test_a_run_goes_on_to_the_same_answer(fitted: FernSelector, tmp_path: Path) -> None:
    def stop(progress: SearchProgress) -> None:
        if progress.done:
            raise KeyboardInterrupt

    run_dir, small = tmp_path / "run", {"round_size": 4}
    stopped = selector(run_dir=run_dir, progress=stop, **small)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, Y)
    assert stopped.result_.facts.n_draws == 4
    assert not stopped.result_.facts.finished
    events: list[SearchProgress] = []
    resumed = selector(run_dir=run_dir, progress=events.append, n_jobs=2, **small).fit(X, Y)
    assert events[0].done == 4
    assert same(resumed, selector(**small).fit(X, Y))
    with pytest.raises(ParameterError, match="with depth=7, not 5; give a new directory"):
        selector(run_dir=run_dir, depth=5, **small).fit(X, Y)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.pop("draws"),
        lambda parts: parts.update(draws=parts["draws"] * 9),
        lambda parts: parts.update(n_draws=np.array(9999)),
        lambda parts: parts.update(importance=parts["importance"] * np.nan),
        lambda parts: parts.update(shadow=parts["shadow"][:, :-1]),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, change: Any) -> None:
    run_dir = tmp_path / "run"
    selector(scans=20, run_dir=run_dir).fit(X, Y)
    with np.load(run_dir / CHECKPOINT_NAME) as archive:
        parts = dict(archive)
    change(parts)
    np.savez(run_dir / CHECKPOINT_NAME, **parts)
    (run_dir / BEFORE_NAME).unlink(missing_ok=True)  # with the one before, the run would go on
    with pytest.raises(StoreError, match="the checkpoint of 'run' is damaged"):
        selector(scans=20, run_dir=run_dir).fit(X, Y)


def test_settings_survive_a_manifest() -> None:
    settings = FernSettings(np.int64(5), scans=np.int64(30), rule="max-shadow", alpha=np.float64(0.25))
    assert settings_of("ferns", settings.to_json()) == settings
    assert all(isinstance(value, (int, float, str, bool, type(None))) for value in settings.to_json().values())


# What cannot be -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"depth": 0}, "depth is 0; it must be from 1 to 16"),
        ({"depth": 18}, "a fern of depth 18 takes 2.1 MB a class"),
        ({"scans": 0}, "scans is 0; it must be an integer from 1 on"),
        ({"rule": "probe"}, "rule is 'probe'; it must be one of 'shadow', 'max-shadow'"),
        ({"fdr": 1}, "fdr is 1; it is a rate"),
        ({"sequential": 1}, "sequential is 1; give True or False"),
        ({"alpha": 2}, "alpha is 2; it is a share"),
        ({"q": 0}, "q is 0"),
        ({"round_size": 0}, "round_size is 0"),
    ],
)
def test_parameters_out_of_range(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as refusal:
        selector(**wrong).fit(X, Y)
    assert "\n" not in str(refusal.value)


def test_targets_that_ferns_do_not_take() -> None:
    with pytest.raises(TargetError, match="is numbers, and ferns tell classes apart; use trees"):
        selector().fit(X, X[:, 0] + X[:, 1])
    with pytest.raises(SourceError, match="is 1 in every row"):
        selector().fit(X, np.ones(300))
    with pytest.raises(ParameterError, match="ferns count every row once"):
        selector().fit(X, Y, sample_weight=np.arange(1, 301))


def test_fewer_rows_than_leaves_and_little_memory() -> None:
    with pytest.warns(FernwoodWarning, match="depth is 9, which makes 512 leaves for 300 rows"):
        selector(depth=9, scans=10).fit(X, Y)
    with pytest.raises(BudgetError, match="too small"):
        selector(memory="1MB").fit(X, Y)


def test_nothing_found_is_explained() -> None:
    found = selector(rule="max-shadow", scans=20).fit(X[:, 20:], np.arange(300) % 2)
    if not found.support_.any():
        assert "more scans make weak columns visible" in found.result_.why_nothing()
