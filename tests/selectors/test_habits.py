"""What people know from scikit-learn: verbose, callbacks, metadata routing, and names of what is selected."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fernwood
from fernwood import (
    BorutaSelector,
    EliminationSelector,
    FernSelector,
    FilterSelector,
    SnowballSelector,
    SubspaceSelector,
)
from fernwood.datasets import make_madelon
from fernwood.errors import ParameterError

has_callbacks = pytest.mark.skipif(
    not hasattr(SubspaceSelector, "set_callbacks"), reason="scikit-learn has no callbacks before 1.9"
)

MADE = make_madelon(150, 30, class_sep=3.0, random_state=0)
X, Y = np.asarray(MADE.data), np.asarray(MADE.target)
SELECTORS = [
    SnowballSelector(random_state=0),
    SubspaceSelector(n_iter=20, n_trees=1, rule="importance", random_state=0),
    FernSelector(scans=40, random_state=0),
    BorutaSelector(max_iter=5, n_estimators=10, correction="fixed-shadows", random_state=0),
    EliminationSelector(GaussianNB(), random_state=0),
    FilterSelector(GaussianNB(), max_columns=5, random_state=0),
]
each = pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)


def fresh(selector: Any, **params: Any) -> Any:
    from sklearn.base import clone

    return clone(selector).set_params(**params)


class Recorder:
    """A callback that takes notes, and asks to stop after some tasks."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.ended: list[tuple[str, str]] = []
        self.begun: list[tuple[str, str]] = []
        self.calls: Counter[str] = Counter()

    def setup(self, estimator: Any, context: Any) -> None:
        self.calls["setup"] += 1

    def teardown(self, estimator: Any, context: Any) -> None:
        self.calls["teardown"] += 1

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun.append((context.estimator_name, context.task_name))

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.ended.append((context.estimator_name, context.task_name))
        return self.most is not None and len(self.ended) >= self.most


@each
def test_verbose_shows_progress_and_changes_nothing(selector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    class View:
        def __init__(self, **about: Any) -> None:
            assert about["memory"] > 10**6

        def __enter__(self) -> Any:
            return shown.append

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr("fernwood.selectors.base.ProgressView", View)
    quiet = fresh(selector).fit(X, Y)
    assert shown == []
    loud = fresh(selector, verbose=1).fit(X, Y)
    assert shown[-1].done == shown[-1].total
    assert np.array_equal(quiet.support_, loud.support_)
    n_shown, heard = len(shown), []
    fresh(selector, verbose=2, progress=heard.append).fit(X, Y)
    assert heard == shown[n_shown:] != []


def test_verbose_is_a_number() -> None:
    for verbose in (-1, "yes"):
        with pytest.raises(ParameterError, match=f"verbose is {verbose!r}; give 0, or 1"):
            SubspaceSelector(verbose=verbose).fit(X, Y)  # type: ignore[arg-type]


@has_callbacks
@each
def test_callbacks_hear_of_every_part(selector: Any) -> None:
    recorder = Recorder()
    model = fresh(selector).set_callbacks(recorder).fit(X, Y)
    assert recorder.calls == {"setup": 1, "teardown": 1}
    name = type(selector).__name__
    assert recorder.begun[0] == recorder.ended[-1] == (name, "fit")
    assert Counter(recorder.ended)[(name, "part")] == 100
    assert Counter(recorder.begun) == Counter(recorder.ended)
    assert np.array_equal(model.support_, fresh(selector).fit(X, Y).support_)
    assert not hasattr(model, "_callback_fit_ctx")


@has_callbacks
def test_a_callback_may_end_a_search() -> None:
    """What was found until then is the answer, and nothing is raised."""
    recorder = Recorder(most=20)
    model = SubspaceSelector(n_iter=200, n_trees=1, random_state=0).set_callbacks(recorder).fit(X, Y)
    assert 0 < model.result_.facts.n_draws < 200
    assert not model.result_.facts.finished
    assert recorder.calls == {"setup": 1, "teardown": 1}


@has_callbacks
def test_callbacks_are_torn_down_when_a_search_fails() -> None:
    recorder = Recorder()

    def fail(_: object) -> None:
        raise ValueError("a fault of the caller")

    with pytest.raises(ValueError, match="a fault of the caller"):
        SubspaceSelector(n_iter=20, progress=fail).set_callbacks(recorder).fit(X, Y)
    assert recorder.calls == {"setup": 1, "teardown": 1}


@has_callbacks
def test_scikit_learns_own_bar(capfd: pytest.CaptureFixture[str]) -> None:
    """Set on a pipeline, it shows the selector inside."""
    from sklearn.callback import ProgressBar

    selector = SubspaceSelector(n_iter=20, n_trees=1, rule="importance", random_state=0)
    model = make_pipeline(selector, LogisticRegression()).set_callbacks(ProgressBar())
    model.fit(X, Y)
    shown = capfd.readouterr().out
    assert "SubspaceSelector" in shown
    assert "searching" in shown


# Metadata routing ------------------------------------------------------------------------------------------------


def test_weights_and_groups_are_routed() -> None:
    weights, groups = np.where(np.arange(len(Y)) < 40, 0.0, 1.0), np.arange(len(Y)) // 5
    plain = SubspaceSelector(n_iter=30, n_trees=1, rule="importance", random_state=0)
    wanted = fresh(plain).fit(X, Y, sample_weight=weights, groups=groups)
    assert not np.array_equal(wanted.importances_, fresh(plain).fit(X, Y).importances_)
    with config_context(enable_metadata_routing=True):
        selector = fresh(plain).set_fit_request(sample_weight=True, groups=True)
        model = make_pipeline(selector, LogisticRegression().set_fit_request(sample_weight=False))
        model.fit(X, Y, sample_weight=weights, groups=groups)
        assert np.array_equal(model[0].importances_, wanted.importances_)
        assert model[0].result_.facts.n_groups == wanted.result_.facts.n_groups


def test_cross_validation_routes_to_the_selector_and_the_splitter() -> None:
    groups = np.arange(len(Y)) // 5
    with config_context(enable_metadata_routing=True):
        selector = SubspaceSelector(n_iter=30, n_trees=1, rule="importance", random_state=0).set_fit_request(
            groups=True
        )
        model = make_pipeline(StandardScaler(), selector, LogisticRegression())
        scores = cross_validate(
            model, X, Y, cv=GroupKFold(3), params={"groups": groups}, return_estimator=True, error_score="raise"
        )
        assert len(scores["test_score"]) == 3
        for fold, (train, _) in zip(scores["estimator"], GroupKFold(3).split(X, Y, groups), strict=True):
            alone = SubspaceSelector(n_iter=30, n_trees=1, rule="importance", random_state=0)
            alone.fit(StandardScaler().fit_transform(X[train]), Y[train], groups=groups[train])
            assert np.array_equal(fold[1].importances_, alone.importances_)


# Names -----------------------------------------------------------------------------------------------------------


def test_names_of_what_is_selected(tmp_path: Path) -> None:
    names = [f"gene {i}" for i in range(30)]
    selector = SubspaceSelector(n_iter=60, rule="probe", q=10, random_state=0)
    chosen = np.flatnonzero(fresh(selector).fit(X, Y).support_)
    assert len(chosen)
    array = fresh(selector).fit(X, Y)
    assert array.get_feature_names_out().tolist() == [f"x{i}" for i in chosen]
    assert array.get_feature_names_out(names).tolist() == [names[i] for i in chosen]
    framed = fresh(selector).fit(pd.DataFrame(X, columns=names), Y)
    assert framed.get_feature_names_out().tolist() == [names[i] for i in chosen]
    with pytest.raises(ValueError, match="input_features"):
        framed.get_feature_names_out([f"other {i}" for i in range(30)])
    store = fernwood.ingest(pd.DataFrame(X, columns=names), tmp_path / "s.fern", target=Y)
    stored = fresh(selector).fit(store)
    assert stored.get_feature_names_out().tolist() == [names[i] for i in np.flatnonzero(stored.support_)]
    assert stored.get_feature_names_out().dtype == object
    out = fresh(selector).set_output(transform="pandas").fit(X, Y).transform(X)
    assert out.columns.tolist() == [f"x{i}" for i in chosen]
