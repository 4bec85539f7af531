"""The command line as users meet it: a process of its own for every command.

Starting Python and its libraries takes a second, so most commands (`run`) are children of one process that has run
all of them once and does nothing but fork; those whose start matters, or whose memory is measured (`run_fresh`), start from nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fernwood.kernels.ready import ensure_compiled

COMMAND = [sys.executable, "-c", "from fernwood.cli import main; main()"]

# Starts a command from a process that is small, since a child inherits the high-water mark of its parent.
LAUNCHER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)))
sys.exit(os.waitstatus_to_exitcode(status))
"""

# Loads everything (by first runs), then forks a child for every request: a line of JSON on standard input.
FORKER = """
import contextlib, functools, io, json, os, sys, tempfile
import typer.main
from fernwood.cli import load_commands, main

load_commands()
typer.main.get_command = functools.cache(typer.main.get_command)  # making it takes longer than most commands

def code_of(arguments):
    sys.argv = ["fernwood", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return "main() came back"

TABLE = ["a,b,c,d,y"] + [f"{i * 7 % 40},{i * 11 % 40},{i * 13 % 40},{i * 17 % 40},{i % 2}" for i in range(40)]
COMMANDS = '''
ingest t.csv --target y --out s.fern
info s.fern
verify s.fern
select s.fern --out r --report --seed 0 --max-contexts 8
select s.fern --goal minimal --seed 0 --max-contexts 8
select s.fern --method subspace --draws 5 --seed 0
select s.fern --method ferns --scans 10 --seed 0
select s.fern --method boruta --max-iter 3 --trees 10 --seed 0
select s.fern --method filter --estimator naive-bayes --cv 2 --seed 0
select s.fern --method elimination --estimator tree --cv 2 --seed 0
plan s.fern
status r
resume r
report r --output r.html
export r --to parquet --output d.parquet
export r --to json --output d.json
'''
here = os.getcwd()
with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
    os.chdir(folder)
    with open("t.csv", "w") as file:
        file.write("\\n".join(TABLE) + "\\n")
    for command in COMMANDS.strip().splitlines():
        assert code_of([*command.split(), *(["--quiet"] if "select" in command else [])]) == 0, command
    os.chdir(here)
while line := sys.stdin.readline():
    request = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(request["cwd"])
        for number, name in enumerate((os.devnull, request["out"], request["err"])):
            os.dup2(os.open(name, os.O_RDWR), number)
        exec(request["before"])
        code = code_of(request["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Finished(NamedTuple):
    """How a command ended; `peak` is its highest resident size where that was measured."""

    code: int
    out: str
    err: str
    peak: int = 0


Run = Callable[..., Finished]


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "FORCE_COLOR", "FERNWOOD_TRACEBACK"}}


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Kernels are compiled before, so that no command says that it compiles."""
    ensure_compiled("text")


@pytest.fixture(scope="session")
def forker() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", FORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def run(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, forker: subprocess.Popen[str]) -> Run:
    """Run `fernwood` with some arguments in the test's directory, after some Python code where a fault is wanted."""
    outside = tmp_path_factory.mktemp("output")
    assert forker.stdin is not None
    assert forker.stdout is not None
    ask, answers = forker.stdin, forker.stdout

    def run(*arguments: object, before: str = "") -> Finished:
        out, err = outside / "out", outside / "err"
        out.write_bytes(b"")
        err.write_bytes(b"")
        request = {
            "cwd": str(tmp_path),
            "out": str(out),
            "err": str(err),
            "arguments": [str(a) for a in arguments],
            "before": before,
        }
        ask.write(json.dumps(request) + "\n")
        ask.flush()
        return Finished(int(answers.readline()), out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))

    return run


@pytest.fixture
def run_fresh(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `fernwood` in a Python started for it, and measure its memory."""
    peak = tmp_path_factory.mktemp("output") / "peak"

    def run_fresh(*arguments: object) -> Finished:
        done = subprocess.run(
            [sys.executable, "-S", "-c", LAUNCHER, str(peak), *COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr, int(peak.read_text()))

    return run_fresh
