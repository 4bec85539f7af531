"""Fitted models and selectors in one file, without pickle: arrays, plain values, and nothing that could run."""

from __future__ import annotations

from fernwood.kept.archive import Archive, read_archive, write_archive
from fernwood.kept.saving import Savable

__all__ = ["Archive", "Savable", "read_archive", "write_archive"]
