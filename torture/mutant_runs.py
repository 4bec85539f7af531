"""Mutants of `relevance/` against its tests: which ones survive.

    python -m torture.mutant_runs [MODULE ...]      a line of JSON for every survivor

The process forks for every mutant; the child runs the module's examples and `tests/relevance`, the quick tests of the
module first, until something fails. Mutants in functions are put into tests that are collected already: their code
takes the place of that of the functions. Those of constants and classes would be seen by nobody who has imported them:
such a child begins before the room is imported, and finds the mutant in place of the module. It is a process of its
own, since nothing may have imported the room before.
"""

from __future__ import annotations

import doctest
import json
import os
import signal
import sys
import time
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from benchmarks.provenance import ROOT
from torture.mutating import Mutant, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

__all__ = ["MODULES", "Named", "Task", "tasks"]

MODULES = ("decision", "boruta", "paper", "shadows", "tested")
_ROOM = "fernwood.relevance"
_TESTS = ROOT / "tests" / "relevance"
_LONGEST_SECONDS = 120
_SURVIVED, _KILLED = 0, 1
_OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Hypothesis is imported before pytest could have a look at it, which is no mistake here."""


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


@cache
def tasks() -> tuple[Task, ...]:
    """Every mutant of the room."""
    room = ROOT / "src" / "fernwood" / "relevance"
    return tuple(
        Task(module, mutant)
        for module in MODULES
        for mutant in mutants((room / f"{module}.py").read_text(encoding="utf-8"))
    )


def main(modules: list[str]) -> int:
    """The command."""
    import pytest

    os.environ["HYPOTHESIS_PROFILE"] = "ci"
    os.chdir(ROOT)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # pytest has much to say, here and in every child
    for name in ("numpy", "scipy.special", "scipy.stats", "hypothesis.extra.numpy", "fernwood.errors"):
        import_module(name)
    chosen = [task for task in tasks() if not modules or task.module in modules]
    if _dies(lambda: _passes_anew(None)):
        print("the tests fail on the code as it is: mend that first", file=sys.stderr)
        return 2
    outside = [task for task in chosen if not task.mutant.in_function]
    for n, task in enumerate(outside, 1):
        _tell(task, n, len(chosen), out if not _dies(lambda task=task: _passes_anew(task)) else None)
    running = _Running([task for task in chosen if task.mutant.in_function], len(outside), out)
    pytest.main([*_OPTIONS, str(_TESTS)], plugins=[running])
    return running.code


def _tell(task: Task, n: int, of: int, out: TextIO | None) -> None:
    """Name a mutant that survived, where there is somewhere to name it; and say how far it is."""
    if out is not None:
        print(json.dumps(task.named._asdict()), file=out, flush=True)
    if n % 50 == 0 or n == of:
        print(f"{n} of {of} mutants tried", file=sys.stderr, flush=True)


def _dies(passes: Callable[[], bool]) -> bool:
    """Whether tests that are run in a child do not pass; a child that never ends is noticed as well."""
    child = os.fork()
    if child == 0:
        code = _KILLED
        try:
            os.dup2(1, 2)
            code = _SURVIVED if passes() else _KILLED
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


# Before the room is imported ---------------------------------------------------------------------------------------


def _passes_anew(task: Task | None) -> bool:
    """Whether examples and tests pass with the mutant found in place of the module."""
    import pytest

    if task is not None:
        sys.meta_path.insert(0, _MutantFinder(task))
    if not _examples_hold(MODULES if task is None else (task.module,)):
        return False
    return pytest.main([*_OPTIONS, "-x", str(_TESTS)]) == pytest.ExitCode.OK


def _examples_hold(modules: Sequence[str]) -> bool:
    return not any(doctest.testmod(import_module(f"{_ROOM}.{module}")).failed for module in modules)


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


# After the tests are collected -------------------------------------------------------------------------------------


class _Running:
    """Runs the collected tests once for every mutant, in place of once."""

    def __init__(self, chosen: Sequence[Task], n_before: int, out: TextIO) -> None:
        self._chosen, self._n_before, self._out, self.code = chosen, n_before, out, 2

    def pytest_runtestloop(self, session: Any) -> bool:
        """Pytest asks for this where tests would be run."""
        with TemporaryDirectory() as folder:
            times = Path(folder) / "times.json"
            # The code put in its own place: what fails now fails because of that.
            as_it_is = {module: (ROOT / "src/fernwood/relevance" / f"{module}.py").read_text() for module in MODULES}
            if _dies(lambda: _passes_here(as_it_is, session, session.items, times)):
                print("the tests fail on the code as it is: mend that first", file=sys.stderr)
                return True
            seconds = dict(zip((item.nodeid for item in session.items), json.loads(times.read_text()), strict=True))
        for n, task in enumerate(self._chosen, 1 + self._n_before):
            own = f"test_{task.module}.py"
            items = sorted(session.items, key=lambda item: (item.path.name != own, seconds[item.nodeid]))
            put = {task.module: task.mutant.text}
            dies = _dies(lambda put=put, items=items: _passes_here(put, session, items))
            _tell(task, n, len(self._chosen) + self._n_before, None if dies else self._out)
        self.code = 0
        return True


def _passes_here(texts: dict[str, str], session: Any, items: Sequence[Any], times: Path | None = None) -> bool:
    """Whether examples and tests pass with the code of some modules in place of theirs; writes what each test took."""
    for module, text in texts.items():
        _put_in_place(module, text)
    if not _examples_hold(list(texts)):
        return False
    seconds = []
    for item, after in zip(items, [*items[1:], None], strict=True):
        started = time.perf_counter()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        seconds.append(time.perf_counter() - started)
        if session.testsfailed:
            return False
    if times is not None:
        times.write_text(json.dumps(seconds))
    return True


def _put_in_place(module: str, text: str) -> None:
    """Give the functions of a module that is imported the code of another text of it."""
    name = f"{_ROOM}.{module}"
    other: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), other)
    code = dict(_functions(other, name))
    for place, function in _functions(vars(sys.modules[name]), name):
        function.__code__ = code[place].__code__
        function.__defaults__, function.__kwdefaults__ = code[place].__defaults__, code[place].__kwdefaults__


def _functions(names: Mapping[str, Any], module: str) -> Iterator[tuple[str, FunctionType]]:
    """The functions of a module's or a class's names, and those of its classes."""
    for value in names.values():
        inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if isinstance(inner, type) and inner.__module__ == module:
            yield from _functions(vars(inner), module)
        elif isinstance(inner, FunctionType) and inner.__module__ == module and not inner.__closure__:
            yield inner.__qualname__, inner


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
