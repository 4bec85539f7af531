"""Commands under a hard limit of memory: they end with the right answer, or with one sentence, and harm nothing."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import fernwood
from torture.forking import Ended, Forker, environment
from torture.jobs import METHODS, answer_of, check_tidy, write_table

__all__ = ["JOBS", "Shortages", "Tried", "cgroup_of", "least_to_import"]

_MB = 2**20
_PATIENCE_S = 120.0
_LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from fernwood.cli import main
main()
"""
_IMPORTS = "numpy, scipy.special, numba, pyarrow.parquet, sklearn.naive_bayes, sklearn.model_selection, typer, fernwood"
JOBS = ("ingest", *METHODS)


class Tried(NamedTuple):
    """What came of a command under a limit: its code, and what is wrong about how it ended, if anything."""

    code: int
    faults: list[str]


class Shortages:
    """Runs commands under limits in a folder, and holds what each is compared with."""

    def __init__(self, folder: Path, forker: Forker) -> None:
        self._folder, self._forker = folder, forker
        write_table(folder / "t.csv", n_rows=300, n_columns=400)
        fernwood.ingest(folder / "t.csv", folder / "t.fern", target="y").close()
        self._whole: dict[str, dict[str, bytes]] = {}

    def forked(self, job: str, more: int) -> Tried:
        """A command in a process that has everything loaded, and may take so many bytes more."""
        child = self._forker.fernwood(*self._arguments(job), cwd=self._scene(), limit=more)
        ended = child.wait(_PATIENCE_S)
        return self._judged(job, f"{more / _MB:.1f} MiB beyond what is loaded", ended or child.kill())

    def fresh(self, job: str, limit: int) -> Tried:
        """A command in a fresh process whose address space is limited."""
        return self._judged(job, f"{limit / _MB:.0f} MiB", self._fresh(job, [str(limit)], _LIMITED))

    def in_cgroup(self, job: str, limit: int) -> Tried:
        """A command in a fresh process whose resident memory is limited, where the system kills it beyond that."""
        with cgroup_of(limit) as group:
            joins = f"open({str(group / 'cgroup.procs')!r}, 'w').write('0')\nfrom fernwood.cli import main\nmain()"
            return self._judged(job, f"a group of {limit / _MB:.0f} MiB", self._fresh(job, [], joins), killed=True)

    def _fresh(self, job: str, first: list[str], program: str) -> Ended:
        command = [sys.executable, "-c", program, *first, *map(str, self._arguments(job))]
        with subprocess.Popen(
            command,
            cwd=self._scene(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=environment(),
        ) as child:
            try:
                out, err = child.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                out, err = child.communicate()
        return Ended(child.returncode, out, err, 0)

    def _scene(self) -> Path:
        """An empty directory to work in."""
        scene = self._folder / "scene"
        shutil.rmtree(scene, ignore_errors=True)
        scene.mkdir()
        return scene

    def _arguments(self, job: str) -> list[object]:
        if job == "ingest":
            return ["ingest", self._folder / "t.csv", "--target", "y", "--out", "r", "--quiet"]
        return ["select", self._folder / "t.fern", "--out", "r", "--seed", 1, "--quiet", "--jobs", 2, *METHODS[job]]

    def _answer(self, job: str) -> dict[str, bytes]:
        run = self._folder / "scene" / "r"
        return {path.name: path.read_bytes() for path in run.iterdir()} if job == "ingest" else answer_of(run)

    def _judged(self, job: str, limit: str, ended: Ended, *, killed: bool = False) -> Tried:
        faults: list[str] = []
        if ended.code == 2 and not _is_one_sentence(ended.err):
            faults.append(f"it says {ended.err[:400]!r}")
        elif ended.code not in ((0, 2, -9) if killed else (0, 2)):
            faults.append(f"it ends with {ended.code} and says {ended.err[-400:]!r}")
        scene = self._folder / "scene"
        try:
            if ended.code != 0 and not killed:
                check_tidy(scene)
            if ended.code == 0:
                faults += self._differences(job)
            run = scene / "r"
            begun = (run / "run.json").is_file()
            if begun or not run.exists():  # a store that is whole needs nothing more
                again = ["resume", "r", "--quiet"] if begun else self._arguments(job)
                child = self._forker.fernwood(*again, cwd=scene)
                after = child.wait(_PATIENCE_S) or child.kill()
                if after.code:
                    faults.append(f"without a limit it ends with {after.code} and says {after.err!r}")
            faults += self._differences(job)
        except AssertionError as error:
            faults.append(str(error))
        return Tried(ended.code, [f"{job} with {limit}: {fault}" for fault in faults])

    def _differences(self, job: str) -> list[str]:
        found = self._answer(job)
        whole = self._whole_answer(job)
        return [f"{name} differs" for name in whole if found.get(name) != whole[name]]

    def _whole_answer(self, job: str) -> dict[str, bytes]:
        if job not in self._whole:
            scene, aside = self._folder / "scene", self._folder / "aside"
            scene.rename(aside)
            child = self._forker.fernwood(*self._arguments(job), cwd=self._scene())
            ended = child.wait(_PATIENCE_S) or child.kill()
            assert ended.code == 0, ended.err
            self._whole[job] = self._answer(job)
            shutil.rmtree(scene)
            aside.rename(scene)
        return self._whole[job]


def _is_one_sentence(err: str) -> bool:
    return err.startswith("fernwood: ") and err.count("\n") == 1 and "; " in err


def least_to_import() -> int:
    """The least address space, in steps of 16 MiB, in which a program imports the libraries and ends well."""
    program = (
        f"import resource, sys; n = int(sys.argv[1]); resource.setrlimit(resource.RLIMIT_AS, (n, n)); import {_IMPORTS}"
    )
    low, high = 4, 512
    while low + 1 < high:
        middle = (low + high) // 2
        command = [sys.executable, "-c", program, str(16 * _MB * middle)]
        done = subprocess.run(command, env=environment(), capture_output=True, check=False)
        low, high = (low, middle) if done.returncode == 0 else (middle, high)
    return 16 * _MB * high


@contextmanager
def cgroup_of(limit: int) -> Iterator[Path]:
    """A control group of so many bytes, without swap; OSError where this process may not make one."""
    group = Path("/sys/fs/cgroup") / f"fernwood-{secrets.token_hex(4)}"
    group.mkdir()
    try:
        (group / "memory.max").write_text(str(limit))
        if (group / "memory.swap.max").exists():
            (group / "memory.swap.max").write_text("0")
        yield group
    finally:
        group.rmdir()
