"""A store that is in memory, or a view of one, put on disk for a while, where workers of other processes see it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from fernwood.files import make_directory, scratch_directory
from fernwood.store.columns import CodedBand, completed
from fernwood.store.disk import DiskStore
from fernwood.store.writer import DiskWriter
from fernwood.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fernwood.store.base import Store

__all__ = ["where_workers_see_it"]

_BLOCK_BYTES = 2**24


@contextmanager
def where_workers_see_it(store: Store) -> Iterator[Store]:
    """The store itself where it has a place, else a copy in a temporary directory that goes away afterwards.

    Temporary directories are made where ``TMPDIR`` says: workers of other machines see them on a shared disk only.

    Examples
    --------
    >>> import fernwood
    >>> with where_workers_see_it(fernwood.ingest(np.eye(4))) as copy:
    ...     copy.read([1]).tolist()
    [[0, 1, 0, 0]]
    """
    if store.locator is not None:
        yield store
        return
    with scratch_directory() as folder:
        place = folder / "spilled.fern"
        make_directory(place)
        _write(store, place)
        with DiskStore(place) as copy:
            yield copy


def _write(store: Store, directory: Path) -> None:
    writer = DiskWriter(directory, store.n_rows, 0)
    try:
        for first, codes in store.blocks(_BLOCK_BYTES):
            records = store._records(np.arange(first, first + len(codes)))  # noqa: SLF001
            batch = completed(records).combine_chunks().to_batches()[0]
            writer.append(CodedBand(codes, batch))
        writer.finish(store.roles, store.notes, "memory", store.n_bytes, f"fernwood {__version__}")
    finally:
        writer.abandon()
