"""`SubspaceSelector` as scikit-learn's users meet it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import SubspaceSelector
from fernwood.datasets import make_madelon
from fernwood.errors import BudgetError, FernwoodWarning, ParameterError, StoreError, TargetError
from fernwood.run.driving import SearchProgress
from fernwood.run.plan import plan_draws

MADELON = make_madelon(200, 40, class_sep=3.0, random_state=0)
X, Y = MADELON.data, MADELON.target
SMALL: dict[str, Any] = {"q": 12, "n_iter": 60, "n_trees": 3, "rule": "probe", "random_state": 0}


def selector(**changes: Any) -> SubspaceSelector:
    return SubspaceSelector(**{**SMALL, **changes})


def same(first: SubspaceSelector, second: SubspaceSelector) -> bool:
    """Bit for bit, whatever the columns are called."""
    tables = [
        each.result_.to_table(np.arange(each.n_features_in_)).drop_columns(["column"]) for each in (first, second)
    ]
    return bool(tables[0].equals(tables[1]))


@pytest.fixture(scope="module")
def fitted() -> SubspaceSelector:
    return selector().fit(X, Y)


# scikit-learn -------------------------------------------------------------------------------------------------------

ADDRESSES = "random streams are addressed by the checksum of a column's codes, which repeating rows changes"
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": ADDRESSES,
    "check_sample_weight_equivalence_on_sparse_data": ADDRESSES,
}


@parametrize_with_checks(
    [SubspaceSelector(n_iter=30, min_share=0.5, rule="probe"), SubspaceSelector(n_iter=60)],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_scikit_learn(estimator: SubspaceSelector, check: Any) -> None:
    check(estimator)


def test_what_is_fitted() -> None:
    fitted = selector().fit(X, X[:, 30] + X[:, 31] > 0)
    assert np.flatnonzero(fitted.support_).tolist() == [30, 31]
    assert not (fitted.support_ & fitted.tentative_).any()
    assert (fitted.ranking_[fitted.support_] == 1).all()
    assert (fitted.ranking_[~fitted.support_] > 1).all()
    assert fitted.importances_.shape == (40,)
    assert fitted.get_support(indices=True).tolist() == fitted.result_.confirmed.tolist()
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.support_])
    assert fitted.n_features_in_ == 40
    assert not hasattr(fitted, "feature_names_in_")


def test_p_and_q_of_shadows() -> None:
    fitted = SubspaceSelector(random_state=0).fit(X, X[:, 30] + X[:, 31] > 0)
    assert {30, 31} <= set(np.flatnonzero(fitted.support_).tolist())
    assert (fitted.qvalues_[fitted.support_] <= 0.05).all()
    assert (fitted.pvalues_ <= fitted.qvalues_).all()
    assert fitted.get_params()["n_iter"] == "auto"
    assert not hasattr(selector().fit(X, Y), "pvalues_")


def test_a_pipeline() -> None:
    """Two columns of 40 tell the class: a guess would be right in half of the rows, all columns at once in few more."""
    y = X[:, 30] + X[:, 31] > 0
    model = make_pipeline(selector(), RandomForestClassifier(20, random_state=0))
    assert cross_val_score(model, X, y, cv=3).min() > 0.7
    search = GridSearchCV(model, {"subspaceselector__alpha": [0.0, 0.5]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[0].get_support(indices=True).tolist() == [30, 31]


def test_clones_and_pickles(fitted: SubspaceSelector) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.get_support()
    assert same(copy.fit(X, Y), fitted)
    thawed = pickle.loads(pickle.dumps(fitted))
    assert same(thawed, fitted)
    np.testing.assert_array_equal(thawed.transform(X), fitted.transform(X))


def test_parameters_are_not_touched() -> None:
    weights = {0: 1.0, 1: 2.0}
    generator = np.random.default_rng(0)
    given = selector(class_weight=weights, random_state=generator)
    given.fit(X, Y)
    assert given.class_weight is weights
    assert weights == {0: 1.0, 1: 2.0}
    assert given.random_state is generator


def test_fresh_seeds_give_other_answers() -> None:
    first, second = selector(random_state=None).fit(X, Y), selector(random_state=None).fit(X, Y)
    assert first.result_.facts.seed != second.result_.facts.seed
    again = selector(random_state=first.result_.facts.seed).fit(X, Y)
    assert same(first, again)


# Tables of every kind -----------------------------------------------------------------------------------------------

NAMES = [f"g{i}" for i in range(40)]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_names(fitted: SubspaceSelector, kind: str) -> None:
    frame = pd.DataFrame(X, columns=NAMES) if kind == "pandas" else pl.DataFrame(X, schema=NAMES)
    framed = selector().set_output(transform=kind).fit(frame, Y)
    assert same(framed, fitted)
    assert framed.feature_names_in_.tolist() == NAMES
    chosen = [NAMES[i] for i in framed.get_support(indices=True)]
    assert framed.get_feature_names_out().tolist() == chosen
    out = framed.transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == chosen
    assert framed.result_.summary()["confirmed"][0] in chosen


def test_frames_with_categories() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 12)), columns=NAMES[:12])
    frame["kind"] = pd.Categorical(np.array(["u", "v", "w"])[rng.integers(0, 3, 200)])
    frame["word"] = np.array(["no", "yes", None], object)[rng.integers(0, 3, 200)]
    frame["flag"] = rng.random(200) < 0.5
    y = np.where(frame["kind"] == "v", "in", "out")
    framed = selector(q=6).set_output(transform="pandas").fit(frame, y)
    out = framed.transform(frame)
    assert list(out.columns) == ["kind"]
    assert isinstance(out["kind"].dtype, pd.CategoricalDtype)
    assert framed.transform(frame.iloc[:3]).shape == (3, 1)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_is_dense(form: Any) -> None:
    table = np.where(np.abs(X) > 1, X, 0)
    dense = selector().fit(table, Y)
    thin = selector().fit(form(table), Y)
    assert same(dense, thin)
    np.testing.assert_array_equal(thin.transform(sparse.csr_array(table)).toarray(), dense.transform(table))


def test_a_store(fitted: SubspaceSelector, tmp_path: Path) -> None:
    on_disk = fernwood.ingest(X, tmp_path / "s.fern", target=Y)
    bare = fernwood.ingest(X, tmp_path / "bare.fern")
    for found in (
        selector().fit(on_disk),
        selector().fit(bare, Y),
        selector().fit(fernwood.ingest(X, target=1 - Y), Y),
    ):
        assert same(found, fitted)
    assert found.n_features_in_ == 40
    np.testing.assert_array_equal(found.transform(X), fitted.transform(X))
    with pytest.raises(ParameterError, match="X is a store, which transform does not copy; read the columns with"):
        found.transform(on_disk)
    with pytest.raises(TargetError, match="the store has no target and y is None"):
        selector().fit(bare)


def test_a_pickled_selector_of_a_store_stands_alone(tmp_path: Path) -> None:
    found = selector().fit(fernwood.ingest(pd.DataFrame(X, columns=NAMES), tmp_path / "s.fern", target=Y))
    data = pickle.dumps(found)
    for path in (tmp_path / "s.fern").iterdir():
        path.unlink()
    assert pickle.loads(data).result_.summary()["confirmed"][0] in NAMES


def test_sample_weights() -> None:
    y = Y.copy()
    y[::2] = np.random.default_rng(0).integers(0, 2, 100)
    weights = np.ones(200)
    weights[::2] = 0
    first = selector().fit(X, y, sample_weight=weights)
    y[::2] = 1 - y[::2]
    assert same(first, selector().fit(X, y, sample_weight=weights))


def test_numbers_and_the_task() -> None:
    y = X[:, 0] + X[:, 1]
    found = selector().fit(X, y)
    assert found.result_.facts.task == "regression"
    whole = (3 * y).round().astype(int)
    assert selector(task="classification").fit(X, whole).result_.facts.task == "classification"
    assert selector(task="regression").fit(X, Y).result_.facts.task == "regression"


# Threads, memory, progress ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(fitted: SubspaceSelector, n_jobs: int) -> None:
    assert same(selector(n_jobs=n_jobs).fit(X, Y), fitted)


def test_memory(fitted: SubspaceSelector) -> None:
    assert same(selector(memory="100MB", n_jobs=4).fit(X, Y), fitted)
    with pytest.raises(BudgetError, match="too small"):
        selector(memory="1MB").fit(X, Y)


def test_a_budget_holds_the_table_too() -> None:
    """Ten megabytes of codes, which `fit` itself brings into memory; of a store that is there already, none count."""
    table = np.random.default_rng(0).integers(0, 9, (50_000, 200), dtype=np.uint8)
    y = np.arange(50_000) % 2
    tight = selector(q=200, n_iter=1, n_trees=1, max_depth=2)
    plan = plan_draws(50_000, 200, 2, 200, 20, n_threads=1, budget=None, copies=1.5)
    tight.set_params(memory=plan.total).fit(fernwood.ingest(table, target=y))
    with pytest.raises(BudgetError, match="draws of 200 x 50,000 codes") as refusal:
        tight.fit(table, y)
    assert refusal.value.least >= plan.total + 10_000_000
    tight.set_params(memory=refusal.value.least).fit(table, y)


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    events: list[SearchProgress] = []
    selector(progress=events.append).fit(X, Y)
    assert [event.done for event in events] == [0, 20, 40, 60]
    selector(progress=True).fit(X, Y)
    selector(progress=False).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "\x1b" not in err  # no terminal, no bar
    with pytest.raises(ParameterError, match="progress is 'yes'; give True, False, or a function to call"):
        selector(progress="yes").fit(X, Y)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"q": 0}, "q is 0"),
        ({"alpha": 2}, "alpha is 2"),
        ({"n_iter": 0}, "n_iter is 0"),
        ({"rule": "x"}, "rule is 'x'"),
        ({"categories": "x"}, "categories is 'x'; it must be one of 'multiway', 'subset', 'auto'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"memory": "much"}, "memory is 'much'"),
        ({"random_state": -1}, "random_state is -1"),
        ({"class_weight": {7: 1.0}}, "class_weight names 7"),
        ({"task": "clustering"}, "task is 'clustering'"),
    ],
)
def test_parameters_out_of_range(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as refusal:
        selector(**wrong).fit(X, Y)
    assert "\n" not in str(refusal.value)


def test_a_large_q_is_a_warning() -> None:
    with pytest.warns(FernwoodWarning, match="q is 99 and 40 columns are usable") as caught:
        selector(q=99, n_iter=2).fit(X, Y)
    assert len(caught) == 1


# Stopping and going on ----------------------------------------------------------------------------------------------


def test_an_interrupt_keeps_the_best_answer(fitted: SubspaceSelector) -> None:
    def stop(progress: SearchProgress) -> None:
        if progress.done == 40:
            raise KeyboardInterrupt

    stopped = selector(progress=stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, Y)
    assert (stopped.result_.facts.n_draws, stopped.result_.facts.finished) == (40, False)
    assert "stopped after 40 of 60 draws" in repr(stopped.result_)
    assert stopped.support_.shape == (40,)
    assert stopped.transform(X).shape == (200, stopped.support_.sum())
    short = selector(n_iter=40).fit(X, Y)
    assert same(stopped, short)


def test_a_run_goes_on_to_the_same_answer(fitted: SubspaceSelector, tmp_path: Path) -> None:
    def stop(progress: SearchProgress) -> None:
        if progress.done == 20:
            raise KeyboardInterrupt

    run_dir = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        selector(run_dir=run_dir, progress=stop).fit(X, Y)
    events: list[SearchProgress] = []
    assert same(selector(run_dir=str(run_dir), progress=events.append, n_jobs=2).fit(X, Y), fitted)
    assert [event.done for event in events] == [20, 40, 60]
    events.clear()
    assert same(selector(run_dir=run_dir, progress=events.append).fit(X, Y), fitted)
    assert [event.done for event in events] == [60]


def test_a_run_is_of_these_data_and_parameters(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    selector(run_dir=run_dir, class_weight={0: 1, 1: np.float64(2)}).fit(X, Y)
    selector(run_dir=run_dir, class_weight={0: 1, 1: 2}).fit(X, Y)
    for changes, table, words in (
        ({}, X, "holds a run with class_weight=.*, not None; give a new directory"),
        ({"class_weight": {0: 1, 1: 2}, "alpha": 0.25}, X, "with alpha=0.5, not 0.25"),
        ({"class_weight": {0: 1, 1: 2}, "random_state": 1}, X, "with another seed, which random_state=0 would be"),
        (
            {"class_weight": {0: 1, 1: 2}},
            X[:, :30],
            r"holds a run on other data \(columns: '40' there, '30' here\); give a new directory",
        ),
    ):
        with pytest.raises(ParameterError, match=words):
            selector(run_dir=run_dir, **changes).fit(table, Y)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1").write_text("years of work")
    with pytest.raises(StoreError, match="is no run"):
        selector(run_dir=tmp_path / "thesis").fit(X, Y)


def test_a_run_dir_for_weighted_rows_and_stores(tmp_path: Path) -> None:
    weights = np.linspace(0, 1, 200)
    store = fernwood.ingest(X, tmp_path / "s.fern", target=Y)
    first = selector(run_dir=tmp_path / "run", n_iter=20).fit(store, sample_weight=weights)
    assert same(selector(run_dir=tmp_path / "run", n_iter=20).fit(store, sample_weight=weights), first)
    with pytest.raises(ParameterError, match="on other data"):
        selector(run_dir=tmp_path / "run", n_iter=20).fit(store, sample_weight=weights[::-1])


INTERRUPTED = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background inherit that it is ignored
from fernwood import SubspaceSelector
from fernwood.datasets import make_madelon
table = make_madelon(200, 40, class_sep=3.0, random_state=0)
def told(progress):
    if progress.done == 20:
        print("here", flush=True)
        time.sleep(60)
selector = SubspaceSelector(
    q=12, n_iter=60, n_trees=3, rule="probe", random_state=0, run_dir=sys.argv[1], n_jobs=2, progress=told
)
try:
    selector.fit(table.data, table.target)
except KeyboardInterrupt:
    print(selector.result_.facts.n_draws, selector.support_.shape[0], flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal(fitted: SubspaceSelector, tmp_path: Path, number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "run")],
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "here\n"
    started = time.monotonic()
    child.send_signal(number)
    out, _ = child.communicate()
    assert time.monotonic() - started < 20
    assert out == ("20 40\n" if number == signal.SIGINT else "")
    events: list[SearchProgress] = []
    assert same(selector(run_dir=tmp_path / "run", progress=events.append).fit(X, Y), fitted)
    assert [event.done for event in events] == [20, 40, 60]  # from the checkpoint, whichever way it ended


def test_nothing_found_says_why() -> None:
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = selector(n_iter=10, q=40, min_share=1.0).fit(rng.standard_normal((60, 40)), rng.integers(0, 2, 60))
    if not found.support_.any():
        assert "no column is confirmed: 40 of 40 usable columns" in found.result_.why_nothing()
