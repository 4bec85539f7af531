"""How a run went, from its events; and the same of a search without a run directory, collected while it works."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from fernwood.budget import peak_resident, resident
from fernwood.course import Course, Sample
from fernwood.files import is_directory, is_file, opened
from fernwood.run.events import EVENTS_NAME, is_whole
from fernwood.shortage import check_products, check_threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgress, SearchProgressCallback

__all__ = ["Watch", "course_of", "last_started"]

_MOST_SAMPLES = 300
_OF_ANY = {"time", "resident"}
_OF_PROGRESS = _OF_ANY | {"stage", "done", "found"}
_LEAST_SECONDS, _MOST_SECONDS, _SHARE = 1.0, 60.0, 1 / 200
"""Between two looks at a search that says nothing: a part of the time that it has taken, within these bounds."""
_FIRST_SECONDS = 0.05
"""The same where nothing is written to a file."""


def course_of(events: Path) -> Course | None:
    """How a run went, from its file of events or from its directory; None where it has none.

    Seconds of all processes are added up; what lies between two of them is not counted. A clock that was set back
    counts nothing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fernwood.run.events import EVENTS_NAME, EventLog
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     log = EventLog(Path(directory) / EVENTS_NAME)
    ...     log.say("started", memory=10**9)
    ...     log.say("ended")
    ...     course = course_of(Path(directory))
    >>> course.memory, course.n_processes, len(course.samples)
    (1000000000, 1, 2)
    """
    path = events / EVENTS_NAME if is_directory(events) else events
    tally = _Tally()
    for event in _events(path):
        tally.hear(event)
    return tally.course()


def last_started(events: Path) -> dict[str, Any]:
    """The last event with which a process began to work on a run; empty where there is none."""
    found: dict[str, Any] = {}
    for event in _events(events, b'"started"'):
        found = event if event["event"] == "started" else found
    return found


def _events(path: Path, having: bytes = b"") -> Iterator[dict[str, Any]]:
    """The whole events of a file in order; lines that a crash cut short are passed over."""
    if not is_file(path):
        return
    with opened(path) as file:
        for line in file:
            if having not in line:
                continue
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if is_whole(event) and event.keys() >= (_OF_PROGRESS if event["event"] == "progress" else _OF_ANY):
                yield event


class _Moment(NamedTuple):
    """What the last progress said: the stage, draws made, columns found."""

    stage: str = ""
    done: int = 0
    found: int = 0


class _Tally:
    """Adds up the events of a run."""

    def __init__(self) -> None:
        self._samples = _Thinned()
        self._seconds, self._peak, self._memory, self._n_processes, self._call = 0.0, 0, 0, 0, ""
        self._before: datetime | None = None
        self._peak_at_start = 0
        self._moment = _Moment()

    def hear(self, event: dict[str, Any]) -> None:
        """Add one event."""
        now = datetime.fromisoformat(event["time"])
        if event["event"] == "started" or not self._n_processes:
            self._n_processes += 1
            self._before = now
            self._memory = event.get("memory", 0) or self._memory
            self._call = self._call or event.get("call", "")
            # What the process held at some time before it began is not of this run, unless it was there for that alone.
            self._peak_at_start = 0 if event.get("whole") else event.get("peak", 0)
        if self._before is not None:
            self._seconds += max((now - self._before).total_seconds(), 0.0)
        self._before = now
        if event["event"] == "progress":
            self._moment = _Moment(event["stage"], event["done"], event["found"])
        peak = event.get("peak", 0)
        self._peak = max(self._peak, event["resident"], peak if peak > self._peak_at_start else 0)
        self._samples.add(Sample(round(self._seconds, 3), *self._moment, event["resident"]))

    def course(self) -> Course | None:
        """All of it; None where there was nothing."""
        if not self._n_processes:
            return None
        return Course(self._seconds, self._peak, self._memory, self._n_processes, self._samples.taken(), self._call)


class _Thinned:
    """Samples of which every second is left out whenever there are too many, so that they stay evenly spaced."""

    def __init__(self) -> None:
        self._samples: list[Sample] = []
        self._every, self._n = 1, 0
        self._last: Sample | None = None

    def add(self, sample: Sample) -> None:
        """One more."""
        self._last, number = sample, self._n
        self._n += 1
        if number % self._every:
            return
        self._samples.append(sample)
        if len(self._samples) >= _MOST_SAMPLES:
            self._samples = self._samples[::2]
            self._every *= 2

    def taken(self) -> list[Sample]:
        """Those that are left, and the last in any case."""
        late = self._last is not None and (not self._samples or self._samples[-1] is not self._last)
        return [*self._samples, *([self._last] if late and self._last is not None else [])]


class Watch:
    """Looks at a search while it works: pass it as the callback for progress, inside a `with` block.

    In the middle of long steps, a thread looks at the memory now and then. In a run directory the events keep what is
    seen; without one it is kept here.

    Parameters
    ----------
    directory
        Of the run, if there is one.
    memory
        Bytes that the process may hold; 0 where nobody said.
    progress
        Is called as well.
    """

    def __init__(
        self, directory: RunDirectory | None = None, memory: int = 0, progress: SearchProgressCallback | None = None
    ) -> None:
        self._directory = directory
        self._memory = memory
        self._progress = progress
        self._samples = _Thinned()
        self._moment = _Moment()
        self._peak, self._peak_at_start = 0, peak_resident()
        self._started = time.monotonic()
        self._over = threading.Event()
        self._looks = threading.Lock()
        self._thread = threading.Thread(target=self._look_on, name="fernwood-watch", daemon=True)

    def __enter__(self) -> Self:
        self._look()
        check_products()
        check_threads()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def __call__(self, progress: SearchProgress) -> None:
        """Take note, and pass it on."""
        self._moment = _Moment(progress.stage, progress.done, progress.found)
        self._look()
        if self._progress is not None:
            self._progress(progress)

    def _look(self) -> None:
        if self._directory is not None:
            return
        now = resident()
        with self._looks:
            self._peak = max(self._peak, now)
            self._samples.add(Sample(round(time.monotonic() - self._started, 3), *self._moment, now))

    def _look_on(self) -> None:
        least = _FIRST_SECONDS if self._directory is None else _LEAST_SECONDS
        pause = least
        while not self._over.wait(pause):
            pause = min(max((time.monotonic() - self._started) * _SHARE, least), _MOST_SECONDS)
            with suppress(MemoryError, OSError):  # whoever searches meets it too, and says it
                if self._directory is None:
                    self._look()
                elif time.monotonic() - self._directory.events.said >= pause:
                    self._directory.events.alive()

    def course(self) -> Course | None:
        """How it went, with all earlier processes of the run."""
        if self._directory is not None:
            return course_of(self._directory.path)
        peak = peak_resident()
        return Course(
            time.monotonic() - self._started,
            max(self._peak, peak if peak > self._peak_at_start else 0),
            self._memory,
            1,
            self._samples.taken(),
        )
