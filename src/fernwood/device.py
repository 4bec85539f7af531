"""Devices: what is asked of one, which ones there are, why none can be used, and what went wrong on one.

CuPy speaks to them. It is looked for and imported here, and by nobody who did not ask for a device.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from fernwood.budget import parse_size
from fernwood.errors import DeviceError, FernwoodWarning, ParameterError, printable, shown
from fernwood.shortage import pass_on_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fernwood.kernels.cuda.card import Card

__all__ = [
    "Device",
    "Seen",
    "card_if_any",
    "check_device",
    "open_card",
    "saying_device_troubles",
    "seen",
    "why_none",
]

Device = Literal["cpu", "cuda", "auto"]

_LEAST_CAPABILITY = (7, 0)
_NO_MEMORY, _OLD_DRIVER, _NO_DEVICE = 2, 35, 100
"""What CUDA calls these; numbers that stay as they are."""
_SAID_LENGTH = 160
_INSTALL = "pip install 'fernwood[gpu]', or the CuPy that is made for your CUDA"
_INSTALL_COMPILER = "pip install 'cupy-cuda12x[ctk]', or the one that is made for your CUDA"
_WAY_OUT = "or search on the processor: device='cpu' (--device cpu)"


class Seen(NamedTuple):
    """A card that CuPy sees.

    Attributes
    ----------
    name : str
    total, free : int; bytes of its memory, and those that nobody has taken
    capability : str; the compute capability, such as "9.0"
    driver, runtime : str; the CUDA that the driver speaks, and the one that CuPy is made for
    cupy : str; the version of CuPy
    """

    name: str
    total: int
    free: int
    capability: str
    driver: str
    runtime: str
    cupy: str


def check_device(device: object, device_memory: object = None) -> int | None:
    """Refuse a device, or a size of its memory, that is none; the size in bytes, None where none is given.

    Examples
    --------
    >>> check_device("cuda", "40GB")
    40000000000
    >>> check_device("gpu")
    Traceback (most recent call last):
    fernwood.errors.ParameterError: device is 'gpu'; give 'cpu', 'cuda', or 'auto' for a card where it pays
    """
    if not (isinstance(device, str) and device in get_args(Device)):
        raise ParameterError(f"device is {device!r}; give 'cpu', 'cuda', or 'auto' for a card where it pays")
    if device_memory is None:
        return None
    if isinstance(device_memory, bool) or not isinstance(device_memory, (str, int, float)):
        raise ParameterError(
            f"device_memory is {device_memory!r}; give a size such as '40GB', or None for what is free"
        )
    return parse_size(device_memory, what="device_memory")


def seen() -> list[Seen]:
    """The cards that CuPy sees, whether Fernwood can use them or not; none where `why_none` says why."""
    try:
        cupy = _cupy()
        return [_about(cupy, number) for number in range(_count(cupy))]
    except DeviceError:
        return []


def why_none() -> str:
    """Why no device can be used, with a way out; empty where the current one can."""
    try:
        _check_usable()
    except DeviceError as error:
        return str(error)
    return ""


@cache
def open_card() -> Card:
    """The current device, ready for kernels: the same one whenever it is asked for, so that they are compiled once.

    Raises
    ------
    DeviceError
        Where no device can be used.
    """
    from fernwood.kernels.cuda.card import Card

    try:
        _check_usable()
        with _saying("the card cannot be opened"):
            return Card()
    except DeviceError as error:
        raise DeviceError(f"{error}, {_WAY_OUT}") from error


def card_if_any() -> Card | None:
    """The current device for one who can do without: None where there is none that can be used.

    Nobody expects a card where there is no CuPy; where there is, a warning says why it is not used.
    """
    if not _has_cupy():
        return None
    if why := why_none():
        warnings.warn(f"no device is used, since {why}", FernwoodWarning, stacklevel=2)
        return None
    return open_card()


@contextmanager
def saying_device_troubles() -> Iterator[None]:
    """A block in which what CuPy raises is a `DeviceError`: a device without memory, one that is lost.

    Examples
    --------
    >>> with saying_device_troubles():
    ...     raise RuntimeError("CuPy failed to load libnvrtc.so.12: OSError: no such file")
    Traceback (most recent call last):
    fernwood.errors.DeviceError: the kernels cannot be compiled (CuPy failed to load libnvrtc.so.12...
    """
    try:
        yield
    except Exception as error:
        if not _is_of_a_device(error):
            raise
        _pass_on_shortage_here(error)
        raise DeviceError(f"{_trouble(error)}, {_WAY_OUT}") from error


def _trouble(error: Exception) -> str:
    """What went wrong on a device, and what may help."""
    said = _said(error)
    if isinstance(error, MemoryError) or getattr(error, "status", None) == _NO_MEMORY:
        return f"the device has no more memory ({said}); give a smaller device_memory (--device-memory)"
    if _is_of_the_compiler(error):
        return f"the kernels cannot be compiled ({said}); install what compiles: {_INSTALL_COMPILER}"
    return f"the device failed ({said}); see whether `nvidia-smi` still lists it, and go on"


def _is_of_a_device(error: Exception) -> bool:
    """By where its class is from, so that nothing has to be imported to ask; CuPy has some ten of them."""
    return _is_of_cupy(error) or str(error).startswith("CuPy failed to load")


def _is_of_cupy(error: BaseException) -> bool:
    makers = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return bool(makers & {"cupy", "cupy_backends", "cuda"})


def _pass_on_shortage_here(error: BaseException) -> None:
    """Raise a `ShortageError` where it is the process, and not a card, that has no more memory."""
    if not _is_of_cupy(error):
        pass_on_shortage(error)


def _is_of_the_compiler(error: Exception) -> bool:
    kind = type(error).__name__
    return kind in ("CompileException", "NVRTCError", "JitifyException") or "nvrtc" in str(error)


def _has_cupy() -> bool:
    """Whether CuPy is installed, without importing it."""
    return sys.modules["cupy"] is not None if "cupy" in sys.modules else find_spec("cupy") is not None


def _cupy() -> Any:
    """CuPy, where it can be imported."""
    if not _has_cupy():
        raise DeviceError(f"CuPy is not installed; {_INSTALL}")
    try:
        return import_module("cupy")
    except Exception as error:
        # CuPy says at length what may be the reason; what it comes from says which one it is.
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        _pass_on_shortage_here(cause)
        said = _said(cause)
        raise DeviceError(f"CuPy cannot be imported ({said}); {_INSTALL}") from error


def _count(cupy: Any) -> int:
    """How many cards there are, at least one."""
    try:
        number = int(cupy.cuda.runtime.getDeviceCount())
        made_for_others = bool(getattr(cupy.cuda.runtime, "is_hip", False))
    except Exception as error:
        _pass_on_shortage_here(error)
        if getattr(error, "status", None) != _NO_DEVICE:
            raise DeviceError(_why_no_driver(cupy, error)) from error
        number, made_for_others = 0, False
    if made_for_others:
        raise DeviceError("CuPy is made for ROCm here, and the kernels are for CUDA; install a CuPy for CUDA")
    if not number:
        raise DeviceError(
            "CuPy is installed, but sees no GPU; see whether `nvidia-smi` lists one, and what CUDA_VISIBLE_DEVICES says"
        )
    return number


def _why_no_driver(cupy: Any, error: Exception) -> str:
    """Why cards could not be counted."""
    if getattr(error, "status", None) != _OLD_DRIVER:
        return f"CuPy cannot use the driver ({_said(error)}); see whether `nvidia-smi` works"
    runtime = cupy.cuda.runtime
    driver = int(runtime.driverGetVersion())
    if not driver:
        return "CuPy is installed, but there is no NVIDIA driver; install one"
    return (
        f"the driver is too old: it speaks CUDA {_version(driver)}, and CuPy is made for "
        f"{_version(runtime.runtimeGetVersion())}; install a newer driver, or a CuPy for the CUDA that it speaks"
    )


def _about(cupy: Any, number: int) -> Seen:
    """What is known of one of the cards."""
    runtime = cupy.cuda.runtime
    with _saying("the card cannot be asked"), cupy.cuda.Device(number):
        properties = runtime.getDeviceProperties(number)
        free, total = runtime.memGetInfo()
        name = properties["name"]
        return Seen(
            name.decode(errors="replace") if isinstance(name, bytes) else str(name),
            int(total),
            int(free),
            f"{properties['major']}.{properties['minor']}",
            _version(runtime.driverGetVersion()),
            _version(runtime.runtimeGetVersion()),
            str(cupy.__version__),
        )


def _check_usable() -> None:
    """Refuse where the current card cannot be used."""
    cupy = _cupy()
    _count(cupy)
    with _saying("the card cannot be asked"):
        number = int(cupy.cuda.runtime.getDevice())
    card = _about(cupy, number)
    if tuple(map(int, card.capability.split("."))) < _LEAST_CAPABILITY:
        least = ".".join(map(str, _LEAST_CAPABILITY))
        raise DeviceError(
            f"the card {shown(card.name)} has compute capability {card.capability}, and the kernels need {least}; "
            "choose another one with CUDA_VISIBLE_DEVICES"
        )
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:
        _pass_on_shortage_here(error)
        raise DeviceError(
            f"CuPy finds no NVRTC to compile the kernels with ({_said(error)}); {_INSTALL_COMPILER}"
        ) from error


@contextmanager
def _saying(what: str) -> Iterator[None]:
    """A block in which what CuPy raises is said in one sentence that begins so."""
    try:
        yield
    except Exception as error:
        _pass_on_shortage_here(error)
        raise DeviceError(f"{what} ({_said(error)}); see whether `nvidia-smi` works") from error


def _said(error: BaseException) -> str:
    """What an error says, on one line that is not too long; the name of its kind where it says nothing."""
    text = " ".join(str(error).split()).strip("=. ") or type(error).__name__
    return printable(text if len(text) <= _SAID_LENGTH else text[: _SAID_LENGTH - 1] + "…")


def _version(number: int) -> str:
    """A version as CUDA writes it, for people.

    Examples
    --------
    >>> _version(12040)
    '12.4'
    """
    return f"{number // 1000}.{number % 1000 // 10}"
