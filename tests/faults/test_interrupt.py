"""Ingests that end in the middle: by a signal, by a kill, by a full disk. A store is there whole or not at all."""

from __future__ import annotations

import errno
import gc
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.errors import StoreError
from fernwood.sources import text
from fernwood.sources.scratch import RowBlocks
from torture.forking import Child, Forker

MOMENTS = {
    "reading": "fernwood.sources.scratch:RowBlocks.append",
    "coding": "fernwood.store.ingest:code_band",
    "writing": "fernwood.store.writer:DiskWriter._put",
    "finishing": "fernwood.store.writer:write_manifest",
    "renaming": "fernwood.files.directories:_take_place",
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((60, 40)).round(3).tolist()
    path = tmp_path / "t.csv"
    path.write_text(
        ",".join([*(f"g{i}" for i in range(40)), "y"])
        + "\n"
        + "".join(",".join(map(str, [*row, i % 2])) + "\n" for i, row in enumerate(rows))
    )
    return path


Started = Callable[..., Child]


@pytest.fixture
def started(table: Path, forker: Forker, tmp_path_factory: pytest.TempPathFactory) -> Started:
    """Starts an ingest and lets it come to a moment, where it waits."""
    outside = tmp_path_factory.mktemp("outside")

    def started(moment: str, *options: str) -> Child:
        command = ("ingest", table.name, "--target", "y", "--out", "s.fern", *options)
        here = outside / "here"
        child = forker.call("tests.faults.pausing:pausing", MOMENTS[moment], str(here), list(command), cwd=table.parent)
        until = time.monotonic() + 60
        while not here.exists():
            if time.monotonic() > until or child.wait(timeout=0.0) is not None:
                pytest.fail(f"the ingest did not come to {moment}: {child.wait(timeout=0.0) or child.kill()}")
        return child

    return started


def entries(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_nothing_but_a_message(
    table: Path, started: Started, moment: str, number: int, code: int
) -> None:
    child = started(moment)
    assert len(entries(table.parent)) == 2  # the table and a hidden directory
    os.kill(child.pid, number)
    assert child.wait()[:3] == (code, "", "fernwood: stopped; nothing half-written is left\n")
    assert entries(table.parent) == ["t.csv"]


@pytest.mark.parametrize("moment", ["reading", "renaming"])
def test_a_signal_does_not_cost_the_old_store(table: Path, started: Started, moment: str) -> None:
    old = fernwood.ingest(table, table.parent / "s.fern", target=0, task="regression").fingerprint
    child = started(moment, "--force")
    os.kill(child.pid, signal.SIGINT)
    assert child.wait()[:3] == (130, "", "fernwood: stopped; nothing half-written is left\n")
    assert entries(table.parent) == ["s.fern", "t.csv"]
    store = fernwood.open(table.parent / "s.fern")
    store.verify()
    assert store.fingerprint == old


@pytest.mark.parametrize("moment", ["reading", "writing", "renaming"])
def test_a_kill_leaves_no_store_and_the_next_ingest_cleans_up(table: Path, started: Started, moment: str) -> None:
    assert started(moment).kill().was_killed
    (left,) = (name for name in entries(table.parent) if name != "t.csv")
    assert re.fullmatch(r"\.s\.fern\.partial-[0-9a-f]+", left)
    with pytest.raises(StoreError, match="there is no store"):
        fernwood.open(table.parent / "s.fern")
    store = fernwood.ingest(table, table.parent / "s.fern", target="y")
    store.verify()
    assert store.n_columns == 40
    assert entries(table.parent) == ["s.fern", "t.csv"]


def test_a_living_writer_is_not_cleaned_up(table: Path, started: Started) -> None:
    child = started("writing")
    (living,) = (name for name in entries(table.parent) if name != "t.csv")
    fernwood.ingest(table, table.parent / "s.fern", target="y").verify()
    assert living in entries(table.parent)
    os.kill(child.pid, signal.SIGTERM)
    child.wait()
    assert entries(table.parent) == ["s.fern", "t.csv"]


# A disk that is full ------------------------------------------------------------------------------------------------


class FullDisk:
    """Takes so many bytes through `os.write`, the last of them in part, then says that there is no space left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.refused = 0
        self._write = os.write

    def __call__(self, descriptor: int, data: Any) -> int:
        size = memoryview(data).nbytes
        if self.room == 0 and size:
            self.refused += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = self._write(descriptor, memoryview(data)[: self.room])
        self.room -= done
        return done


def numbers() -> np.ndarray[Any, Any]:
    return np.random.default_rng(8).standard_normal((300, 200))


ROOMS = [0, 1, 100, 200, 5_000, 59_000, 60_127, 60_128, 60_200, 64_000]


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("force", [False, True])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, force: bool) -> None:
    old = fernwood.ingest(numbers()[:, :9], tmp_path / "s.fern", target=0).fingerprint if force else None
    before = entries(tmp_path)
    disk = FullDisk(room)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", disk)
        with pytest.raises(StoreError, match="^no space left on the device that holds '[^']+'; free some, or [^\n]*$"):
            fernwood.ingest(numbers(), tmp_path / "s.fern", target=0, force=force)
    assert disk.refused
    assert entries(tmp_path) == before
    if force:
        store = fernwood.open(tmp_path / "s.fern")
        store.verify()
        assert store.fingerprint == old
    fernwood.ingest(numbers(), tmp_path / "s.fern", target=0, force=force).verify()


def test_a_disk_that_is_just_large_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = fernwood.ingest(numbers(), tmp_path / "a.fern", target=0).n_bytes
    disk = FullDisk(size + 10_000)  # headers are written twice
    monkeypatch.setattr(os, "write", disk)
    fernwood.ingest(numbers(), tmp_path / "b.fern", target=0).verify()
    assert not disk.refused
    assert disk.room < size / 2


@pytest.mark.parametrize("to_disk", [True, False])
def test_no_space_for_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: Path, to_disk: bool) -> None:
    monkeypatch.setattr(text, "RowBlocks", lambda kind, where, _: RowBlocks(kind, where, 0))
    disk = FullDisk(5000)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", disk)
        with pytest.raises(StoreError, match="no space left on the device") as refusal:
            fernwood.ingest(table, tmp_path / "s.fern" if to_disk else None, target="y")
    assert disk.refused
    assert ("the scratch directory" in str(refusal.value)) == (not to_disk)
    assert entries(tmp_path) == ["scratch", "t.csv"]
    assert entries(scratch) == []


@pytest.mark.parametrize("call", ["fsync", "rename"])
@pytest.mark.parametrize("force", [False, True])
def test_a_disk_that_refuses_at_the_very_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, force: bool
) -> None:
    old = fernwood.ingest(numbers()[:, :9], tmp_path / "s.fern", target=0).fingerprint if force else None
    before = entries(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    real = os.rename

    def refuse_the_new(path: Path, target: Path) -> None:
        if "partial" in path.name and "old" not in path.name:
            refuse()
        real(path, target)

    with monkeypatch.context() as patch:
        if call == "fsync":
            patch.setattr(os, "fsync", refuse)
        else:
            patch.setattr(os, "rename", refuse_the_new)
        with pytest.raises(StoreError, match="the disk refused: Input/output error"):
            fernwood.ingest(numbers(), tmp_path / "s.fern", target=0, force=force)
    assert entries(tmp_path) == before
    if force:
        store = fernwood.open(tmp_path / "s.fern")
        store.verify()
        assert store.fingerprint == old


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a small tmpfs cannot be mounted here: {error.stderr.strip()}")
    try:
        yield folder
    finally:
        gc.collect()  # a Parquet file stays open until it is collected
        subprocess.run(["umount", folder], check=True)


def test_a_real_small_disk(small_disk: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.random.default_rng(0).standard_normal((1000, 3000)).astype("f4"))
    old = fernwood.ingest(numbers()[:, :9], small_disk / "s.fern", target=0).fingerprint
    command = [sys.executable, "-c", "from fernwood.cli import main; main()", "ingest", tmp_path / "t.npy"]
    for out, force in (("new.fern", []), ("s.fern", ["--force"])):
        done = subprocess.run(
            [*command, "--target", "0", "--task", "regression", "--out", small_disk / out, *force],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert re.fullmatch("fernwood: no space left on the device that holds 'disk'; [^\n]*\n", done.stderr)
        assert entries(small_disk) == ["s.fern"]
    with fernwood.open(small_disk / "s.fern") as store:
        store.verify()
        assert store.fingerprint == old


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_python_shuts_down_shows_no_traceback(number: signal.Signals) -> None:
    program = f"""
import atexit, os, sys, time
atexit.register(lambda: (os.kill(os.getpid(), {int(number)}), time.sleep(5)))
sys.argv = ["fernwood", "--version"]
from fernwood.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == -number
    assert done.stdout == f"fernwood {fernwood.__version__}\n"
    assert done.stderr == ""
