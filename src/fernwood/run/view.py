"""Progress on a terminal as a bar with rate and time left; elsewhere as a plain line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from fernwood.budget import shown_size

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress as Bar, TaskID

    from fernwood.run.driving import SearchProgress
    from fernwood.sources.base import Progress

__all__ = ["ProgressView"]

_SECONDS_BETWEEN_LINES = 5.0


class ProgressView:
    """Call it with `Progress` or `SearchProgress`; it draws on standard error, and nothing at all when `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._first = 0
        self._started = self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress as Bar, TextColumn, TimeRemainingColumn

            self._bar = Bar(
                TextColumn("{task.description:<13}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[detail]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress | SearchProgress) -> None:
        """Show how far it is."""
        if self._quiet:
            return
        now = time.monotonic()
        if progress.stage != self._stage:
            self._stage, self._started, self._first = progress.stage, now, progress.done
            if self._bar is not None:
                self._task = self._bar.add_task(progress.stage, total=progress.total, rate="", detail="")
        # A run that goes on from a checkpoint did not do the first part just now.
        rate = (progress.done - self._first) / max(now - self._started, 1e-3)
        detail = getattr(progress, "detail", "")
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=progress.done, rate=_shown_rate(rate, progress.unit), detail=detail)
        elif now - self._last_line >= _SECONDS_BETWEEN_LINES and progress.done:
            self._last_line = now
            left = (progress.total - progress.done) / max(rate, 1e-9)
            sys.stderr.write(
                f"{progress.stage}: {100 * progress.done / max(progress.total, 1):.0f} %, "
                f"{_shown_rate(rate, progress.unit)}, {left:.0f} s left{detail and ', ' + detail}\n"
            )


def _shown_rate(rate: float, unit: str) -> str:
    return f"{shown_size(rate)}/s" if unit == "bytes" else f"{rate:,.0f} {unit}/s"
