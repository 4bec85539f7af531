"""A process that holds little: what the command line does so that its memory budget goes to the work."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from contextlib import ExitStack, contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fernwood.budget import shown_size
from fernwood.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["keep_numba_lean", "keep_pandas_out", "return_freed_memory", "too_small"]

_CONFIG = Path(".numba_config.yaml")
"""Where Numba looks for what a person has set."""


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

        with _in_place_of("pandas") as stub, warnings.catch_warnings():
            stub.__version__ = "0.0.0"  # type: ignore[attr-defined]
            warnings.simplefilter("ignore")
            pa.scalar(True)


def keep_numba_lean() -> None:
    """Spare what Numba loads only to see whether it is there, when it is loaded: 17 MB and a tenth of a second.

    No kernel of Fernwood calls linear algebra or C functions, and a file configures Numba only where there is one.
    Whoever needs these libraries later still gets them.
    """
    if not any(isinstance(finder, _LeanNumba) for finder in sys.meta_path):
        sys.meta_path.insert(0, _LeanNumba())


_NEEDLESS = {
    "numba.core.config": ("yaml",),
    "numba.core.typing.cffi_utils": ("cffi",),
    "numba.np.arraymath": ("scipy.linalg", "scipy.linalg.cython_blas"),
}
"""Modules of Numba, and what each loads needlessly. Without SciPy's part it would fail: it gets an empty module."""


class _LeanNumba(MetaPathFinder):
    """Finds those modules as ever, and has them loaded while what they need not is out of sight."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        needless = _NEEDLESS.get(fullname, ())
        if (
            not needless
            or any(name in sys.modules for name in needless)
            or (needless == ("yaml",) and _CONFIG.exists())
        ):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _LoaderWithout(needless, spec.loader)
        return spec


class _LoaderWithout(SourceFileLoader):
    def __init__(self, needless: Sequence[str], loader: SourceFileLoader) -> None:
        super().__init__(loader.name, loader.path)
        self._needless = needless

    def exec_module(self, module: ModuleType) -> None:
        with ExitStack() as stack:
            for name in self._needless:
                stack.enter_context(_in_place_of(name, there=name.startswith("scipy")))
            super().exec_module(module)


@contextmanager
def _in_place_of(name: str, *, there: bool = True) -> Iterator[ModuleType]:
    """An empty module where an import would find another, or none, for a while."""
    stub = ModuleType(name)
    sys.modules[name] = stub if there else None  # type: ignore[assignment]
    try:
        yield stub
    finally:
        del sys.modules[name]


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
