"""A store on disk: a directory ``NAME.fern/``, held open while it is read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fernwood.errors import StoreError, shown
from fernwood.files import FileReader, OpenDirectory, size_of
from fernwood.store.manifest import MANIFEST_NAME, read_manifest
from fernwood.store.stored import FileStore

if TYPE_CHECKING:
    from pathlib import Path

    from fernwood.store.manifest import Manifest

__all__ = ["DiskStore"]


class DiskStore(FileStore):
    """A store directory, opened for reading."""

    def __init__(self, path: Path) -> None:
        super().__init__(read_manifest(path), shown(path.resolve().name))
        self.path = path.resolve()
        # Held, so that a store that is replaced meanwhile is an error and never a mixture of two.
        self._directory = OpenDirectory(self.path)

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
            raise StoreError(f"{self.title} was replaced or removed since it was opened; open it again") from error

    def _manifest_again(self) -> Manifest:
        return read_manifest(self.path)

    def mark(self) -> dict[str, list[int]]:
        """Sizes and times of its files; one that is gone is left out, since reading it says so."""
        found: dict[str, list[int]] = {}
        for record in self.manifest.files:
            with suppress(OSError):
                found[record.name] = list(self._directory.size_and_time(record.name))
        return found

    def __reduce__(self) -> tuple[type[DiskStore], tuple[Path]]:
        return DiskStore, (self.path,)
