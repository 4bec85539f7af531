"""A command as somebody at a terminal sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

__all__ = ["shown_on_a_terminal"]


def shown_on_a_terminal(
    command: list[str], width: int, cwd: Path, env: dict[str, str] | None = None, **streams: int
) -> tuple[int, str]:
    """How a command ends, and what it shows on a pseudo-terminal of this width, which takes its standard output.

    `streams` say where the others go; ``stdin=-1`` or ``stderr=-1`` is the terminal as well.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    others = {name: theirs if where == -1 else where for name, where in streams.items()}
    child = subprocess.Popen(command, cwd=cwd, env=env, stdout=theirs, **others)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return child.wait(timeout=60), shown.decode("utf-8", "replace")
