"""A store on disk: how its files are read."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fernwood
from fernwood.errors import StoreError
from fernwood.files import Streamed
from fernwood.store.manifest import HEADER_BYTES

if TYPE_CHECKING:
    from pathlib import Path


def test_records_are_read_by_the_thread_that_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread of Arrow's that still holds one of our files when the interpreter ends would abort the process."""
    rng = np.random.default_rng(0)
    n = 50
    fernwood.ingest(
        rng.standard_normal((n, 8)),
        target=rng.integers(0, 2, n),
        weights=rng.random(n),
        groups=rng.integers(0, 9, n),
        out=tmp_path / "s.fern",
    )
    readers, plain = set(), Streamed.read

    def noting(self: Streamed, size: int = -1) -> bytes:
        readers.add(threading.get_ident())
        return plain(self, size)

    monkeypatch.setattr(Streamed, "read", noting)
    store = fernwood.open(tmp_path / "s.fern")
    assert store.target is not None
    assert len(list(store.names.take(np.arange(8)))) == 8
    assert store.checksums.shape == (8,)
    assert readers == {threading.get_ident()}


def test_columns_that_are_expected_are_fetched_and_reads_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.fern"
    fernwood.ingest(np.random.default_rng(0).standard_normal((50, 30)), path)
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr("os.posix_fadvise", lambda _, offset, size, __: asked.append((offset, size)))
    with fernwood.open(path) as store:
        store.expect([7, 3, 4])
        assert sum(size for _, size in asked) >= 3 * 50
        assert min(offset for offset, _ in asked) == HEADER_BYTES + 3 * 50
        assert store.bytes_read == 0
        store.read([7, 3, 4])
        assert store.bytes_read >= 3 * 50
        assert store.seconds_reading > 0


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE])
def test_a_disk_that_fails_is_not_a_damaged_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """ "Make the store again" was said of records that could not be read just then."""
    fernwood.ingest(np.arange(60.0).reshape(20, 3), target=np.arange(20) % 2, out=tmp_path / "s.fern")
    store = fernwood.open(tmp_path / "s.fern")

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "preadv", refuse)
    said = f"cannot be read: {os.strerror(number)}; see to its disk, and open it again$"
    with pytest.raises(StoreError, match=f"^the codes of 's.fern' {said}"):
        store.read([0])
    with pytest.raises(StoreError, match=f"^the records of 's.fern' {said}"):
        _ = store.target


@pytest.mark.parametrize(("code", "is_said"), [(errno.ENOENT, False), (errno.EIO, True)])
def test_marking_passes_over_files_that_are_gone_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, is_said: bool
) -> None:
    """One that is gone is missed where it is read; one that the disk will not tell of would be changed unnoticed."""

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    fernwood.ingest(np.arange(12.0).reshape(4, 3), out=tmp_path / "s.fern")
    with fernwood.open(tmp_path / "s.fern") as store:
        assert store.mark().keys() == {record.name for record in store.manifest.files}
        monkeypatch.setattr("fernwood.files.OpenDirectory.size_and_time", fail)
        with (
            pytest.raises(StoreError, match="^the files of 's.fern' cannot be read: Input/output")
            if is_said
            else nullcontext()
        ):
            assert store.mark() == {}
