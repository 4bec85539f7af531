"""Zarr folders (versions 2 and 3) as containers of arrays, through zarr.

Zarr reads a chunk that is not there as its fill value. That may be meant, since chunks of nothing else need not be
written, or it may be a file that was lost, and the metadata does not tell which. So a chunk that is not there is
refused unless the user says that it is meant; see decision 0025.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any

from fernwood.errors import SourceError, shown
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrow import first_line
from fernwood.sources.containers import Container, needed, open_dataset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fernwood.sources.base import Source
    from fernwood.sources.table_form import TableForm

__all__ = ["ZarrFolder", "open_zarr"]


class ZarrFolder(Container):
    """A Zarr folder; `empty_chunks` says that chunks which are not there hold the fill value."""

    def __init__(self, path: Path, *, empty_chunks: bool = False) -> None:
        super().__init__(path)
        self._zarr = needed("zarr", "zarr", f"reading {self.title}")
        self._empty_chunks = empty_chunks

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The group or array, open for reading."""
        try:
            root = self._zarr.open(str(self.path), mode="r")
        except Exception as error:
            pass_on_shortage(error)
            raise SourceError(
                f"{self.title} cannot be read as Zarr ({first_line(error)}); copy or write it again"
            ) from error
        yield root

    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """All arrays, with their paths."""
        if isinstance(root, self._zarr.Array):
            yield "", root
            return
        for path, node in sorted(root.members(max_depth=None)):
            if isinstance(node, self._zarr.Array):
                yield path, node

    def check(self, array: Any, path: str) -> None:
        """Refuse an array of which chunks are not there."""
        meant = self._empty_chunks and array.fill_value is not None
        missing = [] if meant else list(_missing(array, self.path / path))
        if not missing:
            return
        whose = f"{shown(path)} in {self.title}" if path else self.title
        what = f"chunk {shown(missing[0])} of {whose}"
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        if array.fill_value is None:
            raise SourceError(f"{what}{more} is not there, and nothing says what it held; copy or write it again")
        raise SourceError(
            f"{what}{more} is not there, which Zarr reads as {array.fill_value}; copy it again if it was lost, or, "
            f"where chunks of nothing but {array.fill_value} were left out on purpose, say --empty-chunks "
            "(empty_chunks=True)"
        )


def _missing(array: Any, folder: Path) -> Iterator[str]:
    """The files of an array's chunks that are not there; a shard, which holds several chunks, is one file."""
    there = set()
    for parent, _, files in os.walk(folder):
        below = os.path.relpath(parent, folder)
        there |= {name if below == "." else f"{below}/{name}".replace(os.sep, "/") for name in files}
    grid = getattr(array, "shards", None) or array.chunks
    counts = [-(-size // step) for size, step in zip(array.shape, grid, strict=True)]
    for place in product(*(range(n) for n in counts)):
        name = array.metadata.encode_chunk_key(place)
        if name not in there:
            yield name


def open_zarr(path: Path, form: TableForm) -> Source:
    """An array of a Zarr folder."""
    return open_dataset(ZarrFolder(path, empty_chunks=form.empty_chunks), form.dataset)
