"""Directories that appear whole or not at all, that are held open, or that go with the block that needs them."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fernwood.errors import StoreError, shown
from fernwood.files.locks import locked
from fernwood.files.looking import entries_of, exists, is_directory
from fernwood.files.reading import close_quietly
from fernwood.files.writing import sync_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "OpenDirectory",
    "appearing_directory",
    "copy_tree",
    "make_directory",
    "remove_tree",
    "restored",
    "scratch_directory",
    "sync_tree",
]


class OpenDirectory:
    """A directory held open: files are opened in it even when another one takes its name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open(self, name: str) -> int:
        """A descriptor of one of its files, for reading."""
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._descriptor)

    def size_and_time(self, name: str) -> tuple[int, int]:
        """Bytes of one of its files, and when it was written last, in nanoseconds."""
        about = os.stat(name, dir_fd=self._descriptor)
        return about.st_size, about.st_mtime_ns

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            close_quietly(self._descriptor)


@contextmanager
def appearing_directory(path: Path, *, replace: bool) -> Iterator[Path]:
    """A directory to fill that takes the name `path` only when the block ends well.

    Until then it is a hidden sibling. When the block fails, or the process dies, nothing is seen under `path`; what a
    dead process left is removed by the next writer of the same name.

    Parameters
    ----------
    path
        Where the directory is to appear.
    replace
        Whether a directory already there gives way; otherwise it is an error.
    """
    parent = path.parent
    if not is_directory(parent):
        raise StoreError(f"there is no directory {shown(parent)} to write {shown(path.name)} into; make it first")
    _settle_leftovers(path)
    if exists(path) and not replace:
        raise _taken(path)
    try:
        staging, lock = _locked_sibling(path)
    except OSError as error:
        raise StoreError(
            f"{shown(path.name)} cannot be made in {shown(parent)}: {error.strerror or error}; choose another place"
        ) from error
    try:
        yield staging
        sync_directory(staging)
        _take_place(staging, path, replace=replace)
    finally:
        close_quietly(lock)
        with suppress(OSError):  # the next writer of that name tries again
            remove_tree(staging)


@contextmanager
def scratch_directory(beside: Path | None = None) -> Iterator[Path]:
    """A directory for what does not fit into memory, which goes with the block.

    Parameters
    ----------
    beside
        A file that is being made, whose disk is to be used; by default the system's place for temporary files. What a
        dead process left beside a file is removed by the next one that makes it.
    """
    if beside is None:
        path, lock = Path(tempfile.mkdtemp(prefix="fernwood-")), -1
    else:
        _settle_leftovers(beside)
        path, lock = _locked_sibling(beside)
    try:
        yield path
    finally:
        if lock >= 0:
            close_quietly(lock)
        with suppress(OSError):  # what was done in it is done
            remove_tree(path)


def make_directory(path: Path, *, mode: int = 0o777, parents: bool = False) -> None:
    """Make a directory, with those above it if told so; one that is there is fine."""
    if parents:
        os.makedirs(path, mode, exist_ok=True)
        return
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not is_directory(path):
            raise


def remove_tree(path: Path) -> None:
    """Remove a directory and all below it; one that is not there is fine."""
    with suppress(FileNotFoundError):
        shutil.rmtree(path)


def copy_tree(source: Path, target: Path, *, linked: bool = False) -> None:
    """Copy a directory; `linked` says that the copy may share its files, which nobody is to change then."""
    shutil.copytree(source, target, copy_function=os.link if linked and hasattr(os, "link") else shutil.copy2)


def sync_tree(path: Path) -> None:
    """Wait until everything below a directory is on the disk, for files that others wrote."""
    for entry in entries_of(path):
        if is_directory(entry):
            sync_tree(entry)
        else:
            sync_directory(entry)  # a file is synced in the same way
    sync_directory(path)


def _locked_sibling(path: Path) -> tuple[Path, int]:
    """A new hidden directory beside `path`, and the lock that says that its writer lives."""
    while True:
        staging = path.parent / f".{path.name}.partial-{secrets.token_hex(4)}"
        os.mkdir(staging)
        lock = -1
        try:
            lock = os.open(staging, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if exists(staging):
                return staging, lock
        except FileNotFoundError:
            continue  # another writer took it for a leftover before it was opened
        except BaseException:
            if lock >= 0:
                close_quietly(lock)
            with suppress(OSError):
                os.rmdir(staging)
            raise
        close_quietly(lock)  # another writer took it for a leftover before it was locked


def _taken(path: Path) -> StoreError:
    return StoreError(f"{shown(path)} exists; choose another name or replace it with --force (force=True)")


def _take_place(staging: Path, path: Path, *, replace: bool) -> None:
    """Give a new directory its name; where that fails, everything has the name that it had before.

    Other writers may take the name, or give it up, at any moment: who replaces goes on until the name is its own.
    """
    retired: list[Path] = []
    placed = False
    try:
        while not placed:
            if exists(path):
                if not replace:  # another writer was there first
                    raise _taken(path)
                retired += _retired(path)
            placed = _placed(staging, path)
        sync_directory(path.parent)
    except BaseException:
        with suppress(OSError):
            if placed:
                os.rename(path, staging)
            if retired:
                os.rename(retired[-1], path)
        raise
    for old in retired:
        with suppress(OSError):  # the next writer of that name tries again
            remove_tree(old)


def _retired(path: Path) -> list[Path]:
    """The hidden name that a directory has now; none where another writer was faster."""
    hidden = path.parent / f".{path.name}.partial-old-{secrets.token_hex(4)}"
    try:
        os.rename(path, hidden)
    except FileNotFoundError:
        return []
    return [hidden]


def _placed(staging: Path, path: Path) -> bool:
    """Whether a directory has the name now, which another writer may have taken this instant."""
    try:
        os.rename(staging, path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def restored(path: Path) -> bool:
    """Whether a directory that is not there was found retired, and has its name back.

    A machine that stopped while a directory was being replaced leaves it so; nobody must be at work on it now.
    """
    if is_directory(path.parent):
        with suppress(FileNotFoundError):  # it may be gone the next moment
            _settle_leftovers(path)
    return exists(path)


def _settle_leftovers(path: Path) -> None:
    """Clear up after writers that died: their locks went with them.

    One that died while it replaced `path` may have left the old directory retired: that one gets its name back. While
    a writer lives, what is retired is left to it: it may be about to put it back.
    """
    beginning = f".{path.name}.partial-"
    dead, alive = [], False
    with ExitStack() as stack:  # their locks are ours until all is settled
        for leftover in entries_of(path.parent):
            if leftover.name.startswith(beginning):
                with suppress(FileNotFoundError):  # its writer was faster
                    alone = stack.enter_context(locked(leftover))
                    alive |= not alone
                    dead += [leftover] if alone else []
        for leftover in sorted(dead):
            if not leftover.name.startswith(f"{beginning}old-"):
                remove_tree(leftover)
            elif not alive and not exists(path):
                os.rename(leftover, path)
            elif not alive:
                remove_tree(leftover)
