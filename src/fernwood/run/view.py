"""Progress on a terminal as a few lines that stay in place; elsewhere as a plain line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from fernwood.budget import resident, shown_size
from fernwood.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Self

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

    from fernwood.run.driving import SearchProgress
    from fernwood.sources.base import Progress

__all__ = ["ProgressView", "shown_time"]

_SECONDS_BETWEEN_LINES, _MOST_BETWEEN_LINES, _SHARE = 5.0, 300.0, 1 / 20
"""Where there is no terminal: a part of the time that the stage has taken, within these bounds."""
_FRAMES_A_SECOND = 8
_LONGEST_NAME, _LONGEST_BAR, _SHORTEST_BAR = 32, 40, 6
_NAMES_A_LINE = 3
_SLOW = 0.1


class ProgressView:
    """Call it with `Progress` or `SearchProgress`; it draws on standard error, and nothing at all when `quiet`.

    Parameters
    ----------
    quiet
    memory
        Bytes that the process may hold, to be shown beside what it holds; 0 where nobody said.
    """

    def __init__(self, *, quiet: bool = False, memory: int = 0) -> None:
        self._quiet = quiet
        self._memory = memory
        self._live: Live | None = None
        self._now: Progress | SearchProgress | None = None
        self._first = 0
        self._started = self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        # A terminal that cannot move its cursor gets lines, as a file does.
        if not self._quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            from rich.console import Console
            from rich.live import Live

            self._live = Live(self, console=Console(stderr=True), refresh_per_second=_FRAMES_A_SECOND, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress | SearchProgress) -> None:
        """Show how far it is."""
        if self._quiet:
            return
        now = time.monotonic()
        if self._now is None or progress.stage != self._now.stage:
            # A run that goes on from a checkpoint did not do the first part just now.
            self._started, self._first = now, progress.done
        self._now = progress
        pause = min(max(_SECONDS_BETWEEN_LINES, (now - self._started) * _SHARE), _MOST_BETWEEN_LINES)
        if self._live is None and now - self._last_line >= pause and progress.done:
            self._last_line = now
            sys.stderr.write(self._line(progress) + "\n")

    def _line(self, progress: Progress | SearchProgress) -> str:
        """For people who read it later, in a file."""
        parts = [f"{_percent(progress):.0f} %", self._rate(progress), self._left(progress), _detail(progress)]
        names = _names(progress)[:_NAMES_A_LINE]
        parts += [f"such as {', '.join(names)}" if names else "", self._held()]
        return f"{progress.stage}: {', '.join(filter(None, parts))}"

    def _pace(self, progress: Progress | SearchProgress) -> float:
        return (progress.done - self._first) / max(time.monotonic() - self._started, 1e-3)

    def _rate(self, progress: Progress | SearchProgress) -> str:
        return _shown_rate(self._pace(progress), progress.unit)

    def _left(self, progress: Progress | SearchProgress) -> str:
        pace = self._pace(progress)
        return f"{shown_time((progress.total - progress.done) / pace)} left" if pace > 0 else ""

    def _held(self) -> str:
        limit = f" of {shown_size(self._memory)}" if self._memory else ""
        return f"memory {shown_size(resident())}{limit}"

    # On a terminal ---------------------------------------------------------------------------------------------------

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines, each no longer than the terminal is wide."""
        from rich.text import Text

        progress, width = self._now, options.max_width
        if progress is None:
            return
        yield from self._bar(progress, width)
        took = shown_time(time.monotonic() - self._started)
        detail = _shorter(progress, width)
        rest = [detail, _fitting([self._held(), f"for {took}"], width), _listed(progress, width)]
        for line in filter(None, rest):
            # As text, since square brackets in a name are no markup.
            yield Text(line, overflow="ellipsis", no_wrap=True)

    def _bar(self, progress: Progress | SearchProgress, width: int) -> RenderResult:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        percent = f"{_percent(progress):.0f} %"
        stage = progress.stage[: max(width - len(percent) - 1, 1)]
        told = _fitting([percent, self._left(progress), self._rate(progress)], max(width - len(stage) - 1, 1), "  ")
        free = width - len(stage) - len(told) - 2
        grid = Table.grid(padding=(0, 1, 0, 0))
        if free < _SHORTEST_BAR:
            grid.add_row(Text(stage, no_wrap=True), Text(told, no_wrap=True))
        else:
            bar = ProgressBar(max(progress.total, 1), progress.done, width=min(free, _LONGEST_BAR))
            grid.add_row(Text(stage), bar, Text(told))
        yield grid


def shown_time(seconds: float) -> str:
    """A duration for people.

    Examples
    --------
    >>> shown_time(7.4), shown_time(75), shown_time(7265)
    ('7 s', '1:15 min', '2:01 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600:,}:{whole % 3600 // 60:02d} h"


def _percent(progress: Progress | SearchProgress) -> float:
    return min(100 * progress.done / max(progress.total, 1), 100.0)


def _detail(progress: Progress | SearchProgress) -> str:
    return str(getattr(progress, "detail", ""))


def _shorter(progress: Progress | SearchProgress, width: int) -> str:
    """What is found, in as many words as there is room for."""
    detail, found = _detail(progress), str(getattr(progress, "said", "")) == ""
    if len(detail) <= width or not found:
        return detail
    counts = (getattr(progress, name, 0) for name in ("found", "examined"))
    return _fitting([f"{number:,} {what}" for number, what in zip(counts, ("found", "examined"), strict=True)], width)


def _fitting(parts: Iterable[str], width: int, between: str = ", ") -> str:
    """The first of some parts, as many as fit on a line; the first in any case."""
    line = ""
    for part in filter(None, parts):
        longer = f"{line}{between}{part}" if line else part
        if line and len(longer) > width:
            break
        line = longer
    return line


def _names(progress: Progress | SearchProgress) -> list[str]:
    """Names of columns found, safe to show, and none longer than a line can hold."""
    from rich.cells import cell_len, set_cell_size

    names = [printable(name[:_LONGEST_NAME]) for name in getattr(progress, "leading", ())]
    whole = [len(name) <= _LONGEST_NAME for name in getattr(progress, "leading", ())]
    return [
        name if entire and cell_len(name) <= _LONGEST_NAME else set_cell_size(name, _LONGEST_NAME - 1).rstrip() + "…"
        for name, entire in zip(names, whole, strict=True)
    ]


def _listed(progress: Progress | SearchProgress, width: int) -> str:
    """A line with the names of columns found, as many as there is room for."""
    from rich.cells import cell_len

    line = ""
    for name in _names(progress):
        longer = f"{line}, {name}" if line else f"such as {name}"
        if line and cell_len(longer) > width:
            break
        line = longer
    return line


def _shown_rate(rate: float, unit: str) -> str:
    if rate <= 0:
        return ""
    if unit == "bytes":
        return f"{shown_size(rate)}/s"
    if rate < _SLOW:
        return f"{shown_time(1 / rate)} a {unit.removesuffix('s')}"
    return f"{rate:,.0f} {unit}/s" if rate >= 10 else f"{rate:.1f} {unit}/s"
