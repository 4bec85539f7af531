"""What workers are asked for in tests; a module of its own, so that they know it by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def doubled(item: bytes) -> bytes:
    return item + item


def doubled_slowly(item: bytes) -> bytes:
    """Not done when somebody first looks."""
    time.sleep(1.5)
    return doubled(item)


def dies_once(item: bytes) -> int:
    """Kills its process the first time that it is asked; the item is a path, where that is noted."""
    path = Path(item.decode())
    if path.name.startswith("deadly") and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def dies_elsewhere(item: bytes) -> int:
    """Kills every process but the one whose number is the item."""
    if os.getpid() != int(item):
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def lacks_memory_elsewhere(item: bytes) -> int:
    if os.getpid() != int(item):
        raise MemoryError("no room here")
    return os.getpid()


def hangs_once(item: bytes) -> bool:
    """Sleeps for long the first time that it is asked for a path, or until it is woken; whether it slept."""
    path = Path(item.decode())
    if path.name.startswith("slow") and not path.exists():
        path.touch()
        until = time.monotonic() + 40
        while time.monotonic() < until and not path.with_name("woken").exists():
            time.sleep(0.05)
        return True
    return False


def complains(item: bytes) -> None:
    raise ValueError(f"nothing to be done with {item.decode()}")
