"""Events that a run leaves, how it stands by them, and checkpoints that stay when the last one is damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fernwood.errors import FernwoodWarning, StoreError
from fernwood.run.directory import BEFORE_NAME, CHECKPOINT_NAME, RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress, drive
from fernwood.run.events import EVENTS_NAME, EventLog, last_events
from fernwood.run.standing import standing

MANIFEST = RunManifest("snowball", {"fdr": 0.1}, 7, "f00d", "")


class Counting:
    """Counts to a number; at one of them somebody presses Ctrl-C, or an error comes."""

    def __init__(self, total: int = 5, at: int = -1, raises: type[BaseException] = KeyboardInterrupt) -> None:
        self.total, self.at, self.raises = total, at, raises

    def start(self) -> int:
        return 0

    def step(self, state: int) -> int:
        if state == self.at:
            raise self.raises("the disk is full")
        return state + 1

    def progress(self, state: int) -> SearchProgress:
        return SearchProgress("counting", state, self.total, "steps", state, state, 9)

    def pack(self, state: int) -> dict[str, Any]:
        return {"state": np.array(state)}

    def unpack(self, arrays: Any) -> int:
        return int(arrays["state"])


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.of_memory(tmp_path / "run", MANIFEST)


def events(run: RunDirectory) -> list[dict[str, Any]]:
    return last_events(run.path / EVENTS_NAME, 100)


def test_a_run_says_what_it_does(run: RunDirectory) -> None:
    with run.working():
        drive(Counting(), run)
    said = events(run)
    assert [event["event"] for event in said] == [
        "started",
        "progress",
        "checkpoint",
        "progress",
        "checkpoint",
        "ended",
    ]
    assert said[1]["done"] == 0  # the first of a stage at once, the last in any case
    assert said[3]["done"] == said[3]["total"] == 5
    assert said[3]["detail"] == "5 found, 5 of 9 columns examined"
    assert said[4]["bytes"] == (run.path / CHECKPOINT_NAME).stat().st_size
    assert 0 <= said[4]["seconds"] <= said[4]["next_after"] / 50 + 0.1
    assert said[0]["process"] == os.getpid()
    assert 0 < said[0]["resident"] <= said[0]["peak"]
    assert len((run.path / EVENTS_NAME).read_text().splitlines()) == 6


def test_a_run_that_is_stopped_and_one_that_fails(run: RunDirectory) -> None:
    with run.working():
        drive(Counting(at=3), run)
    assert [event["event"] for event in events(run)][-2:] == ["stopped", "ended"]
    assert standing(run.path).state == "stopped"
    with pytest.raises(StoreError), run.working():
        drive(Counting(at=4, raises=StoreError), run)
    stands = standing(run.path)
    assert (stands.state, stands.why, stands.done, stands.total) == ("failed", "the disk is full", 3, 5)


def test_a_run_whose_process_is_gone(run: RunDirectory) -> None:
    assert standing(run.path).state == "gone"
    log = EventLog(run.path / EVENTS_NAME)
    log.say("started")
    log.progress(Counting().progress(2))
    with (run.path / EVENTS_NAME).open("ab") as file:
        file.write(b'{"time": "2026-01-01T00:00:00", "eve')  # cut short
    stands = standing(run.path)
    assert (stands.state, stands.done, stands.stage) == ("gone", 2, "counting")


def test_a_run_at_work_is_seen_from_outside(run: RunDirectory) -> None:
    """The lock is seen, and time left comes from the last signs."""
    with run.working():
        path = run.path / EVENTS_NAME
        line = {"process": 1, "event": "progress", "stage": "s", "unit": "draws", "detail": "", "total": 100}
        with path.open("a") as file:
            for second, done in ((0, 10), (20, 30)):
                moment = f"2026-01-01T00:00:{second:02d}.000+00:00"
                file.write(json.dumps({**line, "time": moment, "done": done}) + "\n")
        stands = standing(run.path)
    assert stands.state == "working"
    assert stands.seconds_left == pytest.approx(70)
    assert stands.seconds_silent is not None
    assert stands.seconds_silent > 0  # since that day
    assert stands.to_json()["done"] == 30


def test_a_clock_that_goes_backwards_is_no_trouble(run: RunDirectory) -> None:
    line = {"process": 1, "event": "progress", "stage": "s", "unit": "draws", "detail": "", "total": 100}
    with (run.path / EVENTS_NAME).open("a") as file:
        for year, done in ((2999, 10), (2998, 30)):
            file.write(json.dumps({**line, "time": f"{year}-01-01T00:00:00.000+00:00", "done": done}) + "\n")
    stands = standing(run.path)
    assert stands.seconds_silent == 0
    assert stands.seconds_left is None


def test_events_that_cannot_be_written_stop_nothing(run: RunDirectory) -> None:
    (run.path / EVENTS_NAME).mkdir()
    with run.working():
        assert drive(Counting(), run).state == 5


def test_the_checkpoint_before_is_used_wherever_the_last_is_cut(run: RunDirectory) -> None:
    for count in (1, 2, 3):
        run.save_checkpoint({"state": np.array(count)})
    path = run.path / CHECKPOINT_NAME
    data = path.read_bytes()
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        with pytest.warns(
            FernwoodWarning, match="last checkpoint of 'run' is damaged or missing; the run goes on from"
        ):
            assert run.last_state(Counting()) == 2
    path.unlink()
    with pytest.warns(FernwoodWarning, match="damaged or missing"):
        assert run.last_state(Counting()) == 2
    (run.path / BEFORE_NAME).write_bytes(b"")
    path.write_bytes(data[:50])
    with pytest.raises(StoreError, match="remove checkpoint.npz and checkpoint-before.npz from it to begin again"):
        run.last_state(Counting())


def test_a_whole_checkpoint_needs_no_other(run: RunDirectory) -> None:
    for count in (1, 2):
        run.save_checkpoint({"state": np.array(count)})
    (run.path / BEFORE_NAME).write_bytes(b"damaged")
    assert run.last_state(Counting()) == 2


def test_the_last_events_are_the_last_that_anybody_could_have_written(tmp_path: Path) -> None:
    lines = [
        '{"event": "began"}',
        '{"event": "ended", "resident": 5}',
        '{"event": "ended", "resident": 1' + "0" * 30 + "}",
        '{"event": "ended", "resident": "5"}',
        '{"event": "ended", "time": "2024-01-01T00:00:00"}',
        '{"event": "ended", "time": "yesterday"}',
        '{"resident": 5}',
        '{"event": ',
    ]
    (tmp_path / EVENTS_NAME).write_text("\n".join(lines))
    ended = {"event": "ended", "resident": 5}
    assert last_events(tmp_path / EVENTS_NAME) == [ended]
    assert last_events(tmp_path / EVENTS_NAME, 9) == [{"event": "began"}, ended]
    assert last_events(tmp_path / "none", 9) == []
