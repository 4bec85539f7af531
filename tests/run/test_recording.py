"""How a search came along: the same wherever it paused, and small however long it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fernwood.errors import FernwoodWarning
from fernwood.insight import History
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress, drive
from fernwood.run.recording import Recording


class Counting:
    """Counts to `total`, and finds a column with every third step; may be interrupted in a step."""

    def __init__(self, total: int = 12, at: int | None = None, raises: type[BaseException] = KeyboardInterrupt) -> None:
        self.total, self.at, self.raises = total, at, raises

    def start(self) -> int:
        return 0

    def step(self, state: int) -> int:
        if state == self.at:
            raise self.raises
        return state + 1

    def progress(self, state: int) -> SearchProgress:
        return SearchProgress("counting", 10 * state, 10 * self.total, "draws", state // 3, min(state, 9), 9)

    def pack(self, state: int) -> dict[str, np.ndarray]:
        return {"state": np.array(state)}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> int:
        return int(arrays["state"])


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.of_memory(tmp_path / "run", RunManifest("subspace", {}, 5, "data", ""))


def test_every_step_has_a_point() -> None:
    history = drive(Counting(3)).history
    assert history == History([0, 10, 20, 30], [0, 0, 0, 1], [0, 1, 2, 3])


@pytest.mark.parametrize("at", range(12))
def test_a_pause_leaves_no_gap(run: RunDirectory, at: int) -> None:
    whole = drive(Counting()).history
    part = drive(Counting(at=at), run)
    assert isinstance(part.stopped_by, KeyboardInterrupt)
    assert part.history.done == whole.done[: at + 1]
    assert drive(Counting(), run).history == whole
    assert drive(Counting(), run).history == whole  # of a search that is over


@pytest.mark.parametrize("at", [0, 511, 512, 1500, 4095])
def test_a_long_history_is_thinned_in_the_same_way(run: RunDirectory, at: int) -> None:
    whole = drive(Counting(5000)).history
    assert 256 < len(whole.done) <= 514
    assert (whole.done[0], whole.done[-1]) == (0, 50_000)
    assert set(np.diff(whole.done[:-1])) == {160}  # evenly spaced, but for the last
    drive(Counting(5000, at=at), run)
    assert drive(Counting(5000), run).history == whole


def test_points_of_the_same_draws_are_one() -> None:
    class Confirming(Counting):
        def progress(self, state: int) -> SearchProgress:
            done = min(state, 3) if state < 6 else 4
            return SearchProgress("counting", done, 4, "waves", state, 9, 9)

    assert drive(Confirming()).history == History([0, 1, 2, 3, 4], [0, 1, 2, 5, 6], [9] * 5)


def test_checkpoints_without_a_history_still_serve(run: RunDirectory) -> None:
    run.save_checkpoint(Counting().pack(4))
    assert drive(Counting(), run).history.done == [10 * k for k in range(4, 13)]


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((0, 4), np.int64),
        np.zeros((2, 4), np.int64),
        np.zeros((1, 3), np.int64),
        np.zeros((1, 4)),
        np.full((1, 4), -1),
        np.arange(4),
    ],
)
def test_a_history_that_cannot_be_is_damage(run: RunDirectory, points: Any) -> None:
    run.save_checkpoint(Recording(Counting()).pack(Recording(Counting()).start()))
    run.save_checkpoint({"state": np.array(4), "history": points})
    with pytest.warns(FernwoodWarning, match="is damaged or missing"):
        assert drive(Counting(), run).history == drive(Counting()).history
    with pytest.raises(ValueError, match="the checkpoint's history (cannot be|is of another shape or type)$"):
        Recording(Counting()).unpack({"state": np.array(4), "history": points})


def test_names_are_asked_for_when_their_number_changes() -> None:
    asked: list[int] = []
    told: list[SearchProgress] = []

    def leading(state: int) -> list[str]:
        asked.append(state)
        return [f"x{state}"]

    drive(Counting(7), None, told.append, leading=leading)
    assert asked == [3, 6]
    assert [now.leading for now in told] == [()] * 3 + [("x3",)] * 3 + [("x6",)] * 2
