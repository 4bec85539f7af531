"""A scripted life of a store and of runs on it: every command that reads or writes files, on tiny tables.

A life is a list of steps. It is lived once without faults; what the folder looked like before every step is kept, so
that any step can be done again, from there, on a disk that fails.
"""

from __future__ import annotations

import gc
import io
import os
import shutil
import signal
import sys
import threading
import warnings
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import numpy as np

import fernwood
from torture.standing import examined, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Life", "Said", "Step", "lived", "settled"]

METHODS = {
    "snowball": [],
    "subspace": ["--rule", "probe", "--draws", "8", "--q", "4", "--trees", "2", "--round-size", "4"],
    "ferns": ["--scans", "4", "--q", "4", "--round-size", "4"],
    "boruta": ["--max-iter", "3", "--trees", "5"],
    "elimination": ["--estimator", "naive-bayes", "--cv", "2", "--n-relevant", "2", "--step", "6"],
}
"""Searches that end after a few rounds."""
_TEMPORARY = "tmp"
_REPLACING = ("ingest", "select", "report", "export", "apply")
"""Commands that have --force."""
_ROWS, _COLUMNS = 40, 8


class Said(NamedTuple):
    """How a step ended: its exit code, and what it said on standard error."""

    code: int
    error: str

    @property
    def sentence(self) -> str:
        """What went wrong, where it is one sentence; otherwise empty."""
        lines = [line for line in self.error.splitlines() if not line.startswith("warning: ")]
        if self.code not in (2, 3) or len(lines) != 1 or not lines[0].startswith("fernwood: "):
            return ""
        return "" if "internal error" in lines[0] else lines[0]


@dataclass(frozen=True)
class Step:
    """One thing that a user does.

    Attributes
    ----------
    name : what to call it
    needs : what of the folder is there before
    makes : what it makes or changes
    arguments : of the command line; a function does what the command line has nothing for
    again : arguments that go on where it failed, told the folder; by default the same again
    prepares : whether it is there only for what comes after it
    """

    name: str
    needs: tuple[str, ...]
    makes: tuple[str, ...]
    arguments: tuple[str, ...] | Callable[[], None]
    again: Callable[[Path], tuple[str, ...]] | None = None
    prepares: bool = False

    @property
    def begins(self) -> bool:
        """Whether it begins a run, which is there before its result is."""
        return not callable(self.arguments) and self.arguments[0] == "select"

    def run(self, folder: Path, *, again: bool = False, forced: bool = False) -> Said:
        """Do it in a folder, in this process, as the command line does it; `forced` replaces what is there."""
        arguments = self.again(folder) if again and self.again is not None else self.arguments
        if forced and not callable(arguments) and arguments[0] in _REPLACING:
            arguments = arguments if "--force" in arguments else (*arguments, "--force")
        with _in(folder):
            return _command(arguments)


@dataclass
class Life:
    """Steps that were done once, one after the other, on a disk without faults.

    Attributes
    ----------
    folder : where a step is done again
    steps : the steps
    before, after : of every step, what was there, by name, as `torture.standing.examined` tells it
    files : of every step, all files that were there after it
    """

    folder: Path
    steps: list[Step] = field(default_factory=list)
    before: dict[str, dict[str, str]] = field(default_factory=dict)
    after: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[str, set[str]] = field(default_factory=dict)

    def step(self, name: str) -> Step:
        """A step by its name."""
        return next(step for step in self.steps if step.name == name)

    def kept(self, step: Step) -> Path:
        """The folder as it was before a step."""
        return self.folder.parent / "kept" / step.name

    def restore(self, step: Step) -> None:
        """Make the folder what it was before a step."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.kept(step), self.folder)


def lived(place: Path) -> Life:
    """Live it once, in a directory that is empty."""
    life = Life(place / "work", _steps())
    whole = place / "whole"
    whole.mkdir()
    (whole / _TEMPORARY).mkdir()
    _write_tables(whole)
    for step in life.steps:
        kept = life.kept(step)
        (kept / _TEMPORARY).mkdir(parents=True)
        for name in step.needs:
            _copy(whole / name, kept / name)
        life.restore(step)
        life.before[step.name] = examined(life.folder, step.makes)
        said = step.run(life.folder)
        if said.code not in ((0, 3) if step.prepares else (0,)):
            raise AssertionError(f"{step.name} failed without a fault: {said}")
        life.after[step.name] = examined(life.folder, step.makes)
        life.files[step.name] = listed(life.folder)
        for name in step.makes:
            _copy(life.folder / name, whole / name)
    settled()
    return life


def settled() -> None:
    """Let Python not look again through what stays: that would take most of the time of a case."""
    gc.collect()
    gc.freeze()


def _copy(source: Path, target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)


def _write_tables(folder: Path) -> None:
    rng = np.random.default_rng(12)
    x = rng.standard_normal((_ROWS, _COLUMNS)).round(3)
    y = (x[:, 1] + x[:, 4] > 0).astype(int)
    names = ",".join([*(f"g{i}" for i in range(_COLUMNS)), "y"])
    lines = [",".join(map(str, [*row, label])) for row, label in zip(x.tolist(), y.tolist(), strict=True)]
    (folder / "table.csv").write_text("\n".join([names, *lines]) + "\n")
    np.save(folder / "table.npy", x.astype("f4"))
    np.save(folder / "y.npy", y)
    with (folder / "genes.fam").open("w") as people, (folder / "genes.bim").open("w") as variants:
        people.writelines(f"f{i} s{i} 0 0 1 {1 + label}\n" for i, label in enumerate(y.tolist()))
        variants.writelines(f"1\tv{i}\t0\t{i + 1}\tA\tC\n" for i in range(6))
    packed = rng.choice(np.array([0, 2, 3], np.uint8), (6, _ROWS // 4, 4))
    data = (packed << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2).astype(np.uint8)
    (folder / "genes.bed").write_bytes(b"\x6c\x1b\x01" + data.tobytes())
    entries = [" ".join(f"{j + 1}:{value}" for j, value in enumerate(row) if value > 0) for row in x.tolist()]
    lines = [f"{label} {entry}" for label, entry in zip(y.tolist(), entries, strict=True)]
    (folder / "table.svm").write_text("\n".join(lines) + "\n")


def _steps() -> list[Step]:
    steps = [
        Step(
            "ingest text",
            ("table.csv",),
            ("a.fern",),
            ("ingest", "table.csv", "--target", "y", "--out", "a.fern", "-q"),
        ),
        Step(
            "ingest numbers",
            ("table.npy", "y.npy"),
            ("b.fern",),
            ("ingest", "table.npy", "--target", "y.npy", "--out", "b.fern", "-q"),
        ),
        Step(
            "ingest genotypes",
            ("genes.bed", "genes.bim", "genes.fam"),
            ("g.fern",),
            ("ingest", "genes.bed", "--target", "phenotype", "--out", "g.fern", "-q"),
        ),
        Step(
            "ingest entries",
            ("table.svm",),
            ("e.fern",),
            ("ingest", "table.svm", "--target", "label", "--out", "e.fern", "-q"),
        ),
        Step(
            "replace a store",
            ("table.csv", "b.fern"),
            ("b.fern",),
            ("ingest", "table.csv", "--target", "y", "--out", "b.fern", "--force", "-q"),
        ),
        Step("describe a store", ("a.fern",), (), ("info", "a.fern")),
    ]
    for method, options in METHODS.items():
        how = ("--method", method, *options, "--seed", "1", "--jobs", "1", "--quiet")
        run, half = f"{method}.run", f"{method}-half.run"
        steps += [
            Step(
                f"select by {method}",
                ("a.fern",),
                (run,),
                ("select", "a.fern", "--out", run, *how),
                _going_on(run, how),
            ),
            Step(
                f"stopped {method}",
                ("a.fern",),
                (half,),
                _stopped("select", "a.fern", "--out", half, *how),
                prepares=True,
            ),
            Step(f"resume {method}", ("a.fern", half), (half,), ("resume", half, "--jobs", "1", "--quiet")),
        ]
    quick = ("--method", "subspace", *METHODS["subspace"], "--seed", "1", "--jobs", "1", "--quiet", "--report")
    table = ("table.csv", "--target", "y", "--out", "t.run")
    steps += [
        Step(
            "select from text",
            ("table.csv",),
            ("t.run",),
            ("select", *table, *quick),
            _going_on("t.run", (*table, *quick)),
        ),
        Step("replace a run", ("table.csv", "t.run"), ("t.run",), ("select", *table, "--force", *quick)),
        Step("status", ("a.fern", "snowball.run"), (), ("status", "snowball.run")),
        Step("report", ("snowball.run",), ("snowball.run",), ("report", "snowball.run", "-q")),
        Step(
            "report elsewhere",
            ("snowball.run",),
            ("report.html",),
            ("report", "snowball.run", "--output", "report.html", "-q"),
        ),
        Step(
            "replace a report",
            ("snowball.run", "report.html"),
            ("report.html",),
            ("report", "snowball.run", "--output", "report.html", "--force", "-q"),
        ),
    ]
    for form in ("csv", "parquet", "json", "names"):
        name = f"decisions.{form}"
        steps.append(
            Step(
                f"export {form}",
                ("snowball.run",),
                (name,),
                ("export", "snowball.run", "--to", form, "--output", name, "-q"),
            )
        )
    for ending in ("csv", "parquet", "feather"):
        name = f"reduced.{ending}"
        way = ("export", "snowball.run", "--table", name, "-q")
        steps.append(Step(f"reduce to {ending}", ("a.fern", "snowball.run"), (name,), way))
    steps += [
        Step(
            "replace an export",
            ("snowball.run", "decisions.csv"),
            ("decisions.csv",),
            (
                "export",
                "snowball.run",
                "--to",
                "csv",
                "--only",
                "confirmed",
                "--output",
                "decisions.csv",
                "--force",
                "-q",
            ),
        ),
        Step(
            "apply",
            ("a.fern", "snowball.run", "table.csv"),
            ("applied.csv",),
            ("apply", "snowball.run", "table.csv", "--output", "applied.csv", "-q"),
        ),
        Step("compare", ("snowball.run", "subspace.run"), (), ("compare", "snowball.run", "subspace.run")),
        Step("save a model", ("table.npy", "y.npy"), ("m.fern-model",), _save_model),
        Step("save a selector", ("table.npy", "y.npy"), ("s.fern-model",), _save_selector),
        Step("load a model", ("m.fern-model", "table.npy"), (), _load_model),
        Step("fit with a run", ("table.npy", "y.npy"), ("fitted.run",), _fit_with_a_run),
    ]
    return steps


def _going_on(run: str, how: tuple[str, ...]) -> Callable[[Path], tuple[str, ...]]:
    """What a user does after a search failed: go on with the run where there is one, otherwise begin again."""
    report = ("--report",) if "--report" in how else ()
    table = () if how[0].startswith("table") else ("a.fern", "--out", run)

    def again(folder: Path) -> tuple[str, ...]:
        if (folder / run).exists():
            return ("resume", run, "--jobs", "1", "--quiet", *report)
        return ("select", *table, *how)

    return again


def _stopped(*arguments: str) -> Callable[[], None]:
    """A search that is asked to stop after its first round."""

    def run() -> None:
        from fernwood.run import driving
        from fernwood.run.stopping import Stopped

        rounds = iter(range(100))

        def stop() -> None:
            if next(rounds) == 0:
                raise Stopped(signal.SIGTERM)

        with patch.object(driving, "stop_if_asked", stop):
            _call(arguments)

    return run


def _numbers() -> tuple[Any, Any]:
    return np.load("table.npy"), np.load("y.npy")


def _save_model() -> None:
    fernwood.RandomFernsClassifier(n_ferns=5, depth=3, random_state=0).fit(*_numbers()).save("m.fern-model")


def _selector(**how: Any) -> fernwood.SubspaceSelector:
    few: dict[str, Any] = {"q": 4, "n_iter": 12, "n_trees": 2, "rule": "probe"}
    return fernwood.SubspaceSelector(**few, random_state=0, progress=False, n_jobs=1, **how)


def _save_selector() -> None:
    _selector().fit(*_numbers()).save("s.fern-model")


def _load_model() -> None:
    fernwood.load("m.fern-model").predict(np.load("table.npy"))


def _fit_with_a_run() -> None:
    _selector(run_dir="fitted.run").fit(*_numbers())


# Doing a step in this process ---------------------------------------------------------------------------------------


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    """Work in a folder, with temporary files below it and a checkpoint after every round."""
    from fernwood.run import driving

    here = Path.cwd()
    os.chdir(folder)
    try:
        with ExitStack() as stack:
            stack.enter_context(patch("tempfile.tempdir", str(folder / _TEMPORARY)))
            stack.enter_context(patch.object(driving, "_LEAST_SECONDS", 0.0))
            stack.enter_context(patch.object(driving, "_SHARE_FOR_CHECKPOINTS", 1e9))
            yield
    finally:
        os.chdir(here)


def _command(arguments: tuple[str, ...] | Callable[[], None]) -> Said:
    """Carry out a command; what Python says of errors that nobody caught counts as said."""
    from fernwood.cli import carry_out

    error = io.StringIO()

    def uncaught(about: Any) -> None:
        error.write(f"uncaught: {about.exc_value!r}\n")

    do = arguments if callable(arguments) else lambda: _call(arguments)
    with (
        redirect_stdout(io.StringIO()),
        redirect_stderr(error),
        patch.object(sys, "unraisablehook", uncaught),
        patch.object(threading, "excepthook", uncaught),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", fernwood.errors.FernwoodWarning)
        try:
            carry_out(do)
        except SystemExit as end:
            code = int(end.code or 0)
        gc.collect(0)  # what cannot be closed says so while somebody listens
    return Said(code, error.getvalue())


def _call(arguments: tuple[str, ...]) -> Any:
    return _cli()(args=list(arguments), prog_name="fernwood", standalone_mode=False)


_BUILT: list[Any] = []


def _cli() -> Any:
    """The command line, built once: that takes longer than most steps."""
    if not _BUILT:
        import typer.main

        from fernwood import cli
        from fernwood.cli import apply, compare, export, info, ingest, report, select, status  # noqa: F401

        _BUILT.append(typer.main.get_command(cli.app))
    return _BUILT[0]
