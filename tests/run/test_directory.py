"""Run directories: made whole, held by one process, and damage is noticed before it is believed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fernwood.errors import FernwoodWarning, ParameterError, StoreError
from fernwood.relevance import ImportanceRule
from fernwood.run.directory import BEFORE_NAME, CHECKPOINT_NAME, MANIFEST_NAME, RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress
from fernwood.sealed import seal
from fernwood.search.selecting import SubspaceLoop
from fernwood.search.subspace import Scores, SubspaceSearch

MANIFEST = RunManifest("subspace", {"q": 3, "alpha": 0.5, "class_weight": [["a", 2.0]]}, 7, "f00d", "../s.fern")


class Counting:
    """A loop whose state is an array that counts its rounds."""

    def start(self) -> np.ndarray:
        return np.zeros(4, np.int64)

    def step(self, state: np.ndarray) -> np.ndarray:
        return state + 1

    def progress(self, state: np.ndarray) -> SearchProgress:
        return SearchProgress("counting", int(state[0]), 5, "rounds", 0, 0, 4)

    def pack(self, state: np.ndarray) -> Mapping[str, np.ndarray]:
        return {"state": state}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        if arrays["state"].shape != (4,) or arrays["state"].dtype != np.int64:
            raise ValueError("another shape")
        return arrays["state"]


def made(path: Path, manifest: RunManifest = MANIFEST, *, force: bool = False) -> RunDirectory:
    with RunDirectory.appearing(path, force=force) as staging:
        RunDirectory.write_manifest(staging, manifest)
    return RunDirectory.open(path)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def flipped(data: bytes) -> Any:
    """Every byte in turn, with one bit or all bits turned."""
    for place in range(len(data)):
        for mask in (0x01, 0xFF):
            yield place, data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


# The directory ------------------------------------------------------------------------------------------------------


def test_a_run_is_what_was_written(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    assert run.manifest == MANIFEST
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == [MANIFEST_NAME]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with RunDirectory.appearing(tmp_path / "run") as staging:
            RunDirectory.write_manifest(staging, MANIFEST)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == []


def test_a_run_is_replaced_by_force_only(tmp_path: Path) -> None:
    made(tmp_path / "run").save_checkpoint({"state": np.zeros(4)})
    with pytest.raises(StoreError, match="holds a run already; go on with it .*, choose another name, or replace it"):
        made(tmp_path / "run")
    assert made(tmp_path / "run", replace(MANIFEST, seed=8), force=True).manifest.seed == 8
    assert names(tmp_path / "run") == [MANIFEST_NAME]


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_run_is_never_replaced(tmp_path: Path, force: bool) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1").write_text("years of work")
    with pytest.raises(StoreError, match="exists and is not a run, so it is not replaced; choose another name"):
        made(tmp_path / "thesis", force=force)
    with pytest.raises(StoreError, match="is no run: it has no run.json"):
        RunDirectory.open(tmp_path / "thesis")
    assert names(tmp_path / "thesis") == ["chapter1"]


def test_what_is_not_there_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no run .*; make one with"):
        RunDirectory.open(tmp_path / "run")
    (tmp_path / "notes").mkdir()
    with pytest.raises(StoreError, match="is no run: it has no run.json"):
        RunDirectory.open(tmp_path / "notes")
    with pytest.raises(StoreError, match="there is no directory .* make it first"):
        made(tmp_path / "no" / "run")


def test_any_damaged_byte_of_the_manifest_is_noticed(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    path = run.path / MANIFEST_NAME
    data = path.read_bytes()
    for _, damaged in flipped(data):
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match="run.json of 'run' is damaged; start the run again"):
            RunDirectory.open(run.path)
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        with pytest.raises(StoreError, match="run.json of 'run' is damaged"):
            RunDirectory.open(run.path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "has run format '2', this Fernwood reads 1; use the Fernwood that made it"),
        ({"format": "fernwood store"}, "is no run: its run.json says 'fernwood store'"),
        ({"seed": None}, "run.json of 'run' lacks 'seed'"),
        ({"seed": -1}, "run.json of 'run' was made up: seed is negative; start the run again"),
    ],
)
def test_manifests_of_others(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    run = made(tmp_path / "run")
    entries = json.loads((run.path / MANIFEST_NAME).read_bytes()) | change
    del entries["checksum"]
    kept = {name: value for name, value in entries.items() if value is not None}
    (run.path / MANIFEST_NAME).write_bytes(seal(kept))
    with pytest.raises(StoreError, match=words):
        RunDirectory.open(run.path)


def test_a_run_may_move_with_its_store(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    made(tmp_path / "a" / "run")
    (tmp_path / "a").rename(tmp_path / "b")
    assert RunDirectory.open(tmp_path / "b" / "run").store_path == tmp_path / "b" / "s.fern"


def test_data_from_memory_has_no_path(tmp_path: Path) -> None:
    run = made(tmp_path / "run", replace(MANIFEST, store=""))
    with pytest.raises(StoreError, match="came from memory; go on by calling fit with run_dir"):
        _ = run.store_path


def test_the_same_run_again(tmp_path: Path) -> None:
    manifest = replace(MANIFEST, store="")
    first = RunDirectory.of_memory(tmp_path / "run", manifest)
    first.save_checkpoint({"state": np.full(4, 2)})
    again = RunDirectory.of_memory(tmp_path / "run", manifest)
    assert again.last_state(Counting()).tolist() == [2, 2, 2, 2]
    for change, words in (
        ({"seed": 8}, "a run with another seed, which random_state=7 would be; give a new directory"),
        ({"parameters": {**MANIFEST.parameters, "q": 4}}, "a run with q=3, not 4; give a new directory"),
        ({"fingerprint": "beef"}, r"a run on other data \(fingerprint: f00d there, beef here\); give a new directory"),
        ({"method": "ferns"}, "a run of another method, 'subspace'; give a new directory"),
        (
            {"fingerprint": "beef", "seed": 8, "parameters": {**MANIFEST.parameters, "q": 4}},
            r"a run on other data \(fingerprint: f00d there, beef here\), with q=3, not 4, with another seed, which",
        ),
    ):
        with pytest.raises(ParameterError, match=words):
            RunDirectory.of_memory(tmp_path / "run", replace(manifest, **change))


def test_an_empty_directory_becomes_a_run(tmp_path: Path) -> None:
    """As `tempfile.mkdtemp` or a scheduler make one."""
    (tmp_path / "run").mkdir()
    assert RunDirectory.of_memory(tmp_path / "run", MANIFEST).manifest == MANIFEST
    (tmp_path / "empty").mkdir()
    assert made(tmp_path / "empty").manifest == MANIFEST


# One process at a time ----------------------------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
from fernwood.run.directory import RunDirectory
with RunDirectory.open(Path(sys.argv[1])).working():
    print("here", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(run.path)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "here\n"
    with pytest.raises(StoreError, match="another process works on the run 'run'; wait for it, or stop it"):
        run.working().__enter__()
    child.kill()  # the lock goes with the process, however it ends
    child.communicate()
    with run.working():
        pass


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    run = made(tmp_path / "run")

    def fail() -> None:
        with run.working():
            with pytest.raises(StoreError, match="another process works"):
                run.working().__enter__()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with run.working():
        pass


def test_other_versions_are_a_warning(tmp_path: Path) -> None:
    run = made(tmp_path / "run", replace(MANIFEST, versions={**MANIFEST.versions, "numpy": "1.0"}))
    with pytest.warns(FernwoodWarning, match="began with numpy 1.0 and goes on with"), run.working():
        pass


# Checkpoints --------------------------------------------------------------------------------------------------------


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    assert run.last_state(Counting()).tolist() == [0, 0, 0, 0]
    for count in (1, 2):
        run.save_checkpoint({"state": np.full(4, count)})
        assert run.last_state(Counting()).tolist() == [count] * 4
    assert names(run.path) == [BEFORE_NAME, CHECKPOINT_NAME, MANIFEST_NAME]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE])
def test_a_checkpoint_that_may_not_be_read_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The run went on from the one before, or had both of them removed."""
    run = made(tmp_path / "run")
    for count in (1, 2):
        run.save_checkpoint({"state": np.full(4, count)})
    plain = RunDirectory._read

    def refused(self: RunDirectory, path: Path) -> Any:
        if path.name == CHECKPOINT_NAME:
            raise OSError(number, os.strerror(number), str(path))
        return plain(self, path)

    monkeypatch.setattr(RunDirectory, "_read", refused)
    with pytest.raises(StoreError, match=f"^checkpoint.npz of 'run' cannot be read: {os.strerror(number)}; mend that"):
        run.last_state(Counting())


def test_any_damaged_byte_of_a_checkpoint_is_noticed_or_harmless(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    run.save_checkpoint({"state": np.arange(4)})
    path = run.path / CHECKPOINT_NAME
    data = path.read_bytes()
    noticed = 0
    for _, damaged in flipped(data):
        path.write_bytes(damaged)
        said = ""
        try:
            assert run.last_state(Counting()).tolist() == [0, 1, 2, 3]
        except StoreError as error:
            said = str(error)
        assert said == "" or ("remove checkpoint.npz" in said and "\n" not in said)
        noticed += bool(said)
    assert noticed > len(data) / 2


def test_a_truncated_checkpoint(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    run.save_checkpoint({"state": np.arange(4)})
    path = run.path / CHECKPOINT_NAME
    data = path.read_bytes()
    for size in range(0, len(data), 11):
        path.write_bytes(data[:size])
        with pytest.raises(StoreError, match="the checkpoint of 'run' is damaged; remove checkpoint.npz from it"):
            run.last_state(Counting())


@pytest.mark.parametrize(
    "arrays",
    [{"state": np.zeros(5, np.int64)}, {"state": np.zeros(4)}, {"other": np.zeros(4, np.int64)}, {}],
)
def test_a_checkpoint_of_another_search(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    run = made(tmp_path / "run")
    run.save_checkpoint(arrays)
    with pytest.raises(StoreError, match="the checkpoint of 'run' is damaged"):
        run.last_state(Counting())


def test_a_checkpoint_of_another_run(tmp_path: Path) -> None:
    other = made(tmp_path / "other", replace(MANIFEST, seed=8))
    other.save_checkpoint({"state": np.arange(4)})
    run = made(tmp_path / "run")
    (other.path / CHECKPOINT_NAME).rename(run.path / CHECKPOINT_NAME)
    with pytest.raises(StoreError, match="the checkpoint in 'run' belongs to another run; remove checkpoint.npz"):
        run.last_state(Counting())


def test_nothing_pickled_is_read(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    path = run.path / CHECKPOINT_NAME
    with path.open("wb") as file:
        np.savez(file, run=np.array([{"a": 1}], object), state=np.arange(4))
    with pytest.raises(StoreError, match="is damaged"):
        run.last_state(Counting())
    path.write_bytes(__import__("pickle").dumps({"state": np.arange(4)}))
    with pytest.raises(StoreError, match="is damaged"):
        run.last_state(Counting())


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    run = made(tmp_path / "run")
    run.save_checkpoint({"state": np.arange(4)})
    before = (run.path / CHECKPOINT_NAME).read_bytes()
    real, taken = os.write, []

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def some(descriptor: int, data: Any) -> int:
        if sum(taken) > 300:
            refuse()
        taken.append(real(descriptor, memoryview(data)[:100]))
        return taken[-1]

    with monkeypatch.context() as patch:
        patch.setattr(os, call, some if call == "write" else refuse)
        with pytest.raises(StoreError, match="the checkpoint of 'run' cannot be written: No space left on device"):
            run.save_checkpoint({"state": np.full(4, 9)})
    assert (run.path / CHECKPOINT_NAME).read_bytes() == before
    assert names(run.path) == [CHECKPOINT_NAME, MANIFEST_NAME]
    run.save_checkpoint({"state": np.full(4, 9)})
    assert run.last_state(Counting()).tolist() == [9, 9, 9, 9]


def test_what_a_dead_writer_left_is_overwritten(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    (run.path / f".{CHECKPOINT_NAME}.partial").write_text("half")
    run.save_checkpoint({"state": np.arange(4)})
    assert names(run.path) == [CHECKPOINT_NAME, MANIFEST_NAME]


@pytest.mark.parametrize(
    "wrong",
    [
        {"draws": np.zeros(9, np.int32)},
        {"draws": np.zeros(10, np.int64)},
        {"wins": np.full(10, 5, np.int32)},
        {"draws": np.full(10, -1, np.int32)},
        {"importance": np.full(10, np.nan)},
        {"n_draws": np.array(-1)},
        {"n_draws": np.array([1, 2])},
        {"n_draws": np.array(1.5)},
        {"n_draws": np.array(21)},
        {"n_draws": np.array(3)},
    ],
)
def test_states_that_no_search_of_subspaces_has(wrong: dict[str, np.ndarray]) -> None:
    """Twenty draws of three among ten columns: counts must add up."""

    def fit(columns: np.ndarray, draw: int) -> Scores:
        return Scores(np.ones(len(columns)), 0.5)

    loop = SubspaceLoop(SubspaceSearch(10, 3, 0.5, ImportanceRule(), fit, 0, round_size=4), 20)
    state = loop.step(loop.start())
    arrays = dict(loop.pack(state))
    assert loop.unpack(arrays).evidence.draws.tolist() == state.evidence.draws.tolist()
    with pytest.raises((ValueError, TypeError)):
        loop.unpack({**arrays, **wrong})
