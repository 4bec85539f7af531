"""Tables of every kind become the store that an estimator is fitted on; what cannot serve gets one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import fernwood
from fernwood.errors import FernwoodError, ParameterError, SourceError, TargetError
from fernwood.estimator import TableEstimator, class_labels, fit_store, n_threads, new_table
from fernwood.store import Store

RNG = np.random.default_rng(0)
X = RNG.integers(0, 9, (20, 4)).astype(float)
Y = np.arange(20) % 2


def codes(store: Store) -> np.ndarray:
    return store.read(np.arange(store.n_columns))


def test_every_kind_of_table_becomes_the_same_codes(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    np.save(tmp_path / "x.npy", X)
    tables = [
        X,
        X.tolist(),
        X.astype(object),
        sparse.csr_array(X),
        sparse.coo_matrix(X),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        pl.LazyFrame(X, schema=names),
        pa.table({name: X[:, i] for i, name in enumerate(names)}),
        fernwood.ingest(X, target=Y),
    ]
    for table in tables:
        estimator = TableEstimator()
        store = fit_store(estimator, table, Y, task="classification")
        np.testing.assert_array_equal(codes(store), codes(tables[-1]))
        assert estimator.n_features_in_ == 4
        framed = isinstance(table, pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table)
        assert hasattr(estimator, "feature_names_in_") == framed
        if framed:
            assert estimator.feature_names_in_.tolist() == names


def test_text_and_categories_of_a_frame_stay_what_they_are() -> None:
    frame = pd.DataFrame(
        {"n": X[:, 0], "t": np.where(Y, "x", "y"), "c": pd.Categorical(np.where(X[:, 1] > 4, "u", "v"))}
    )
    frame["b"] = X[:, 2] > 4
    store = fit_store(TableEstimator(), frame, X[:, 3] / 3, task="regression")
    assert [store.labels(c) for c in ("t", "c")] == [["x", "y"], ["u", "v"]]
    assert store.column("b").dtype == bool
    assert store.target is not None
    assert store.target.values.tolist() == (X[:, 3] / 3).tolist()


def test_a_store_keeps_its_target_unless_one_is_given() -> None:
    store = fernwood.ingest(X, target=Y, weights=np.arange(20.0), groups=np.arange(20) // 5)
    assert fit_store(TableEstimator(), store, None) is store
    other = fit_store(TableEstimator(), store, 1 - Y, task="classification")
    assert other.target is not None
    assert other.target.values.tolist() == (1 - Y).tolist()
    assert other.weights is store.weights
    assert other.groups is store.groups
    weighted = fit_store(TableEstimator(), store, None, sample_weight=np.ones(20))
    assert weighted.weights.tolist() == [1.0] * 20
    assert weighted.target is store.target
    assert len({store.fingerprint, other.fingerprint, weighted.fingerprint}) == 3
    again = fit_store(TableEstimator(), store, 1 - Y, task="classification")
    assert again.fingerprint == other.fingerprint
    np.testing.assert_array_equal(codes(other), codes(store))


def test_fitting_a_store_forgets_earlier_names() -> None:
    estimator = TableEstimator()
    fit_store(estimator, pd.DataFrame(X, columns=list("abcd")), Y)
    fit_store(estimator, fernwood.ingest(X, target=Y), None)
    assert not hasattr(estimator, "feature_names_in_")


def test_classes_keep_the_type_of_y() -> None:
    store = fernwood.ingest(X, target=np.array(["no", "yes"])[Y].tolist())
    assert class_labels(store, None).tolist() == ["no", "yes"]
    assert class_labels(store, Y.astype(np.float32)).dtype == np.float32


def test_a_new_table_has_the_columns_of_the_old() -> None:
    estimator = TableEstimator()
    frame = pd.DataFrame(X, columns=list("abcd"))
    fit_store(estimator, frame, Y)
    assert new_table(estimator, frame) is frame
    with pytest.raises(ValueError, match="same order"):
        new_table(estimator, frame[list("bacd")])
    fit_store(estimator, X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but TableEstimator is expecting 4"):
        new_table(estimator, X[:, :3])
    store = fernwood.ingest(X)
    assert new_table(estimator, store) is store


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"y": None}, TargetError, "requires y to be passed, but the target y is None; give one value a row"),
        ({"X": X[:3], "y": Y[:3]}, SourceError, r"too few rows \(n_samples = 3\); give at least 4"),
        ({"X": X[:, :1]}, SourceError, r"1 of n_features = 1 columns are usable.*needs at least 2"),
        ({"X": X * [1, 0, 0, 0]}, SourceError, r"1 of n_features = 4 columns are usable"),
        ({"y": np.zeros(20)}, TargetError, "is 0 in every row; it needs at least two different values, or classes"),
        ({"y": list("abcdefghijklmnopqrst")}, TargetError, "20 classes in 20 rows, as an identifier has.*give another"),
        ({"sample_weight": -np.ones(20)}, ParameterError, "a weight in sample_weight is -1; weights must be"),
        ({"sample_weight": np.zeros(20)}, ParameterError, "sample_weight is zero in every row; give at least one"),
        (
            {"sample_weight": np.ones((20, 2))},
            ParameterError,
            r"has shape \(20, 2\); give one number for each of the 20",
        ),
        ({"X": fernwood.ingest(X), "y": None}, TargetError, "the store has no target and y is None; give y"),
        ({"X": fernwood.ingest(X), "y": Y[:9]}, TargetError, "y has 9 values and the store has 20 rows"),
        (
            {"X": fernwood.ingest(X, target=Y).rows(Y == 0), "y": None},
            TargetError,
            "the target 'target' has one class only, .*; it needs at least two",
        ),
        (
            {"X": fernwood.ingest(X, target=RNG.random(20)), "y": None},
            TargetError,
            "asks for regression and TableEstimator does classification; take the other estimator, or give y",
        ),
    ],
)
def test_one_sentence_for_what_cannot_serve(change: dict, kind: type[FernwoodError], words: str) -> None:
    given = {"X": X, "y": Y, "task": "classification", **change}
    with pytest.raises(kind, match=words) as caught:
        fit_store(TableEstimator(), **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": np.where(X == 3, np.inf, X)}, "Input X contains infinity"),
        ({"X": X[0]}, "Expected 2D array"),
        ({"y": Y[:9]}, "inconsistent numbers of samples"),
        ({"y": RNG.random(20)}, "Unknown label type"),
        ({"y": np.where(Y, np.nan, 1.0)}, "Input y contains NaN"),
    ],
)
def test_what_scikit_learn_says(change: dict, words: str) -> None:
    given = {"X": X, "y": Y, "task": "classification", **change}
    with pytest.raises(ValueError, match=words):
        fit_store(TableEstimator(), **given)


def test_an_infinite_value_of_a_frame_is_named() -> None:
    frame = pd.DataFrame(np.where(X == 3, np.inf, X), columns=list("abcd"))
    with pytest.raises(SourceError, match="column '.' has inf in row"):
        fit_store(TableEstimator(), frame, Y)


def test_threads() -> None:
    assert n_threads(2) == 2
    for bad in (0, "many", 0.5, np.inf, True, 2**32, np.zeros((50, 3))):
        with pytest.raises(ParameterError, match="^n_jobs is .*; give a number of threads from 1 to 4096, −1 for"):
            n_threads(bad)
