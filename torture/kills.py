"""Ingests and searches that are killed at random, again and again, and must come to the answer of one that was not.

A chain is one thing that is begun, killed, gone on with and killed again, a few times. Kills come at a random instant,
or at a random call on the file system (before it, after it, or with a write half done). All choices of a chain follow
from the seed and its number.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import fernwood
from fernwood.run.standing import standing
from torture.dying import HOW, Death
from torture.forking import Ended, Forker, environment
from torture.jobs import METHODS, answer_of, check_tidy, write_table

__all__ = ["CASES", "Kills", "Outcome", "fit_in"]

_COMMAND = [sys.executable, "-c", "from fernwood.cli import main; main()"]
_START_S = 1.0
"""About what a fresh process takes before it does anything."""
_PATIENCE_S = 120.0
_FRESH, _SIGNALS, _OF_TABLES = 0.06, 0.1, 0.3
"""Shares: of attempts in fresh processes, of attempts that a signal ends well, of runs that begin with a table."""


class Case(NamedTuple):
    """What is killed: a name, and whether it is an ingest, a command, or a fit in Python (on workers)."""

    name: str
    kind: str
    options: tuple[str, ...] = ()


CASES = (
    Case("ingest", "ingest"),
    Case("ingest-force", "ingest", ("--force",)),
    *(Case(name, "select", options) for name, options in METHODS.items()),
    *(Case(f"fit-{name}", "fit", (name,)) for name in ("SnowballSelector", "SubspaceSelector", "EliminationSelector")),
    Case("fit-workers", "workers", ("SubspaceSelector",)),
)


class Outcome(NamedTuple):
    """What came of a chain: kills that met it alive, how many of them by instant and in fresh processes, its faults."""

    case: str
    kills: int
    by_instant: int
    fresh: int
    faults: list[str]


class Kills:
    """Makes chains in a folder, and holds what each is compared with.

    Parameters
    ----------
    folder
        Empty.
    seed
    forker
    fresh
        Whether some attempts are fresh processes, as long as it takes them to start.
    """

    def __init__(self, folder: Path, seed: int, forker: Forker, *, fresh: bool = True) -> None:
        self._folder, self._seed, self._forker, self._fresh = folder, seed, forker, fresh
        write_table(folder / "t.csv")
        write_table(folder / "old.csv", n_rows=50, n_columns=8, seed=1)
        fernwood.ingest(folder / "t.csv", folder / "t.fern", target="y").close()
        fernwood.ingest(folder / "old.csv", folder / "old.fern", target="y").close()
        self._whole: dict[str, tuple[dict[str, bytes], float, int]] = {}

    def chain(self, number: int, case: Case | None = None, most: int = 6) -> Outcome:
        """One chain; by default of the case whose turn it is."""
        case = case or CASES[number % len(CASES)]
        chance = random.Random(f"{self._seed}/{number}")
        scene = self._folder / "scene"
        scene.mkdir()
        told = _Chain(case, chance, scene, self._folder, self._forker, self._fresh)
        whole, seconds, calls = self._in_one_go(told)
        faults: list[str] = []
        try:
            for _ in range(chance.randint(1 + most // 3, most)):
                told.attempt(seconds, calls)
            told.finish()
            faults += [f"{name} differs" for name, data in told.answer().items() if data != whole[name]]
            check_tidy(scene)
        except AssertionError as error:
            faults.append(str(error))
        shutil.rmtree(scene)
        why = f"seed {self._seed}, chain {number} ({case.name}; {'; '.join(told.told)}): "
        return Outcome(case.name, told.kills, told.by_instant, told.fresh, [why + fault for fault in faults])

    def _in_one_go(self, told: _Chain) -> tuple[dict[str, bytes], float, int]:
        """The answer of a process that nobody disturbs, the seconds that it took, and its calls on files."""
        name = told.case.name + ("-of-table" if told.of_table else "")
        if name not in self._whole:
            began = time.monotonic()
            ended = _said(told.run_forked().wait(_PATIENCE_S))
            seconds, whole = time.monotonic() - began, told.answer()
            told.clear()
            if self._fresh:
                _said(told.run_fresh())
                assert told.answer() == whole, f"{name}: a forked process has another answer than a fresh one"
                told.clear()
            self._whole[name] = whole, seconds, ended.calls
        return self._whole[name]


class _Chain:
    """The attempts of a chain."""

    def __init__(
        self, case: Case, chance: random.Random, scene: Path, folder: Path, forker: Forker, fresh: bool
    ) -> None:
        self.case, self._chance, self._scene, self._folder, self._forker = case, chance, scene, folder, forker
        self._may_be_fresh = fresh
        self.kills = self.by_instant = self.fresh = 0
        self.of_table = case.kind == "select" and chance.random() < _OF_TABLES
        self.told: list[str] = ["from a table"] if self.of_table else []
        self.clear()

    def clear(self) -> None:
        """Nothing has begun."""
        for path in self._scene.iterdir():
            shutil.rmtree(path)
        if self.case.options == ("--force",):
            shutil.copytree(self._folder / "old.fern", self._scene / "s.fern")

    @property
    def _run(self) -> Path:
        return self._scene / "r"

    def attempt(self, seconds: float, calls: int) -> None:
        """Begin or go on, and be killed on the way, unless the end comes first."""
        chance = self._chance
        fresh = self._may_be_fresh and (self.case.kind == "workers" or chance.random() < _FRESH)
        if fresh or chance.random() < 1 / 2:
            after = chance.uniform(0, 1.1 * seconds) + (chance.uniform(0.8, 1.2) * _START_S if fresh else 0)
            gently = self.case.kind in ("ingest", "select") and chance.random() < _SIGNALS
            number = signal.SIGTERM if gently else signal.SIGKILL
            self.told.append(f"signal {number:d} after {after:.3f} s{' in a fresh process' if fresh else ''}")
            ended = self.run_fresh((number, after)) if fresh else self._disturbed(number, after)
            self.by_instant += ended.was_killed
            self.fresh += fresh and ended.was_killed
        else:
            death = Death(chance.randint(1, max(calls, 1)), chance.choice(HOW))
            self.told.append(f"died {death.how} call {death.call}")
            found = self.run_forked(death=death).wait(_PATIENCE_S)
            assert found is not None, f"no end after {_PATIENCE_S:g} s"
            ended = found
        self.kills += ended.was_killed
        # Where its work was done and it was shutting down, the signal ends it without a word.
        assert ended.was_killed or ended.code in (0, 3, 143, -signal.SIGTERM), f"code {ended.code}: {ended.err}"
        self._look()

    def _disturbed(self, number: int, after: float) -> Ended:
        child = self.run_forked()
        if child.wait(after) is None:
            os.kill(child.pid, number)
        ended = child.wait(_PATIENCE_S)
        assert ended is not None, f"no end after {_PATIENCE_S:g} s"
        return ended

    def _look(self) -> None:
        """What a kill left can be looked at."""
        if self.case.kind == "ingest":
            if (self._scene / "s.fern").exists():
                with fernwood.open(self._scene / "s.fern") as store:
                    store.verify()
        elif (self._run / "run.json").is_file():
            state = standing(self._run).state
            assert state in ("done", "stopped", "gone"), f"a run that was stopped or killed is said to be {state}"
        else:
            assert not self._run.exists(), "a directory that is no run"

    def finish(self) -> None:
        """Come to the end undisturbed."""
        _said(self.run_forked().wait(_PATIENCE_S))

    def answer(self) -> dict[str, bytes]:
        """What is compared: every file of a store, the result of a run, what a fit found."""
        if self.case.kind in ("fit", "workers"):
            return {path.name: path.read_bytes() for path in sorted((self._scene / "found").iterdir())}
        if self.case.kind == "ingest":
            return {path.name: path.read_bytes() for path in sorted((self._scene / "s.fern").iterdir())}
        return answer_of(self._run)

    def run_forked(self, **how: Any) -> Any:
        """Begin, or go on, in a child of the forker; every round is kept, or as often as usual."""
        every_round = self._chance.random() < 2 / 3
        if self.case.kind in ("fit", "workers"):
            asked = [*self._fit(), 0]
            return self._forker.call("torture.kills:fit_in", *asked, cwd=self._scene, every_round=every_round, **how)
        return self._forker.fernwood(*self._arguments(), cwd=self._scene, every_round=every_round, **how)

    def run_fresh(self, stop: tuple[int, float] | None = None) -> Ended:
        """The same in a fresh process, as a user starts one; a signal comes after so many seconds."""
        command = [*_COMMAND, *map(str, self._arguments())]
        if self.case.kind in ("fit", "workers"):
            asked = [*self._fit(), 2 if self.case.kind == "workers" else 0]
            command = [sys.executable, "-c", f"from torture.kills import fit_in; fit_in(*{asked!r})"]
        child = subprocess.Popen(
            command,
            cwd=self._scene,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment(),
            start_new_session=True,
        )
        try:
            out, err = child.communicate(timeout=_PATIENCE_S if stop is None else stop[1])
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL if stop is None else stop[0])
            out, err = child.communicate(timeout=_PATIENCE_S)
        return Ended(child.returncode, out, err, 0)

    def _fit(self) -> list[str]:
        return [self.case.options[0], str(self._folder / "t.fern"), str(self._run), str(self._scene / "found")]

    def _arguments(self) -> Iterator[object]:
        """What begins it, or goes on."""
        if self.case.kind == "ingest":
            # A store that was being replaced when the process was killed is there too: the next ingest finds it again.
            there = (self._scene / "s.fern").exists() or any(self._scene.glob(".s.fern.partial-old-*"))
            again = ("--force",) if there else self.case.options  # the same table once more
            yield from ("ingest", self._folder / "t.csv", "--target", "y", "--out", "s.fern", "--quiet", *again)
            return
        jobs = ("--quiet", "--jobs", self._chance.randint(1, 3))
        if (self._run / "run.json").is_file():
            yield from ("resume", "r", *jobs)
        elif self.of_table:
            yield from ("select", self._folder / "t.csv", "--target", "y", "--out", "r", "--seed", 1, *jobs)
            yield from self.case.options
        else:
            yield from ("select", self._folder / "t.fern", "--out", "r", "--seed", 1, *jobs, *self.case.options)


_FITS: dict[str, Callable[..., Any]] = {
    "SnowballSelector": lambda **how: fernwood.SnowballSelector(**how),
    "SubspaceSelector": lambda **how: fernwood.SubspaceSelector(q=6, n_iter=60, **how),
    "EliminationSelector": lambda **how: fernwood.EliminationSelector(_bayes(), cv=3, **how),
}


def _bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def fit_in(kind: str, store: str, run: str, found: str, workers: int) -> None:
    """Fit a selector in a run directory, or go on there, and save what it found; on workers, or on threads."""
    import joblib

    from fernwood.saved import save_result

    selector = _FITS[kind](random_state=1, n_jobs=2, run_dir=run)
    context = joblib.parallel_config("loky", n_jobs=workers) if workers else joblib.parallel_config("threading")
    with fernwood.open(store) as opened, context:
        selector.fit(opened)
    Path(found).mkdir(exist_ok=True)
    save_result(selector.result_, Path(found))


def _said(ended: Ended | None) -> Ended:
    """An end as it should be."""
    assert ended is not None, f"no end after {_PATIENCE_S:g} s"
    assert ended.code == 0, f"code {ended.code}: {ended.err}"
    return ended
