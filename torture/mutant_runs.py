"""Mutants of `relevance/` against its tests: which ones survive.

    python -m torture.mutant_runs [MODULE ...]      a line of JSON for every survivor

One process imports what the tests need and forks for every mutant; the child finds the mutant in place of the module
and runs its examples and `tests/relevance`, those of the module first, until something fails. It is a process of its
own, since a module of the room that is imported already would hide its mutants.
"""

from __future__ import annotations

import doctest
import json
import os
import signal
import sys
import time
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.provenance import ROOT
from torture.mutating import Mutant, mutants

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

__all__ = ["MODULES", "Named", "Task", "tasks"]

MODULES = ("decision", "boruta", "paper", "shadows", "tested")
_ROOM = "fernwood.relevance"
_TESTS = ROOT / "tests" / "relevance"
_LONGEST_SECONDS = 120
_SURVIVED, _KILLED = 0, 1


class Named(NamedTuple):
    """What names a mutant: no line numbers, which would not last."""

    module: str
    place: str
    was: str
    becomes: str


class Task(NamedTuple):
    """A mutant and the module that it is of."""

    module: str
    mutant: Mutant

    @property
    def named(self) -> Named:
        """Its name."""
        return Named(self.module, self.mutant.place, self.mutant.was, self.mutant.becomes)


def tasks() -> list[Task]:
    """Every mutant of the room."""
    room = ROOT / "src" / "fernwood" / "relevance"
    return [
        Task(module, mutant)
        for module in MODULES
        for mutant in mutants((room / f"{module}.py").read_text(encoding="utf-8"))
    ]


def main(modules: list[str]) -> int:
    """The command."""
    for name in ("numpy", "scipy.special", "scipy.stats", "hypothesis.extra.numpy", "pytest", "fernwood.errors"):
        import_module(name)
    if _dies(None):
        print("the tests fail on the code as it is: mend that first", file=sys.stderr)
        return 2
    chosen = [task for task in tasks() if not modules or task.module in modules]
    for n, task in enumerate(chosen, 1):
        if not _dies(task):
            print(json.dumps(task.named._asdict()), flush=True)
        if n % 50 == 0 or n == len(chosen):
            print(f"{n} of {len(chosen)} mutants tried", file=sys.stderr, flush=True)
    return 0


def _dies(task: Task | None) -> bool:
    """Whether the tests fail with a mutant, or without one with None; one that never ends is noticed as well."""
    child = os.fork()
    if child == 0:
        code = _KILLED
        try:
            code = _SURVIVED if _passes(task) else _KILLED
        finally:
            os._exit(code)
    until = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != _SURVIVED
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _passes(task: Task | None) -> bool:
    """In a child: whether examples and tests pass with the mutant in place."""
    import pytest

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.environ["HYPOTHESIS_PROFILE"] = "ci"
    os.chdir(ROOT)
    if task is not None:
        sys.meta_path.insert(0, _MutantFinder(task))
    first = MODULES if task is None else (task.module,)
    for module in first:
        if doctest.testmod(import_module(f"{_ROOM}.{module}")).failed:
            return False
    own = [str(path) for module in first if (path := _TESTS / f"test_{module}.py").is_file()]
    others = [str(path) for path in sorted(_TESTS.glob("test_*.py")) if str(path) not in own]
    return pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *own, *others]) == pytest.ExitCode.OK


class _MutantFinder(MetaPathFinder, Loader):
    """Finds the mutant where the module is asked for."""

    def __init__(self, task: Task) -> None:
        self._name, self._text = f"{_ROOM}.{task.module}", task.mutant.text

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Only of the one module."""
        del path, target
        return spec_from_loader(name, self) if name == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        """The mutant's own text."""
        exec(compile(self._text, self._name, "exec"), module.__dict__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
