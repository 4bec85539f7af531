"""A process that holds little: what the command line does so that its memory budget goes to the work."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fernwood.budget import shown_size
from fernwood.errors import BudgetError
from fernwood.kernels.lean import in_place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["few_collections", "keep_pandas_out", "return_freed_memory", "too_small"]


def return_freed_memory() -> None:
    """Have freed memory handed back to the system at once; call it before pyarrow is imported.

    By itself glibc keeps freed blocks of up to 32 MB for later, and Arrow's own allocator keeps more; both count as
    resident all the while. With another C library nothing happens.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    m_mmap_threshold = -3
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(m_mmap_threshold, 2**22)


def keep_pandas_out() -> None:
    """Spare the 50 MB of pandas, which pyarrow loads with its first value only to recognise data frames.

    The command line has none. pyarrow looks once, finds a version too old to use, and remembers that; whoever needs
    pandas later still gets it.
    """
    if "pandas" not in sys.modules:
        import pyarrow as pa

        with in_place_of("pandas") as stub, warnings.catch_warnings():
            stub.__version__ = "0.0.0"  # type: ignore[attr-defined]
            warnings.simplefilter("ignore")
            pa.scalar(True)


@contextmanager
def few_collections() -> Iterator[None]:
    """Look for garbage in cycles less often than Python does: loading libraries makes many objects, and no garbage."""
    before = gc.get_threshold()
    gc.set_threshold(20_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def too_small(total: int, held: int, work: int, *, given: bool = True) -> BudgetError:
    """What to say when a command's budget, less what the process holds already, does not hold the work.

    A budget that was not given is half of what is available.
    """
    # Rounded up with a megabyte to spare, since what Python and libraries take differs a little from run to run.
    least = (held + work + 3 * 10**6) // 10**6 * 10**6
    if given:
        sentence = f"--memory {shown_size(total)} is too small, Python and libraries included; at least"
        return BudgetError(f"{sentence} {shown_size(least)} would do", least)
    return BudgetError(
        f"{shown_size(total)}, half of the memory that is available, is too small, Python and libraries included; free "
        f"some, or allow more: --memory {-(-least // 10**6)}MB would do",
        least,
    )
