"""An object store in memory that counts what is asked of it, and fails when told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

import fernwood
from fernwood.store.remote import RemoteStore

PROTOCOL = "counted"
N_ROWS, N_COLUMNS = 100, 400
BLOCK = 1000
"""Bytes of a block in these tests: ten columns."""


class CountedFiles(MemoryFileSystem):
    """Files by path; `asked` has every part that was fetched, and `fault` may do anything before one is."""

    protocol = PROTOCOL
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    asked: ClassVar[list[tuple[str, int, int]]] = []
    at_once: ClassVar[list[int]] = [0, 0]
    pause: ClassVar[float] = 0.0
    fault: ClassVar[Callable[[str, int], Any] | None] = None
    _counting = threading.Lock()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix(f"{PROTOCOL}:/"))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        kind = type(self)
        name = path.rpartition("/")[2]
        with self._counting:
            kind.at_once[0] += 1
            kind.at_once[1] = max(kind.at_once)
        try:
            time.sleep(kind.pause)
            instead = kind.fault(name, start or 0) if kind.fault else None
            data = super().cat_file(path, start=start, end=end, **kwargs) if instead is None else instead
        finally:
            with self._counting:
                kind.at_once[0] -= 1
        with self._counting:
            kind.asked.append((name, start or 0, len(data)))
        return data

    @classmethod
    def parts(cls, beginning: str = "") -> list[tuple[str, int, int]]:
        """What was fetched of files whose names begin so, but for manifests."""
        return [part for part in cls.asked if part[0].startswith(beginning) and part[0] != "manifest.json"]

    @classmethod
    def empty(cls) -> None:
        cls.store.clear()
        cls.asked.clear()
        cls.at_once[:] = [0, 0]
        cls.fault, cls.pause = None, 0.0


fsspec.register_implementation(PROTOCOL, CountedFiles, clobber=True)


def put(folder: Path, url: str) -> str:
    """Copy a store to a URL, as a user would with a tool of choice."""
    files, root = fsspec.core.url_to_fs(url)
    for path in sorted(folder.iterdir()):
        files.pipe_file(f"{root}/{path.name}", path.read_bytes())
    return url


def opened(url: str, **arguments: object) -> RemoteStore:
    store = fernwood.open(url, **arguments)
    assert isinstance(store, RemoteStore)
    return store
