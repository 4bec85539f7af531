"""Naive Bayes by adding up terms: the errors of fitting on every subset, whatever was asked for before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from fernwood.learner.bayes import fast_errors
from fernwood.learner.subsets import CrossValidated, evaluation_of, subset_errors

DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS, LABELS = DIGITS[:600], LABELS[:600]
LEARNERS = [GaussianNB(), GaussianNB(var_smoothing=1e-3), BernoulliNB(binarize=6.0), CategoricalNB(min_categories=17)]


def asked_for(rng: np.random.Generator, n_columns: int) -> list[np.ndarray]:
    """Subsets as an elimination asks for them, removals that fail among them, and then some of any size."""
    out, left = [np.arange(n_columns)], np.arange(n_columns)
    while len(left) > 3:
        tried = np.sort(rng.permutation(left)[rng.integers(1, 4) :])
        out.append(tried)
        left = tried if rng.random() < 0.6 else left
    return out + [np.sort(rng.permutation(n_columns)[: rng.integers(1, n_columns)]) for _ in range(8)]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_errors_are_those_of_fitting(learner: object) -> None:
    evaluation = evaluation_of(learner, DIGITS, LABELS, cv=4, scoring=None)
    fast, plain = fast_errors(evaluation), CrossValidated(evaluation)
    assert fast is not None
    different = set()
    for columns in asked_for(np.random.default_rng(0), 64):
        different.add(error := plain(columns))
        assert fast(columns) == error
    assert len(different) > 20


def test_without_smoothing_classes_are_impossible() -> None:
    """A value that a class never had rules it out, and where all are ruled out the first class is taken."""
    with np.errstate(divide="ignore"):
        learner = CategoricalNB(alpha=0.0, min_categories=17)
        evaluation = evaluation_of(learner, DIGITS, LABELS, cv=4, scoring=None)
        fast, plain = fast_errors(evaluation), CrossValidated(evaluation)
        assert fast is not None
        # On few columns, classes as frequent as each other come out equal, but for a rounding of the plain way.
        subsets = [columns for columns in asked_for(np.random.default_rng(1), 64) if len(columns) > 8]
        told = [fast(columns) for columns in subsets]
        assert told == [plain(columns) for columns in subsets]
        assert [fast(columns) for columns in subsets[::-1]] == told[::-1]
    smoothed = subset_errors(evaluation_of(CategoricalNB(min_categories=17), DIGITS, LABELS, cv=4, scoring=None))
    assert told[0] > smoothed(subsets[0]) + 0.2


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_history_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((40, 12)) * 10.0 ** rng.integers(-4, 5, 12)
    y = rng.integers(0, 3, 40)
    subsets = asked_for(rng, 12)
    for learner in (GaussianNB(), BernoulliNB()):
        evaluation = evaluation_of(learner, table, y, cv=[(np.arange(0, 40, 2), np.arange(1, 40, 2))], scoring=None)
        along, back = fast_errors(evaluation), fast_errors(evaluation)
        told = [along(columns) for columns in subsets]
        assert [back(columns) for columns in subsets[::-1]] == told[::-1]


def test_weights_validation_sets_frames_and_classes_that_a_fold_lacks() -> None:
    rng = np.random.default_rng(3)
    table, y = rng.standard_normal((90, 6)), np.repeat(["a", "b", "c"], 30)
    table[y == "b", 2] += 2
    table[y == "c", 4] -= 2
    part = PredefinedSplit(np.where(np.arange(90) < 25, -1, 0))  # fitted on one class and scored on three
    weights = rng.random(90)
    for how in ({"cv": part}, {"cv": 3, "scoring": "accuracy"}):
        evaluation = evaluation_of(GaussianNB(), pd.DataFrame(table), y, **{"scoring": None, **how})
        assert fast_errors(evaluation)(np.arange(4)) == CrossValidated(evaluation)(np.arange(4))
    weighted = evaluation_of(GaussianNB(), table, y, cv=3, scoring=None, sample_weight=weights)
    assert fast_errors(weighted) is None  # the score is weighted too
    only_fit = weighted.__class__(**{**vars(weighted), "params": weighted.params._replace(score={})})
    assert fast_errors(only_fit)(np.arange(5)) == CrossValidated(only_fit)(np.arange(5))
    assert fast_errors(only_fit)(np.arange(5)) != fast_errors(evaluation)(np.arange(5))


def test_the_plain_way_is_taken_where_there_is_no_other() -> None:
    table, y = np.abs(DIGITS), LABELS
    infinite = BernoulliNB(alpha=0.0, force_alpha=True, binarize=0.0)
    for learner, x, scoring in (
        (MultinomialNB(), table, None),
        (GaussianNB(), table, "f1_macro"),
        (GaussianNB(var_smoothing=-1.0), table, None),
        (BernoulliNB(), sparse.csr_array(table), None),
        (GaussianNB(), np.where(np.arange(64) == 3, np.nan, table), None),
        (CategoricalNB(), np.where(np.arange(600)[:, None] == 599, 40, table), None),
    ):
        assert isinstance(subset_errors(evaluation_of(learner, x, y, cv=3, scoring=scoring)), CrossValidated)
    with np.errstate(divide="ignore"):
        assert isinstance(subset_errors(evaluation_of(infinite, table, y, cv=3, scoring=None)), CrossValidated)
    assert not isinstance(subset_errors(evaluation_of(GaussianNB(), table, y, cv=3, scoring=None)), CrossValidated)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_columns_without_spread() -> None:
    """Variances of nothing, whatever is left of the others."""
    table = np.column_stack([np.zeros(30), np.arange(30.0), np.repeat([0.0, 1.0], 15)])
    evaluation = evaluation_of(GaussianNB(), table, np.repeat([0, 1], 15), cv=3, scoring=None)
    fast, plain = fast_errors(evaluation), CrossValidated(evaluation)
    for columns in ([0, 1, 2], [1, 2], [0, 2], [0], [1], [2]):
        assert fast(np.array(columns)) == plain(np.array(columns))


@pytest.mark.parametrize("huge", [1e6, 1e9, 1e18])
def test_a_column_that_spreads_widely_leaves_the_others_alone(huge: float) -> None:
    """A timestamp in nanoseconds, say, and columns whose variances are nothing beside its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    table = rng.standard_normal((120, 6)) + y[:, None] * np.array([0, 1, 0.7, 0, 0.5, 0])
    table[:, 0] = huge * (1 + rng.random(120))
    evaluation = evaluation_of(GaussianNB(), table, y, cv=4, scoring=None)
    fast, plain = fast_errors(evaluation), CrossValidated(evaluation)
    assert fast is not None
    for columns in ([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 4], [0, 3], [1], [0, 1, 2]):
        assert fast(np.array(columns)) == plain(np.array(columns))
    assert fast(np.array([1, 2, 4])) < 0.3


@pytest.mark.parametrize("far", [1e3, 1e8, 1e12])
def test_a_row_that_is_far_from_all_others_leaves_them_alone(far: float) -> None:
    """In a column that hardly spreads among those that are fitted on; the row itself is of a class for certain."""
    rng = np.random.default_rng(1)
    y = np.arange(200) // 2 % 2
    table = rng.standard_normal((200, 4)) + y[:, None] * np.array([1.5, 1, 0, 0])
    table[:, 3] /= 1e6
    table[101, 3] = far
    evaluation = evaluation_of(GaussianNB(), table, y, cv=[(np.arange(0, 200, 2), np.arange(1, 200, 2))], scoring=None)
    fast, plain = fast_errors(evaluation), CrossValidated(evaluation)
    for columns in ([0, 1, 2, 3], [0, 1, 3], [0, 3], [3], [0, 1]):
        assert fast(np.array(columns)) == plain(np.array(columns))
    assert fast(np.array([0, 1, 3])) < 0.3
