"""A card: CuPy, the kernels compiled for it, and what it has room for."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from importlib.resources import files
from typing import Any

__all__ = ["Card"]

_KERNELS = ("examine<true, 2>", "examine<true, 0>", "examine<false, 1>", "examine<false, 2>", "examine<false, 0>")


class Card:
    """The current CUDA device, through CuPy.

    Attributes
    ----------
    cupy : the module
    n_multiprocessors : how many blocks run at a time, at least
    shared_bytes : the most shared memory of a block
    """

    def __init__(self) -> None:
        self.cupy: Any = import_module("cupy")
        attributes = self.cupy.cuda.Device().attributes
        self.n_multiprocessors = int(attributes["MultiProcessorCount"])
        self.shared_bytes = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self._shared_together = int(attributes["MaxSharedMemoryPerMultiprocessor"])

    @cached_property
    def _module(self) -> Any:
        source = files("fernwood.kernels.cuda").joinpath("examining.cu").read_text(encoding="utf-8")
        # Without fused multiplications: a product is rounded before it is added, as on the host.
        options = ("--std=c++17", "--fmad=false")
        return self.cupy.RawModule(code=source, options=options, name_expressions=_KERNELS)

    def compile(self) -> None:
        """Compile the kernels now, or load them: what that takes of the host is counted by whoever opens the card."""
        self.kernel(_KERNELS[0])

    def kernel(self, name: str, shared_bytes: int = 0) -> Any:
        """A kernel by its name, which may use so much shared memory."""
        kernel = self._module.get_function(name)
        if shared_bytes:
            kernel.max_dynamic_shared_size_bytes = shared_bytes
        return kernel

    def blocks_at_once(self, shared_bytes: int, n_threads: int) -> int:
        """How many blocks that use so much shared memory, and so many threads, run at a time."""
        by_shared = self._shared_together // (shared_bytes + 1024)
        return self.n_multiprocessors * max(1, min(by_shared, 2048 // n_threads))
