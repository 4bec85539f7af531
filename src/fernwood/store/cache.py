"""Blocks of files from elsewhere, kept on the local disk: fetched once for all processes of a machine, and bounded.

A block is a file of its own, which takes its name when it is whole, so that nobody reads half of one. Whoever wants a
block that is not there locks its number: one fetches, others wait and find it. Where the bound holds fewer blocks than
there are, some of them stay, spread evenly, and the others pass through a few places, the oldest making room. A search
sweeps over all columns again and again, and of such sweeps a part that stays saves more than the part used last.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fernwood.budget import parse_size, shown_size
from fernwood.errors import ParameterError, StoreError, shown
from fernwood.files import (
    FileReader,
    FileWriter,
    SharedDirectory,
    alone_with,
    entries_of,
    exists,
    free_bytes,
    is_ours_alone,
    make_directory,
    modified,
    move,
    read_file,
    remove,
    replaced_file,
    temporary_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["BlockCache", "Room", "cache_directory", "room_for"]

_FEWEST_BLOCKS = 8
"""Places that a cache needs at least, so that threads do not push out what others are about to read."""
_MOST_PASSING = 64
_LOCKS = 64
_MOST_HANDLES = 128
_MOST_AHEAD, _THREADS_AHEAD = 16, 2
_IN_A_FOLDER = 1000


def cache_directory(given: str | os.PathLike[str] | None, key: str) -> SharedDirectory:
    """The directory for blocks with a key: below the one that is given, or that FERNWOOD_CACHE names, where it stays.

    Otherwise it lies in the system's place for large temporary files and goes with the last process that holds it.
    """
    named = given or os.environ.get("FERNWOOD_CACHE")
    root = Path(named) if named else temporary_place() / f"fernwood-{os.getuid()}"
    try:
        make_directory(root, mode=0o700, parents=bool(named))
        if not named and not is_ours_alone(root):
            # A directory that everybody may write to is where others can lay out theirs under our name.
            raise StoreError(
                f"{shown(root)} is not a directory of yours alone, so that no cache is kept in it; remove it, or name "
                "a directory with FERNWOOD_CACHE"
            )
        if not named:
            SharedDirectory.clear(root)
        return SharedDirectory(root / key, keep=bool(named))
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"no cache can be kept in {shown(root)}: {error.strerror or error}; name another directory with "
            "FERNWOOD_CACHE"
        ) from error


class Room(NamedTuple):
    """How many of so many blocks stay in a cache, and for how many others there is a place at a time."""

    n_blocks: int
    n_staying: int
    n_passing: int

    def stays(self, number: int) -> bool:
        """Whether a block stays; those that do are spread evenly.

        Examples
        --------
        >>> [number for number in range(12) if Room(12, 4, 1).stays(number)]
        [2, 5, 8, 11]
        """
        return (number + 1) * self.n_staying // self.n_blocks > number * self.n_staying // self.n_blocks


def room_for(n_blocks: int, block_bytes: int, given: int | str | None, directory: Path) -> Room:
    """The room for blocks: as much as is given or FERNWOOD_CACHE_SIZE says; else all of them in half of the free disk.

    What the first process finds free counts for those that come after it.

    Examples
    --------
    >>> room_for(100, 2**20, "1GB", Path())
    Room(n_blocks=100, n_staying=100, n_passing=0)
    >>> room_for(2000, 2**20, "1GiB", Path())
    Room(n_blocks=2000, n_staying=960, n_passing=64)
    """
    size = given if given is not None else os.environ.get("FERNWOOD_CACHE_SIZE")
    if size is not None and size != "":
        most = parse_size(size, "cache_size") // block_bytes
        if most < min(_FEWEST_BLOCKS, n_blocks):
            raise ParameterError(
                f"cache_size is {shown(size)}, which is too small to read with; give at least "
                f"{shown_size(_FEWEST_BLOCKS * block_bytes)}"
            )
    else:
        most = _half_of_free(directory, n_blocks, block_bytes)
    if most >= n_blocks:
        return Room(n_blocks, n_blocks, 0)
    n_passing = min(max(most // 4, _FEWEST_BLOCKS // 2), _MOST_PASSING)
    return Room(n_blocks, most - n_passing, n_passing)


def _half_of_free(directory: Path, n_blocks: int, block_bytes: int) -> int:
    note = directory / "blocks"
    with alone_with(directory / "lock-blocks"):
        with suppress(OSError, ValueError):
            return int(read_file(note))
        free = free_bytes(directory)
        most = min(n_blocks, free // 2 // block_bytes)
        if most < min(_FEWEST_BLOCKS, n_blocks):
            raise StoreError(
                f"the disk that holds {shown(directory.parent)} has {shown_size(free)} free, too little for a cache; "
                "name a directory on another one with FERNWOOD_CACHE"
            )
        with replaced_file(note) as file:
            file.write(str(most).encode())
        return most


class BlockCache:
    """Numbered blocks, fetched when they are asked for.

    Parameters
    ----------
    directory
    room
    fetch : called with a number, and whether to try again where that may help; the bytes of the block
    """

    def __init__(self, directory: SharedDirectory, room: Room, fetch: Callable[[int, bool], bytes]) -> None:
        self._directory = directory
        self._room = room
        self._fetch = fetch
        self._handles: dict[int, FileReader] = {}
        self._lock = threading.Lock()
        self._ahead: dict[int, None] = {}
        self._n_threads = 0
        self._most_ahead = min(_MOST_AHEAD, room.n_passing // 2) if room.n_passing else _MOST_AHEAD

    @property
    def path(self) -> Path:
        """Where the blocks lie."""
        return self._directory.path

    def read_into(self, number: int, buffer: memoryview, offset: int) -> None:
        """Fill the buffer with bytes of a block."""
        block = self._handles.get(number) or self._here(number) or self._fetched(number, patient=True)
        block.read_into(buffer, offset)

    def expect(self, numbers: Iterable[int]) -> None:
        """Have some blocks fetched in the background, as many as there is room for in a short queue."""
        with self._lock:
            for number in numbers:
                if len(self._ahead) >= self._most_ahead:
                    break
                if number not in self._handles and number not in self._ahead and not exists(self._path(number)):
                    self._ahead[number] = None
            starting = min(len(self._ahead), _THREADS_AHEAD) - self._n_threads
            for _ in range(starting):
                self._n_threads += 1
                threading.Thread(target=self._fetch_ahead, name="fernwood-ahead", daemon=True).start()

    def forget_expected(self) -> None:
        """Fetch nothing more in the background."""
        with self._lock:
            self._ahead.clear()

    def _fetch_ahead(self) -> None:
        while True:
            with self._lock:
                number = next(iter(self._ahead), None)
                if number is None:
                    self._n_threads -= 1
                    return
                del self._ahead[number]
            # Whoever reads the block meets what went wrong, and says it.
            with suppress(StoreError, MemoryError):
                self._fetched(number, patient=False)

    def _path(self, number: int) -> Path:
        return self._paths(number)[0 if self._room.stays(number) else 1]

    def _paths(self, number: int) -> tuple[Path, Path]:
        """Where a block is that stays, and where it is while it passes through: processes may differ in their room."""
        return self.path / f"staying-{number // _IN_A_FOLDER}" / str(number), self.path / "passing" / str(number)

    def _here(self, number: int) -> FileReader | None:
        staying, passing = self._paths(number)
        for path in (staying, passing):
            with suppress(FileNotFoundError):
                return self._remembered(number, FileReader(path), stays=path is staying)
        return None

    def _remembered(self, number: int, block: FileReader, *, stays: bool) -> FileReader:
        if stays:
            if len(self._handles) >= _MOST_HANDLES:
                self._handles = {}  # only let go: threads that read keep theirs
            self._handles[number] = block
        return block

    def _fetched(self, number: int, *, patient: bool) -> FileReader:
        try:
            with alone_with(self.path / f"lock-{number % _LOCKS}"):
                here = self._here(number)  # fetched by another one while this one waited
                return here or self._kept(number, self._fetch(number, patient))
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(
                f"the cache {shown(self.path)} cannot be used: {error.strerror or error}; mend that, or name another "
                "directory with FERNWOOD_CACHE"
            ) from error

    def _kept(self, number: int, data: bytes) -> FileReader:
        path, partial = self._path(number), self.path / f"partial-{number}"
        make_directory(path.parent)
        remove(partial)  # of a process that died
        # On the disk before it has its name, where the cache may outlive the machine's next start.
        writer = FileWriter(partial, sync=self._directory.keep)
        try:
            writer.write(data)
            writer.close()
            block = FileReader(partial)  # stays readable when others push it out
            if self._room.stays(number):
                move(partial, path)
            else:
                self._let_pass(partial, path)
        except BaseException:
            writer.discard()
            with suppress(OSError):
                remove(partial)
            raise
        return block

    def _let_pass(self, partial: Path, path: Path) -> None:
        """Give a block its place among those that pass through, where the oldest make room for it."""
        with alone_with(self.path / "lock-passing"):
            blocks = sorted((modified(block), block) for block in entries_of(path.parent))
            for _, oldest in blocks[: max(len(blocks) - self._room.n_passing + 1, 0)]:
                remove(oldest)
            move(partial, path)
