"""Memory that the system does not give is told from other failures, wherever it is noticed."""

from __future__ import annotations

import errno
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fernwood
from fernwood.errors import BudgetError, LearnerError, ShortageError, StoreError
from fernwood.shortage import is_shortage, saying_shortage

RNG = np.random.default_rng(4)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 128 failed"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
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
