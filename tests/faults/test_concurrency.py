"""Many processes at one store, one name and one run: the bounded part of ``python -m torture crowds``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood import saved
from fernwood.errors import StoreError
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.standing import standing
from fernwood.run.stopping import Stopped
from fernwood.saved import load_result
from fernwood.store import disk
from tests.made_runs import made_run
from torture.crowds import SCENES, Crowd, Seen
from torture.forking import Forker

SECONDS = [0.3, pytest.param(2.0, marks=pytest.mark.long)]


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_scene(tmp_path: Path, forker: Forker, scene: Callable[[Crowd, float], Seen], seconds: float) -> None:
    counts, faults = scene(Crowd(tmp_path, forker), seconds)
    assert faults == []
    assert counts.total() > 0


def numbers(n_columns: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(n_columns).standard_normal((40, n_columns))


def test_a_store_that_appeared_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else was faster, and nobody said --force."""
    store, module = tmp_path / "s.fern", import_module("fernwood.store.ingest")
    real, other = module.code_band, fernwood.ingest(numbers(5), tmp_path / "other.fern").fingerprint

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        if not store.exists():
            (tmp_path / "other.fern").rename(store)
        return real(*arguments, **options)

    monkeypatch.setattr(module, "code_band", meanwhile)
    with pytest.raises(StoreError, match="exists; choose another name"):
        fernwood.ingest(numbers(7), store)
    assert fernwood.open(store).fingerprint == other
    assert [path.name for path in tmp_path.iterdir()] == ["s.fern"]


def test_what_is_no_store_is_not_replaced_even_if_it_appeared_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, module = tmp_path / "s.fern", import_module("fernwood.store.ingest")
    real = module.code_band

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        store.mkdir(exist_ok=True)
        (store / "precious.txt").write_text("as it was")
        return real(*arguments, **options)

    monkeypatch.setattr(module, "code_band", meanwhile)
    with pytest.raises(StoreError, match="exists and is not a store, so it is not replaced"):
        fernwood.ingest(numbers(7), store, force=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["s.fern", "precious.txt"]


def test_a_run_that_appeared_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    run = RunManifest("subspace", {}, 0, "f00d", "")
    appearing = RunDirectory.appearing(tmp_path / "r")
    RunDirectory.write_manifest(appearing.__enter__(), run)
    RunDirectory.of_memory(tmp_path / "r", replace(run, seed=5))
    with pytest.raises(StoreError, match="holds a run already"):
        appearing.__exit__(None, None, None)
    assert RunDirectory.open(tmp_path / "r").manifest.seed == 5


@pytest.mark.parametrize("moment", ["read_manifest", "OpenDirectory"])
def test_a_store_replaced_while_it_is_opened_is_one_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    store = tmp_path / "s.fern"
    fernwood.ingest(numbers(5), store)
    real, left = getattr(disk, moment), [1]

    def replacing(path: Path) -> Any:
        found = real(path)
        if left:
            left.pop()
            fernwood.ingest(numbers(7), store, force=True)
        return found

    monkeypatch.setattr(disk, moment, replacing)
    opened = fernwood.open(store)
    assert opened.n_columns == 7
    opened.verify()


def test_a_store_replaced_after_it_was_opened_says_so_when_it_is_verified(tmp_path: Path) -> None:
    opened = fernwood.ingest(numbers(5), tmp_path / "s.fern")
    fernwood.ingest(numbers(7), tmp_path / "s.fern", force=True)
    with pytest.raises(StoreError, match="was replaced or removed since it was opened; open it again"):
        opened.verify()


def test_a_result_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    run = tmp_path / "r"
    made_run(run, numbers(3), ["x0"])
    whole = (run / "decisions.parquet").read_bytes()
    (run / "decisions.parquet").write_bytes(b"the next one, for a moment")
    with pytest.raises(StoreError, match="the result in 'r' is damaged; make it again"):  # nobody works there
        load_result(run)
    assert standing(run).state == "gone"
    with RunDirectory.open(run).working():
        threading.Timer(0.2, lambda: (run / "decisions.parquet").write_bytes(whole)).start()
        assert len(load_result(run).confirmed) == 1
    assert standing(run).state == "done"


@pytest.mark.parametrize("moment", ["read_file", "_file_of"])
def test_a_result_that_was_replaced_while_it_was_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Whoever wrote it is gone when the reader misses what it had begun with."""
    run = tmp_path / "r"
    made_run(run, numbers(3), ["x0"])
    other = made_run(tmp_path / "other", numbers(3), ["x0", "x1"])
    real, left = getattr(saved, moment), [1]

    def replacing(*of: Any) -> Any:
        found = real(*of)
        if left:
            left.pop()
            saved.save_result(other, run)
        return found

    monkeypatch.setattr(saved, moment, replacing)
    assert len(load_result(run).confirmed) == 2


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), Stopped(15)])
def test_a_run_that_is_stopped_before_its_first_round_has_not_failed(tmp_path: Path, stop: BaseException) -> None:
    run = RunDirectory.of_memory(tmp_path / "r", RunManifest("subspace", {}, 0, "f00d", ""))
    with pytest.raises(type(stop)), run.working():
        raise stop
    assert standing(tmp_path / "r").state == "stopped"
