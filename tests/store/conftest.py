"""A store, and the same one at a URL."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fernwood
from fernwood.store import objects, remote


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "s.fern"
    from tests.store.remote_files import N_COLUMNS, N_ROWS

    rng = np.random.default_rng(0)
    fernwood.ingest(rng.integers(0, 200, (N_ROWS, N_COLUMNS)).astype(float), path, target=rng.integers(0, 2, N_ROWS))
    return path


@pytest.fixture
def url(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store in an object store, blocks that are short, and a place for temporary caches."""
    pytest.importorskip("fsspec", reason="stores at a URL need fsspec: pip install 'fernwood[remote]'")
    from tests.store.remote_files import BLOCK, CountedFiles, put

    CountedFiles.empty()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(remote, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(objects, "_PAUSES", (0.0, 0.0, 0.0))
    for name in ("FERNWOOD_CACHE", "FERNWOOD_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    return put(folder, "counted://bucket/s.fern")


@pytest.fixture
def codes(folder: Path) -> np.ndarray:
    with fernwood.open(folder) as store:
        return store.read(np.arange(store.n_columns))
