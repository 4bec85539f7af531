"""What a user does with a table of any format: make a store of it, look at it, and search it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fernwood

__all__ = ["MEMORY", "ingested", "looked_at"]

MEMORY = 96 * 10**6


def ingested(path: Path, folder: Path, **options: Any) -> None:
    """Make a store of a table, and look at it; with a target where one of its columns can be one."""
    store = fernwood.ingest(path, folder / "out.fern", memory=MEMORY, **options)
    looked_at(store)


def looked_at(store: Any) -> None:
    """Everything that is asked of a store before a search."""
    some = np.arange(min(store.n_columns, 50))
    store.describe().to_json()
    store.read(some)
    store.read(some[::-1])
    store.names.run(0, len(some)).to_pylist()
    store.scales(some)
    assert len(store.usable) == store.n_columns
    for i in some[:5].tolist():
        store.column(i)
    assert repr(store)
    store.verify()
