"""A store that is closed, replaced or removed while others read it: an error at worst, never other data."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import fernwood
from fernwood.errors import ParameterError, StoreError

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("seconds", [0.4, pytest.param(4.0, marks=pytest.mark.long)])
def test_closing_does_not_pull_files_from_under_readers(tmp_path: Path, seconds: float) -> None:
    """A descriptor given back too early becomes another file's, and a read in progress reads that."""
    table = RNG.integers(0, 200, (64, 300)).astype(float)
    store = fernwood.ingest(table, tmp_path / "s.fern")
    (tmp_path / "other").write_bytes(bytes(10_000_000 // 100))
    codes = store.read(np.arange(300))
    wrong: list[str] = []
    stop = time.monotonic() + seconds

    def read(seed: int) -> None:
        rng = np.random.default_rng(seed)
        while time.monotonic() < stop:
            ids = rng.integers(0, 300, 20)
            try:
                if not (store.read(ids) == codes[ids]).all():
                    wrong.append("codes")
            except OSError as error:
                wrong.append(str(error))

    def disturb() -> None:
        while time.monotonic() < stop:
            store.close()
            os.close(os.open(tmp_path / "other", os.O_RDONLY))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)] + [threading.Thread(target=disturb)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("touched", [False, True])
def test_a_store_that_was_replaced_is_not_mixed_with_the_new_one(tmp_path: Path, touched: bool) -> None:
    old_table, new_table = RNG.random((30, 5)), RNG.random((30, 5))
    old = fernwood.ingest(old_table, tmp_path / "s.fern", target=np.arange(30) % 2)
    if touched:
        expected = old.read([0, 1])
    fernwood.ingest(new_table, tmp_path / "s.fern", target=np.arange(30) % 3, force=True)
    if touched:
        np.testing.assert_array_equal(old.read([0, 1]), expected)  # its file is still open
    else:
        with pytest.raises(StoreError, match="was replaced or removed since it was opened; open it again"):
            old.read([0])
    with pytest.raises(StoreError, match="open it again"):
        _ = old.target


def test_a_relative_path_survives_a_change_of_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fernwood.ingest(RNG.random((9, 3)), "s.fern")
    store = fernwood.open("s.fern")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert store.read([2]).shape == (1, 9)
    assert store.names[0] == "x0"
    store.verify()


def test_a_removed_store_says_so(tmp_path: Path) -> None:
    store = fernwood.ingest(RNG.random((9, 3)), tmp_path / "s.fern")
    store.close()
    shutil.rmtree(tmp_path / "s.fern")
    with pytest.raises(StoreError, match="replaced or removed"):
        store.read([0])


def test_force_writes_through_a_link(tmp_path: Path) -> None:
    fernwood.ingest(RNG.random((9, 3)), tmp_path / "real.fern")
    (tmp_path / "link.fern").symlink_to(tmp_path / "real.fern")
    fernwood.ingest(RNG.random((9, 4)), tmp_path / "link.fern", force=True)
    assert (tmp_path / "link.fern").is_symlink()
    assert fernwood.open(tmp_path / "real.fern").n_columns == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.fern", "real.fern"]


@pytest.mark.parametrize("ids", [np.array([True, False, True]), [0.9], ["0"], np.array([1], object)])
def test_columns_are_positions(ids: object) -> None:
    with pytest.raises(ParameterError, match="read takes positions"):
        fernwood.ingest(RNG.random((9, 3))).read(ids)


@pytest.mark.parametrize("rows", [np.array([True] * 9, object), [0.7], ["1"]])
def test_rows_are_numbers_or_a_mask(rows: object) -> None:
    with pytest.raises(ParameterError, match="give row numbers or a mask"):
        fernwood.ingest(RNG.random((9, 3))).rows(rows)


def test_fingerprints_tell_stores_apart() -> None:
    table, y = RNG.random((12, 3)), np.arange(12) % 2
    variants = [
        fernwood.ingest(table, target=y),
        fernwood.ingest(10 * table, target=y),
        fernwood.ingest(table, target=np.array(["a", "b"])[y].tolist()),
        fernwood.ingest(table, target=np.array(["x", "y"])[y].tolist()),
        fernwood.ingest(table, target=y, task="regression"),
        fernwood.ingest(table, weights=y.astype(float)),
        fernwood.ingest(table, groups=y),
        fernwood.ingest(table[:, ::-1], target=y),
    ]
    assert len({store.fingerprint for store in variants}) == len(variants)
    assert fernwood.ingest(table, target=y).fingerprint == variants[0].fingerprint


def test_a_view_of_no_rows_describes_itself() -> None:
    about = fernwood.ingest(RNG.random((9, 3)), target=RNG.random(9), groups=np.arange(9)).rows([]).describe()
    assert (about.rows, about.groups) == (0, 0)
