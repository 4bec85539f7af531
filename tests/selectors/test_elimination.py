"""`EliminationSelector` as scikit-learn's users meet it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import EliminationSelector
from fernwood.errors import LearnerError, ParameterError
from fernwood.run.driving import SearchProgress
from fernwood.search.tracing import EliminationTrace

X = np.random.default_rng(0).standard_normal((200, 24))
Y = X[:, 3] + X[:, 7] > 0


def selector(estimator: Any = None, **changes: Any) -> EliminationSelector:
    return EliminationSelector(estimator or GaussianNB(), **{"cv": 3, "random_state": 0, **changes})


WEIGHTS = "folds are cut by rows, not by weight, and repeating rows changes them"
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


@parametrize_with_checks(
    [selector(LogisticRegression(), cv=2), selector(GaussianNB(), cv=2, search="binary")],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
def test_scikit_learn(estimator: EliminationSelector, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "changes", [{}, {"n_relevant": 2}, {"search": "binary"}, {"step": 1}, {"candidates": 3}, {"holdout": 0.3}], ids=str
)
def test_relevant_columns_are_kept(changes: dict[str, Any]) -> None:
    fitted = selector(**changes).fit(X, Y)
    assert fitted.support_[[3, 7]].all()
    assert fitted.n_features_ == fitted.support_.sum() == fitted.transform(X).shape[1] < 24
    assert fitted.n_calls_ == len(fitted.errors_) == fitted.trace_.to_table().num_rows
    assert (fitted.ranking_[fitted.support_] == 1).all()
    assert fitted.error_ <= fitted.errors_[0] + 0.002 * fitted.n_calls_
    again = selector(**changes, n_jobs=4).fit(X, Y)
    assert again.result_.to_table().equals(fitted.result_.to_table())


def test_the_learner_gets_the_users_own_columns() -> None:
    class Recording(GaussianNB):  # type: ignore[misc]
        seen: list[Any] = []  # noqa: RUF012

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803
            Recording.seen.append(X)
            return super().fit(X, y, sample_weight)

    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(24)])
    fitted = selector(Recording()).set_output(transform="pandas").fit(frame, np.where(Y, "ill", "well"))
    assert {"g3", "g7"} <= set(fitted.transform(frame).columns)
    assert Recording.seen[0].columns.tolist() == frame.columns.tolist()
    assert set(Recording.seen[0]["g1"]) <= set(frame["g1"])
    Recording.seen.clear()
    selector(Recording()).fit(fernwood.ingest(X, target=Y), None)
    assert Recording.seen[0].dtype == np.float32


def test_sparse_tables_numbers_stores_and_constant_columns() -> None:
    table = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    assert selector(LogisticRegression()).fit(table, Y).support_[[3, 7]].all()
    wide = np.c_[X, np.ones(200)]
    fitted = selector(LinearRegression()).fit(wide, X[:, 3] + X[:, 7])
    assert np.flatnonzero(fitted.support_).tolist() == [3, 7]
    row = fitted.result_.to_table(np.array([24])).to_pylist()[0]
    assert row["decision"] == "unexamined"
    stored = selector(LinearRegression()).fit(fernwood.ingest(wide, target=X[:, 3] + X[:, 7]))
    assert stored.support_[[3, 7]].all()


def test_reasons_say_which_call() -> None:
    rows = selector().fit(X, Y).result_.to_table().to_pylist()
    reasons = {row["decision"]: row["reason"] for row in rows}
    assert reasons["rejected"].startswith("removed in call ")
    assert "error 0." in reasons["rejected"]
    assert reasons["confirmed"].startswith("removing it alone, in call ")


def test_the_order_of_columns_changes_nothing() -> None:
    order = np.random.default_rng(1).permutation(24)
    plain, mixed = selector().fit(X, Y), selector().fit(X[:, order], Y)
    np.testing.assert_array_equal(plain.support_[order], mixed.support_)


def test_pickles_and_clones_and_pipelines() -> None:
    fitted = selector().fit(X, Y)
    thawed = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(thawed.ranking_, fitted.ranking_)
    np.testing.assert_array_equal(clone(fitted).fit(X, Y).importances_, fitted.importances_)
    assert make_pipeline(selector(), LogisticRegression()).fit(X, Y).score(X, Y) > 0.9


# Metadata -----------------------------------------------------------------------------------------------------------


def test_weights_and_groups_without_routing() -> None:
    weights = np.where(np.arange(200) < 150, 1.0, 0.0)
    weighted = selector().fit(X, Y, sample_weight=weights)
    assert weighted.errors_[0] != selector().fit(X, Y).errors_[0]
    grouped = selector(cv=GroupKFold(3)).fit(X, Y, groups=np.arange(200) // 4)
    assert grouped.support_[[3, 7]].all()
    with pytest.raises(TypeError, match="fit got 'metal', which only metadata routing could hand on"):
        selector().fit(X, Y, metal=3)


def test_metadata_routing() -> None:
    weights = np.where(np.arange(200) < 150, 1.0, 0.0)
    groups = np.arange(200) // 4
    plain = selector(cv=GroupKFold(3), scoring="accuracy").fit(X, Y, sample_weight=weights, groups=groups)
    with config_context(enable_metadata_routing=True):
        estimator = GaussianNB().set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        routed = selector(estimator, cv=GroupKFold(3), scoring=scorer).fit(X, Y, sample_weight=weights, groups=groups)
        np.testing.assert_array_equal(routed.errors_, plain.errors_)
        unweighted = selector(
            estimator, cv=GroupKFold(3), scoring=get_scorer("accuracy").set_score_request(sample_weight=False)
        ).fit(X, Y, sample_weight=weights, groups=groups)
        assert unweighted.errors_[0] != routed.errors_[0]


def test_a_fixed_validation_set() -> None:
    fold = np.where(np.arange(200) < 120, -1, 0)
    fitted = selector(cv=PredefinedSplit(fold)).fit(X, Y)
    model = GaussianNB().fit(X[:120], Y[:120])
    assert fitted.errors_[0] == pytest.approx(1 - model.score(X[120:], Y[120:]))


# Runs ---------------------------------------------------------------------------------------------------------------


def stop_after(number: int) -> Any:
    def watch(progress: SearchProgress) -> None:
        if progress.done == number:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("changes", [{}, {"search": "binary", "r_max": 6}, {"n_relevant": 2}], ids=str)
def test_stopped_at_every_call_and_resumed_is_as_in_one_go(tmp_path: Path, changes: dict[str, Any]) -> None:
    whole = selector(**changes).fit(X, Y)
    for number in range(1, whole.n_calls_):
        with pytest.raises(KeyboardInterrupt):
            selector(**changes, run_dir=tmp_path / "run", progress=stop_after(number)).fit(X, Y)
    resumed = selector(**changes, run_dir=tmp_path / "run").fit(X, Y)
    assert resumed.result_.to_table().equals(whole.result_.to_table())
    assert resumed.trace_.to_table().equals(whole.trace_.to_table())
    with pytest.raises(ParameterError, match=r"holds a run with tolerance=0.002, not 0.01"):
        selector(**changes, run_dir=tmp_path / "run", tolerance=0.01).fit(X, Y)
    with pytest.raises(ParameterError, match=r"holds a run with cv=3, not 4"):
        selector(**changes, run_dir=tmp_path / "run", cv=4).fit(X, Y)


class Breaking(GaussianNB):  # type: ignore[misc]
    left = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803
        Breaking.left -= 1
        if Breaking.left == 0:
            raise RuntimeError("the licence has run out")
        return super().fit(X, y, sample_weight)


def test_an_estimator_that_raises_in_the_middle_goes_on_later(tmp_path: Path) -> None:
    whole = selector(Breaking()).fit(X, Y)
    Breaking.left = 20
    with pytest.raises(
        LearnerError, match=r"^Breaking failed with \d+ columns: RuntimeError: the licence has run out$"
    ):
        selector(Breaking(), run_dir=tmp_path / "run").fit(X, Y)
    calls: list[int] = []
    resumed = selector(Breaking(), run_dir=tmp_path / "run", progress=lambda now: calls.append(now.done)).fit(X, Y)
    assert calls[0] == 6  # three fits a call: the seventh call failed
    assert resumed.trace_.to_table().equals(whole.trace_.to_table())


def test_the_trace_is_kept_with_the_result(tmp_path: Path) -> None:
    from fernwood.saved import load_result, save_result

    fitted = selector(holdout=0.25).fit(X, Y)
    save_result(fitted.result_, tmp_path)
    trace = EliminationTrace.of(load_result(tmp_path))
    assert trace.to_table().equals(fitted.trace_.to_table())
    assert trace.to_table().column_names == [
        "call",
        "columns",
        "tried",
        "error",
        "accepted",
        "estimate",
        "held_out",
    ]
    assert load_result(tmp_path).to_table().to_pylist() == fitted.result_.to_table().to_pylist()
    other = replace(fitted.result_, facts=replace(fitted.result_.facts, method="boruta", elimination={}))
    with pytest.raises(ParameterError, match="the result is of 'boruta'; only an elimination has a trace"):
        EliminationTrace.of(other)


# Bad input ----------------------------------------------------------------------------------------------------------


def test_a_score_that_ignores_the_columns() -> None:
    fitted = selector(DummyClassifier()).fit(X, Y)
    assert fitted.n_features_ == 2
    assert "the score hardly depends on the columns" in fitted.result_.remarks()[0]


def test_two_columns() -> None:
    fitted = selector().fit(X[:, [3, 5]], Y)
    assert fitted.n_features_ == 2
    assert fitted.result_.remarks() == ["nothing was tried: of 2 usable columns none may go, since r_min asks for them"]
    assert selector(r_min=1).fit(X[:, [3, 5]], Y).support_.tolist()[0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"n_relevant": 24}, "n_relevant is 24 of 24 usable columns, which leaves none to remove"),
        ({"r_min": 5, "r_max": 3}, "r_min is 5 and r_max 3"),
        ({"cv": 300}, "cv is 300 and the table has 200 rows"),
        ({"scoring": lambda *_: float("nan")}, "the score of GaussianNB with 24 columns is 'nan'"),
        ({"cost": lambda n: -n}, "M.n. must be a cost that does not fall"),
        ({"estimator": 7}, "estimator is '7', which is no scikit-learn estimator"),
        ({"estimator": "tree"}, "estimator is 'tree'; names are for the command line: give the estimator itself"),
    ],
)
def test_refusals(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        selector(**wrong).fit(X, Y)
