"""Numba with as little memory as can be, for processes that are all our own."""

from __future__ import annotations

import ctypes
import sys
from contextlib import ExitStack, contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["forget_compiler", "in_place_of", "keep_numba_lean"]

_CONFIG = Path(".numba_config.yaml")
"""Where Numba looks for what a person has set."""


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
                stack.enter_context(in_place_of(name, there=name.startswith("scipy")))
            super().exec_module(module)
        forget_compiler()  # what ran only while it was set up


def forget_compiler() -> None:
    """Hand the pages of the compiler's code back: 70 MB, which nothing runs once the kernels are loaded.

    They are the file's own, never written: whoever compiles later still finds them there. Where the system has no list
    of what a process has mapped, nothing happens.
    """
    dont_need = 4
    with suppress(OSError, AttributeError), open("/proc/self/maps") as mapped:  # noqa: PTH123  (no file of a disk)
        for line in mapped:
            place, rights, *_, name = line.split()
            if rights == "r-xp" and "llvmlite" in name:
                first, end = (int(address, 16) for address in place.split("-"))
                ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), dont_need)


@contextmanager
def in_place_of(name: str, *, there: bool = True) -> Iterator[ModuleType]:
    """An empty module where an import would find another, or none, for a while."""
    stub = ModuleType(name)
    sys.modules[name] = stub if there else None  # type: ignore[assignment]
    try:
        yield stub
    finally:
        del sys.modules[name]
