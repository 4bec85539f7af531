"""Numerical edges: values, weights, targets and shapes at the ends of what there is, for ingest and every selector.

Each has an answer, which is stated, or one sentence; nothing warns, no number of an answer is infinite or missing.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

import fernwood
from fernwood import (
    BorutaSelector,
    EliminationSelector,
    FernSelector,
    FilterSelector,
    GainRatioTreeClassifier,
    RandomFernsClassifier,
    SnowballSelector,
    SubspaceForestClassifier,
    SubspaceForestRegressor,
    SubspaceSelector,
)
from fernwood.errors import FernwoodError, FernwoodWarning, LearnerError, ParameterError, SourceError, TargetError
from fernwood.learner.target import class_target, value_target
from fernwood.search.decoding import decoded
from fernwood.search.sampling import sampled_rows

SMALL, LARGE = 5e-324, float(np.finfo(np.float64).max)
TREE = GainRatioTreeClassifier(max_depth=4, random_state=0)
SEARCHES: dict[str, Any] = {
    "snowball": SnowballSelector(n_contexts=8, max_waves=2, max_contexts=4, random_state=0),
    "few": SnowballSelector(n_contexts=8, max_waves=2, max_contexts=0, goal="minimal", random_state=0),
    "subspace": SubspaceSelector(n_iter=40, n_trees=2, random_state=0),
    "mirror": SubspaceSelector(n_iter=8, n_trees=2, rule="mirror", random_state=0),
    "probe": SubspaceSelector(n_iter=20, n_trees=2, alpha=0.0, rule="probe", random_state=0),
    "boruta": BorutaSelector(max_iter=5, n_estimators=10, random_state=0),
    "fixed": BorutaSelector(max_iter=5, n_estimators=10, correction="fixed-shadows", random_state=0),
}
OF_CLASSES: dict[str, Any] = {
    "ferns": FernSelector(scans=40, depth=3, rule="max-shadow", random_state=0),
    "elimination": EliminationSelector(TREE, cv=2, random_state=0),
    "filter": FilterSelector(TREE, cv=2, max_columns=3, random_state=0),
}
MODELS: dict[str, Any] = {
    "forest": SubspaceForestClassifier(n_iter=10, alpha=0.0, random_state=0),
    "random ferns": RandomFernsClassifier(20, 3, importances=True, random_state=0),
    "tree": GainRatioTreeClassifier(random_state=0),
}
ALL = {**SEARCHES, **OF_CLASSES}
RNG = np.random.default_rng(0)


def fitted(estimator: Any, *table: Any, **more: Any) -> Any:
    """Fit; sentences that warn people are what they are, and every other warning is a mistake."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernwoodWarning)
        model = clone(estimator).fit(*table, **more)
    for name in ("importances_", "pvalues_", "qvalues_", "feature_importances_", "shadow_importances_"):
        assert np.isfinite(getattr(model, name, 0.0)).all(), name
    return model


def sentence(error: BaseException) -> str:
    """What was said, which is one line and no longer than people read."""
    said = str(error)
    assert "\n" not in said
    assert 10 < len(said) < 600
    return said


# Columns -------------------------------------------------------------------------------------------------------------

N = 300


def edges() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A column that tells, beside others of all kinds at the ends of what they can be."""
    rng = np.random.default_rng(1)
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001], np.uint64).view(np.float64)
    odd = np.concatenate([odd, [1.0, 2.0, 3.0]])
    told = rng.standard_normal(N)
    frame = pd.DataFrame(
        {
            "told": told,
            "constant": 3.0,
            "missing": np.nan,
            "zeros": rng.choice([0.0, -0.0], N),
            "denormal": rng.choice([SMALL, 2 * SMALL, -SMALL, 0.0], N),
            "all denormal": rng.integers(-(2**40), 2**40, N) * SMALL,
            "huge": rng.choice([LARGE, -LARGE, 1e308, -1e308, 0.0], N),
            "all huge": rng.uniform(-1, 1, N) * LARGE,
            "far apart": rng.choice([SMALL, LARGE], N),
            "odd": odd[rng.integers(0, len(odd), N)],
            "whole": 2**53 + rng.integers(0, 9, N),
            "unsigned": np.uint64(2**64 - 1) - rng.integers(0, 9, N).astype(np.uint64) * np.uint64(2**12),
            "255 values": np.arange(N) % 255,
            "256 values": np.arange(N) % 256,
            "257 values": np.arange(N) % 257,
            "flags": rng.random(N) < 0.5,
        }
    )
    return frame, (told > 0).astype(int), told


FRAME, LABELS, NUMBERS = edges()


def test_codes_at_the_edges() -> None:
    """Ranks, whatever the values; a constant is no candidate, and zero has no sign."""
    store = fernwood.ingest(FRAME)
    usable = dict(zip(FRAME.columns, store.usable.tolist(), strict=True))
    assert [name for name, can in usable.items() if not can] == ["constant", "missing", "zeros"]
    for place, name in enumerate(FRAME.columns):
        values, codes = FRAME[name].to_numpy(np.float64), store.read([place])[0]
        known = ~np.isnan(values)
        assert (codes[~known] == 255).all()
        ranks = np.unique(values[known], return_inverse=True)[1]
        if ranks.max(initial=0) < 255:
            assert codes[known].tolist() == ranks.tolist(), name
        else:  # cut at quantiles: in order, and about as many rows in each
            assert (np.diff(codes[known][np.argsort(ranks)].astype(int)) >= 0).all(), name
            assert np.bincount(codes[known]).max() <= 2 * N / 24 + 1
        again = fernwood.ingest(FRAME[[name]].astype(np.float64)).read([0])[0]
        assert again.tolist() == codes.tolist()


@pytest.mark.parametrize("name", ALL)
def test_columns_at_the_edges_for_classes(name: str) -> None:
    """The column that tells is found, and constant ones are never."""
    table = FRAME.astype(np.float64).to_numpy()
    selector = fitted(ALL[name], table, LABELS)
    found = [FRAME.columns[i] for i in np.flatnonzero(selector.support_)]
    assert not {"constant", "missing", "zeros"} & set(found)
    if name not in ("mirror", "boruta"):  # so little effort decides nothing there
        assert "told" in found
    if name in ("snowball", "subspace", "fixed"):
        assert len(found) <= 2


@pytest.mark.parametrize("name", [*SEARCHES])
def test_columns_at_the_edges_for_numbers(name: str) -> None:
    selector = fitted(SEARCHES[name], FRAME, NUMBERS)
    if name not in ("mirror", "boruta"):
        assert selector.support_[0]


@pytest.mark.parametrize("name", MODELS)
def test_models_at_the_edges(name: str) -> None:
    model = fitted(MODELS[name], FRAME, LABELS)
    assert np.isfinite(model.predict_proba(FRAME)).all()
    assert np.mean(model.predict(FRAME) == LABELS) > 0.8


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_by_name(value: float) -> None:
    table = FRAME.assign(endless=np.where(np.arange(N) == 7, value, 1.0))
    with pytest.raises(SourceError, match=f"column 'endless' has {value} in row 7") as caught:
        fernwood.ingest(table)
    assert "make it missing" in sentence(caught.value)
    for name in ALL:
        with pytest.raises(ValueError, match="infinit") as caught:
            fitted(ALL[name], table.astype(np.float64).to_numpy(), LABELS)
        sentence(caught.value)


def test_learners_get_numbers_of_four_bytes_or_their_order() -> None:
    """What four bytes would make infinite, zero or equal keeps its order as codes."""
    frame = pd.DataFrame(
        {
            "plain": [0.5, 1.5, np.nan, 2.5],
            "huge": [1e300, -1e300, np.nan, 0.0],
            "tiny": [1e-300, 0.0, -1e-300, 1e-300],
            "close": [2**24, 2**24 + 1, 2**24 + 2, 2**24 + 3],
        }
    )
    table = decoded(fernwood.ingest(frame), np.arange(4)).T
    assert table[0][[0, 1, 3]].tolist() == [0.5, 1.5, 2.5]
    assert table[1][[0, 1, 3]].tolist() == [2, 0, 1]
    assert np.isnan(table[:2, 2]).all()
    assert table[2].tolist() == [2, 1, 0, 2]
    assert table[3].tolist() == [0, 1, 2, 3]
    selector = fitted(ALL["filter"], fernwood.ingest(FRAME, target=LABELS))
    assert selector.support_[0]


def test_categories_and_dates_at_the_edges() -> None:
    long = [f"{'x' * 50_000}{i}" for i in range(3)]
    dates = pd.to_datetime(["1677-09-22", "1970-01-01", "2262-04-11"])
    number = np.arange(60) % 3
    frame = pd.DataFrame({"long": np.array(long)[number], "dates": dates[number], "z": RNG.standard_normal(60)})
    store = fernwood.ingest(frame)
    assert store.read([0, 1]).tolist() == [number.tolist(), number.tolist()]
    found = fitted(SEARCHES["subspace"], frame, (number == 1).astype(int))
    assert found.support_[0]  # the dates tell the same, and a split by categories takes it at once
    assert not found.support_[2]
    regressor = FilterSelector(DecisionTreeRegressor(), cv=2)
    with pytest.raises(LearnerError, match="DecisionTreeRegressor failed with") as caught:
        fitted(regressor, frame, RNG.standard_normal(60))
    sentence(caught.value)


def test_very_many_categories() -> None:
    frame = pd.DataFrame(
        {"id": [f"k{i}" for i in range(70_000)], "a": np.arange(70_000) % 7, "b": np.arange(70_000) % 5}
    )
    target = np.arange(70_000) % 2
    with pytest.raises(SourceError, match="'id' has 70000 categories, more than the 254") as caught:
        fernwood.ingest(frame, target=target)
    sentence(caught.value)
    assert fernwood.ingest(frame, target=target, many_categories="drop").n_columns == 2
    assert fernwood.ingest(frame, target=target, many_categories="frequency").n_columns == 3


# Shapes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_few_rows_and_columns(name: str) -> None:
    x = np.random.default_rng(2).standard_normal((60, 5))
    y = np.arange(60) % 2
    for n in (1, 2, 3):
        with pytest.raises(SourceError, match=rf"too few rows \(n_samples = {n}\); give at least 4"):
            fitted(ALL[name], x[:n], y[:n])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        fitted(ALL[name], x[:, :0], y)
    with pytest.raises(SourceError, match="1 of n_features = 1 columns are usable") as caught:
        fitted(ALL[name], x[:, :1], y)
    sentence(caught.value)
    two = fitted(ALL[name], np.stack([y + 0.1 * x[:, 0], x[:, 1]], axis=1), y)
    assert two.support_.shape == (2,)
    if name not in ("mirror", "boruta", "ferns"):  # a fern of two columns always holds both
        assert two.support_[0]


@pytest.mark.parametrize("name", ALL)
def test_four_rows(name: str) -> None:
    """Four rows can show nothing, and nothing is found, or a sentence says so; cross-validation picks something."""
    x, y = np.random.default_rng(3).standard_normal((4, 6)), [0, 1, 0, 1]
    if name in ("snowball", "few", "elimination", "filter"):
        with pytest.raises(FernwoodError, match="with 4 rows p cannot be below 0.33|too few rows") as caught:
            fitted(ALL[name], x, y)
        sentence(caught.value)
    else:
        assert not fitted(ALL[name], x, y).support_.any()


def test_a_million_columns_of_four_rows() -> None:
    """Whatever tells as much as four rows can is told by one in 24 of all columns by chance: nothing is found."""
    x = np.random.default_rng(4).standard_normal((4, 10**6)).astype(np.float32)
    y = np.array([1.5, 2.0, 4.0, 9.0])
    x[:, 77] = y
    store = fernwood.ingest(x, target=y)
    assert store.n_columns == 10**6
    selector = fitted(SubspaceSelector(n_iter=4, q=2000, n_trees=1, random_state=0), store)
    assert not selector.support_.any()
    with pytest.raises(ParameterError, match="with 4 rows p cannot be below 0.33"):
        fitted(SEARCHES["snowball"], store, [0, 1, 0, 1])


# Targets -------------------------------------------------------------------------------------------------------------


def test_classes_at_the_edges() -> None:
    """One class, one row a class, one row of a class, and a thousand classes of three rows."""
    x = np.random.default_rng(5).standard_normal((60, 5))
    for name in ALL:
        with pytest.raises(TargetError, match="is 0 in every row; it needs at least two"):
            fitted(ALL[name], x, np.zeros(60, int))
        with pytest.raises(TargetError, match="60 classes in 60 rows, as an identifier has"):
            fitted(ALL[name], x, [f"k{i}" for i in range(60)])
    rare = np.where(np.arange(60) == 7, "rare", np.where(x[:, 0] > 0, "a", "b"))
    for name in SEARCHES:
        found = fitted(SEARCHES[name], x, rare).support_
        assert found[0] or name in ("mirror", "boruta", "probe")
    number = np.arange(3000) % 1000
    many = np.random.default_rng(6).standard_normal((3000, 4))
    many[:, 0] = number + 0.1 * many[:, 0]
    labels = np.array([f"class {i}" for i in range(1000)])[number]
    for name in ("snowball", "subspace", "probe", "fixed"):
        found = fitted(SEARCHES[name], many, labels).support_
        assert found[0] or name != "snowball"  # the others are given little effort here
        assert found[1:].sum() <= 1  # at these rates, in one table of eight
    assert fitted(OF_CLASSES["ferns"], many, labels).importances_.argmax() == 0
    for name in ("forest", "tree"):
        assert len(fitted(MODELS[name], many, labels).classes_) == 1000


def test_targets_of_numbers_at_the_edges() -> None:
    x = np.random.default_rng(7).standard_normal((100, 6))
    y = 2 * x[:, 0] + 0.3 * np.random.default_rng(8).standard_normal(100)
    plain = fitted(SEARCHES["subspace"], x, y)
    assert plain.support_.tolist() == [True, False, False, False, False, False]
    selector = clone(SEARCHES["subspace"]).set_params(task="regression")
    for power in (-900, -40, 40, 900):  # nothing is rounded, so nothing changes
        scaled = fitted(selector, x, y * 2.0**power)
        assert scaled.importances_.tolist() == plain.importances_.tolist()
    for far in (np.round(8 * y) * SMALL, y * 1e300, y / np.abs(y).max() * 8e307):
        for name in ("snowball", "few", "subspace", "probe", "fixed"):
            found = fitted(clone(SEARCHES[name]).set_params(task="regression"), x, far)
            assert found.support_[0], name
        forest = SubspaceForestRegressor(n_iter=20, alpha=0.0, random_state=0).fit(x, far)
        predicted = forest.predict(x)
        assert np.isfinite(predicted).all()
        assert np.corrcoef(predicted / np.abs(far).max(), far / np.abs(far).max())[0, 1] > 0.9
    with pytest.raises(TargetError, match="too far for doubles to hold differences; divide it") as caught:
        fitted(selector, x, np.where(y > 0, LARGE, -LARGE))
    sentence(caught.value)
    with pytest.raises(TargetError, match="or as numbers to explain with task='regression'") as caught:
        fitted(SEARCHES["subspace"], x, y * 1e300)
    sentence(caught.value)
    for wrong, said in ((np.inf, "infinit"), (np.nan, "NaN")):
        with pytest.raises(ValueError, match=said):
            fitted(selector, x, np.where(np.arange(100) == 3, wrong, y))


# Weights -------------------------------------------------------------------------------------------------------------

X = np.random.default_rng(9).standard_normal((80, 6))
Y = (X[:, 0] > 0).astype(int)
T = 2 * X[:, 0] + 0.3 * X[:, 1]


@pytest.mark.parametrize("name", SEARCHES)
def test_weights_count_by_their_ratio(name: str) -> None:
    """Times a power of two they are the same weights, up to the largest and down to the smallest there are."""
    weights = np.array([1.0, 2.0, 3.0, 4.0])[np.arange(80) % 4]
    plain = fitted(SEARCHES[name], X, Y, sample_weight=weights)
    for power in (-1074, -996, 996, 1021):
        other = fitted(SEARCHES[name], X, Y, sample_weight=weights * 2.0**power)
        assert other.importances_.tolist() == plain.importances_.tolist()
        assert other.support_.tolist() == plain.support_.tolist()
    unweighted = fitted(SEARCHES[name], X, T)
    for alike in (SMALL, 1e-300, 1e300, LARGE):
        assert fitted(SEARCHES[name], X, T, sample_weight=np.full(80, alike)).importances_.tolist() == (
            unweighted.importances_.tolist()
        )


@pytest.mark.parametrize("name", SEARCHES)
def test_weights_of_all_sizes_at_once(name: str) -> None:
    """Rows that weigh next to nothing take part, and tell next to nothing."""
    for target in (Y, T):
        mixed = fitted(SEARCHES[name], X, target, sample_weight=np.where(np.arange(80) % 2, 1e300, 1e-300))
        fitted(SEARCHES[name], X, target, sample_weight=np.where(Y == 1, 1e300, 1e-300))
        fitted(SEARCHES[name], X, target, sample_weight=np.where(np.arange(80) == 3, 1e300, 1.0))
        if name in ("snowball", "subspace", "fixed"):
            assert mixed.support_[0]


def test_kernels_get_weights_that_stay_above_zero() -> None:
    weights = np.array([1e300, 1e-300, SMALL, 0.0, LARGE])
    for target in (class_target([0, 1, 0, 1, 1], weights), value_target([1.0, 2.0, 3.0, 4.0, 5.0], weights)):
        heavy = target.kernel.weights
        assert (heavy > 0).tolist() == [True, True, True, False, True]
        assert np.isfinite(heavy).all()
        assert heavy.mean() <= 1
    balanced = class_target([0, 0, 1, 1], [1e300, 1e300, 1e-300, 1e-300], "balanced").kernel.weights
    assert balanced.tolist() == [balanced[0]] * 4
    assert class_target([0, 0, 1], None, {0: 1e300, 1: 1e-300}).kernel.weights.min() > 0
    large = class_target([0, 1] * 20, None, {0: LARGE, 1: LARGE / 2}).kernel.weights
    assert large.tolist() == class_target([0, 1] * 20, None, {0: 2, 1: 1}).kernel.weights.tolist()
    assert class_target([0, 0, 1], [1e300, 1e-300, 1.0], {0: SMALL}).kernel.weights.min() > 0


def test_values_that_do_not_count_are_not_looked_at() -> None:
    """A row without weight may hold anything: the others are measured by themselves."""
    small = [1.1e-9, 2.3e-9, 4.7e-9]  # of which nothing were left beside values that large
    plain = value_target(small)
    beside = value_target([*small, 1e308, -1e308], [1, 1, 1, 0, 0])
    assert beside.kernel.values == pytest.approx([*plain.kernel.values.tolist(), 0.0, 0.0], abs=1e-14)
    assert (beside.centre, beside.unit) == (pytest.approx(plain.centre), plain.unit)
    assert value_target([LARGE, LARGE])[2:] == (LARGE, 1.0)  # of one value there are no differences to hold
    tiny = value_target([SMALL, 0.0])
    assert tiny.kernel.values.tolist() == [1.0, -1.0]
    assert math.isfinite(tiny.centre)


def test_few_rows_that_count() -> None:
    for name in ALL:
        weights = np.where(np.arange(80) == 3, 1.0, 0.0)
        with pytest.raises(TargetError, match="has one class only"):
            fitted(ALL[name], X, Y, sample_weight=weights)
    with pytest.raises(TargetError, match="in every row; there is nothing to explain"):
        fitted(SEARCHES["subspace"], X, T, sample_weight=weights)


def test_weights_that_learners_could_not_add_up() -> None:
    for name, target in (("elimination", Y), ("filter", Y)):
        with pytest.raises(ParameterError, match="their sum is beyond the largest number; divide them") as caught:
            fitted(OF_CLASSES[name], X, target, sample_weight=np.full(80, LARGE))
        sentence(caught.value)


# A sample of rows -----------------------------------------------------------------------------------------------------


def test_a_sample_of_rows_does_not_depend_on_what_classes_are_called() -> None:
    labels = np.random.default_rng(10).choice(3, 2000, p=[0.6, 0.3, 0.1])
    names = (np.array(["a", "b", "c"]), np.array(["z", "b", "a"]), np.array([5, -1, 3]))
    x = np.random.default_rng(11).standard_normal((2000, 2))
    samples = [sampled_rows(fernwood.ingest(x, target=of[labels], task="classification"), 300, 0) for of in names]
    assert all(sample is not None and sample.tolist() == samples[0].tolist() for sample in samples)
