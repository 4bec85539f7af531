"""How kernels are compiled, so that neither calls nor the compiler cost more than they must.

- What Python calls (`njit`) is kept on disk. Where no folder can be written, every process compiles for itself and says
  so.
- Numba counts who holds an array, by an atomic instruction whenever a function takes one and another when it lets go. A
  function that gets some forty arrays in named tuples, once for every node of a tree, would spend more time on counting
  than on a small node. `njit_no_refcount` and `njit_inner` do not count: they make no arrays and return none, and their
  caller holds those that they use until they are done. Slices need not be counted either.
- Numba compiles a kernel anew for every constant that another passes to it, such as the 0 of `n = 0` before a loop
  counts, and inference passes such constants on even where they never reach a call. Kernels without counting are
  compiled for the types of their arguments, and never for their values.
- What only kernels call (`njit_inner`) needs no entry from Python, which takes a fifth of the compiler's time where
  arguments are tuples of many arrays. Without compiling, and when a test calls it, it is the plain Python function.
"""

from __future__ import annotations

import logging
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numba
from numba.core.types import unliteral
from numba.extending import register_jitable

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., Any]], Any]

__all__ = ["cache_folder", "njit", "njit_inner", "njit_no_refcount"]

_log = logging.getLogger("fernwood")

njit_inner = register_jitable(nogil=True, error_model="numpy", _nrt=False)
"""Decorates what only kernels call; it makes no arrays and returns none, and a division by zero is no error in it."""


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorate a kernel that Python calls: without Python's lock, kept on disk, with further options of Numba."""
    if function is None:
        return partial(njit, **options)
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    if options.get("inline") == "always":  # it is kept with what it becomes a part of
        return numba.njit(**options)(function)
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        _say_that_nothing_is_kept()
        return numba.njit(**options)(function)
    keep = getattr(kernel, "_cache", None)
    if keep is not None:  # else nothing is compiled (NUMBA_DISABLE_JIT)
        keep.save_overload = partial(_keep_if_possible, keep.save_overload)
    return kernel


def njit_no_refcount(function: Callable[..., Any]) -> Any:
    """Decorate a kernel that Python may call too; it makes no arrays, returns none, and may divide by zero."""
    kernel = njit(function, error_model="numpy", _nrt=False)
    template_of = getattr(kernel, "get_call_template", None)
    if template_of is not None:
        kernel.get_call_template = lambda args, kws: template_of(tuple(map(unliteral, args)), kws)
    return kernel


def cache_folder(kernel: Any) -> str | None:
    """The folder that a kernel is kept in, if it is compiled and kept."""
    stats = getattr(kernel, "stats", None)
    return None if stats is None else stats.cache_path


def _keep_if_possible(keep: Callable[..., None], signature: Any, compiled: Any) -> None:
    """Keep what was compiled; a disk that became full, or a folder that is gone, does not stop who compiled it."""
    try:
        keep(signature, compiled)
    except OSError:
        _say_that_nothing_is_kept()


@cache
def _say_that_nothing_is_kept() -> None:
    _log.warning(
        "the compiled code cannot be kept: no cache folder can be written, so that every process compiles for itself; "
        "set NUMBA_CACHE_DIR to a folder that can be written"
    )
