"""What a process does to the world while a block runs: files, processes, connections, code.

Python tells such acts to an audit hook before they happen. One that is not allowed is noted and refused, so that it
does no harm even where the code under test catches everything.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["ForbiddenError", "watched"]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "shutil.rmtree": ((0, 1),),
    "shutil.move": ((1, None),),
    "shutil.copyfile": ((1, None),),
}
"""Acts that change the disk, and which of their arguments say where: a path, and the open directory it begins at."""
_NEVER = {
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "os.posix_spawn",
    "subprocess.Popen",
    "pty.spawn",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.bind",
    "urllib.Request",
    "webbrowser.open",
}
_TRUSTED = ("numba", "llvmlite", "fernwood.kernels.ready", "platform")
"""Numba keeps what it compiled as pickles beside our own source, which is as trusted as the source; and libraries ask
Python for the machine's name, which starts a process."""
_OF_SOURCE = ("importlib._bootstrap", "typing", "inspect")
"""Modules that are loaded on the way make dataclasses and named tuples of text; annotations are text as well."""


class ForbiddenError(BaseException):
    """Something that no input may make Fernwood do; no `except Exception` hears it."""


class _Watch:
    """The one hook of a process: a hook cannot be removed, so that this one sleeps between blocks."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] | None = None
        self.strangers: set[int | None] = set()
        self.seen: list[str] = []
        roots = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        self.code_roots = (*(str(root) for root in roots), str(Path(__file__).resolve().parents[1]))

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.allowed is None or threading.get_ident() in self.strangers:
            return
        told = self._forbidden(event, arguments)
        if told and not _within(_TRUSTED):
            self.seen.append(told)
            raise ForbiddenError(told)

    def _forbidden(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event in _NEVER or event == "pickle.find_class":
            return f"{event} {arguments!r:.200}"
        if event == "open":
            path, mode, flags = arguments
            writes = bool(flags & _WRITING) if isinstance(flags, int) else bool(set(mode or "") & set("wax+"))
            return f"open {path!r:.200} for writing" if writes and not self._inside(path) else ""
        if event in _CHANGES:
            places = [_beginning(arguments, *place) for place in _CHANGES[event]]
            outside = [place for place in places if not self._inside(place)]
            return f"{event} {outside[0]!r:.200}" if outside else ""
        if event == "exec":
            name = getattr(arguments[0], "co_filename", "")
            ours = name.startswith((*self.code_roots, "<frozen ")) or (name == "<string>" and _within(_OF_SOURCE))
            return "" if ours else f"exec of code from {name!r:.200}"
        return ""

    def _inside(self, path: object) -> bool:
        """Whether a path is in an allowed directory, links followed; what is open already was allowed then."""
        if isinstance(path, int) or path is None:
            return True
        real = os.path.realpath(os.fsdecode(os.fspath(path)))  # type: ignore[call-overload]
        return any(real == root or real.startswith(root + os.sep) for root in self.allowed or ())


def _beginning(arguments: tuple[Any, ...], path: int, directory: int | None) -> Any:
    """The path of an act, from the open directory that it begins at, if there is one."""
    opened = arguments[directory] if directory is not None and directory < len(arguments) else -1
    if isinstance(opened, int) and opened >= 0 and not isinstance(arguments[path], int):
        # As Linux says it; elsewhere such acts are taken as allowed, since what is open was allowed before.
        known = Path(f"/proc/self/fd/{opened}")
        return known.readlink() / os.fsdecode(arguments[path]) if known.exists() else None
    return arguments[path]


def _within(modules: Sequence[str]) -> bool:
    """Whether code of some modules, or of modules below them, is at work."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        if f"{frame.f_globals.get('__name__', '')}.".startswith(tuple(f"{name}." for name in modules)):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


_watch: _Watch | None = None


@contextmanager
def watched(allowed: Sequence[Path]) -> Iterator[list[str]]:
    """Refuse what no input may cause while the block runs, but for files below some directories; the list has it then.

    Scratch files go to the first of the directories. Threads that are there already do what they do for others: those
    of a test runner, or of a server that a test started.
    """
    global _watch
    if _watch is None:
        _watch = _Watch()
        sys.addaudithook(_watch)
    before, tempfile.tempdir = tempfile.tempdir, str(allowed[0])
    _watch.seen = []
    _watch.strangers = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}
    _watch.allowed = (*(os.path.realpath(path) for path in allowed), os.path.realpath(os.devnull))
    try:
        yield _watch.seen
    finally:
        _watch.allowed = None
        tempfile.tempdir = before
