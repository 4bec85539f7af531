"""The column store: one compact form for every table, on disk or in memory, read by columns."""

from __future__ import annotations

from fernwood.store.base import Store
from fernwood.store.disk import DiskStore
from fernwood.store.ingest import ingest
from fernwood.store.memory import MemoryStore
from fernwood.store.opening import open_store
from fernwood.store.stored import FileStore

__all__ = ["DiskStore", "FileStore", "MemoryStore", "Store", "ingest", "open_store"]
