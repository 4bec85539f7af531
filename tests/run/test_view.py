"""Progress for people: lines that stay in place on a terminal, plain ones elsewhere, and names that stay text."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from fernwood.run import view as view_module
from fernwood.run.driving import SearchProgress
from fernwood.run.view import ProgressView
from fernwood.sources.base import Progress

HOSTILE = ("[red]a[/red]", "n" * 10_000, "\x1b[31mred", "שלום", "👩‍🔬 lab", "漢字" * 40, "\u202egnp.exe", "a\nb")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(view_module, "time", clock)
    monkeypatch.setattr(view_module, "resident", lambda: 290_000_000)
    return clock


def searched(done: int, **about: Any) -> SearchProgress:
    return SearchProgress("searching", done, 13, "waves", 20, 20_000, 20_000, **about)


def drawn(view: ProgressView, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(view)
    return captured.get().splitlines()


def after_a_while(clock: Clock, **about: Any) -> ProgressView:
    view = ProgressView(memory=512_000_000)
    view(searched(0))
    clock.now += 72
    view(searched(3, **about))
    return view


def test_what_a_terminal_shows(clock: Clock) -> None:
    lines = drawn(after_a_while(clock, leading=("gene_1", "gene_2")), 80)
    assert lines[0].split()[0] == "searching"
    assert lines[0].endswith("23 %  4:00 min left  24 s a wave")
    assert lines[1:] == [
        "20 found, 20,000 of 20,000 columns examined",
        "memory 290.0 MB of 512.0 MB, for 1:12 min",
        "such as gene_1, gene_2",
    ]


@pytest.mark.parametrize("width", [200, 80, 60, 40, 30, 20, 10])
def test_no_line_is_longer_than_the_terminal_is_wide(clock: Clock, width: int) -> None:
    for leading in ((), *[(name,) for name in HOSTILE], HOSTILE):
        lines = drawn(after_a_while(clock, leading=leading), width)
        assert max(cell_len(line) for line in lines) <= width
        assert len(lines) == (4 if leading else 3)
        assert all(c.isprintable() for line in lines for c in line)


def test_names_are_text(clock: Clock) -> None:
    shown = drawn(after_a_while(clock, leading=HOSTILE), 400)[-1]
    assert "[red]a[/red]" in shown
    assert "\\x1b[31mred" in shown
    assert "n" * 31 + "…" in shown
    assert "\\u202egnp.exe" in shown
    assert "a\\nb" in shown


def test_plain_lines_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressView(memory=512_000_000) as view:
        for second in range(1000):
            clock.now = 100.0 + second
            view(searched(min(second // 80, 12), leading=("a", "\x1bb", "c", "d")))
    lines = capsys.readouterr().err.splitlines()
    assert 30 < len(lines) < 90  # every five seconds at first, then more rarely
    assert lines[20].startswith("searching: ")
    assert lines[20].endswith(
        "20 found, 20,000 of 20,000 columns examined, such as a, \\x1bb, c, memory 290.0 MB of 512.0 MB"
    )
    assert all(c.isprintable() for line in lines for c in line)


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_is_quiet(clock: Clock, capsys: pytest.CaptureFixture[str], terminal: bool) -> None:
    with ProgressView(quiet=True) as view:
        clock.now += 100
        view(searched(3))
    assert capsys.readouterr().err == ""


def test_a_dumb_terminal_gets_lines(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with ProgressView() as view:
        view(searched(1))
        clock.now += 100
        view(searched(3))
    shown = capsys.readouterr().err
    assert shown.startswith("searching: 23 %")
    assert "\x1b" not in shown


def test_reading_has_a_rate_in_bytes(clock: Clock) -> None:
    view = ProgressView()
    view(Progress("reading", 0, 100_000_000, "bytes"))
    clock.now += 2
    view(Progress("reading", 50_000_000, 100_000_000, "bytes"))
    lines = drawn(view, 60)
    assert lines[0].endswith("50 %  2 s left  25.0 MB/s")
    assert lines[1:] == ["memory 290.0 MB, for 2 s"]


def test_a_new_stage_begins_anew(clock: Clock) -> None:
    view = after_a_while(clock)
    view(SearchProgress("relating", 0, 10, "columns", 6, 10, 10, "6 of 10 columns suffice"))
    clock.now += 1
    view(SearchProgress("relating", 5, 10, "columns", 6, 10, 10, "6 of 10 columns suffice"))
    lines = drawn(view, 80)
    assert lines[0].endswith("50 %  1 s left  5.0 columns/s")
    assert lines[1] == "6 of 10 columns suffice"
