"""A store on disk: a directory ``NAME.fern/``, held open while it is read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fernwood.errors import StoreError, shown
from fernwood.files import FileReader, OpenDirectory, size_of
from fernwood.store.manifest import MANIFEST_NAME, read_manifest, understood
from fernwood.store.stored import FileStore

if TYPE_CHECKING:
    from pathlib import Path

    from fernwood.store.manifest import Manifest

__all__ = ["DiskStore"]

_BETWEEN_LOOKS_S = 0.01


class DiskStore(FileStore):
    """A store directory, opened for reading."""

    def __init__(self, path: Path) -> None:
        # Held, so that a store that is replaced meanwhile is an error and never a mixture of two.
        manifest, self._directory = _held(path)
        self.path = path.resolve()
        super().__init__(manifest, shown(self.path.name))

    @property
    def locator(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def n_bytes(self) -> int:
        """Bytes of all files of the store."""
        return sum(record.size for record in self.manifest.files) + size_of(self.path / MANIFEST_NAME)

    def _open(self, name: str) -> FileReader:
        try:
            return FileReader(self.path / name, self._directory)
        except FileNotFoundError as error:
            raise self._replaced() from error

    def _replaced(self) -> StoreError:
        return StoreError(f"{self.title} was replaced or removed since it was opened; open it again")

    def _manifest_again(self) -> Manifest:
        manifest = read_manifest(self.path)
        if manifest.fingerprint != self.manifest.fingerprint:
            raise self._replaced()
        return manifest

    def mark(self) -> dict[str, list[int]]:
        """Sizes and times of its files; one that is gone is left out, since reading it says so."""
        found: dict[str, list[int]] = {}
        for record in self.manifest.files:
            try:
                found[record.name] = list(self._directory.size_and_time(record.name))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._unreadable("files", error) from error
        return found

    def __reduce__(self) -> tuple[type[DiskStore], tuple[Path]]:
        return DiskStore, (self.path,)


def _held(path: Path) -> tuple[Manifest, OpenDirectory]:
    """The manifest of a store, and the very directory that it is of, whoever replaces the store at this moment."""
    title = shown(path.name)
    for last in (False, False, False, True):
        try:
            manifest = read_manifest(path)
            directory = OpenDirectory(path)
            with FileReader(path / MANIFEST_NAME, directory) as file:
                if understood(file.read(file.size, 0), title) == manifest:
                    return manifest, directory
        except StoreError:
            if last:
                raise
        except FileNotFoundError:
            pass
        time.sleep(_BETWEEN_LOOKS_S)
    raise StoreError(f"{title} is being replaced at this moment; open it again")
