"""What a result shows beside its decisions: the same for any number of threads and wherever the search paused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.insight import Comparison
from fernwood.relevance import Decision
from fernwood.result import Result
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress
from fernwood.saved import load_result, save_result
from fernwood.search.boruta import BorutaSettings
from fernwood.search.comparing import compared
from fernwood.search.elimination import EliminationSettings
from fernwood.search.ferns import FernSettings
from fernwood.search.filter import FilterSettings
from fernwood.search.methods import Settings, select
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store import Store

SETTINGS: dict[str, Settings] = {
    "snowball": SnowballSettings(n_contexts=16, n_confirming=16),
    "shadow": SubspaceSettings(q=12, n_iter=60, n_trees=2),
    "mirror": SubspaceSettings(q=12, n_iter=60, n_trees=2, rule="mirror", importance="permutation"),
    "probe": SubspaceSettings(q=12, n_iter=60, n_trees=1, rule="probe"),
    "ferns": FernSettings(scans=100),
    "max-shadow": FernSettings(scans=100, rule="max-shadow"),
    "boruta": BorutaSettings(max_iter=12, n_estimators=30),
    "fixed": BorutaSettings(max_iter=12, n_estimators=30, correction="fixed-shadows"),
    "elimination": EliminationSettings("naive-bayes"),
    "filter": FilterSettings("naive-bayes", max_columns=12),
}
EMPTY = {"probe", "elimination", "filter"}


@pytest.fixture(scope="module")
def store() -> Store:
    table = make_madelon(300, 60, class_sep=3.0, random_state=0)
    return fernwood.ingest(table.data, target=table.target)


@pytest.fixture(scope="module")
def results(store: Store) -> dict[str, Result]:
    return {name: select(store, settings, 0, memory=10**9).result for name, settings in SETTINGS.items()}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_history_ends_with_the_answer(results: dict[str, Result], name: str) -> None:
    result = results[name]
    history = result.insight.history
    assert len(history.done) == len(history.found) == len(history.examined) >= 2
    assert (np.diff(history.done) > 0).all()
    assert history.done[0] == 0
    n_found = len(result.confirmed)
    if name in ("shadow", "mirror", "ferns"):  # what is carried is found earlier than it is confirmed
        assert history.found[-1] >= n_found
    else:
        assert history.found[-1] == n_found
    if name != "snowball":
        assert history.done[-1] == result.facts.n_draws


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_compared_is_on_the_scale_of_scores(results: dict[str, Result], name: str) -> None:
    result = results[name]
    comparison = result.insight.comparison
    if name in EMPTY:
        assert comparison == Comparison()
        return
    assert comparison.n >= 12
    assert len(comparison.scores) == min(comparison.n, 1000)
    assert (np.diff(comparison.scores) >= 0).all()
    assert np.median(result.score[result.confirmed]) > np.median(comparison.scores)
    noise = result.score[20:]
    if name == "boruta":  # the best of the shadows
        assert (np.median(noise) < np.min(comparison.scores), comparison.threshold) == (True, None)
        assert comparison.n == result.facts.n_draws
        return
    assert np.median(noise) == pytest.approx(np.median(comparison.scores), abs=float(np.std(result.score)))
    if comparison.threshold is not None:
        rejected = result.score[result.verdicts.decision == Decision.REJECTED]
        assert (result.score[result.confirmed] >= comparison.threshold).all()
        assert (rejected <= comparison.threshold).all()
    if name == "max-shadow":
        assert comparison.threshold == max(comparison.scores)


@pytest.mark.parametrize("name", SETTINGS)
def test_profiles_are_of_what_is_confirmed_and_tentative(results: dict[str, Result], name: str) -> None:
    result = results[name]
    shown = result.order[: len(result.confirmed) + len(result.tentative)]
    assert list(result.insight.profiles) == shown[:80].tolist()


@pytest.mark.parametrize("name", SETTINGS)
def test_threads_change_nothing(store: Store, results: dict[str, Result], name: str) -> None:
    again = select(store, SETTINGS[name], 0, n_threads=3).result
    assert again.insight == results[name].insight


class Stop:
    """Stops a search at its k-th word."""

    def __init__(self, k: int) -> None:
        self._left = k

    def __call__(self, _: SearchProgress) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("name", SETTINGS)
def test_a_pause_changes_nothing(store: Store, results: dict[str, Result], name: str, tmp_path: Path) -> None:
    settings = SETTINGS[name]
    run = RunDirectory.of_memory(tmp_path / "run", RunManifest.of(store, settings.method, {}, 0, ""))
    with run.working(store, memory=5 * 10**9, n_threads=1):
        part, stopped_by = select(store, settings, 0, directory=run, progress=Stop(2))
    assert isinstance(stopped_by, KeyboardInterrupt)
    history, whole = part.insight.history, results[name].insight.history
    assert history.done == whole.done[: len(history.done)]
    assert len(history.done) == 3
    with run.working(store, memory=6 * 10**9, n_threads=1):
        result, stopped_by = select(store, settings, 0, directory=run)
    assert stopped_by is None
    assert result.insight == results[name].insight
    course = result.course
    assert course is not None
    assert (course.n_processes, course.memory) == (2, 6 * 10**9)
    save_result(result, tmp_path)
    assert load_result(tmp_path).insight == result.insight
    assert load_result(tmp_path).course is None


@pytest.mark.parametrize("name", SETTINGS)
def test_columns_are_named_while_it_works(store: Store, name: str) -> None:
    told: list[SearchProgress] = []
    result = select(store, SETTINGS[name], 0, progress=told.append).result
    leading = [set(now.leading) for now in told]
    assert all(len(names) <= 5 for names in leading)
    assert leading[0] == set() or told[0].found > 0
    known = {store.names[i] for i in (*result.confirmed, *result.tentative)}
    assert leading[-1]
    assert leading[-1] <= known or name == "elimination"


def test_the_first_point_of_a_snowball_is_every_column_by_itself(results: dict[str, Result]) -> None:
    history = results["snowball"].insight.history
    assert 0 < history.found[0] < history.found[-1]
    assert history.done == list(range(len(history.done)))


def test_shadows_of_a_snowball_are_judged_as_columns_are(results: dict[str, Result]) -> None:
    """Their p are about even, so that the mean of -log10 p is log10 e."""
    scores = results["snowball"].insight.comparison.scores
    assert np.mean(scores) == pytest.approx(np.log10(np.e), abs=0.05)


def test_a_selector_knows_how_it_went() -> None:
    table = make_madelon(200, 30, class_sep=3.0, random_state=0)
    selector = fernwood.SubspaceSelector(n_iter=30, memory="1GB", random_state=0).fit(table.data, table.target)
    course = selector.result_.course
    assert course is not None
    assert course.seconds > 0
    assert course.memory > 10**9 > course.peak > 10**7 or course.peak > 10**9
    assert course.samples[-1].done == 30
    again = fernwood.SubspaceSelector(n_iter=30, random_state=0).fit(table.data, table.target)
    assert again.result_.insight == selector.result_.insight


# The threshold ---------------------------------------------------------------------------------------------------


def decisions(*words: str) -> Any:
    return np.array([Decision[word.upper()] for word in words], np.uint8)


@pytest.mark.parametrize(
    ("decided", "alone", "threshold"),
    [
        (("confirmed", "confirmed", "rejected"), None, 2.0),
        (("confirmed", "rejected", "confirmed"), None, None),  # one that is not confirmed is above
        (("tentative", "confirmed", "rejected"), None, None),
        (("unexamined", "confirmed", "rejected"), None, 2.0),  # was not judged
        (("rejected", "rejected", "rejected"), None, None),
        (("rejected", "rejected", "rejected"), 4.0, 4.0),
        (("rejected", "rejected", "rejected"), 2.5, None),
    ],
)
def test_the_threshold_is_where_the_score_alone_decides(
    decided: tuple[str, ...], alone: float | None, threshold: float | None
) -> None:
    null, score = np.linspace(0, 1, 5000), np.array([3.0, 2.0, 1.0])
    comparison = compared(null, score, decisions(*decided), alone=alone)
    assert comparison.threshold == threshold
    assert (comparison.n, len(comparison.scores)) == (5000, 1000)
    assert (comparison.scores[0], comparison.scores[-1]) == (0.0, 1.0)


def test_nothing_to_compare_with() -> None:
    assert compared(np.empty(0), np.ones(2), decisions("confirmed", "rejected")) == Comparison()
    assert compared(np.array([np.nan]), np.ones(2), decisions("confirmed", "rejected")) == Comparison()


def test_wide_tables_are_compared_with_some_of_their_shadows(monkeypatch: pytest.MonkeyPatch) -> None:
    from fernwood.relevance import paper
    from fernwood.relevance.paper import Evidence, MaxShadowRule
    from fernwood.relevance.tested import ShadowRule

    monkeypatch.setattr(paper, "_MOST_COMPARED", 100)
    draws, shadow = np.full(1000, 10, np.int32), np.random.default_rng(0).random((2, 1000))
    evidence = Evidence(draws, np.zeros(1000), np.zeros(1000, np.int32), shadow)
    rules: list[Callable[[], Any]] = [lambda: ShadowRule(0.1), MaxShadowRule]
    for rule in rules:
        null = rule().compared_with(evidence)
        assert (len(null.scores), null.n) == (200, 2000)
    assert null.threshold == shadow.max() / 10


def test_old_results_have_no_insight(results: dict[str, Result], tmp_path: Path) -> None:
    bare = replace(results["snowball"], insight=fernwood.insight.Insight())
    save_result(bare, tmp_path)
    assert load_result(tmp_path).insight == bare.insight
