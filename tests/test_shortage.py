"""Memory that the system does not give is told from other failures, wherever it is noticed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.errors import BudgetError, LearnerError, ShortageError, SourceError, StoreError
from fernwood.shortage import is_shortage, saying_shortage

RNG = np.random.default_rng(4)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 128 failed"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        OSError("libx.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        ImportError("libx.so: failed to map segment from shared object"),
        ImportError("libx.so: cannot allocate memory in static TLS block"),
        ShortageError("said already"),
    ],
)
def test_a_shortage(error: BaseException) -> None:
    assert is_shortage(error)


@pytest.mark.parametrize(
    "error",
    [
        *(ValueError("x"), OSError(errno.EIO, "Input/output error"), KeyboardInterrupt(), RuntimeError("x")),
        *(BudgetError("memory is '1MB', which is out of memory", 3), StoreError("out of memory")),
        *(
            FileNotFoundError("https://host/out of memory.fern"),
            PermissionError(errno.EACCES, "no", "out of memory.csv"),
        ),
    ],
)
def test_no_shortage(error: BaseException) -> None:
    assert not is_shortage(error)


def test_what_is_too_large_for_any_machine() -> None:
    with (
        pytest.raises(
            ShortageError, match="^the system gives no more memory to the process, which holds [0-9.]+ [MG]B"
        ),
        saying_shortage(),
    ):
        np.empty(2**60, np.uint8)


def test_it_is_said_once_and_others_pass() -> None:
    said = ShortageError("once")
    for error in (said, ValueError("x"), BudgetError("too small", 5)):
        with pytest.raises(type(error)) as caught, saying_shortage():
            raise error
        assert caught.value is error


_PRODUCTS = """
import resource, sys
from pathlib import Path
import numpy as np
from fernwood.shortage import check_products
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = taken + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
check_products()
left = np.empty(limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() - 2**23, np.uint8)
print((np.ones((500, 300)) @ np.ones((300, 500))).sum())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="no /proc here")
@pytest.mark.parametrize(("megabytes", "printed", "said"), [(24, "", "MemoryError: "), (64, "75000000.0\n", "")])
def test_what_products_take_is_taken_before_memory_is_gone(megabytes: int, printed: str, said: str) -> None:
    """OpenBLAS ends a process whose first large product finds no memory: by then, it has what it needs."""
    done = subprocess.run(
        [sys.executable, "-c", _PRODUCTS, str(megabytes)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == printed
    assert said in done.stderr
    assert bool(said) == bool(done.stderr)


def short(*_: Any, **__: Any) -> Any:
    raise MemoryError


def test_an_ingest_that_runs_out_of_memory_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("fernwood.store.ingest"), "code_band", short)
    with pytest.raises(ShortageError, match="let it work with less"):
        fernwood.ingest(RNG.random((9, 3)), tmp_path / "s.fern")
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_runs_out_of_memory_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = RNG.standard_normal((60, 8))
    selector = fernwood.SubspaceSelector(q=3, n_iter=20, random_state=0)
    whole = selector.fit(x, x[:, 0] > 0).importances_
    selector.set_params(run_dir=tmp_path / "r")
    with monkeypatch.context() as patch:
        patch.setattr("fernwood.search.methods.profiles_of", short)
        with pytest.raises(ShortageError):
            selector.fit(x, x[:, 0] > 0)
    np.testing.assert_array_equal(selector.fit(x, x[:, 0] > 0).importances_, whole)


def test_a_learner_that_runs_out_of_memory_has_not_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.dummy import DummyClassifier

    x = RNG.standard_normal((60, 8))
    selector = fernwood.FilterSelector(DummyClassifier(), cv=3, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(DummyClassifier, "fit", short)
        with pytest.raises(ShortageError):
            selector.fit(x, x[:, 0] > 0)
        patch.setattr(DummyClassifier, "fit", lambda *_: 1 / 0)
        with pytest.raises(LearnerError, match="ZeroDivisionError"):
            selector.fit(x, x[:, 0] > 0)


def _a_store(folder: Path) -> None:
    fernwood.ingest(RNG.random((9, 3)), folder / "s.fern", target=np.arange(9) % 2)


def _a_frame(folder: Path) -> None:
    pq.write_table(pa.table({"a": [0.5, 1.5]}), folder / "a.parquet")


def _hdf5(folder: Path) -> None:
    with pytest.importorskip("h5py").File(folder / "t.h5", "w") as file:
        file["x"] = RNG.random((9, 3))


def _zarr(folder: Path) -> None:
    pytest.importorskip("zarr").save(str(folder / "t.zarr"), RNG.random((9, 3)))


def _annotated(folder: Path) -> None:
    pytest.importorskip("anndata").AnnData(RNG.random((9, 3))).write_h5ad(folder / "t.h5ad")


_SHORT = pa.ArrowMemoryError("malloc of size 128 failed")
_NO_MEMORY = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


@pytest.mark.parametrize(
    ("made", "patched", "error", "read"),
    [
        (_a_store, "fernwood.store.stored.pq.ParquetFile", _SHORT, lambda f: list(fernwood.open(f / "s.fern").names)),
        (_a_store, "fernwood.store.stored.pq.ParquetFile", _SHORT, lambda f: fernwood.open(f / "s.fern").roles),
        (_a_store, "fernwood.store.stored.Roles.restore", _SHORT, lambda f: fernwood.open(f / "s.fern").roles),
        (_a_store, "fernwood.store.disk.DiskStore._fill", _NO_MEMORY, lambda f: fernwood.open(f / "s.fern").read([0])),
        (_a_frame, "fernwood.sources.arrow._converted", _SHORT, lambda f: fernwood.ingest(f / "a.parquet")),
        (_hdf5, "h5py.File", _NO_MEMORY, lambda f: fernwood.ingest(f / "t.h5")),
        (_hdf5, "h5py.Dataset.__getitem__", _NO_MEMORY, lambda f: fernwood.ingest(f / "t.h5")),
        (_zarr, "zarr.open", MemoryError(), lambda f: fernwood.ingest(f / "t.zarr")),
        (_annotated, "anndata.io.read_elem", MemoryError(), lambda f: fernwood.ingest(f / "t.h5ad")),
    ],
)
def test_no_file_is_called_damaged_for_want_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any, patched: str, error: Exception, read: Any
) -> None:
    made(tmp_path)

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(patched, fails)
    with pytest.raises(ShortageError, match="^the system gives no more memory"):
        read(tmp_path)


def test_words_of_a_table_are_no_shortage() -> None:
    frame = pd.DataFrame({"x": np.array([1.0, "out of memory"], object)})
    with pytest.raises(SourceError, match="mixes types .*out of memory"):
        fernwood.ingest(frame)
