"""Devices: what is asked of one, what is seen, and one sentence for everything that can be wrong with them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.device import Seen, card_if_any, check_device, open_card, saying_device_troubles, seen, why_none
from fernwood.errors import DeviceError, FernwoodError, FernwoodWarning, ParameterError, ShortageError
from fernwood.kernels.cuda.card import Card
from tests.fake_cupy import H200, CompileException, CUDARuntimeError, OutOfMemoryError, fake_cupy, install, raising


@pytest.fixture(autouse=True)
def _no_card_is_kept() -> Iterator[None]:
    yield
    open_card.cache_clear()


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        (("cpu",), None),
        (("auto", None), None),
        (("cuda", "40GB"), 40 * 10**9),
        (("cuda", 2**30), 2**30),
        (("cpu", "1GiB"), 2**30),
    ],
)
def test_what_may_be_asked(asked: tuple[Any, ...], size: int | None) -> None:
    assert check_device(*asked) == size


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("gpu",), "device is 'gpu'; give 'cpu', 'cuda', or 'auto'"),
        ((None,), "device is None; give"),
        ((["cuda"],), r"device is \['cuda'\]; give"),
        (("cuda", "much"), "device_memory is 'much'; give a positive size such as"),
        (("cuda", 0), "device_memory is 0; give a positive size"),
        (("cuda", True), "device_memory is True; give a size such as '40GB'"),
        (("cuda", [1]), r"device_memory is \[1\]; give a size"),
    ],
)
def test_what_may_not(asked: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ParameterError, match=f"^{said}"):
        check_device(*asked)


def test_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fake_cupy((H200, {"name": "Old", "major": 6, "minor": 1})))
    first, second = seen()
    assert first == Seen("NVIDIA H200", 150 * 10**9, 100 * 10**9, "9.0", "13.0", "12.9", "14.2.0")
    assert second[:1] + second[3:4] == ("Old", "6.1")
    assert why_none() == ""


NO_GPU = CUDARuntimeError(100, "cudaErrorNoDevice: no CUDA-capable device is detected")
OLD = CUDARuntimeError(35, "cudaErrorInsufficientDriver: CUDA driver version is insufficient")
BUSY = CUDARuntimeError(46, "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable")
NO_NVRTC = RuntimeError("CuPy failed to load libnvrtc.so.12:\n  OSError: no such file")

WRONG = {
    "no CuPy": (None, "CuPy is not installed; pip install 'fernwood[gpu]', or the CuPy that is made for your CUDA"),
    "no GPU": (
        fake_cupy(getDeviceCount=raising(NO_GPU)),
        "CuPy is installed, but sees no GPU; see whether `nvidia-smi` lists one, and what CUDA_VISIBLE_DEVICES says",
    ),
    "none of them": (fake_cupy(()), "CuPy is installed, but sees no GPU; see whether"),
    "no driver": (
        fake_cupy(getDeviceCount=raising(OLD), driverGetVersion=lambda: 0),
        "CuPy is installed, but there is no NVIDIA driver; install one",
    ),
    "an old driver": (
        fake_cupy(getDeviceCount=raising(OLD), driverGetVersion=lambda: 11040),
        "the driver is too old: it speaks CUDA 11.4, and CuPy is made for 12.9; install a newer driver, or a CuPy for",
    ),
    "another trouble": (
        fake_cupy(getDeviceCount=raising(CUDARuntimeError(999))),
        "CuPy cannot use the driver (cudaErrorUnknown: unknown error); see whether `nvidia-smi` works",
    ),
    "half a CuPy": (
        type(sys)("cupy"),
        "CuPy cannot use the driver (module 'cupy' has no attribute 'cuda'); see whether `nvidia-smi` works",
    ),
    "another maker": (fake_cupy(is_hip=True), "CuPy is made for ROCm here, and the kernels are for CUDA; install a"),
    "an old card": (
        fake_cupy(({"name": b"Tesla P100", "major": 6, "minor": 0},)),
        "the card 'Tesla P100' has compute capability 6.0, and the kernels need 7.0; choose another one with CUDA_",
    ),
    "a card in use": (
        fake_cupy(memGetInfo=raising(BUSY)),
        "the card cannot be asked (cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable); see",
    ),
    "no compiler": (
        fake_cupy(nvrtc=raising(NO_NVRTC)),
        (
            "CuPy finds no NVRTC to compile the kernels with (CuPy failed to load libnvrtc.so.12: OSError: no such file); "
            "pip install 'cupy-cuda12x[ctk]'"
        ),
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_why_none_can_be_used(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    cupy, said = WRONG[what]
    install(monkeypatch, cupy)
    assert why_none().startswith(said)
    assert "\n" not in why_none()
    with pytest.raises(DeviceError) as refused:
        open_card()
    assert str(refused.value) == f"{why_none()}, or search on the processor: device='cpu' (--device cpu)"
    assert len(seen()) == (what in ("an old card", "no compiler"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ImportError('''\n=====\nFailed to import CuPy.\n''')", "Failed to import CuPy"),
        (
            (
                "try:\n    raise OSError('libcudart.so.12: cannot open')\nexcept OSError as error:\n"
                "    raise ImportError('At length ' * 99) from error"
            ),
            "libcudart.so.12: cannot open",
        ),
        ("raise AttributeError('_ARRAY_API not found')", "_ARRAY_API not found"),
        ("raise ImportError('x' * 999)", "x" * 159 + "…"),
    ],
)
def test_a_cupy_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, said: str) -> None:
    (tmp_path / "cupy.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    assert why_none() == (
        f"CuPy cannot be imported ({said}); pip install 'fernwood[gpu]', or the CuPy that is made for your CUDA"
    )


SHORT = OSError("libnvrtc.so.12: failed to map segment from shared object")


@pytest.mark.parametrize(
    "cupy",
    [
        fake_cupy(getDeviceCount=raising(MemoryError())),
        fake_cupy(memGetInfo=raising(MemoryError())),
        fake_cupy(nvrtc=raising(RuntimeError(f"CuPy failed to load libnvrtc.so.12: OSError: {SHORT}"))),
    ],
)
def test_want_of_memory_is_not_a_card_that_is_missing(monkeypatch: pytest.MonkeyPatch, cupy: Any) -> None:
    install(monkeypatch, cupy)
    with pytest.raises(ShortageError):
        why_none()


def test_want_of_memory_is_not_a_cupy_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cupy.py").write_text(
        f"try:\n    raise OSError({str(SHORT)!r})\nexcept OSError as error:\n    raise ImportError('At length') from error"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with pytest.raises(ShortageError):
        why_none()
    with pytest.raises(ShortageError), saying_device_troubles():
        raise RuntimeError(f"CuPy failed to load libnvrtc.so.12: OSError: {SHORT}")


def test_want_of_memory_on_a_card_is_of_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fake_cupy(memGetInfo=raising(OutOfMemoryError("out of memory"))))
    assert why_none().startswith("the card cannot be asked (out of memory)")


def test_a_card_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fake_cupy())
    card = open_card()
    assert isinstance(card, Card)
    assert card.n_multiprocessors == 132
    assert open_card() is card
    assert card_if_any() is card


def test_one_who_can_do_without_is_told_only_what_is_unexpected(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None)
    assert card_if_any() is None
    install(monkeypatch, fake_cupy(()))
    with pytest.warns(FernwoodWarning, match="^no device is used, since CuPy is installed, but sees no GPU; see"):
        assert card_if_any() is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OutOfMemoryError("Out of memory allocating 8,000 bytes (allocated so far: 0 bytes)."),
            (
                "the device has no more memory (Out of memory allocating 8,000 bytes (allocated so far: 0 bytes)); give a "
                "smaller device_memory (--device-memory)"
            ),
        ),
        (
            CUDARuntimeError(2, "cudaErrorMemoryAllocation: out of memory"),
            (
                "the device has no more memory (cudaErrorMemoryAllocation: out of memory); give a smaller device_memory "
                "(--device-memory)"
            ),
        ),
        (
            CUDARuntimeError(719, "cudaErrorLaunchFailure: unspecified launch failure"),
            (
                "the device failed (cudaErrorLaunchFailure: unspecified launch failure); see whether `nvidia-smi` still "
                "lists it, and go on"
            ),
        ),
        (
            CompileException("x.cu(3): error: no\n\nsuch thing"),
            (
                "the kernels cannot be compiled (x.cu(3): error: no such thing); install what compiles: pip install "
                "'cupy-cuda12x[ctk]', or the one that is made for your CUDA"
            ),
        ),
        (
            NO_NVRTC,
            (
                "the kernels cannot be compiled (CuPy failed to load libnvrtc.so.12: OSError: no such file); install what "
                "compiles: pip install 'cupy-cuda12x[ctk]', or the one that is made for your CUDA"
            ),
        ),
    ],
)
def test_troubles_of_a_device(error: Exception, said: str) -> None:
    with pytest.raises(DeviceError) as told, saying_device_troubles():
        raise error
    assert str(told.value) == f"{said}, or search on the processor: device='cpu' (--device cpu)"
    assert told.value.__cause__ is error
    assert isinstance(told.value, FernwoodError)


@pytest.mark.parametrize(
    "error", [ValueError("x"), MemoryError(), RuntimeError("x"), KeyboardInterrupt(), DeviceError("x")]
)
def test_troubles_of_others_pass(error: BaseException) -> None:
    with pytest.raises(type(error)) as told, saying_device_troubles():
        raise error
    assert told.value is error


def test_nothing_imports_cupy_that_was_not_asked(tmp_path: Path) -> None:
    """There is a CuPy that would end whoever imports it."""
    (tmp_path / "cupy.py").write_text("raise SystemExit('CuPy was imported')")
    np.save(tmp_path / "t.npy", np.c_[np.random.default_rng(0).standard_normal((60, 5)), np.arange(60) % 2])
    here = os.environ | {"PYTHONPATH": str(Path(fernwood.__file__).parents[1])}  # a relative one would be lost there

    def select(*options: str) -> subprocess.CompletedProcess[str]:
        command = "import sys; sys.path.insert(0, ''); from fernwood.cli import main; main()"
        arguments = ["select", "t.npy", "--target", "5", "--seed", "0", "--quiet", *options]
        return subprocess.run(
            [sys.executable, "-c", command, *arguments], cwd=tmp_path, env=here, capture_output=True, text=True
        )

    done = select()
    assert done.returncode == 0
    assert "CuPy" not in done.stderr
    assert "CuPy was imported\n" in select("--device", "cuda").stderr


def test_the_module_is_light() -> None:
    check = "import sys, fernwood.device; print(*({'numpy', 'numba', 'cupy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout == "\n"
