"""A command as somebody at a terminal sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from pathlib import Path
from typing import Self

__all__ = ["Terminal", "shown_on_a_terminal"]


def shown_on_a_terminal(
    command: list[str], width: int, cwd: Path, env: dict[str, str] | None = None, **streams: int
) -> tuple[int, str]:
    """How a command ends, and what it shows on a pseudo-terminal of this width, which takes its standard output.

    `streams` say where the others go; ``stdin=-1`` or ``stderr=-1`` is the terminal as well.
    """
    ours, theirs = _opened(width)
    others = {name: theirs if where == -1 else where for name, where in streams.items()}
    child = subprocess.Popen(command, cwd=cwd, env=env, stdout=theirs, **others)
    os.close(theirs)
    shown = _read(ours)
    os.close(ours)
    return child.wait(timeout=60), shown


class Terminal:
    """A pseudo-terminal of this width in a `with` block, for processes that open it by its `name`.

    Afterwards `shown` is what they wrote.
    """

    def __init__(self, width: int) -> None:
        self._ours, self._theirs = _opened(width)
        self.name = os.ttyname(self._theirs)
        self.shown = ""
        self._reader = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._theirs)
        self._reader.join()
        os.close(self._ours)

    def _listen(self) -> None:
        self.shown = _read(self._ours)


def _opened(width: int) -> tuple[int, int]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    return ours, theirs


def _read(ours: int) -> str:
    """All that is shown until the other side is closed."""
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        shown += piece
    return shown.decode("utf-8", "replace")
