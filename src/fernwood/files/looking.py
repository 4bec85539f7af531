"""What is there: files, directories, their sizes, and what lies beside a name that is not."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections import deque
from contextlib import suppress
from itertools import islice
from pathlib import Path

from fernwood.errors import closest, shown_apart

__all__ = [
    "entries_of",
    "exists",
    "folder_holding",
    "free_bytes",
    "holds",
    "is_directory",
    "is_file",
    "is_link",
    "is_ours_alone",
    "mapped_file",
    "modified",
    "nearest_path",
    "size_of",
    "status",
    "temporary_place",
]

_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP, errno.ENAMETOOLONG}
_CLOSED = {errno.EACCES, errno.EPERM}
_MOST_BESIDE = 5000
_MOST_BELOW = 100_000


def status(path: Path) -> os.stat_result | None:
    """What the system says of a path; None where nothing is there.

    A disk that does not answer is an error: what it does not tell must not pass for what is not there.
    """
    try:
        return os.stat(path)
    except ValueError:  # a name that no file could have
        return None
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise


def exists(path: Path) -> bool:
    """Whether there is anything of that name."""
    return status(path) is not None


def is_file(path: Path) -> bool:
    """Whether there is a regular file of that name."""
    found = status(path)
    return found is not None and stat.S_ISREG(found.st_mode)


def is_directory(path: Path) -> bool:
    """Whether there is a directory of that name."""
    found = status(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def is_link(path: Path) -> bool:
    """Whether the name is that of a symbolic link, to whatever."""
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def holds(directory: Path, name: str) -> bool:
    """Whether a directory has a file of that name, as far as this user may look: for hints, which nothing rests on."""
    with suppress(OSError):
        return is_file(directory / name)
    return False


def size_of(path: Path) -> int:
    """Bytes of a file."""
    return os.stat(path).st_size


def modified(path: Path) -> int:
    """When a file was written last, in nanoseconds."""
    return os.stat(path).st_mtime_ns


def mapped_file(address: int) -> str | None:
    """The name that a file mapped at an address has now, or had when it was removed; None where the system is silent.

    Examples
    --------
    >>> mapped_file(0) or "nothing is mapped there"
    'nothing is mapped there'
    """
    try:
        with open("/proc/self/maps", errors="surrogateescape") as lines:
            for line in lines:
                span, *_, name = line.rstrip("\n").split(maxsplit=5)
                begin, end = (int(edge, 16) for edge in span.split("-"))
                if begin <= address < end:
                    return name
    except OSError:  # not everywhere
        return None
    return ""


def is_ours_alone(path: Path) -> bool:
    """Whether a path is a directory, and no link to one, that belongs to this user and that no other may write to."""
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def entries_of(path: Path, most: int | None = None) -> list[Path]:
    """What a directory holds, in no order; of a huge one, no more than `most`."""
    with os.scandir(path) as entries:
        return [path / entry.name for entry in islice(entries, most)]


def folder_holding(suffix: str, path: Path) -> Path | None:
    """Of the folders in a directory, one with a name of that suffix somewhere below it, as far as this user may look.

    Links below are not followed, and of a huge tree it is the upper part that is looked at.
    """
    waiting = deque((folder, folder) for folder in sorted(entries_of(path)) if _is_open_folder(folder))
    left = _MOST_BELOW
    while waiting and left > 0:
        folder, below = waiting.popleft()
        try:
            found = entries_of(below, left)
        except OSError as error:
            if error.errno in _NOT_THERE | _CLOSED:
                continue
            raise
        left -= len(found) + 1
        if any(entry.suffix == suffix for entry in found):
            return folder
        waiting += ((folder, entry) for entry in found if not is_link(entry) and _is_open_folder(entry))
    return None


def _is_open_folder(path: Path) -> bool:
    try:
        return is_directory(path)
    except PermissionError:
        return False


def free_bytes(path: Path) -> int:
    """What the disk that holds a path has room for."""
    return shutil.disk_usage(path).free


def temporary_place() -> Path:
    """Where large temporary files go: not into a file system that is made of memory, unless somebody says so."""
    large = Path("/var/tmp")  # noqa: S108  (whoever uses it checks that what lies there is ours)
    return large if "TMPDIR" not in os.environ and os.access(large, os.W_OK) else Path(tempfile.gettempdir())


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
    with suppress(OSError, ValueError):
        names = [entry.name for entry in entries_of(path.parent, _MOST_BESIDE) if not entry.name.startswith(".")]
        names = [name for name in names if name != path.name]  # a link that leads nowhere has the name, and is not it
        beside = [name for name in names if not holding or holds(path.parent / name, holding)]
    # What is before the dot counts: endings are alike by themselves.
    stem = closest(path.stem, sorted({Path(name).stem for name in beside}))
    alike = sorted(name for name in beside if stem and Path(name).stem == stem)
    if not alike:
        return ""
    return f"; did you mean {shown_apart(path.parent / (closest(path.name, alike) or alike[0]), path)}?"
