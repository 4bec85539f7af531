"""Whether the kernels are compiled, and compiling them in child processes when they are not.

Numba keeps compiled kernels on disk. The first time, the compiler runs in a child, so that its memory (some hundred
megabytes) does not count against a run's budget; a mark beside Numba's files says that a family of kernels is there.
What a stopped child compiled stays, so that the next one goes on from there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, cast

import numba
from llvmlite import binding

from fernwood.kernels import text
from fernwood.kernels.jit import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ensure_compiled", "load_compiled"]

_log = logging.getLogger("fernwood")

_MOST_CHILDREN = 2
_STEPS_OF_A_CHILD = 8
"""A child of its own for every so many steps: starting one takes about as long as compiling one of them."""

_compiled: set[str] = set()


def ensure_compiled(*families: str) -> None:
    """Compile families of kernels, such as "text" or "trees", in child processes unless that was done before.

    A child that fails is no error: the kernels are then compiled where they are called.
    """
    if _compiled.issuperset(families):
        return
    from fernwood.kernels.families import FAMILIES

    missing = [family for family in families if family not in _compiled and not _is_compiled(family)]
    steps = list(dict.fromkeys(step for family in missing for step in FAMILIES[family]))
    done = _compile(steps) if steps and sys.executable else set()
    for family in missing:
        mark = _mark(family)
        if mark is not None and done.issuperset(FAMILIES[family]):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
    _compiled.update(families)


@cache
def load_compiled(*families: str) -> None:
    """Compile families of kernels unless that was done before, and load them: what they take is resident from now on.

    Sources do so when they are opened, since a budget counts from what is resident then.
    """
    from fernwood.kernels.families import load_families

    ensure_compiled(*families)
    load_families(*families)


def _is_compiled(family: str) -> bool:
    """Whether a family is on disk, or will not be."""
    mark = _mark(family)
    return mark is None or mark.exists()


def _mark(family: str) -> Path | None:
    """The file that says of a family that it is compiled; none where nothing is compiled, or kept."""
    folder = None if numba.config.DISABLE_JIT else cache_folder(text.parse_cells)  # type: ignore[attr-defined]
    return None if folder is None else Path(folder) / f"fernwood-{family}-{_state()}.ready"


@cache
def _state() -> str:
    """What compiled code depends on: the sources, the compiler, Python and the processor."""
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
    return state.hexdigest()


def _compile(steps: Sequence[str]) -> set[str]:
    """Compile steps in child processes, two at a time where there are many; the steps that were done."""
    waiting, done = SimpleQueue[str](), SimpleQueue[str]()
    for step in steps:
        waiting.put(step)
    n_children = min(_MOST_CHILDREN, os.cpu_count() or 1, 1 + (len(steps) - 1) // _STEPS_OF_A_CHILD)

    def work_through(child: subprocess.Popen[str]) -> None:
        with suppress(Empty, OSError):
            while _is_done(child, step := waiting.get_nowait()):
                done.put(step)
                _count(done.qsize(), len(steps))

    _count(0, len(steps))
    # Children end before their threads do, also when a signal ends the waiting: who waits for a child is told.
    with ThreadPoolExecutor(n_children) as pool, ExitStack() as stack:
        children = [stack.enter_context(_child()) for _ in range(n_children)]
        list(pool.map(work_through, children))
    return {done.get() for _ in range(done.qsize())}


@contextmanager
def _child() -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "fernwood.kernels", "--steps"]
    errors = None if _log.isEnabledFor(logging.DEBUG) else subprocess.DEVNULL
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=errors, text=True) as child:
        try:
            yield child
        except BaseException:
            child.kill()
            raise


def _is_done(child: subprocess.Popen[str], step: str) -> bool:
    """Have a child compile a step; False where it failed, and is gone."""
    to_child, from_child = cast("IO[str]", child.stdin), cast("IO[str]", child.stdout)
    to_child.write(step + "\n")
    to_child.flush()
    return bool(from_child.readline())


def _count(n_done: int, n_steps: int) -> None:
    """Say how far compiling is: on a terminal in one line that counts, elsewhere once."""
    if not _log.isEnabledFor(logging.INFO):
        return
    if sys.stderr is None or not sys.stderr.isatty():
        if n_done == 0:
            _log.info("compiling numerical code (first run only)")
        return
    sys.stderr.write(f"\rcompiling numerical code (first run only): {n_done} of {n_steps}")
    sys.stderr.write("\n" if n_done == n_steps else "")
    sys.stderr.flush()
