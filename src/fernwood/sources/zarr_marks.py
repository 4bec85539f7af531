"""What tells a folder of Zarr from others, without the library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fernwood.files import is_directory, is_file, read_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_annotated_zarr", "is_zarr"]

_MARKS = ("zarr.json", ".zgroup", ".zarray")


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr group or array."""
    return is_directory(path) and any(is_file(path / mark) for mark in _MARKS)


def is_annotated_zarr(path: Path) -> bool:
    """Whether a folder is AnnData in Zarr."""
    if not is_zarr(path):
        return False
    about: Any = {}
    for name in ("zarr.json", ".zattrs"):
        if is_file(path / name):
            try:
                about = json.loads(read_file(path / name))
            except ValueError:
                return False
            break
    attributes = about.get("attributes", about) if isinstance(about, dict) else {}
    return isinstance(attributes, dict) and attributes.get("encoding-type") == "anndata"
