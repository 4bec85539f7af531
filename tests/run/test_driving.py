"""Driving a search: wherever it stops, it goes on to the same end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.learner.target import store_target
from fernwood.relevance import ProbeRule
from fernwood.run import driving, events
from fernwood.run.directory import CHECKPOINT_NAME, RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress, drive
from fernwood.run.standing import standing
from fernwood.run.stopping import Stopped, ask_to_stop, hear, heard, stop_if_asked
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
    state, stopped_by, _ = drive(SubspaceLoop(search, N_DRAWS))
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
    state, stopped_by, _ = drive(loop, run)
    assert type(stopped_by) is type(stop())
    assert state.n_draws == k * ROUND
    assert same(run.last_state(loop), state)
    end, stopped_by, _ = drive(SubspaceLoop(search, N_DRAWS), run)
    assert stopped_by is None
    assert same(end, in_one_go)
    assert same(run.last_state(loop), in_one_go)


def test_it_may_stop_after_every_round(search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory) -> None:
    for turn in itertools.count():
        state, stopped_by, _ = drive(StoppedLoop(search, 1, KeyboardInterrupt), run)
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
    told: list[SearchProgress] = []
    drive(StoppedLoop(search, 2, KeyboardInterrupt), run, told.append)
    assert [event.done for event in told] == [0, ROUND, 2 * ROUND]
    drive(SubspaceLoop(search, N_DRAWS), run, told.append)
    assert [event.done for event in told[3:]] == [16, 24, 32, 40, 46]
    assert {event.total for event in told} == {N_DRAWS}
    examined = [event.examined for event in told]
    assert examined == sorted(examined)
    assert told[-1].columns == 30
    assert told[-1].detail == f"{told[-1].found} found, {told[-1].examined} of 30 columns examined"


def test_a_finished_search_is_not_done_again(search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory) -> None:
    drive(SubspaceLoop(search, N_DRAWS), run)
    told: list[SearchProgress] = []
    end, *_ = drive(StoppedLoop(search, 0, AssertionError), run, told.append)
    assert same(end, in_one_go)
    assert [event.done for event in told] == [N_DRAWS]


@pytest.mark.parametrize("event", range(N_ROUNDS + 1))
def test_a_stop_from_the_progress_callback(
    search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory, event: int
) -> None:
    """The round just done is kept."""
    left = itertools.count(event, -1)

    def stop(_: SearchProgress) -> None:
        if not next(left):
            raise KeyboardInterrupt

    state, stopped_by, _ = drive(SubspaceLoop(search, N_DRAWS), run, stop)
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
    state, stopped_by, _ = drive(DroppingLoop(search, N_DRAWS))
    assert isinstance(stopped_by, Stopped)
    assert stopped_by.number == 15
    assert 0 < state.n_draws < N_DRAWS
    again, stopped_by, _ = drive(SubspaceLoop(search, N_DRAWS))
    assert stopped_by is None  # heard once
    assert same(again, in_one_go)


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_a_progress_callback_that_raises_costs_no_round(
    search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory, error: type[BaseException]
) -> None:
    left = itertools.count(3, -1)

    def fail(_: SearchProgress) -> None:
        if not next(left):
            raise error("a fault of the caller")

    with pytest.raises(error, match="a fault of the caller"):
        drive(SubspaceLoop(search, N_DRAWS), run, fail)
    loop = SubspaceLoop(search, N_DRAWS)
    assert run.last_state(loop).n_draws == 3 * ROUND
    assert same(drive(loop, run).state, in_one_go)


# When checkpoints are written --------------------------------------------------------------------------------------


class Clock:
    """A monotonic clock that stands still but for steps and checkpoints, which take the seconds given."""

    def __init__(self, step: float, checkpoint: float, start: float = 0.0) -> None:
        self.now, self.step_takes, self.checkpoint_takes, self.start_takes = 0.0, step, checkpoint, start
        self.saved: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def save(self, *_: object) -> int:
        self.saved.append(self.now)
        self.now += self.checkpoint_takes
        return 0


class Ticking:
    """A search of so many steps whose states are their numbers."""

    def __init__(self, clock: Clock, n_steps: int) -> None:
        self.clock, self.n_steps = clock, n_steps

    def start(self) -> int:
        self.clock.now += self.clock.start_takes
        return 0

    def step(self, state: int) -> int:
        self.clock.now += self.clock.step_takes
        return state + 1

    def progress(self, state: int) -> SearchProgress:
        return SearchProgress("ticking", state, self.n_steps, "steps", 0, 0, 0)

    def pack(self, state: int) -> dict[str, np.ndarray]:
        return {"state": np.array(state)}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> int:
        return int(arrays["state"])


@pytest.fixture
def ticking(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> Callable[[Clock, int], Clock]:
    def ticking(clock: Clock, n_steps: int) -> Clock:
        monkeypatch.setattr(driving, "time", clock)
        monkeypatch.setattr(RunDirectory, "save_checkpoint", clock.save)
        drive(Ticking(clock, n_steps), run)
        return clock

    return ticking


@pytest.mark.parametrize(
    ("step", "checkpoint", "most", "share"),
    [
        (0.1, 0.001, 2.2, 0.001),  # cheap: every two seconds
        (0.1, 0.1, 10.2, 0.0105),  # at one in a hundred
        (0.1, 0.5, 30.2, 0.018),  # not rarer than every thirty seconds
        (0.1, 2.0, 100.2, 0.0201),  # but never more than one in fifty
        (20.0, 0.3, 20.0, 0.0149),  # a long step is not begun when it would end too late
        (45.0, 0.1, 45.0, 0.0023),  # nothing is kept in the middle of a step
    ],
)
def test_what_a_kill_can_cost_and_what_checkpoints_do(
    ticking: Callable[[Clock, int], Clock], step: float, checkpoint: float, most: float, share: float
) -> None:
    clock = ticking(Clock(step, checkpoint), 5000 if step < 1 else 200)
    lost = np.diff(clock.saved) - checkpoint
    assert most - 0.4 <= lost.max() <= most + 1e-6
    assert (len(clock.saved) - 2) * checkpoint / clock.now <= share  # but for the first and the last


def test_a_first_state_that_took_long_is_kept(ticking: Callable[[Clock, int], Clock]) -> None:
    assert ticking(Clock(1.0, 0.0, start=50.0), 3).saved[0] == 50.0
    assert ticking(Clock(1.0, 0.0, start=0.5), 3).saved[0] == 1.5


def test_a_clock_set_back_changes_nothing(
    ticking: Callable[[Clock, int], Clock], run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of day goes back by an hour whenever somebody looks."""
    hours = itertools.count()

    class Back(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(2026, 6, 1, tzinfo=tz) - timedelta(hours=next(hours))

    plain = ticking(Clock(0.1, 0.05), 2000).saved
    monkeypatch.setattr(events, "datetime", Back)
    monkeypatch.setattr("time.time", lambda: -3600.0 * next(hours))
    assert ticking(Clock(0.1, 0.05), 2000).saved == plain
    assert next(hours) > len(plain)
    assert standing(run.path).seconds_since_checkpoint is not None


@pytest.mark.parametrize(("signals", "n_draws"), [(1, 3 * ROUND), (2, 2 * ROUND)])
def test_a_signal_waits_for_the_step_in_hand_and_a_second_one_does_not(
    search: SubspaceSearch, in_one_go: SearchState, run: RunDirectory, signals: int, n_draws: int
) -> None:
    class Signalled(SubspaceLoop):
        def step(self, state: SearchState) -> SearchState:
            if state.n_draws == 2 * ROUND:
                for _ in range(signals):
                    hear(15)
            return super().step(state)

    state, stopped_by, _ = drive(Signalled(search, N_DRAWS), run)
    assert isinstance(stopped_by, Stopped)
    assert state.n_draws == n_draws
    end, stopped_by, _ = drive(SubspaceLoop(search, N_DRAWS), run)
    assert stopped_by is None  # heard once
    assert same(end, in_one_go)
    with pytest.raises(Stopped):
        hear(15)  # nothing is in hand
    with pytest.raises(Stopped):
        stop_if_asked()
    heard()
    stop_if_asked()
