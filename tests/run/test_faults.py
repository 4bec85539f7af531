"""Faults around a run: its store changes or vanishes, its disk is full, another Fernwood or process has it.

Whatever happens, the sentence says what did, nothing that was kept is lost, and the run goes on to the same answer.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fernwood
from fernwood.cli.searching import _save
from fernwood.errors import ParameterError, StoreError
from fernwood.files import locked
from fernwood.run import driving
from fernwood.run.directory import BEFORE_NAME, CHECKPOINT_NAME, RunDirectory, RunManifest
from fernwood.run.events import EVENTS_NAME, EventLog
from fernwood.run.standing import standing
from fernwood.saved import load_result, save_result
from fernwood.search.methods import select
from fernwood.search.selection import Selection
from fernwood.search.settings import SubspaceSettings
from fernwood.store import DiskStore, open_store
from fernwood.version import __version__

SETTINGS = SubspaceSettings(q=6, n_iter=40, rule="probe", n_trees=1, round_size=4)
CODES = "codes.npy"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 30))
    fernwood.ingest(x, tmp_path / "s.fern", target=(x[:, 3] + x[:, 7] > 0).astype(int))
    return tmp_path / "s.fern"


def manifest(opened: DiskStore) -> RunManifest:
    return RunManifest.of(opened, SETTINGS.method, SETTINGS.to_json(), 0, place="")


def go(store: Path, run: Path, progress: Callable[[Any, DiskStore], None] | None = None) -> Selection:
    """Search a store, as a process that begins now would."""
    with open_store(store) as opened:
        directory = RunDirectory.of_memory(run, manifest(opened))
        with directory.working(opened):
            told = None if progress is None else lambda now: progress(now, opened)
            selection = select(opened, SETTINGS, 0, directory=directory, progress=told)
            save_result(selection.result, run)
            return selection


def table(run: Path, selection: Selection) -> pa.Table:
    assert selection.stopped_by is None
    return load_result(run).to_table()


@pytest.fixture
def in_one_go(store: Path, tmp_path: Path) -> pa.Table:
    return table(tmp_path / "whole", go(store, tmp_path / "whole"))


@pytest.fixture(autouse=True)
def _every_round_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(driving, "_SHARE_FOR_CHECKPOINTS", 1e9)


def n_kept(run: Path) -> int:
    with np.load(run / CHECKPOINT_NAME) as arrays:
        return int(arrays["n_draws"])


# The store ----------------------------------------------------------------------------------------------------------


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-50] ^= 1
    with path.open("r+b") as file:
        file.write(data)


def test_a_store_changed_under_a_run_is_noticed_before_anything_is_kept(
    store: Path, tmp_path: Path, in_one_go: pa.Table
) -> None:
    whole = (store / CODES).read_bytes()

    def change(now: Any, _: DiskStore) -> None:
        if now.done == 12:
            flip(store / CODES)

    said = "'codes.npy' of the run's store was changed while 'r' worked on it, .* put the store back as it was"
    with pytest.raises(StoreError, match=said):
        go(store, tmp_path / "r", change)
    assert n_kept(tmp_path / "r") == 12
    with pytest.raises(StoreError, match="the codes of 1 of 30 columns do not fit their checksums"):
        go(store, tmp_path / "r")
    (store / CODES).write_bytes(whole)  # another time, the same content
    assert table(tmp_path / "r", go(store, tmp_path / "r")) == in_one_go


def test_a_store_that_was_copied_is_the_same_one(store: Path, tmp_path: Path, in_one_go: pa.Table) -> None:
    def stop(now: Any, _: DiskStore) -> None:
        if now.done == 12:
            raise KeyboardInterrupt

    assert go(store, tmp_path / "r", stop).stopped_by is not None
    shutil.copytree(store, tmp_path / "copy.fern", copy_function=shutil.copyfile)
    shutil.rmtree(store)
    assert table(tmp_path / "r", go(tmp_path / "copy.fern", tmp_path / "r")) == in_one_go


def test_a_store_removed_under_a_run_is_read_to_the_end(store: Path, tmp_path: Path, in_one_go: pa.Table) -> None:
    """Its files are held open."""

    def remove(now: Any, _: DiskStore) -> None:
        if now.done == 12:
            shutil.rmtree(store)

    assert table(tmp_path / "r", go(store, tmp_path / "r", remove)) == in_one_go


def test_a_store_that_vanishes(store: Path, tmp_path: Path, in_one_go: pa.Table) -> None:
    def remove(now: Any, opened: DiskStore) -> None:
        if now.done == 12:
            store.rename(tmp_path / "away")
            (tmp_path / "away" / CODES).rename(tmp_path / "codes")
            opened.close()

    with pytest.raises(StoreError, match=r"'s\.fern' was replaced or removed since it was opened"):
        go(store, tmp_path / "r", remove)
    assert n_kept(tmp_path / "r") == 12
    (tmp_path / "codes").rename(tmp_path / "away" / CODES)
    assert table(tmp_path / "r", go(tmp_path / "away", tmp_path / "r")) == in_one_go


def test_a_disk_that_fails_to_read(
    store: Path, tmp_path: Path, in_one_go: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:

        def break_it(now: Any, _: DiskStore) -> None:
            if now.done == 12:
                patch.setattr(os, "preadv", fail)

        with pytest.raises(StoreError, match=r"the codes of 's\.fern' cannot be read: Input/output error; see to"):
            go(store, tmp_path / "r", break_it)
    assert n_kept(tmp_path / "r") == 12
    assert table(tmp_path / "r", go(store, tmp_path / "r")) == in_one_go


# The disk of the run ------------------------------------------------------------------------------------------------


@contextmanager
def failing(patch: pytest.MonkeyPatch, code: int) -> Iterator[None]:
    """Nothing can be written for a while."""

    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with patch.context() as here:
        here.setattr(os, "write", fail)
        yield


@pytest.mark.parametrize(("code", "words"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system")])
def test_a_disk_that_takes_no_more(
    store: Path, tmp_path: Path, in_one_go: pa.Table, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def interrupt(now: Any, _: DiskStore) -> None:
        if now.done == 12:
            raise KeyboardInterrupt

    go(store, tmp_path / "r", interrupt)
    before = {path.name: path.read_bytes() for path in (tmp_path / "r").glob("*.npz")}
    assert set(before) == {CHECKPOINT_NAME, BEFORE_NAME}
    with (
        pytest.raises(StoreError, match=f"the checkpoint of 'r' cannot be written: {words}"),
        failing(monkeypatch, code),
    ):
        go(store, tmp_path / "r")
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").glob("*.npz")} == before
    assert table(tmp_path / "r", go(store, tmp_path / "r")) == in_one_go


def test_a_result_that_cannot_be_written(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go(store, tmp_path / "r")
    run, result = RunDirectory.open(tmp_path / "r"), load_result(tmp_path / "r")
    said = "the result of 'r' cannot be written: No space left"
    with failing(monkeypatch, errno.ENOSPC), pytest.raises(StoreError, match=said):
        _save(result, run)
    assert load_result(run.path).to_table() == result.to_table()  # the one before


@pytest.mark.parametrize("call", ["replace", "fsync", "open"])
def test_the_result_before_stands_until_the_new_one_does(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A result is several files: one that failed between two of them was neither the old one nor the new one."""

    def interrupt(now: Any, _: DiskStore) -> None:
        if now.done == 12:
            raise KeyboardInterrupt

    go(store, tmp_path / "early", interrupt)
    go(store, tmp_path / "whole")
    early, whole = (load_result(tmp_path / name) for name in ("early", "whole"))
    seen, number, real = set(), 0, getattr(os, call)
    while True:
        shutil.copytree(tmp_path / "early", tmp_path / "r")
        left = iter(range(number))

        def fail(*given: Any, left: Iterator[int] = left, **named: Any) -> Any:
            if next(left, None) is None:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(*given, **named)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail)
            try:
                save_result(whole, tmp_path / "r")
            except OSError:
                number += 1
            else:
                break
        now = load_result(tmp_path / "r").to_table()
        assert now == early.to_table() or now == whole.to_table()
        seen.add(now == whole.to_table())
        save_result(whole, tmp_path / "r")
        assert load_result(tmp_path / "r").to_table() == whole.to_table()
        assert not list((tmp_path / "r").glob(".*"))
        shutil.rmtree(tmp_path / "r")
    assert number >= 3
    assert False in seen


def test_a_directory_that_takes_no_run(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "mkdir", fail)
    with pytest.raises(StoreError, match="'r' cannot be made in .*: Permission denied; choose another place"):
        go(store, tmp_path / "r")


def test_checkpoints_reach_the_disk_before_they_take_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, then the names, then the directory that holds the names: power may go at any of them."""
    run = RunDirectory.of_memory(tmp_path / "run", RunManifest("subspace", {}, 0, "f00d", ""))
    run.save_checkpoint({"state": np.arange(4)})
    calls: list[tuple[str, ...]] = []
    fsync, rename = os.fsync, os.replace
    held: dict[int, str] = {}
    opened = os.open

    def spy_open(path: Any, *rest: Any, **more: Any) -> int:
        descriptor = opened(path, *rest, **more)
        held[descriptor] = Path(path).name
        return descriptor

    def spy_fsync(descriptor: int) -> None:
        calls.append(("fsync", held[descriptor]))
        fsync(descriptor)

    def spy_replace(path: Path, target: Path) -> None:
        calls.append(("rename", path.name, target.name))
        rename(path, target)

    monkeypatch.setattr(os, "open", spy_open)
    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    run.save_checkpoint({"state": np.arange(4)})
    partial = f".{CHECKPOINT_NAME}.partial"
    assert calls == [
        ("fsync", partial),
        ("rename", CHECKPOINT_NAME, BEFORE_NAME),
        ("rename", partial, CHECKPOINT_NAME),
        ("fsync", "run"),
    ]


# Other data, parameters, versions and processes ---------------------------------------------------------------------


def test_another_data_set_is_told_apart(store: Path, tmp_path: Path) -> None:
    go(store, tmp_path / "r")
    rng = np.random.default_rng(1)
    for shape, words in (
        ((120, 29), "columns: '30' there, '29' here"),
        ((110, 30), "rows: '120' there, '110' here"),
        ((110, 29), "rows: '120' there, '110' here; columns: '30' there, '29' here"),
        ((120, 30), "fingerprint: [0-9a-f]{12} there, [0-9a-f]{12} here"),
    ):
        fernwood.ingest(rng.standard_normal(shape), tmp_path / "o.fern", target=np.arange(shape[0]) % 2, force=True)
        with pytest.raises(ParameterError, match=rf"holds a run on other data \({words}\); give a new directory"):
            go(tmp_path / "o.fern", tmp_path / "r")


def test_what_a_run_says_of_itself_is_shown_as_text() -> None:
    held = RunManifest("subspace", {"\x1b[2J": 1}, 0, "f\x000d", "")
    assert held.difference(RunManifest("subspace", {}, 0, "f00d", "")) == (
        "on other data (fingerprint: f\\x000d there, f00d here), with \\x1b[2J=1, not None"
    )
    assert held.difference(RunManifest("subspace", {}, 0, "f\x000d", "")) == "with \\x1b[2J=1, not None"


def test_a_run_of_another_fernwood_is_refused(tmp_path: Path) -> None:
    held = RunManifest("subspace", {}, 0, "f00d", "")
    run = RunDirectory.of_memory(tmp_path / "run", held)
    with run.working():
        pass
    major = int(__version__.split(".")[0]) + 1
    other = replace(held, versions={**held.versions, "fernwood": f"{major}.0.1"})
    shutil.rmtree(tmp_path / "run")
    run = RunDirectory.of_memory(tmp_path / "run", other)
    said = rf"'run' began with Fernwood '{major}\.0\.1' and this is {__version__}, .*; go on with that Fernwood"
    with pytest.raises(StoreError, match=said):
        run.working().__enter__()


def test_the_process_that_has_the_run_is_named(tmp_path: Path) -> None:
    run = RunDirectory.of_memory(tmp_path / "run", RunManifest("subspace", {}, 0, "f00d", ""))
    with run.working():
        with pytest.raises(StoreError, match=rf"wait for it, or stop it: process {os.getpid()} on \S+$"):
            run.working().__enter__()
        log = EventLog(run.path / EVENTS_NAME)
        for _ in range(1000):
            log.say("progress")
        with pytest.raises(StoreError, match=rf"stop it: process {os.getpid()}$"):  # its host was said long ago
            run.working().__enter__()


def test_one_that_only_looks_keeps_nobody_from_working(tmp_path: Path) -> None:
    run = RunDirectory.of_memory(tmp_path / "run", RunManifest("subspace", {}, 0, "f00d", ""))
    looking = locked(run.path)
    assert looking.__enter__()
    threading.Timer(0.03, lambda: looking.__exit__(None, None, None)).start()
    with run.working():
        assert standing(run.path).state == "working"
