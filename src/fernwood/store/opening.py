"""Opening a store, wherever it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fernwood.store.disk import DiskStore

if TYPE_CHECKING:
    from fernwood.store.stored import FileStore

__all__ = ["open_store"]


def open_store(path: str | Path) -> FileStore:
    """Open a store made by `fernwood.ingest`.

    Reads the manifest and looks whether every file is there at its size; codes and records are read when needed.

    Examples
    --------
    >>> import fernwood, numpy as np, tempfile, pathlib
    >>> where = pathlib.Path(tempfile.mkdtemp()) / "small.fern"
    >>> _ = fernwood.ingest(np.eye(4), where)
    >>> fernwood.open(where)
    <DiskStore: 4 rows, 4 columns>
    """
    return DiskStore(Path(path))
