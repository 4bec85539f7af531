"""Random ferns as a scikit-learn class: its checks, tables of every kind, invariances, accuracy."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood.errors import FernwoodWarning, ParameterError, TargetError
from fernwood.models import RandomFernsClassifier

X = np.random.default_rng(0).standard_normal((200, 12))
Y = (X[:, 3] + X[:, 7] > 0).astype(int) + (X[:, 3] > 1)


@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@parametrize_with_checks([RandomFernsClassifier()])
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)


def model(**changes: object) -> RandomFernsClassifier:
    return RandomFernsClassifier(**{"n_ferns": 300, "depth": 5, "random_state": 0, **changes})


def test_order_scale_threads_and_names_change_nothing() -> None:
    rng = np.random.default_rng(3)
    new = rng.standard_normal((80, 12))
    ferns = model(importances=True).fit(X, Y)
    scores = ferns.decision_function(new)
    order = rng.permutation(12)
    permuted = model(importances=True).fit(X[:, order], Y)
    np.testing.assert_array_equal(permuted.decision_function(new[:, order]), scores)
    np.testing.assert_array_equal(permuted.feature_importances_, ferns.feature_importances_[order])
    np.testing.assert_array_equal(permuted.shadow_importances_, ferns.shadow_importances_[order])
    np.testing.assert_array_equal(model().fit(np.exp(X), Y).predict(np.exp(X)), ferns.predict(X))
    threads = model(importances=True, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(threads.decision_function(new), scores)
    np.testing.assert_array_equal(threads.feature_importances_, ferns.feature_importances_)
    np.testing.assert_array_equal(threads.oob_scores_, ferns.oob_scores_)
    named = model().fit(X, np.array(["zebra", "ape", "mole"])[Y])
    np.testing.assert_array_equal(named.decision_function(new)[:, [2, 0, 1]], scores)
    assert (model(random_state=1).fit(X, Y).decision_function(new) != scores).any()


def test_the_first_ferns_of_many_are_those_of_few() -> None:
    many, few = model(n_ferns=300).fit(X, Y), model(n_ferns=140).fit(X, Y)
    np.testing.assert_array_equal(many.ferns_.scores[:140], few.ferns_.scores)
    np.testing.assert_array_equal(
        many.columns_[many.ferns_.trunks.column[:140]], few.columns_[few.ferns_.trunks.column]
    )


def test_importances_tell_columns_from_noise() -> None:
    ferns = model(n_ferns=1000, importances=True).fit(X, Y)
    assert set(np.argsort(ferns.feature_importances_)[-2:]) == {3, 7}
    assert ferns.feature_importances_[[3, 7]].min() > ferns.shadow_importances_.max()
    assert not hasattr(ferns.set_params(importances=False).fit(X, Y), "feature_importances_")


def test_tables_of_every_kind(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = np.where(rng.random((90, 15)) < 0.7, 0, rng.integers(1, 9, (90, 15))).astype(float)
    labels = (table[:, 0] > table[:, 1]).astype(int)
    dense = model().fit(table, labels)
    np.testing.assert_array_equal(
        model().fit(sparse.csr_array(table), labels).predict_proba(sparse.csr_array(table)), dense.predict_proba(table)
    )
    store = fernwood.ingest(X, tmp_path / "s.fern", target=np.array(["no", "so", "yes"])[Y].tolist())
    kept = model().fit(store)
    assert kept.classes_.tolist() == ["no", "so", "yes"]
    np.testing.assert_array_equal(kept.predict_proba(store), model().fit(X, Y).predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kept)).predict_proba(X), kept.predict_proba(X))
    frame = pd.DataFrame(
        {"town": rng.choice(["Aa", "Bb", "Cc", "Dd"], 400), "age": rng.random(400), "x": rng.random(400)}
    )
    frame.loc[::9, "age"] = np.nan
    towns = np.where(frame["town"].isin(["Aa", "Dd"]), "stays", "goes")
    ferns = model().fit(frame[:300], towns[:300])
    assert ferns.score(frame[300:], towns[300:]) > 0.9
    np.testing.assert_array_equal(
        ferns.predict_proba(frame[300:].assign(town="elsewhere")), ferns.predict_proba(frame[300:].assign(town=None))
    )


def test_missing_values_can_tell() -> None:
    table = X.copy()
    table[Y == 1, 5] = np.nan
    ferns = model(importances=True).fit(table, Y)
    assert ferns.feature_importances_.argmax() == 5


def test_weights_of_a_store() -> None:
    weights = (np.arange(200) % 5 > 0).astype(float)
    part = model().fit(fernwood.ingest(X, target=Y, weights=weights))
    assert np.isnan(part.oob_scores_[weights == 0]).all()
    assert np.isfinite(part.oob_scores_[weights > 0]).all()
    only = fernwood.ingest(X, target=np.where(weights > 0, np.minimum(Y, 1), 2), weights=weights)
    assert model().fit(only).classes_.tolist() == [0, 1]
    with pytest.raises(ParameterError, match="ferns count every row once; leave the weights out"):
        model().fit(fernwood.ingest(X, target=Y, weights=np.arange(1.0, 201)))


@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@pytest.mark.parametrize(
    ("load", "depth", "accuracy"), [(load_iris, 5, 0.92), (load_breast_cancer, 7, 0.91), (load_digits, 10, 0.91)]
)
def test_accuracy(load, depth: int, accuracy: float) -> None:
    table, y = load(return_X_y=True)
    ferns = RandomFernsClassifier(depth=depth, random_state=0)
    score = cross_val_score(ferns, table, y, cv=5).mean()
    assert score > accuracy
    assert abs(1 - ferns.fit(table, y).oob_error_ - score) < 0.03


def test_rare_classes_are_not_lost() -> None:
    """One row in 25 is of the second class, which two columns tell with some noise; both classes are found alike."""
    rng = np.random.default_rng(9)
    y = (np.arange(1000) % 25 == 0).astype(int)
    table = rng.standard_normal((1000, 4))
    table[:, 2:] += 3 * y[:, None]
    found = model(n_ferns=1000, depth=3).fit(table, y).predict(table)
    assert (found[y == 1] == 1).mean() > 0.8
    assert (found[y == 0] == 0).mean() > 0.8


def test_probabilities_follow_scores() -> None:
    ferns = model().fit(X, Y)
    shares, scores = ferns.predict_proba(X), ferns.decision_function(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    two = model().fit(X, Y > 0)
    np.testing.assert_array_equal(two.predict(X), two.decision_function(X) > 0)


def test_what_cannot_be() -> None:
    for changes, words in (
        ({"depth": 17}, "depth is 17; it must be from 1 to 16: a fern of depth 17 takes 1.0 MB a class"),
        ({"n_ferns": 0}, "n_ferns is 0; it must be an integer from 1 on"),
        ({"importances": "yes"}, "importances is 'yes'; give True or False"),
        ({"n_jobs": 0}, "n_jobs is 0; give a number of threads"),
    ):
        with pytest.raises(ParameterError, match=words):
            model(**changes).fit(X, Y)
    with pytest.raises(TargetError, match="asks for regression and RandomFernsClassifier does classification"):
        model().fit(fernwood.ingest(X, target=X[:, 0] + X[:, 1]))
    with pytest.raises(TargetError, match="is 0 in every row; it needs at least two"):
        model().fit(X, np.zeros(200))


def test_fewer_rows_than_leaves_is_fine_but_said() -> None:
    with pytest.warns(FernwoodWarning, match="depth is 10, which makes 1,024 leaves for 200 rows"):
        assert model(depth=10).fit(X, Y).predict(X).shape == Y.shape
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(depth=7).fit(X, Y)
