"""Driving a search: wherever it stops, it goes on to the same end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.learner.target import store_target
from fernwood.relevance import ProbeRule
from fernwood.run import driving
from fernwood.run.directory import CHECKPOINT_NAME, RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress, drive
from fernwood.run.stopping import Stopped, ask_to_stop
from fernwood.search.fitting import TreeFits
from fernwood.search.selecting import SubspaceLoop
from fernwood.search.settings import SubspaceSettings
from fernwood.search.subspace import SearchState, SubspaceSearch
from fernwood.subspace.candidates import candidates

N_DRAWS, ROUND = 46, 8  # the last round is cut short
N_ROUNDS = 6


@pytest.fixture(scope="module")
def search() -> SubspaceSearch:
    table = make_madelon(120, 30, class_sep=3.0, random_state=2)
    store = fernwood.ingest(table.data, target=table.target)
    fitting = SubspaceSettings(n_trees=1, rule="probe").fitting("classification")
    learner = TreeFits(store, candidates(store), store_target(store), fitting, 5)
    return SubspaceSearch(30, 10, 0.5, ProbeRule(3, 0.7), learner, 5, ROUND)


@pytest.fixture(scope="module")
def in_one_go(search: SubspaceSearch) -> SearchState:
    state, stopped_by = drive(SubspaceLoop(search, N_DRAWS))
    assert stopped_by is None
    assert state.n_draws == N_DRAWS
    assert len(state.found)
    return state


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.of_memory(tmp_path / "run", RunManifest("subspace", {}, 5, "data", ""))


class StoppedLoop(SubspaceLoop):
    """Raises in the middle of round k, counted from 0."""

    def __init__(self, search: SubspaceSearch, k: int, stop: Callable[[], BaseException]) -> None:
        super().__init__(search, N_DRAWS)
        self._rounds_left, self._stop = k, stop

    def step(self, state: SearchState) -> SearchState:
        if not self._rounds_left:
            super().step(state)
            raise self._stop()
        self._rounds_left -= 1
        return super().step(state)


def same(first: SearchState, second: SearchState) -> bool:
    pairs = zip((*first.evidence, first.found), (*second.evidence, second.found), strict=True)
    return first.n_draws == second.n_draws and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)


@pytest.mark.parametrize("k", range(N_ROUNDS))
@pytest.mark.parametrize("stop", [KeyboardInterrupt, lambda: Stopped(15)])
def test_it_goes_on_to_the_same_end(
    search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory, k: int, stop: Callable[[], BaseException]
) -> None:
    loop = StoppedLoop(search, k, stop)
    state, stopped_by = drive(loop, run)
    assert type(stopped_by) is type(stop())
    assert state.n_draws == k * ROUND
    assert same(run.last_state(loop), state)
    end, stopped_by = drive(SubspaceLoop(search, N_DRAWS), run)
    assert stopped_by is None
    assert same(end, in_one_go)
    assert same(run.last_state(loop), in_one_go)


def test_it_may_stop_after_every_round(search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory) -> None:
    for turn in itertools.count():
        state, stopped_by = drive(StoppedLoop(search, 1, KeyboardInterrupt), run)
        if stopped_by is None:
            break
        assert turn < N_ROUNDS
    assert same(state, in_one_go)


def test_a_crash_goes_on_from_the_last_checkpoint(
    search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(driving, "_SHARE_FOR_CHECKPOINTS", 1e9)
    with pytest.raises(MemoryError):
        drive(StoppedLoop(search, 3, MemoryError), run)
    loop = SubspaceLoop(search, N_DRAWS)
    assert run.last_state(loop).n_draws == 3 * ROUND
    assert same(drive(loop, run).state, in_one_go)


def test_checkpoints_are_not_written_all_the_time(
    search: SubspaceSearch, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = []
    monkeypatch.setattr(RunDirectory, "save_checkpoint", lambda _, arrays, *__: saved.append(arrays) or 0)
    monkeypatch.setattr(driving, "_LEAST_SECONDS", 3600.0)
    drive(SubspaceLoop(search, N_DRAWS), run)
    assert [int(arrays["n_draws"]) for arrays in saved] == [ROUND, N_DRAWS]  # the first round at once, then the end


def test_progress_goes_up_to_the_end(search: SubspaceSearch, run: RunDirectory) -> None:
    events: list[SearchProgress] = []
    drive(StoppedLoop(search, 2, KeyboardInterrupt), run, events.append)
    assert [event.done for event in events] == [0, ROUND, 2 * ROUND]
    drive(SubspaceLoop(search, N_DRAWS), run, events.append)
    assert [event.done for event in events[3:]] == [16, 24, 32, 40, 46]
    assert {event.total for event in events} == {N_DRAWS}
    examined = [event.examined for event in events]
    assert examined == sorted(examined)
    assert events[-1].columns == 30
    assert events[-1].detail == f"{events[-1].found} found, {events[-1].examined} of 30 columns examined"


def test_a_finished_search_is_not_done_again(search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory) -> None:
    drive(SubspaceLoop(search, N_DRAWS), run)
    events: list[SearchProgress] = []
    end, _ = drive(StoppedLoop(search, 0, AssertionError), run, events.append)
    assert same(end, in_one_go)
    assert [event.done for event in events] == [N_DRAWS]


@pytest.mark.parametrize("event", range(N_ROUNDS + 1))
def test_a_stop_from_the_progress_callback(
    search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory, event: int
) -> None:
    """The round just done is kept."""
    left = itertools.count(event, -1)

    def stop(_: SearchProgress) -> None:
        if not next(left):
            raise KeyboardInterrupt

    state, stopped_by = drive(SubspaceLoop(search, N_DRAWS), run, stop)
    assert isinstance(stopped_by, KeyboardInterrupt)
    assert state.n_draws == min(event * ROUND, N_DRAWS)
    assert (run.path / CHECKPOINT_NAME).exists()
    assert same(drive(SubspaceLoop(search, N_DRAWS), run).state, in_one_go)


class DroppingLoop(SubspaceLoop):
    """Python drops the stop that a signal handler raises in its first round, while it clears up an object."""

    def step(self, state: SearchState) -> SearchState:
        if state.n_draws == 0:
            ask_to_stop(15)
        return super().step(state)


def test_a_stop_that_python_dropped_is_heard_after_the_round(search: SubspaceSearch, in_one_go: SearchState) -> None:
    state, stopped_by = drive(DroppingLoop(search, N_DRAWS))
    assert isinstance(stopped_by, Stopped)
    assert stopped_by.number == 15
    assert 0 < state.n_draws < N_DRAWS
    again, stopped_by = drive(SubspaceLoop(search, N_DRAWS))
    assert stopped_by is None  # heard once
    assert same(again, in_one_go)
