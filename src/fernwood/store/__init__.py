"""The column store: one compact form for every table, on disk or in memory, read by columns."""

from __future__ import annotations

from fernwood.store.base import Store
from fernwood.store.disk import DiskStore, open_store
from fernwood.store.ingest import ingest
from fernwood.store.memory import MemoryStore

__all__ = ["DiskStore", "MemoryStore", "Store", "ingest", "open_store"]
