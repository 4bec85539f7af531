"""The one door to the disk: whole positioned reads, writes that reach the disk, directories that appear whole.

Everything that Fernwood reads by position or writes goes through here, so that a test can make any call fail.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import secrets
import shutil
import time
import weakref
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from fernwood.errors import StoreError, closest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

__all__ = [
    "FileReader",
    "FileWriter",
    "OpenDirectory",
    "SharedDirectory",
    "alone_with",
    "appearing_directory",
    "locked",
    "nearest_path",
    "remove_tree",
    "replaced_file",
]

_BETWEEN_TRIES = 0.02
_MOST_BESIDE = 5000


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
            os.close(self._descriptor)


class FileReader:
    """A file open for positioned reads, safe from many threads: a read has no position to share.

    The descriptor is given back when the last reader lets go of the object, so that nobody reads from a number that
    has become another file.
    """

    def __init__(self, path: Path, directory: OpenDirectory | None = None) -> None:
        self.path = path
        self._descriptor = directory.open(path.name) if directory else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size = os.fstat(self._descriptor).st_size

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill the buffer with the bytes at `offset`; a file that ends before that is an error."""
        _read_all(self._descriptor, buffer, offset, self.path)

    def expect(self, offset: int, size: int) -> None:
        """Let the system fetch bytes that will be asked for soon; they wait in its cache, not in the process."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._descriptor, offset, size, os.POSIX_FADV_WILLNEED)

    def read(self, size: int, offset: int) -> bytes:
        """The `size` bytes at `offset`."""
        buffer = bytearray(size)
        self.read_into(memoryview(buffer), offset)
        return bytes(buffer)

    def close(self) -> None:
        """Give the descriptor back; closing twice is fine."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()


class FileWriter(io.RawIOBase):
    """A new file, written front to back; `close` returns only when the bytes are on the disk.

    A raw binary file to Python and Arrow, so that Parquet is written through it as well.
    """

    def __init__(self, path: Path, *, sync: bool = True) -> None:
        super().__init__()
        self.path = path
        self._sync = sync
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._position = 0

    def writable(self) -> bool:
        """Yes: the file is for writing."""
        return True

    def tell(self) -> int:
        """Bytes written so far."""
        return self._position

    def write(self, data: object) -> int:
        """Append all of `data`, any contiguous bytes."""
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        done = 0
        while done < len(view):
            done += os.write(self._descriptor, view[done:])
        self._position += done
        return done

    def rewrite(self, data: bytes, offset: int) -> None:
        """Overwrite bytes written before, in place."""
        done = 0
        while done < len(data):
            done += os.pwrite(self._descriptor, data[done:], offset + done)

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Read back what was written, by position."""
        _read_all(self._descriptor, buffer, offset, self.path)

    def close(self) -> None:
        """Sync and give the descriptor back; closing twice is fine."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            try:
                if self._sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        super().close()

    def discard(self) -> None:
        """Close without waiting for the disk: the file is about to be removed."""
        self._sync = False
        self.close()


def _read_all(descriptor: int, buffer: memoryview, offset: int, path: Path) -> None:
    """Fill the buffer from a place in a file, however many reads it takes."""
    done = 0
    while done < len(buffer):
        got = os.preadv(descriptor, [buffer[done:]], offset + done)
        if got == 0:
            raise OSError(errno.EIO, f"the file ends at byte {offset + done}", str(path))
        done += got


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
    if not parent.is_dir():
        raise StoreError(f"there is no directory {shown(parent)} to write {shown(path.name)} into; make it first")
    _settle_leftovers(path)
    if path.exists() and not replace:
        raise StoreError(f"{shown(path)} exists; choose another name or replace it with --force (force=True)")
    try:
        staging, lock = _locked_sibling(path)
    except OSError as error:
        raise StoreError(
            f"{shown(path.name)} cannot be made in {shown(parent)}: {error.strerror or error}; choose another place"
        ) from error
    try:
        yield staging
        _sync_directory(staging)
        _take_place(staging, path)
    finally:
        os.close(lock)
        remove_tree(staging)


@contextmanager
def replaced_file(path: Path) -> Iterator[FileWriter]:
    """A file to write that takes the name `path` only when the block ends well; what was there stays until then.

    One writer at a time: what a dead one left under the hidden name is overwritten. A device, a pipe or a directory of
    that name is never replaced.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "there is something of that name that is no file", str(path))
    staging = path.with_name(f".{path.name}.partial")
    staging.unlink(missing_ok=True)
    writer = FileWriter(staging)
    try:
        yield writer
        writer.close()
        staging.replace(path)
        _sync_directory(path.parent)
    finally:
        writer.discard()
        staging.unlink(missing_ok=True)


def nearest_path(path: Path, holding: str = "") -> str:
    """A hint for a sentence about a path that is not there: what lies beside it under a name much alike, or nothing.

    With `holding`, only directories that have a file of this name count.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "genes.csv").write_text("a")
    ...     hint = nearest_path(Path(folder) / "gene.csv")
    >>> hint.endswith("genes.csv'?")
    True
    """
    beside: list[str] = []
    with suppress(OSError, ValueError), os.scandir(path.parent) as entries:
        names = [entry.name for entry in islice(entries, _MOST_BESIDE) if not entry.name.startswith(".")]
        beside = [name for name in names if not holding or (path.parent / name / holding).is_file()]
    # What is before the dot counts: endings are alike by themselves.
    stem = closest(path.stem, sorted({Path(name).stem for name in beside}))
    alike = sorted(name for name in beside if stem and Path(name).stem == stem)
    return f"; did you mean {shown(path.parent / (closest(path.name, alike) or alike[0]))}?" if alike else ""


@contextmanager
def locked(directory: Path, *, tries: int = 1) -> Iterator[bool]:
    """Whether this process alone works in a directory, while the block runs; the lock goes when the process does.

    Who wants to work there should try more than once: one that only looks holds the lock for an instant.
    """
    lock = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        alone = _taken(lock)
        while not alone and tries > 1:
            time.sleep(_BETWEEN_TRIES)
            tries -= 1
            alone = _taken(lock)
        yield alone
    finally:
        os.close(lock)


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Hold a lock file, after everybody who holds it now: one thread of one process at a time."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        # Closing alone would leave it with a child that was forked meanwhile.
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


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
        for path in root.iterdir():
            with suppress(OSError):
                lock = os.open(path / _HOLDERS, os.O_RDWR | os.O_CLOEXEC)
                try:
                    if _taken(lock):
                        _retire(path)
                finally:
                    os.close(lock)
            if path.name.startswith(_RETIRED):
                shutil.rmtree(path, ignore_errors=True)


_HOLDERS, _RETIRED = "holders", ".retired-"


def _hold(path: Path) -> int:
    """The lock of one more process, or one more object, that holds a shared directory."""
    while True:
        path.mkdir(mode=0o700, exist_ok=True)
        try:
            lock = os.open(path / _HOLDERS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # removed by its last holder, an instant ago
        fcntl.flock(lock, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), (path / _HOLDERS).stat()):
                return lock
        os.close(lock)


def _let_go(path: Path, lock: int, keep: bool, process: int) -> None:
    try:
        # What a process inherited from its parent is the parent's to remove.
        if not keep and process == os.getpid() and _taken(lock):
            _retire(path)
    finally:
        os.close(lock)


def _retire(path: Path) -> None:
    """Remove a shared directory that nobody holds; its name is free at once."""
    retired = path.with_name(f"{_RETIRED}{secrets.token_hex(4)}")
    with suppress(FileNotFoundError):
        path.rename(retired)
        shutil.rmtree(retired, ignore_errors=True)


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked_sibling(path: Path) -> tuple[Path, int]:
    """A new hidden directory beside `path`, and the lock that says that its writer lives."""
    while True:
        staging = path.parent / f".{path.name}.partial-{secrets.token_hex(4)}"
        staging.mkdir()
        lock = os.open(staging, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if staging.exists():
            return staging, lock
        os.close(lock)  # another writer took it for a leftover before it was locked


def remove_tree(path: Path) -> None:
    """Remove a directory and all below it; one that is not there is fine."""
    with suppress(FileNotFoundError):
        shutil.rmtree(path)


def _take_place(staging: Path, path: Path) -> None:
    retired = path.parent / f".{path.name}.partial-old-{secrets.token_hex(4)}"
    replacing = path.exists()
    if replacing:
        path.rename(retired)
    try:
        staging.rename(path)
    except BaseException:
        if replacing:
            retired.rename(path)
        raise
    _sync_directory(path.parent)
    if replacing:
        remove_tree(retired)


def _settle_leftovers(path: Path) -> None:
    """Clear up after writers that died: their locks went with them.

    One that died while it replaced `path` may have left the old directory retired: that one gets its name back.
    """
    for leftover in path.parent.glob(f".{_literal(path.name)}.partial-*"):
        lock = os.open(leftover, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # somebody is writing there right now
        else:
            if leftover.name.startswith(f".{path.name}.partial-old-") and not path.exists():
                leftover.rename(path)
            else:
                remove_tree(leftover)
        finally:
            os.close(lock)


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
