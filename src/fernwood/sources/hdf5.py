"""HDF5 files as containers of arrays, through h5py."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fernwood.errors import SourceError
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrow import first_line
from fernwood.sources.containers import Container, needed, open_dataset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fernwood.sources.base import Source
    from fernwood.sources.table_form import TableForm

__all__ = ["Hdf5File", "open_hdf5"]

_OPEN_ELSEWHERE = "is open for writing elsewhere, so that its values may change; close it there, or give a copy of it"
_TROUBLES = {
    "unable to lock file": _OPEN_ELSEWHERE,
    "already open": f"{_OPEN_ELSEWHERE} (one that was never closed is mended by h5clear -s)",
    "truncated file": "is cut off: it is shorter than it says; copy it again",
    "file signature not found": "is no HDF5 file; give one, or a name that says what it is",
}
"""What HDF5 says, and what that means."""


class Hdf5File(Container):
    """An HDF5 file; `extra` is what to install where h5py is missing."""

    def __init__(self, path: Path, extra: str = "hdf5") -> None:
        super().__init__(path)
        self._h5py = needed("h5py", extra, f"reading {self.title}")

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The file, open for reading."""
        try:
            file = self._h5py.File(self.path, "r")
        except OSError as error:
            pass_on_shortage(error)
            said = first_line(error)
            for words, meaning in _TROUBLES.items():
                if words in said:
                    raise SourceError(f"{self.title} {meaning}") from error
            raise SourceError(f"{self.title} cannot be read as HDF5 ({said}); copy or write it again") from error
        with file:
            yield file

    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """All data sets, with their paths."""
        found: list[tuple[str, Any]] = []

        def take(path: str, node: Any) -> None:
            if isinstance(node, self._h5py.Dataset) and node.shape is not None:
                found.append((path, node))

        root.visititems(take)
        yield from found


def open_hdf5(path: Path, form: TableForm) -> Source:
    """A data set of an HDF5 file, or the AnnData that it holds."""
    file = Hdf5File(path)
    with file.opened() as root:
        is_anndata = str(root.attrs.get("encoding-type", "")) == "anndata"  # a stranger may have put an array there
    if is_anndata and form.dataset is None:
        from fernwood.sources.annotated import open_annotated

        return open_annotated(file, form.layer)
    if form.layer is not None:
        raise SourceError(f"layer says which matrix of AnnData is the table, and {file.title} is none; leave it out")
    return open_dataset(file, form.dataset)
