"""Commands in processes of their own that start at once: children of a process that has everything loaded.

The one that forks (`python -m torture.forking`) has run every method once, has no thread left, and does nothing else.
Its children are processes like others: they are killed, run out of memory and are waited for.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from benchmarks.provenance import ROOT
from torture import dying

__all__ = ["Child", "Ended", "Forker", "environment"]

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Pools of threads of libraries, which a child would inherit dead."""
_LOOK_S = 0.002


class Ended(NamedTuple):
    """How a child ended: its exit code, or less than zero the signal that killed it; what it said; calls on files."""

    code: int
    out: str
    err: str
    calls: int

    @property
    def was_killed(self) -> bool:
        """Whether SIGKILL ended it."""
        return self.code == -signal.SIGKILL


class Child:
    """A process that the forker started."""

    def __init__(self, forker: Forker, pid: int, folder: Path) -> None:
        self._forker, self.pid, self._folder = forker, pid, folder
        self._ended: Ended | None = None

    def wait(self, timeout: float = 60.0) -> Ended | None:
        """How it ended, after so many seconds at most; None while it goes on."""
        if self._ended is None:
            code = self._forker.ask({"wait": self.pid, "timeout": timeout})["code"]
            if code is None:
                return None
            said = {name: (self._folder / name).read_text(errors="replace") for name in ("out", "err", "calls")}
            self._ended = Ended(code, said["out"], said["err"], int(said["calls"] or 0))
        return self._ended

    def kill(self) -> Ended:
        """Kill it now, whatever it does; one that has ended already is as it ended."""
        if self._ended is None:
            os.kill(self.pid, signal.SIGKILL)  # the number is its own until the forker has waited for it
        ended = self.wait()
        assert ended is not None
        return ended


class Forker:
    """Starts commands and functions in children of one loaded process; use it in a `with` block."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="fernwood-forker-"))
        self._n = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "torture.forking"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**environment(), **dict.fromkeys(_ONE_THREAD, "1")},
        )

    def fernwood(self, *arguments: object, cwd: Path, **how: Any) -> Child:
        """Start the command line; see `start`."""
        return self.start({"arguments": [str(argument) for argument in arguments]}, cwd, **how)

    def call(self, function: str, *arguments: Any, cwd: Path, **how: Any) -> Child:
        """Start a function, ``"module:name"``, that takes plain values and gives an exit code; see `start`."""
        return self.start({"call": function, "with": arguments}, cwd, **how)

    def start(
        self,
        what: Mapping[str, Any],
        cwd: Path,
        *,
        death: dying.Death | None = None,
        every_round: bool = False,
        limit: int | None = None,
    ) -> Child:
        """Start something in a child.

        Parameters
        ----------
        what, cwd
        death
            The call on files that it dies at.
        every_round
            Whether a checkpoint is written after every step, however short.
        limit
            Bytes of address space that it may take beyond those it has.
        """
        self._n += 1
        folder = self._folder / str(self._n)
        folder.mkdir()
        for name in ("out", "err", "calls"):
            (folder / name).touch()
        how = {"death": death, "every_round": every_round, "limit": limit}
        pid = self.ask({**what, **how, "cwd": str(cwd), "folder": str(folder)})["pid"]
        return Child(self, pid, folder)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and read what is answered."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        for path in sorted(self._folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        self._folder.rmdir()


def environment() -> dict[str, str]:
    """The environment of commands: this Fernwood, and nothing that changes what they say."""
    kept = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "FORCE_COLOR", "FERNWOOD_TRACEBACK"}}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])}


# In the process that forks ------------------------------------------------------------------------------------------


def _serve() -> None:
    faulthandler.register(signal.SIGUSR1)  # what a child that hangs is at
    _load_all()
    # Arrow makes its own pools of threads again in a child; others would be there, and dead.
    assert threading.active_count() == 1, threading.enumerate()
    while line := sys.stdin.readline():
        request = json.loads(line)
        if "wait" in request:
            answer = {"code": _waited(request["wait"], request["timeout"])}
        else:
            answer = {"pid": _forked(request)}
        print(json.dumps(answer), flush=True)


def _forked(request: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    folder = Path(request["folder"])
    try:
        os.setsid()
        os.chdir(request["cwd"])
        for number, name in enumerate((os.devnull, folder / "out", folder / "err")):
            os.dup2(os.open(name, os.O_RDWR), number)
        code = _done(request, folder)
    except BaseException:  # noqa: BLE001  (whatever it is, the child ends here)
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _done(request: dict[str, Any], folder: Path) -> int:
    if request["every_round"]:
        from fernwood.run import driving

        driving._LEAST_SECONDS, driving._SHARE_FOR_CHECKPOINTS = 0.0, 1e9  # noqa: SLF001
    if request["limit"] is not None:
        limit = _address_space() + request["limit"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    death = request["death"]
    calls = dying.count_calls() if death is None else dying.die_at(dying.Death(*death))
    code = _called(request) if "call" in request else _code_of(request["arguments"])
    (folder / "calls").write_text(str(calls()))
    return code


def _called(request: dict[str, Any]) -> int:
    module, _, name = request["call"].partition(":")
    return int(getattr(import_module(module), name)(*request["with"]) or 0)


def _waited(pid: int, timeout: float) -> int | None:
    until = time.monotonic() + timeout
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(_LOOK_S)


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _code_of(arguments: Sequence[str]) -> int:
    from fernwood.cli import main

    sys.argv = ["fernwood", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError("main() came back")


def _load_all() -> None:
    """Run every method, a report and an export once, so that children find all of it loaded."""
    from torture.jobs import METHODS, write_table

    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        folder = Path(place)
        write_table(folder / "t.csv", n_rows=40, n_columns=6)
        for name, options in METHODS.items():
            run = str(folder / name)
            code = _code_of(["select", str(folder / "t.csv"), "--target", "y", "--out", run, "--quiet", *options])
            assert code == 0, name
        _code_of(["export", run, "--to", "csv", "--output", str(folder / "e.csv")])
        _code_of(["report", run, "--quiet"])
        _code_of(["status", run, "--json"])


if __name__ == "__main__":
    _serve()
