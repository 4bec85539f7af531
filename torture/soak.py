"""Random jobs with random faults in one process: what it holds stays as it is, and answers are those without faults.

A job is a command of the command line, or saving and loading a fitted selector. A fault is a disk that is full, a call
on files that fails, Ctrl-C or a shortage of memory in the middle of one, or a file that was damaged before. After a
fault the job is done again, where it was left, and must come to the answer of its twin that nothing happened to.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import gzip
import hashlib
import io
import os
import random
import resource
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

import fernwood
from fernwood.cli import load_commands
from fernwood.errors import FernwoodError
from fernwood.shortage import is_shortage
from torture.jobs import METHODS, answer_of, check_tidy, write_table

__all__ = ["FAULTS", "Sample", "Soak"]

_CALLS = ("open", "write", "preadv", "fsync", "rename", "replace", "mkdir", "unlink")
_ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES)
_LATEST = 400
"""Calls among which the one that fails is chosen; later ones than a job makes let it come to its end."""
_SEEDS = 2


class Sample(NamedTuple):
    """What the process holds at a moment: resident bytes, open descriptors, threads."""

    resident: int
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Sample:
        """After garbage is collected."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        held = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))  # noqa: PTH208
        return cls(pages * resource.getpagesize(), *held)


# Faults -------------------------------------------------------------------------------------------------------------


@contextmanager
def _replaced(name: str, function: Callable[..., Any]) -> Iterator[None]:
    real = getattr(os, name)
    setattr(os, name, lambda *arguments, **options: function(real, *arguments, **options))
    try:
        yield
    finally:
        setattr(os, name, real)


def full_disk(chance: random.Random) -> AbstractContextManager[None]:
    """Some bytes are written, and no more."""
    room = int(10 ** chance.uniform(0, 5))

    def write(real: Callable[..., int], descriptor: int, data: Any) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = real(descriptor, memoryview(data).cast("B")[:room])
        room -= done
        return done

    return _replaced("write", write)


def failing_call(chance: random.Random) -> AbstractContextManager[None]:
    """One call on files fails."""
    code = chance.choice(_ERRORS)
    return _nth(chance, OSError(code, os.strerror(code)))


def interrupt(chance: random.Random) -> AbstractContextManager[None]:
    """Ctrl-C in the middle of a call on files."""
    return _nth(chance, KeyboardInterrupt())


def no_memory(chance: random.Random) -> AbstractContextManager[None]:
    """A call on files has no memory to work with."""
    return _nth(chance, MemoryError())


def _nth(chance: random.Random, error: BaseException) -> AbstractContextManager[None]:
    left = int(_LATEST ** chance.random())

    def call(real: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise error
        return real(*arguments, **options)

    return _replaced(chance.choice(_CALLS), call)


FAULTS: list[Callable[[random.Random], AbstractContextManager[Any]]] = [full_disk, failing_call, interrupt, no_memory]
"""What may happen while a job is done; each is a block in which it does. Others may be added."""


def damage(folder: Path, chance: random.Random) -> str:
    """Flip a bit of a file, cut it, or empty it; says which and how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    path = chance.choice(files)
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data))
    how = chance.choice(("flipped", "cut", "emptied"))
    if how == "flipped":
        data[place] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(data if how == "flipped" else data[:place] if how == "cut" else b""))
    return f"{path.relative_to(folder)} {how} at {place}"


# Jobs ---------------------------------------------------------------------------------------------------------------


class _Job(NamedTuple):
    """Something to do in an empty directory, and what of it is compared; done again, it goes on where it was left."""

    name: str
    do: Callable[[Path], dict[str, bytes]]


class Soak:
    """Jobs in a folder, and the answers of their twins.

    Parameters
    ----------
    folder
        Empty.
    seed
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        self._tables = [folder / "a.csv", folder / "b.csv.gz"]
        write_table(self._tables[0])
        write_table(folder / "b.csv", n_rows=90, n_columns=45, seed=1)
        self._tables[1].write_bytes(gzip.compress((folder / "b.csv").read_bytes()))
        self._stores = [folder / "a.fern", folder / "b.fern"]
        for table, store in zip(self._tables, self._stores, strict=True):
            _command("ingest", table, "--target", "y", "--out", store)
        self._runs = [folder / f"run-{method}" for method in ("snowball", "boruta", "filter")]
        for run in self._runs:
            _command("select", self._stores[0], "--out", run, "--seed", 7, *METHODS[run.name[4:]])
        self._twins: dict[str, dict[str, str]] = {}
        self.done: Counter[str] = Counter()

    def job(self, number: int) -> list[str]:
        """Do one job, with a fault or without; what was wrong."""
        chance = random.Random(f"{self._seed}/{number}")
        draw = chance.choice((self._ingest, self._search, self._search, self._search, self._export, self._load))
        job = draw(chance)
        twin = self._twin(job)
        place = self._folder / "place"
        place.mkdir()
        why, fault = f"seed {self._seed}, job {number} ({job.name}", chance.choice([None, None, *FAULTS, damage])
        faults: list[str] = []
        try:
            if fault is damage:
                why, done = self._damaged(chance)
                faults += done
            elif fault is not None:
                self.done[fault.__name__] += 1
                why += f", {fault.__name__}"
                with fault(chance):  # type: ignore[call-arg]  # mypy tells no function from another
                    faults += _broken_off(lambda: job.do(place))
            found = {name: _digest(data) for name, data in job.do(place).items()}
            faults += [f"{name} differs" for name in twin if found.get(name) != twin[name]]
            check_tidy(place)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            faults.append(f"afterwards, {type(error).__name__}: {error}")
        shutil.rmtree(place, ignore_errors=True)
        self.done["jobs"] += 1
        return [f"{why}): {one}" for one in faults]

    def _twin(self, job: _Job) -> dict[str, str]:
        if job.name not in self._twins:
            place = self._folder / "twin"
            place.mkdir()
            self._twins[job.name] = {name: _digest(data) for name, data in job.do(place).items()}
            shutil.rmtree(place)
        return self._twins[job.name]

    def _ingest(self, chance: random.Random) -> _Job:
        table, bins = chance.choice(self._tables), chance.choice((20, 100))

        def do(place: Path) -> dict[str, bytes]:
            store = place / "s.fern"
            _command("ingest", table, "--target", "y", "--bins", bins, "--out", store, *["--force"] * store.exists())
            _command("info", store)
            return {path.name: path.read_bytes() for path in store.iterdir()}

        return _Job(f"ingest {table.name} bins {bins}", do)

    def _search(self, chance: random.Random) -> _Job:
        which, method, seed = chance.randrange(2), chance.choice(list(METHODS)), chance.randrange(_SEEDS)
        jobs = chance.randint(1, 3)

        def do(place: Path) -> dict[str, bytes]:
            run = place / "r"
            if (run / "run.json").is_file():
                _command("resume", run, "--jobs", jobs)
            else:
                options = ("--out", run, "--seed", seed, "--jobs", jobs, *METHODS[method])
                _command("select", self._stores[which], *options)
            return answer_of(run)

        return _Job(f"{method} of {which} seed {seed}", do)

    def _export(self, chance: random.Random) -> _Job:
        run = chance.choice(self._runs)
        commands: dict[str, tuple[object, ...]] = {
            **{f"e.{to}": ("export", run, "--to", to, "--output") for to in ("csv", "json", "parquet", "names")},
            "t.parquet": ("export", run, "--table"),
            "a.csv": ("apply", run, self._tables[0], "--output"),
            "r.html": ("report", run, "--output"),
        }
        out = chance.choice(list(commands))

        def do(place: Path) -> dict[str, bytes]:
            force = ["--force"] if (place / out).exists() else []
            _command(*commands[out], place / out, *force)
            return {out: (place / out).read_bytes()}

        return _Job(f"{out} of {run.name}", do)

    def _load(self, chance: random.Random) -> _Job:
        seed = chance.randrange(_SEEDS)

        def do(place: Path) -> dict[str, bytes]:
            rng = np.random.default_rng(seed)
            x = rng.standard_normal((200, 12))
            selector = fernwood.FernSelector(scans=100, depth=3, random_state=seed, n_jobs=2).fit(x, x[:, 2] > 0)
            selector.save(place / "f.fern-model")
            again = fernwood.load(place / "f.fern-model")
            return {"found": again.transform(x).tobytes(), "importances": again.importances_.tobytes()}

        return _Job(f"load seed {seed}", do)

    def _damaged(self, chance: random.Random) -> tuple[str, list[str]]:
        """Look at a run, or a store, of which a file was damaged: it says so, or the answer is as before."""
        self.done["damage"] += 1
        source = chance.choice([*self._runs, *self._stores])
        copy = self._folder / source.name.replace("run-", "damaged-").replace(".fern", "-damaged.fern")
        shutil.copytree(source, copy)
        what = damage(copy, chance)
        why = f"seed {self._seed}, a copy of {source.name} ({what}"

        def do() -> None:
            if copy.suffix == ".fern":
                _command("info", copy)
                fernwood.open(copy).verify()
            else:
                _command("export", copy, "--to", "csv", "--output", copy / "e.csv")
                _command("resume", copy, "--store", self._stores[0])
                wrong = [name for name, data in answer_of(copy).items() if data != answer_of(source)[name]]
                assert not wrong, f"{', '.join(wrong)} differs"

        faults = _broken_off(do)
        shutil.rmtree(copy)
        return why, faults


def _broken_off(do: Callable[[], object]) -> list[str]:
    """Do what a fault breaks off: in a sentence, with a code, by Ctrl-C, by a shortage; or not at all."""
    try:
        do()
    except (FernwoodError, OSError, typer.Exit, typer.Abort, KeyboardInterrupt):  # `main` says what the system says
        return []
    except Exception as error:  # noqa: BLE001  (told to the one who waits)
        return [] if is_shortage(error) else [f"{type(error).__name__}: {error}"]
    return []


def _command(*arguments: object) -> None:
    """A command in this process, quiet; what it refuses, it raises."""
    quiet = [] if arguments[0] == "info" else ["--quiet"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = load_commands()([str(one) for one in arguments] + quiet, standalone_mode=False)
    if code:
        raise typer.Exit(code)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
