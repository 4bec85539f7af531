"""CuPy as tests need it: modules that say what a machine with a card, or with a broken one, would."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import pytest

from fernwood import device

H200 = {"name": b"NVIDIA H200", "major": 9, "minor": 0}


class CUDARuntimeError(RuntimeError):
    """As CuPy's: a number, and what CUDA says."""

    __module__ = "cupy_backends.cuda.api.runtime"

    def __init__(self, status: int, said: str = "cudaErrorUnknown: unknown error") -> None:
        super().__init__(said)
        self.status = status


class OutOfMemoryError(MemoryError):
    """As CuPy's."""

    __module__ = "cupy.cuda.memory"


class CompileException(Exception):  # noqa: N818  (its name there)
    """As CuPy's."""

    __module__ = "cupy.cuda.compiler"


def raising(error: BaseException) -> Any:
    def fail(*_: object) -> Any:
        raise error

    return fail


class FakeDevice:
    """A device as a context, with the attributes that `Card` asks for."""

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.attributes = {
            "MultiProcessorCount": 132,
            "MaxSharedMemoryPerBlockOptin": 232_448,
            "MaxSharedMemoryPerMultiprocessor": 233_472,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def fake_cupy(cards: tuple[dict[str, Any], ...] = (H200,), **changes: Any) -> ModuleType:
    """CuPy on a machine with some cards; `changes` replace functions of its runtime, `nvrtc` that of its compiler."""
    nvrtc = changes.pop("nvrtc", lambda: (12, 9))
    runtime: dict[str, Any] = {
        "getDeviceCount": lambda: len(cards),
        "getDevice": lambda: 0,
        "getDeviceProperties": lambda number: cards[number],
        "memGetInfo": lambda: (100 * 10**9, 150 * 10**9),
        "driverGetVersion": lambda: 13000,
        "runtimeGetVersion": lambda: 12090,
        "is_hip": False,
        **changes,
    }
    cupy = ModuleType("cupy")
    cupy.__version__ = "14.2.0"  # type: ignore[attr-defined]
    cupy.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        runtime=SimpleNamespace(**runtime), nvrtc=SimpleNamespace(getVersion=nvrtc), Device=FakeDevice
    )
    return cupy


def install(monkeypatch: pytest.MonkeyPatch, cupy: ModuleType | None) -> None:
    """Have this CuPy, or none, in place of the one there may be."""
    device.open_card.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", cupy)  # type: ignore[arg-type]
