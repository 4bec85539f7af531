"""Memory that the system does not give: told from other failures, and said in one sentence."""

from __future__ import annotations

import errno
import functools
import mmap
import os
import resource
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fernwood.budget import resident, shown_size
from fernwood.errors import FernwoodError, ShortageError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MOST_THREADS",
    "check_libraries",
    "check_products",
    "check_threads",
    "is_shortage",
    "pass_on_shortage",
    "saying_shortage",
    "shortage",
]

MOST_THREADS = 4096
"""What may be asked for, more than machines have processors."""
_STACK, _START = 2**23, 2**22
"""Bytes of addresses that a thread takes, and bytes that starting some takes beside them."""
_LIBRARIES, _A_PROCESSOR = 704 * 2**20, 80 * 2**20
"""Bytes of addresses that libraries of numerics and compiled code take when they are loaded, in all and for every
processor. LLVM, which loads compiled code, ends the process where it gets none."""
_PRODUCTS, _LONG = 48 * 2**20, 4096
"""Bytes of addresses that OpenBLAS takes at its first product of arrays of that many numbers, with some to spare."""
_SAID = (
    "can't start new thread",
    "cannot allocate memory",
    "failed to map segment",
    "insufficient memory",
    "out of memory",
    "bad_alloc",
)
"""What libraries say that raise something else than Python's own error."""


def is_shortage(error: BaseException) -> bool:
    """Whether an error says that there is no more memory, which is neither a fault of ours nor of what was given.

    Examples
    --------
    >>> is_shortage(MemoryError()), is_shortage(RuntimeError("can't start new thread")), is_shortage(ValueError("x"))
    (True, True, False)
    """
    if isinstance(error, FernwoodError):
        return isinstance(error, ShortageError)
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and (error.errno is not None or isinstance(error, FileNotFoundError)):
        return error.errno == errno.ENOMEM  # what else it says may be the name of a file
    said = str(error).lower()
    return isinstance(error, Exception) and any(words in said for words in _SAID)


def pass_on_shortage(error: BaseException) -> None:
    """Raise a `ShortageError` for an error that says that memory ran out: the file that was being read is not at fault.

    Errors about values are none, whatever they say: their words may be the file's.

    Examples
    --------
    >>> pass_on_shortage(ValueError("'out of memory' is no number"))
    >>> pass_on_shortage(MemoryError())
    Traceback (most recent call last):
    fernwood.errors.ShortageError: the system gives no more memory to the process...
    """
    if is_shortage(error) and not isinstance(error, (ValueError, TypeError, LookupError)):
        raise shortage() from error


def shortage() -> ShortageError:
    """What to say when memory ran out: what the process holds, under what limit, and the ways out."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    under = f", under a limit of {shown_size(limit)} for its addresses" if limit != resource.RLIM_INFINITY else ""
    return ShortageError(
        f"the system gives no more memory to the process, which holds {shown_size(resident())}{under}; free some, "
        "raise the limit, or let it work with less: a smaller memory (--memory), fewer threads (--jobs)"
    )


@contextmanager
def saying_shortage() -> Iterator[None]:
    """A block in which memory that runs out, whoever notices it, is a `ShortageError`.

    Examples
    --------
    >>> with saying_shortage():
    ...     raise MemoryError
    Traceback (most recent call last):
    fernwood.errors.ShortageError: the system gives no more memory to the process...
    """
    try:
        yield
    except ShortageError:
        raise
    except Exception as error:
        if is_shortage(error):
            raise shortage() from error
        raise


def check_libraries() -> None:
    """Raise a `ShortageError` under a limit of addresses in which libraries of numerics cannot be loaded.

    OpenBLAS, which comes with them, ends the process then, or tries for ever.
    """
    if _addresses_are_limited() and "scipy.special" not in sys.modules:
        with saying_shortage():
            _check_addresses(_LIBRARIES + _A_PROCESSOR * (os.cpu_count() or 1))


@functools.cache  # what was taken once is kept
def check_products() -> None:
    """Raise a `MemoryError` under a limit of addresses in which arrays cannot be multiplied.

    OpenBLAS takes what it needs at its first product that is not small, keeps it, and ends the process where it gets
    nothing: so it is made to take that now.

    Examples
    --------
    >>> check_products()
    """
    import numpy as np

    if _addresses_are_limited():
        _check_addresses(_PRODUCTS)
    _ = np.ones((2, _LONG)) @ np.ones(_LONG)


def check_threads(n: int = 1) -> None:
    """Raise a `MemoryError` where the system would not give what so many threads take to start.

    Python waits for ever for a thread that dies before it could say that it has started. What is asked for here is
    given back untouched.

    Examples
    --------
    >>> check_threads(2)
    """
    _check_addresses(n * _STACK + _START)


def _addresses_are_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _check_addresses(n_bytes: int) -> None:
    """Ask for addresses that are new: what the process has and does not use would not do."""
    try:
        mmap.mmap(-1, n_bytes).close()
    except OSError as error:
        raise MemoryError(f"{n_bytes} bytes") from error
