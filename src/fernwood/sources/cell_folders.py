"""Where the files of a 10x folder are: the matrix, barcodes and features, plain or compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fernwood.files import entries_of, is_directory, is_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BARCODES", "FEATURES", "companion", "find_matrix"]

BARCODES = ("barcodes.tsv",)
FEATURES = ("features.tsv", "genes.tsv")
_MATRIX = "matrix.mtx"
_PACKED = ("", ".gz")


def find_matrix(path: Path) -> Path | None:
    """The matrix of a 10x folder, or the file itself where barcodes and features are beside it; None of others."""
    if is_directory(path):
        found = sorted(p for p in entries_of(path) if p.name.lower().endswith(tuple(_MATRIX + e for e in _PACKED)))
        return found[0] if len(found) == 1 else None
    return path if _prefix(path) is not None and companion(path, BARCODES) is not None else None


def _prefix(matrix: Path) -> str | None:
    """What stands before ``matrix.mtx`` in the name, such as the sample of a public archive."""
    name = matrix.name.removesuffix(".gz")
    return name.removesuffix(_MATRIX) if name.endswith(_MATRIX) else None


def companion(matrix: Path, names: tuple[str, ...]) -> Path | None:
    """The file beside a matrix that has one of these names, the prefix of the matrix before it."""
    prefix = _prefix(matrix) or ""
    candidates = [matrix.with_name(prefix + name + ending) for name in names for ending in _PACKED]
    return next((path for path in candidates if is_file(path)), None)
