"""A store at a URL: the files of an object store or a server, read through a cache on the local disk."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from fernwood.errors import StoreError
from fernwood.sealed import digest
from fernwood.sources.place import Url
from fernwood.store.cache import BlockCache, cache_directory, room_for
from fernwood.store.manifest import check_files, understood
from fernwood.store.objects import AT_ONCE, Objects
from fernwood.store.stored import FileStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fernwood.store.manifest import Manifest
    from fernwood.store.objects import Seen

__all__ = ["BLOCK_BYTES", "RemoteStore"]

BLOCK_BYTES = 2**21
"""What is fetched at a time: so long that waiting for its first byte counts little, so short that several fit."""
_MOST_AT_WORK = 8


class RemoteStore(FileStore):
    """A store at a URL, opened for reading.

    Parameters
    ----------
    url
    cache
        The directory of the cache, which then stays; by default FERNWOOD_CACHE, or a temporary one.
    cache_size
        The most bytes that the cache may take, at least 16 MiB; by default FERNWOOD_CACHE_SIZE, or the size of the
        store and at most half of what is free on the disk.
    options
        For the library behind the protocol, as fsspec takes them.
    """

    def __init__(
        self,
        url: Url,
        *,
        cache: str | os.PathLike[str] | None = None,
        cache_size: int | str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.url = url
        self._objects = Objects(url, options or {})
        manifest, self._seen, self._manifest_bytes = self._found()
        super().__init__(manifest, self._objects.title)
        self.fetching_bytes = 2 * AT_ONCE * BLOCK_BYTES
        self._arguments = (cache, cache_size, options)
        self._blocks = _Blocks({record.name: record.size for record in self.manifest.files})
        seen = [(name, *seen) for name, seen in sorted(self._seen.items())]
        self._key = digest(repr((str(url), self.fingerprint, BLOCK_BYTES, seen)).encode())
        self._cache: BlockCache | None = None
        self._cache_lock = threading.Lock()
        _OPENED.add(self)

    def _begin_again(self) -> None:
        """Let go of what a forked process cannot use: locks that threads of its parent hold, and their connections."""
        self._objects = Objects(self.url, self._arguments[2] or {})
        self._lock, self._records_lock, self._cache_lock = threading.Lock(), threading.Lock(), threading.Lock()
        self._handles, self._cache = {}, None
        self.__dict__.pop("_parquet", None)

    @property
    def bytes_fetched(self) -> int:
        """Bytes that this process fetched for the store since it was opened."""
        return self._objects.bytes_fetched

    @property
    def locator(self) -> str:
        """Its URL, whole: a worker needs what is secret in it too."""
        return self.url.full

    @property
    def n_bytes(self) -> int:
        """Bytes of all files of the store."""
        return sum(record.size for record in self.manifest.files) + self._manifest_bytes

    def _found(self) -> tuple[Manifest, dict[str, Seen], int]:
        """The manifest as it is now, the files, and how long the manifest is."""
        data = self._objects.manifest()
        manifest = understood(data, self._objects.title)
        seen = self._objects.look([record.name for record in manifest.files])
        check_files(manifest, {name: one.size for name, one in seen.items()}, self._objects.title)
        return manifest, seen, len(data or b"")

    def _manifest_again(self) -> Manifest:
        manifest, seen, _ = self._found()
        if (manifest.fingerprint, seen) != (self.fingerprint, self._seen):
            raise StoreError(f"{self.title} was replaced since it was opened; open it again")
        return manifest

    def _open(self, name: str) -> _CachedFile:
        return _CachedFile(name, self._blocks, self._held_cache())

    def _held_cache(self) -> BlockCache:
        with self._cache_lock:
            if self._cache is None:
                cache, cache_size, _ = self._arguments
                directory = cache_directory(cache, self._key)
                room = room_for(self._blocks.n_blocks, BLOCK_BYTES, cache_size, directory.path)
                self._cache = BlockCache(directory, room, _fetcher(self._objects, self._seen, self._blocks))
            return self._cache

    def mark(self) -> dict[str, list[int]]:
        """Sizes and versions of its files when the store was opened: nothing of another version is ever read."""
        return {name: [seen.size, int(seen.version[:12], 16)] for name, seen in self._seen.items()}

    def close(self) -> None:
        """Let go of the cache, which goes with its last holder; the store begins another one when it is read again."""
        super().close()
        with self._cache_lock:
            if self._cache is not None:
                self._cache.forget_expected()
            self._cache = None

    def __reduce__(self) -> tuple[Callable[..., RemoteStore], tuple[object, ...]]:
        return _at_work, (self.url.full, self.fingerprint, *self._arguments)


class _Blocks:
    """Which block of which file has which number."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes
        counts = [-(-size // BLOCK_BYTES) for size in sizes.values()]
        self.first = dict(zip(sizes, accumulate(counts, initial=0), strict=False))
        self.n_blocks = sum(counts)

    def part(self, number: int) -> tuple[str, int, int]:
        """The file of a block, and where in it the block begins and ends."""
        name = max((name for name in self.sizes if self.first[name] <= number), key=self.first.__getitem__)
        start = (number - self.first[name]) * BLOCK_BYTES
        return name, start, min(start + BLOCK_BYTES, self.sizes[name])


def _fetcher(objects: Objects, seen: dict[str, Seen], blocks: _Blocks) -> Callable[[int, bool], bytes]:
    """What fetches a block. It knows no store, so that a store that nobody uses lets go of its cache."""

    def fetch(number: int, patient: bool) -> bytes:
        name, start, stop = blocks.part(number)
        return objects.read(name, seen[name], start, stop, patient=patient)

    return fetch


class _CachedFile:
    """A file at a URL as its blocks in the cache."""

    def __init__(self, name: str, blocks: _Blocks, cache: BlockCache) -> None:
        self.size = blocks.sizes[name]
        self._first = blocks.first[name]
        self._cache = cache

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill the buffer with the bytes at `offset`."""
        done = 0
        while done < len(buffer):
            block, inside = divmod(offset + done, BLOCK_BYTES)
            piece = buffer[done : done + BLOCK_BYTES - inside]
            self._cache.read_into(self._first + block, piece, inside)
            done += len(piece)

    def read(self, size: int, offset: int) -> bytes:
        """The `size` bytes at `offset`."""
        buffer = bytearray(size)
        self.read_into(memoryview(buffer), offset)
        return bytes(buffer)

    def expect(self, offset: int, size: int) -> None:
        """Have blocks fetched that will be asked for soon."""
        first, last = offset // BLOCK_BYTES, (offset + size - 1) // BLOCK_BYTES
        self._cache.expect(range(self._first + first, self._first + last + 1))


_OPENED: weakref.WeakSet[RemoteStore] = weakref.WeakSet()


def _after_fork() -> None:
    global _AT_WORK_LOCK
    _AT_WORK_LOCK = threading.Lock()
    _AT_WORK.clear()
    if "fsspec.asyn" in sys.modules:
        # fsspec before 2025.3.1 goes on waiting for a loop whose thread stayed behind in the parent.
        sys.modules["fsspec.asyn"].reset_lock()
    for store in list(_OPENED):
        store._begin_again()  # noqa: SLF001


os.register_at_fork(after_in_child=_after_fork)

_AT_WORK: dict[str, tuple[RemoteStore, BlockCache]] = {}
_AT_WORK_LOCK = threading.Lock()


def _at_work(url: str, fingerprint: str, cache: Any, cache_size: Any, options: Any) -> RemoteStore:
    """The store that was sent to this process, opened here once, with a cache that stays from one task to the next."""
    key = repr((url, fingerprint, cache, cache_size, options))
    with _AT_WORK_LOCK:
        if key not in _AT_WORK:
            store = RemoteStore(Url(url), cache=cache, cache_size=cache_size, options=options)
            if store.fingerprint != fingerprint:
                raise StoreError(f"{store.title} was replaced since it was opened elsewhere; open it again")
            if len(_AT_WORK) >= _MOST_AT_WORK:
                del _AT_WORK[next(iter(_AT_WORK))]
            _AT_WORK[key] = store, store._held_cache()  # noqa: SLF001
        return _AT_WORK[key][0]
