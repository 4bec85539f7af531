"""How a run went, from its events and from memory."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fernwood.course import Sample
from fernwood.run import course as course_module
from fernwood.run.course import Watch, course_of
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress
from fernwood.run.events import EVENTS_NAME
from fernwood.run.standing import standing


def line(second: float, event: str, resident: int, peak: int = 0, **about: Any) -> str:
    at = f"2026-01-01T00:{int(second) // 60:02d}:{second % 60:06.3f}+00:00"
    return json.dumps({"time": at, "process": 1, "event": event, **about, "resident": resident, "peak": peak})


def progress(done: int, found: int, stage: str = "searching") -> dict[str, Any]:
    return {"stage": stage, "done": done, "found": found}


def written(tmp_path: Path, *lines: str) -> Path:
    (tmp_path / EVENTS_NAME).write_text("\n".join(lines))
    return tmp_path


def test_seconds_of_processes_add_up_and_gaps_do_not_count(tmp_path: Path) -> None:
    run = written(
        tmp_path,
        line(0, "started", 100, memory=1000, threads=2),
        line(2, "progress", 150, 160, **progress(5, 1)),
        '{"cut short',
        line(600, "started", 90, memory=2000),
        line(601, "working", 95),
        line(605, "progress", 120, 125, **progress(9, 4)),
        line(606, "ended", 110, 125),
    )
    course = course_of(run)
    assert course is not None
    assert (course.seconds, course.peak, course.memory, course.n_processes) == (8.0, 160, 2000, 2)
    assert course.samples == [
        Sample(0.0, "", 0, 0, 100),
        Sample(2.0, "searching", 5, 1, 150),
        Sample(2.0, "searching", 5, 1, 90),
        Sample(3.0, "searching", 5, 1, 95),
        Sample(7.0, "searching", 9, 4, 120),
        Sample(8.0, "searching", 9, 4, 110),
    ]
    assert course_of(run / EVENTS_NAME) == course
    assert course_of(tmp_path / "nowhere") is None


def test_a_clock_set_back_counts_nothing(tmp_path: Path) -> None:
    run = written(tmp_path, line(9, "started", 1), line(3, "progress", 1, **progress(1, 0)), line(4, "ended", 1))
    course = course_of(run)
    assert course is not None
    assert course.seconds == 1.0


def test_what_the_process_held_before_is_not_of_the_run(tmp_path: Path) -> None:
    run = written(tmp_path, line(0, "started", 10, 900), line(1, "ended", 20, 900))
    course = course_of(run)
    assert course is not None
    assert course.peak == 20
    course = course_of(written(tmp_path, line(0, "started", 10, 900), line(1, "ended", 20, 950)))
    assert course is not None
    assert course.peak == 950


def test_long_runs_are_thinned(tmp_path: Path) -> None:
    lines = [line(i / 2, "progress", i, **progress(i, 0)) for i in range(3001)]
    course = course_of(written(tmp_path, *lines))
    assert course is not None
    assert 100 < len(course.samples) <= 301
    assert course.samples[-1].done == 3000
    assert len({b.done - a.done for a, b in zip(course.samples[:-2], course.samples[1:-1], strict=True)}) == 1


def test_old_events_say_nothing_of_memory(tmp_path: Path) -> None:
    course = course_of(written(tmp_path, line(0, "started", 5, host="here")))
    assert course is not None
    assert course.memory == 0


def now(done: int, leading: tuple[str, ...] = ()) -> SearchProgress:
    return SearchProgress("searching", done, 9, "draws", done, done, 9, leading=leading)


def test_without_a_directory_it_is_kept_in_memory() -> None:
    heard: list[SearchProgress] = []
    with Watch(None, 12345, heard.append) as watch:
        watch(now(1))
        held = np.ones(40_000_000, np.uint8)
        watch(now(2))
        time.sleep(0.3)
        del held
    course = watch.course()
    assert course is not None
    assert course.memory == 12345
    assert course.seconds >= 0.3
    assert [event.done for event in heard] == [1, 2]
    assert {0, 1, 2} <= {sample.done for sample in course.samples}
    assert len(course.samples) > 5  # the thread looks on within a step
    seconds = [sample.seconds for sample in course.samples]
    assert seconds == sorted(seconds)
    assert course.peak >= max(sample.resident for sample in course.samples) >= 40_000_000


def test_a_long_step_says_that_it_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_module, "_LEAST_SECONDS", 0.02)
    run = RunDirectory.of_memory(tmp_path / "run", RunManifest("subspace", {}, 5, "data", ""))
    with run.working(memory=777, n_threads=2):
        with Watch(run) as watch:
            time.sleep(0.2)
            run.events.progress(now(3, ("gene <b>", "n" * 500)))
            time.sleep(0.2)
        course = watch.course()
        stands = standing(run.path)
    assert course is not None
    assert (course.memory, course.n_processes) == (777, 1)
    assert [sample.done for sample in course.samples].count(0) > 2
    assert [sample.done for sample in course.samples].count(3) > 2
    assert (stands.state, stands.done, stands.memory) == ("working", 3, 777)
    assert stands.leading == ("gene <b>", "n" * 99 + "…")


def test_a_look_that_the_system_refuses_ends_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there were too many open files, it printed a traceback, and nobody looked on any more."""
    refused: list[int] = []

    def resident() -> int:
        if threading.current_thread() is not threading.main_thread() and len(refused) < 3:
            refused.append(1)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "/proc/self/statm")
        return 5

    monkeypatch.setattr(course_module, "resident", resident)
    with Watch() as watch:
        time.sleep(0.3)
        assert watch._thread.is_alive()
    course = watch.course()
    assert course is not None
    assert len(refused) == 3
    assert len(course.samples) > 2


def test_a_search_that_fails_leaves_no_thread() -> None:
    watch = Watch()
    with pytest.raises(ValueError, match="bad"), watch:
        raise ValueError("bad")
    assert not watch._thread.is_alive()


@pytest.mark.parametrize(
    "stray",
    [
        '{"event": "progress", "resident": 1}',
        '{"event": "working", "resident": 1, "time": "yesterday"}',
        '{"event": "working", "resident": 1, "time": "2026-01-01T00:00:01"}',
        '{"event": "working", "resident": "much", "time": "2026-01-01T00:00:01+00:00"}',
        '{"event": "working", "resident": 1, "time": "2026-01-01T00:00:01+00:00", "peak": null}',
        '{"event": "started", "resident": 1, "time": "2026-01-01T00:00:01+00:00", "call": 3}',
        '{"event": ["started"], "resident": 1, "time": "2026-01-01T00:00:01+00:00"}',
        "[" * 100_000,
        "[1]",
    ],
)
def test_lines_of_others_are_passed_over(tmp_path: Path, stray: str) -> None:
    lines = [line(0, "started", 100, memory=1000), line(2, "progress", 150, **progress(5, 1)), line(4, "ended", 90)]
    (tmp_path / "clean").mkdir()
    (tmp_path / "with").mkdir()
    clean = course_of(written(tmp_path / "clean", *lines))
    assert clean is not None
    assert clean.seconds == 4
    assert course_of(written(tmp_path / "with", lines[0], stray, *lines[1:])) == clean
