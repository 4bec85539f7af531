"""How good a learner is on a subset of columns: scores, splits, weights, groups, and what fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fernwood.errors import LearnerError, ParameterError
from fernwood.learner.subsets import CrossValidated, evaluation_of, subset_errors

X = np.random.default_rng(0).standard_normal((90, 6))
Y = (X[:, 1] + X[:, 4] + 0.3 * X[:, 0] > 0).astype(int)
SOME = np.array([1, 2, 4])


def error(estimator: Any = None, table: Any = X, y: Any = Y, columns: Any = SOME, n_jobs: int = 1, **how: Any) -> float:
    evaluation = evaluation_of(estimator or GaussianNB(), table, y, **{"cv": 3, "scoring": None, **how})
    return CrossValidated(evaluation, n_jobs)(columns)


@pytest.mark.parametrize(
    "cv", [3, KFold(4), ShuffleSplit(3, random_state=1), PredefinedSplit(np.r_[-np.ones(60), np.zeros(30)])]
)
def test_it_is_cross_validation(cv: Any) -> None:
    expected = 1 - cross_val_score(GaussianNB(), X[:, SOME], Y, cv=cv).mean()
    assert error(cv=cv) == expected
    assert error(cv=cv, n_jobs=3) == expected


def test_errors_are_in_the_unit_of_the_score() -> None:
    y = X[:, 1] + X[:, 4]
    loss = -cross_val_score(LinearRegression(), X[:, [1]], y, cv=3, scoring="neg_mean_squared_error").mean()
    assert error(LinearRegression(), y=y, columns=[1], scoring="neg_mean_squared_error") == pytest.approx(loss)
    auc = cross_val_score(GaussianNB(), X[:, SOME], Y, cv=3, scoring="roc_auc").mean()
    assert error(scoring="roc_auc") == pytest.approx(1 - auc)


@pytest.mark.parametrize(
    "form", [sparse.csc_matrix, sparse.csr_matrix, pd.DataFrame, lambda x: pl.DataFrame(x, list("abcdef"))]
)
def test_any_table(form: Any) -> None:
    assert error(LogisticRegression(), form(X)) == pytest.approx(error(LogisticRegression()), abs=0.02)


def test_the_estimator_and_random_splits_are_the_same_every_time() -> None:
    tree, splitter = DecisionTreeClassifier(max_features=1), ShuffleSplit(3)
    first, second = (error(tree, cv=splitter, seed=1) for _ in range(2))
    assert first == second
    assert tree.random_state is None
    assert splitter.random_state is None
    assert len({error(tree, cv=splitter, seed=seed) for seed in range(6)}) > 1


def test_weights_fit_and_score() -> None:
    weights = np.r_[np.zeros(45), np.ones(45)]
    kept = weights > 0
    split = PredefinedSplit(np.where(np.arange(90) % 3 == 0, 0, -1))
    inner = PredefinedSplit(np.where(np.arange(90) % 3 == 0, 0, -1)[kept])
    expected = error(LogisticRegression(), X[kept], Y[kept], cv=inner)
    assert error(LogisticRegression(), cv=split, sample_weight=weights) == pytest.approx(expected)
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    assert error(piped, sample_weight=np.where(Y, 9.0, 1.0)) != error(piped)
    with pytest.raises(ParameterError, match=r"sample_weight is given and KNeighborsClassifier.fit takes none"):
        error(KNeighborsClassifier(), sample_weight=weights)


def test_groups_stay_together() -> None:
    groups = np.arange(90) // 6
    for cv in (3, GroupKFold(3)):
        evaluation = evaluation_of(GaussianNB(), X, Y, cv=cv, scoring=None, groups=groups, holdout=0.2)
        splits = [*evaluation.splits, evaluation.held_out]
        assert all(not set(groups[split.train]) & set(groups[split.test]) for split in splits if split is not None)


def test_rows_held_out_are_in_no_split() -> None:
    evaluation = evaluation_of(GaussianNB(), X, Y, cv=4, scoring=None, holdout=0.3)
    held = evaluation.held_out
    assert held is not None
    assert len(held.test) == 27
    seen = np.concatenate([np.concatenate(split) for split in evaluation.splits])
    np.testing.assert_array_equal(np.unique(seen), held.train)
    aside = evaluation.on_held_out()
    assert aside is not None
    model = GaussianNB().fit(X[held.train], Y[held.train])
    assert subset_errors(aside)(np.arange(6)) == pytest.approx(1 - model.score(X[held.test], Y[held.test]))


class Failing(GaussianNB):  # type: ignore[misc]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803
        raise RuntimeError("out of luck\nwith more about it")


class Quoting(GaussianNB):  # type: ignore[misc]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803
        raise ValueError("no number: '\x1b[31m" + 400 * "x" + "'")


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"estimator": Failing()}, "^Failing failed with 3 columns: RuntimeError: out of luck$"),
        ({"estimator": Quoting()}, r"^Quoting failed .*: ValueError: no number: '\\x1b\[31mx{280,300}…$"),
        ({"scoring": lambda *_: np.nan}, "the score of GaussianNB with 3 columns is 'nan'; a score must be a number"),
        ({"scoring": lambda *_: "good"}, "the score of GaussianNB with 3 columns is 'good'"),
    ],
)
def test_what_fails_is_named(how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LearnerError, match=sentence):
        error(**how)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"cv": 91}, "cv is 91 and the table has 90 rows; give from 2 folds to one for every row"),
        ({"cv": 1}, "cv is 1 and the table has 90 rows"),
        ({"cv": "five"}, "cv is 'five', which does not split 90 rows: "),
        ({"cv": []}, "cv is .*, which makes no split; give at least one"),
        ({"scoring": "nothing"}, "scoring is 'nothing', which does not serve: "),
        ({"scoring": ["accuracy", "roc_auc"]}, "scoring is .*; give one name or one function, or None"),
        ({"estimator": "tree"}, "estimator is .*, which is no scikit-learn estimator"),
        (
            {"cv": PredefinedSplit(np.r_[-np.ones(60), np.zeros(30)]), "holdout": 0.2},
            "which names rows of the whole table; leave out holdout",
        ),
    ],
)
def test_refusals(how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        error(**how)
