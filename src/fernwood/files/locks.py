"""Who works where: locks of the system, which go when their process does, and directories that processes share."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fernwood.files.looking import entries_of
from fernwood.files.reading import close_quietly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["SharedDirectory", "alone_with", "locked", "taken"]

_BETWEEN_TRIES = 0.02
_HOLDERS, _RETIRED = "holders", ".retired-"


def taken(lock: int) -> bool:
    """Whether a lock was free, and is ours now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(directory: Path, *, tries: int = 1) -> Iterator[bool]:
    """Whether this process alone works in a directory, while the block runs; the lock goes when the process does.

    Who wants to work there should try more than once: one that only looks holds the lock for an instant.
    """
    lock = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        alone = taken(lock)
        while not alone and tries > 1:
            time.sleep(_BETWEEN_TRIES)
            tries -= 1
            alone = taken(lock)
        yield alone
    finally:
        close_quietly(lock)


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Hold a lock file, after everybody who holds it now: one thread of one process at a time."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):  # closing alone would leave it with a child that was forked meanwhile
            fcntl.flock(lock, fcntl.LOCK_UN)
        close_quietly(lock)


class SharedDirectory:
    """A directory that processes of one user share; the last of them that lets go of it removes it.

    It is let go of when nothing refers to the object any more, and when the process ends in whatever way.

    Parameters
    ----------
    path
        Made where it is not there yet.
    keep
        Whether it stays when nobody holds it.
    """

    def __init__(self, path: Path, *, keep: bool = False) -> None:
        self.path = path
        self.keep = keep
        self._let_go = weakref.finalize(self, _let_go, path, _hold(path), keep, os.getpid())

    @staticmethod
    def clear(root: Path) -> None:
        """Remove what processes that died left of shared directories in another one."""
        for path in entries_of(root):
            with suppress(OSError):
                lock = os.open(path / _HOLDERS, os.O_RDWR | os.O_CLOEXEC)
                try:
                    if taken(lock):
                        _retire(path, lock)
                finally:
                    close_quietly(lock)
            if path.name.startswith(_RETIRED):
                shutil.rmtree(path, ignore_errors=True)


def _hold(path: Path) -> int:
    """The lock of one more process, or one more object, that holds a shared directory."""
    while True:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        try:
            lock = os.open(path / _HOLDERS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # removed by its last holder, an instant ago
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if _is_of(lock, path):
                return lock
        except BaseException:
            close_quietly(lock)
            raise
        close_quietly(lock)


def _let_go(path: Path, lock: int, keep: bool, process: int) -> None:
    try:
        # What a process inherited from its parent is the parent's to remove.
        with suppress(OSError):  # what stays is removed by the next process that makes such a directory
            if not keep and process == os.getpid() and taken(lock):
                _retire(path, lock)
    finally:
        close_quietly(lock)


def _retire(path: Path, lock: int) -> None:
    """Remove a shared directory of which nobody holds the lock but we; its name is free at once.

    Before the lock was ours, others may have removed the directory, and made another one that they hold.
    """
    retired = path.with_name(f"{_RETIRED}{secrets.token_hex(4)}")
    with suppress(FileNotFoundError):
        if _is_of(lock, path):
            os.rename(path, retired)
            shutil.rmtree(retired, ignore_errors=True)


def _is_of(lock: int, path: Path) -> bool:
    """Whether a lock is that of the directory which has this name now."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path / _HOLDERS))
    except FileNotFoundError:
        return False
