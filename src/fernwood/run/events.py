"""What a run says of itself while it works: one line of JSON at a time, appended, for anyone who looks on.

Lines carry the time of day, which people read; nothing is decided by it. A reader takes the last whole line: one that a
crash cut short is passed over.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fernwood.budget import peak_resident, resident
from fernwood.files import append_line, is_file, opened
from fernwood.plausible import fits

if TYPE_CHECKING:
    from pathlib import Path

    from fernwood.run.driving import SearchProgress

__all__ = ["EVENTS_NAME", "EventLog", "is_whole", "last_events"]

EVENTS_NAME = "events.jsonl"
_LEAST_SECONDS = 1.0
_MOST_NAME = 100
"""Characters of a column's name in a line, which many looks at the file read."""
_TAIL = 65_536
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("event", "time", "stage", "unit", "detail", "said", "why", "call", "host"), str),
    **dict.fromkeys(("process", "resident", "peak", "memory", "done", "total", "found", "bytes"), int),
    "seconds": float,
    "leading": list[str],
}
_LARGEST = 2**63


class EventLog:
    """Appends events to a file; progress at most once a second, whatever a search calls it with.

    Parameters
    ----------
    path
        Lines of earlier processes stay.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = 0.0
        self._stage = ""
        self._last: SearchProgress | None = None
        self.said = time.monotonic()
        """When anything was last said."""

    def say(self, event: str, **about: Any) -> None:
        """Append an event; a disk that cannot take it does not stop a run."""
        self._stage = ""  # after anything else, progress is said at once
        self._append(event, about)

    def checkpoint(self, **about: Any) -> None:
        """Say that a checkpoint is on the disk, and what it took."""
        self._append("checkpoint", about)

    def alive(self) -> None:
        """Say again how far the search is, in the middle of a long step; before its first word, only that it works."""
        if self._last is None:
            self._append("working", {})
        else:
            self._append("progress", _plain(self._last))

    def _append(self, event: str, about: dict[str, Any]) -> None:
        self.said = time.monotonic()
        now = resident()
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "process": os.getpid(),
            "event": event,
            **about,
            "resident": now,
            "peak": max(now, peak_resident()),  # the kernel brings the peak up to date a little later
        }
        with suppress(OSError):
            append_line(self._path, json.dumps(line).encode())

    def progress(self, progress: SearchProgress, *, at_once: bool = False) -> None:
        """Say how far a search is, if it has not been said just now, or in any case."""
        now, self._last = time.monotonic(), progress
        ends = at_once or progress.done >= progress.total
        if progress.stage == self._stage and now < self._next and not ends:
            return
        self._append("progress", _plain(progress))
        self._stage, self._next = progress.stage, now + _LEAST_SECONDS


def _plain(progress: SearchProgress) -> dict[str, Any]:
    leading = [name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…" for name in progress.leading]
    return {**progress._asdict(), "leading": leading, "detail": progress.detail}


def last_events(path: Path, n: int = 1) -> list[dict[str, Any]]:
    """The last whole events of a file, oldest first; none where there is no file."""
    if not is_file(path):
        return []
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _TAIL, 0))
        lines = file.read().split(b"\n")
    found: list[dict[str, Any]] = []
    for line in reversed(lines):
        if len(found) == n:
            break
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if is_whole(event):
            found.append(event)
    return found[::-1]


def is_whole(event: object) -> bool:
    """Whether a line is one that `EventLog` writes: nothing seals the file, and anybody may have added to it.

    Examples
    --------
    >>> is_whole({"event": "ended", "resident": 5}), is_whole({"event": "ended", "resident": "5"})
    (True, False)
    """
    if not isinstance(event, dict) or "event" not in event:
        return False
    if any(name in event and not fits(event[name], kind) for name, kind in _TYPES.items()):
        return False
    if any(abs(event.get(name, 0)) >= _LARGEST for name, kind in _TYPES.items() if kind is int):
        return False
    try:
        return "time" not in event or datetime.fromisoformat(event["time"]).tzinfo is not None
    except ValueError:
        return False
