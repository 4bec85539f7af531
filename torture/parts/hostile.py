"""Hostile names, paths and archives: escapes into markup, terminals, spreadsheets and other files, counted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torture.escapes import csv_escapes, html_escapes, terminal_escapes
from torture.part import Asked, Bar, Part
from torture.strangers import (
    CONTROLS,
    MARKUP,
    hostile_run,
    hostile_table,
    swollen_csv,
    swollen_npz,
    swollen_parquet,
)
from torture.terminal import shown_on_a_terminal

_COMMAND = [sys.executable, "-c", "from fernwood.cli import main; main()"]
_MEMORY = 512 * 10**6
_SWOLLEN = 8 * 2**30
"""What a file that grows would take, if it were let."""
_PATIENCE_S = 240
_LINKED = ("events.jsonl", "checkpoint.npz", "result.json", "report.html", "decisions.parquet", "run.json")


class _Tally:
    """What was tried, and what escaped."""

    def __init__(self) -> None:
        self.tried, self.escaped = 0, list[str]()

    def add(self, what: str, escapes: Sequence[str]) -> None:
        """One more thing that was tried."""
        self.tried += 1
        self.escaped += [f"{what}: {escape}" for escape in escapes]

    def bar(self, about: str) -> Bar:
        """How that is told."""
        told = f"{len(self.escaped)} escapes of {self.tried} tried"
        return Bar(about, "0 escapes", ": ".join([told, *self.escaped[:3]]), met=bool(self.tried) and not self.escaped)


def run(asked: Asked) -> Sequence[Bar]:
    """Try all of them."""
    subprocess.run([sys.executable, "-m", "fernwood.kernels"], check=True)  # else the first commands say that they do
    bars = []
    for about, attempt in _ATTEMPTS.items():
        tally = _Tally()
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            attempt(Path(folder), tally)
        bars.append(tally.bar(about))
        asked.tell(f"{about}: {bars[-1].measured}")
    return bars


def _commanded(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own, with pipes."""
    command = [*_COMMAND, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)


def _shown(folder: Path, *arguments: object) -> str:
    """All that a command shows on a terminal."""
    return shown_on_a_terminal([*_COMMAND, *map(str, arguments)], 80, folder, stdin=-1, stderr=-1)[1]


@contextmanager
def _runs(folder: Path) -> Iterator[list[Path]]:
    """A run of a stranger's table, and a stranger's run."""
    table = folder / "t\x1b[31m<img src=x onerror=alert(8)>.parquet"
    target = hostile_table(table)
    first = folder / "=1+2\x1b]0;owned\x07.run"
    made = _commanded(folder, "select", table, "--target", target, "--out", first, "--seed", 0, "--report")
    if made.returncode:
        raise RuntimeError(made.stderr)
    second = folder / "made-up\x9b6n.run"
    shutil.copytree(first, second)
    hostile_run(second)
    yield [first, second]


def _commands(folder: Path, run: Path) -> list[tuple[Any, ...]]:
    table = next(folder.glob("t*.parquet"))
    return [
        ("status", run),
        ("info", run / "table.fern"),
        ("plan", run / "table.fern"),
        ("export", run, "--to", "csv"),
        ("export", run, "--to", "json"),
        ("export", run, "--to", "names"),
        ("apply", run, table),
        ("compare", run, run),
        ("report", run),
        ("resume", run),
        ("select", table, "--target", "<b onmouseover=alert(5)>", "--seed", 0),
        ("status", folder / CONTROLS[1]),
        ("ingest", folder / CONTROLS[0], "--target", CONTROLS[2], "--out", folder / "o"),
        ("export", run, f"--{CONTROLS[0]}"),
        (CONTROLS[3],),
    ]


def _terminal(folder: Path, tally: _Tally) -> None:
    with _runs(folder) as runs:
        for run in runs:
            for command in _commands(folder, run):
                what = " ".join(map(ascii, command))[:80]
                tally.add(what, terminal_escapes(_shown(folder, *command), CONTROLS, styled=True))
                if command[0] not in ("export", "apply"):  # data, which programs get as it is
                    piped = _commanded(folder, *command)
                    tally.add(what, terminal_escapes(piped.stdout + piped.stderr))


def _pages(folder: Path, tally: _Tally) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with _runs(folder) as runs:
        for number, run in enumerate(runs):
            done = _commanded(folder, "report", run)
            tally.add("report", [done.stderr] if done.returncode else [])
            page = (run / "report.html").read_text(encoding="utf-8")
            tally.add("parsed", html_escapes(page))
            if browser:
                plain = folder / f"page{number}.html"
                plain.write_text(page, encoding="utf-8")
                tally.add("in a browser", _browsed(browser, plain))


def _browsed(browser: str, page: Path) -> list[str]:
    """What a page does in a browser beside showing itself: every alert, by whatever name or event, marks its title."""
    watched = page.with_name(f"watched-{page.name}")
    mark = "<script>window.alert = window.confirm = window.prompt = () => { document.title = 'escaped' }</script>"
    policy = 'http-equiv="Content-Security-Policy"'
    # Without its policy, which would stop scripts by itself: names must be text without such help.
    text = page.read_text(encoding="utf-8").replace(policy, 'name="policy"', 1)
    watched.write_text(text.replace("<head>", f"<head>{mark}", 1), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    home = page.with_name("browser")
    command = [browser, *options, f"--user-data-dir={home}", watched.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    if "</html>" not in done.stdout:
        return ["the browser showed nothing"]
    return ["an alert opened"] if "<title>escaped</title>" in done.stdout else []


def _spreadsheets(folder: Path, tally: _Tally) -> None:
    with _runs(folder) as (run, made_up):
        table = next(folder.glob("t*.parquet"))
        out = folder / "out.csv"
        exports = [
            ("export", run, "--to", "csv", "--output", out),
            ("export", run, "--table", out),
            ("export", run, "--table", out, "--only", "all"),
            ("apply", run, table, "--output", out),
            ("export", made_up, "--to", "csv", "--output", out),
        ]
        for command in exports:
            what = " ".join(map(ascii, command))[:80]
            told = _commanded(folder, *command, "--force")
            warned = "a spreadsheet would run" in told.stderr
            tally.add(f"{what}, as it is", [] if warned or not csv_escapes(out) else ["nobody was warned"])
            done = _commanded(folder, *command, "--force", "--spreadsheet")
            tally.add(f"{what}, guarded", [done.stderr] if done.returncode else csv_escapes(out))


def _paths(folder: Path, tally: _Tally) -> None:
    with _runs(folder) as runs:
        outside = folder / "outside"
        outside.mkdir()
        precious = outside / "precious.txt"
        for run in runs:
            for name in _LINKED:
                copy = folder / "copy.run"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(run, copy)
                precious.write_text("as it was")
                (copy / name).unlink(missing_ok=True)
                (copy / name).symlink_to(precious)
                for command in ("resume", "report", "status"):
                    _commanded(folder, command, copy)
                    changed = precious.read_text() != "as it was" or sorted(outside.iterdir()) != [precious]
                    tally.add(f"{command} with a link for {name}", ["written through"] if changed else [])
        for name in MARKUP:
            done = _commanded(
                folder, "ingest", next(folder.glob("t*.parquet")), "--target", name, "--out", folder / "s"
            )
            tally.add(f"the target {name!a}", [str(p) for p in folder.parent.glob("etc*")] if done.returncode else [])
            shutil.rmtree(folder / "s", ignore_errors=True)


_MEASURED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))  # a machine should not die of what is found here
status = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def _expanding(folder: Path, tally: _Tally) -> None:
    with _runs(folder) as (run, _):
        swollen_csv(folder / "t.csv.gz", _SWOLLEN // 16)
        swollen_parquet(folder / "t.parquet", _SWOLLEN // 16)
        for name in ("checkpoint.npz", "checkpoint-before.npz"):
            swollen_npz(run / name, _SWOLLEN)
        (run / "result.json").unlink()
        commands = [
            ("ingest", "t.csv.gz", "--target", "y", "--out", "a.fern", "--memory", "400MB"),
            ("ingest", "t.parquet", "--target", "y", "--out", "b.fern", "--memory", "400MB"),
            ("resume", run, "--memory", "500MB"),
        ]
        for command in commands:
            limited = [sys.executable, "-S", "-c", _MEASURED, *_COMMAND, *map(str, command)]
            done = subprocess.run(limited, cwd=folder, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
            peak = int(done.stdout.splitlines()[-1])
            more = [f"took {peak / 1e6:.0f} MB"] if peak > _MEMORY else []
            one = done.stderr.count("\n") == 1 and "internal" not in done.stderr
            tally.add(" ".join(map(ascii, command))[:60], more + ([] if one else [done.stderr[-300:]]))


_ATTEMPTS: dict[str, Callable[[Path, _Tally], None]] = {
    "hostile names on a terminal": _terminal,
    "hostile names in the report": _pages,
    "hostile names in CSV": _spreadsheets,
    "hostile paths and links": _paths,
    "files that grow when they are read": _expanding,
}

PART = Part("hostile", "names, paths and files of strangers", 5.0, run)
