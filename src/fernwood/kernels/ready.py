"""Whether the kernels are compiled, and compiling them in a child process when they are not.

Numba keeps compiled kernels on disk. The first time, the compiler runs in a child, so that its memory (some hundred
megabytes) does not count against a run's budget; a mark beside Numba's files says that a family of kernels is there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numba
from llvmlite import binding

from fernwood.kernels import text
from fernwood.kernels.jit import cache_folder

__all__ = ["ensure_compiled", "load_compiled", "mark_compiled"]

_log = logging.getLogger("fernwood")


def _mark(family: str) -> Path | None:
    """The file that says so of a family: its name changes with the sources, the compiler, Python and the processor."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return None
    directory = cache_folder(text.parse_cells)
    if directory is None:
        return None
    state = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        state.update(source.read_bytes())
        state.update(str(source.stat().st_mtime_ns).encode())  # Numba looks at the time, so we do
    for part in (
        numba.__version__,
        sys.version,
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
    ):
        state.update(part.encode())
    return Path(directory) / f"fernwood-{family}-{state.hexdigest()}.ready"


@cache
def ensure_compiled(*families: str) -> None:
    """Compile families of kernels, such as "text" or "trees", in a child process unless that was done before.

    A child that fails is no error: the kernels are then compiled where they are called.
    """
    for family in families:
        mark = _mark(family)
        if mark is not None and not mark.exists() and sys.executable:
            _compile(family)


@cache
def load_compiled(*families: str) -> None:
    """Compile families of kernels unless that was done before, and load them: what they take is resident from now on.

    Sources do so when they are opened, since a budget counts from what is resident then.
    """
    from fernwood.kernels.families import load_families

    ensure_compiled(*families)
    load_families(*families)


def _compile(family: str) -> None:
    _log.info("compiling numerical code (first run only, up to a minute)")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "fernwood.kernels", family]
    child = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
    if child.returncode:
        _log.debug("compiling in a child process failed: %s", child.stderr)


def mark_compiled(family: str) -> None:
    """Leave the mark; called by the child."""
    mark = _mark(family)
    if mark is not None:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
