"""What tells a folder of Zarr from others, without the library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_annotated_zarr", "is_zarr"]

_MARKS = ("zarr.json", ".zgroup", ".zarray")


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr group or array."""
    return path.is_dir() and any((path / mark).is_file() for mark in _MARKS)


def is_annotated_zarr(path: Path) -> bool:
    """Whether a folder is AnnData in Zarr."""
    if not is_zarr(path):
        return False
    about: Any = {}
    for name in ("zarr.json", ".zattrs"):
        if (path / name).is_file():
            try:
                about = json.loads((path / name).read_bytes())
            except ValueError:
                return False
            break
    attributes = about.get("attributes", about) if isinstance(about, dict) else {}
    return isinstance(attributes, dict) and attributes.get("encoding-type") == "anndata"
