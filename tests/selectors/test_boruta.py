"""`BorutaSelector` as scikit-learn's users, and BorutaPy's, meet it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import BorutaSelector
from fernwood.errors import BudgetError, FernwoodWarning, ParameterError
from fernwood.run.driving import SearchProgress
from fernwood.search.boruta import BorutaSettings
from fernwood.search.methods import select

X = np.random.default_rng(0).standard_normal((120, 30))
Y = X[:, 3] + X[:, 7] > 0
QUICK: dict[str, Any] = {"max_iter": 40, "n_estimators": 60, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore:.*tentative after:fernwood.errors.FernwoodWarning")


def selector(**changes: Any) -> BorutaSelector:
    return BorutaSelector(**{**QUICK, **changes})


ADDRESSES = "random streams are addressed by the checksum of a column's codes, which repeating rows changes"
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": ADDRESSES,
    "check_sample_weight_equivalence_on_sparse_data": ADDRESSES,
}


@parametrize_with_checks(
    [
        BorutaSelector(n_estimators=15, max_iter=40, random_state=0),
        BorutaSelector(n_estimators=20, max_iter=5, correction="fixed-shadows", random_state=0),
    ],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_scikit_learn(estimator: BorutaSelector, check: Any) -> None:
    check(estimator)


def test_names_that_users_of_borutapy_know() -> None:
    fitted = selector().fit(X, Y)
    assert {3, 7} <= set(np.flatnonzero(fitted.support_).tolist())
    assert fitted.n_features_ == fitted.support_.sum() == fitted.transform(X).shape[1]
    np.testing.assert_array_equal(fitted.support_weak_, fitted.tentative_)
    assert (fitted.ranking_[fitted.support_] == 1).all()
    assert (fitted.ranking_[fitted.support_weak_] == 2).all()
    others = np.sort(fitted.ranking_[~(fitted.support_ | fitted.support_weak_)])
    assert others.tolist() == list(range(3, 3 + len(others)))
    assert not hasattr(fitted, "pvalues_")


def test_frames_pickles_and_clones() -> None:
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(30)])
    fitted = selector(n_jobs=2).set_output(transform="pandas").fit(frame, Y)
    assert {"g3", "g7"} <= set(fitted.transform(frame).columns)
    thawed = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(thawed.ranking_, fitted.ranking_)
    np.testing.assert_array_equal(clone(fitted).fit(X, Y).importances_, fitted.importances_)


def test_undecided_columns_are_a_warning() -> None:
    with pytest.warns(FernwoodWarning, match="30 tentative after 2 iterations: .* a larger max_iter may decide them"):
        fitted = selector(max_iter=2).fit(X, Y)
    assert fitted.support_weak_.all()
    assert (fitted.ranking_ == 2).all()


def test_fixed_shadows_have_p_and_q() -> None:
    fitted = selector(correction="fixed-shadows").fit(X, Y)
    assert np.flatnonzero(fitted.support_).tolist() == [3, 7]
    assert (fitted.qvalues_[fitted.support_] <= 0.025).all()


# Other estimators ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "importance"),
    [
        (ExtraTreesClassifier(max_depth=4), "model"),
        (LogisticRegression(), "model"),
        (GaussianNB(), "permutation"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_any_estimator(estimator: Any, importance: Any) -> None:
    before = repr(estimator)
    fitted = selector(estimator=estimator, importance=importance, n_estimators=30, max_iter=20).fit(X, Y)
    assert (fitted.support_ | fitted.support_weak_)[[3, 7]].all()
    assert fitted.support_.sum() <= 8
    again = selector(estimator=estimator, importance=importance, n_estimators=30, max_iter=20).fit(X, Y)
    np.testing.assert_array_equal(again.importances_, fitted.importances_)
    assert repr(estimator) == before
    assert not hasattr(estimator, "n_features_in_")


def test_an_estimator_of_numbers_with_weights_groups_categories_and_gaps() -> None:
    frame = pd.DataFrame(X[:, :10].copy(), columns=[f"g{i}" for i in range(10)])
    frame.loc[::7, "g1"] = np.nan
    frame["kind"] = pd.Categorical(np.where(X[:, 3] > 0, "high", "low"))
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(120) % 5, unit="D")
    weights = np.r_[np.zeros(4), np.ones(116)]
    given = selector(estimator=RandomForestRegressor(max_depth=4), n_estimators="auto", max_iter=12)
    fitted = given.fit(frame, X[:, 3] + X[:, 7], sample_weight=weights, groups=np.arange(120) // 3)
    assert fitted.support_[[3, 7]].all()


def test_an_estimator_without_importances() -> None:
    with pytest.raises(ParameterError, match="KNeighborsClassifier has neither feature_importances_ nor coef_ when"):
        selector(estimator=KNeighborsClassifier()).fit(X, Y)
    with pytest.raises(ParameterError, match=r"DummyClassifier has neither .* or importance='permutation'"):
        selector(estimator=DummyClassifier()).fit(X, Y)


def test_an_estimator_keeps_the_budget() -> None:
    with pytest.raises(BudgetError, match=r"too small to lay out 30 columns of 120 rows .* for an estimator"):
        select(fernwood.ingest(X, target=Y), BorutaSettings(estimator=LogisticRegression()), 0, memory=90_000)


# Runs ---------------------------------------------------------------------------------------------------------------


def stop_after(number: int) -> Any:
    def watch(progress: SearchProgress) -> None:
        if progress.done == number:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("changes", [{}, {"correction": "fixed-shadows"}, {"estimator": LogisticRegression()}])
def test_stopped_and_resumed_is_as_in_one_go(tmp_path: Path, changes: dict[str, Any]) -> None:
    whole = selector(**changes).fit(X, Y)
    early = selector(**changes, run_dir=tmp_path / "run", progress=stop_after(5))
    with pytest.raises(KeyboardInterrupt):
        early.fit(X, Y)
    assert early.result_.facts.n_draws == 5
    assert "stopped after 5 of" in repr(early.result_)
    resumed = selector(**changes, run_dir=tmp_path / "run").fit(X, Y)
    assert resumed.result_.to_table().equals(whole.result_.to_table())
    with pytest.raises(ParameterError, match="holds a run with max_iter=40, not 41"):
        selector(**changes, run_dir=tmp_path / "run", max_iter=41).fit(X, Y)


def test_in_a_pipeline() -> None:
    model = make_pipeline(selector(), LogisticRegression()).fit(X, Y)
    assert model.score(X, Y) > 0.8
