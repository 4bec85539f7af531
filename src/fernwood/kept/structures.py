"""Bins, trees and ferns as members of an archive, and back, checked: compiled code follows them without looking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from fernwood.kernels.ferns import Trunks
from fernwood.kernels.growing import Nodes
from fernwood.learner.ferns import Ferns
from fernwood.store.encode import Coding
from fernwood.store.grid import Grids, unpack_grids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kept.archive import Archive

__all__ = [
    "PackedTrees",
    "check_classes",
    "check_numbers",
    "pack_trees",
    "put_coding",
    "put_ferns",
    "put_trees",
    "taken_coding",
    "taken_ferns",
    "taken_trees",
    "unpack_trees",
]

_BY_ENTRY = ("entry_class", "entry_value")
_NODE_TYPES = dict(
    zip(
        Nodes._fields,
        ("i4", "u1", "u1", "i4", "i4", "i4", "i4", "f8", "f8", "i4", "i4", "i4", "f8", "u1"),
        strict=True,
    )
)
_GRID_TYPES = dict(zip(Grids._fields, ("u1", "i8", "i8", "i8", "u8"), strict=True))
_TRUNK_TYPES = dict(zip(Trunks._fields, ("i4", "u1", "u1", "u8"), strict=True))
_LONGEST_GRID, _MOST_CODES, _DEEPEST = 256, 255, 16


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _array(archive: Archive, name: str, dtype: str, n_dimensions: int = 1) -> NDArray[Any]:
    array = archive.array(name)
    _require(array.dtype == np.dtype(dtype) and array.ndim == n_dimensions, f"{name} is of another type")
    return array


def check_classes(classes: object) -> int:
    """How many classes there are, where these are classes."""
    _require(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes), "there are no classes")
    return len(classes)  # type: ignore[arg-type]


def check_numbers(numbers: object, dtype: type[np.generic], *shape: int | None) -> None:
    """Refuse what is no array of this type and shape, None being any length."""
    _require(isinstance(numbers, np.ndarray) and numbers.dtype == dtype, "an array is of another type")
    _require(len(numbers.shape) == len(shape), "an array is of another shape")  # type: ignore[attr-defined]
    lengths = zip(numbers.shape, shape, strict=True)  # type: ignore[attr-defined]
    _require(all(wanted in (None, length) for length, wanted in lengths), "an array is of another shape")


# Trees ---------------------------------------------------------------------------------------------------------------


class PackedTrees(NamedTuple):
    """Trees in few arrays: every field of all of them one after the other.

    Attributes
    ----------
    sizes : int64 array, shape (trees, 3); how many nodes, entries and routes each has
    fields : by the name of the field
    """

    sizes: NDArray[np.int64]
    fields: dict[str, NDArray[Any]]


def pack_trees(trees: list[Nodes]) -> PackedTrees:
    """Trees one after the other."""
    sizes = [(len(tree.column), len(tree.entry_class), len(tree.routes)) for tree in trees]
    fields = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in Nodes._fields}
    return PackedTrees(np.array(sizes, np.int64).reshape(-1, 3), fields)


def unpack_trees(packed: PackedTrees) -> list[Nodes]:
    """The trees that `pack_trees` was given, each in arrays of its own."""
    parts = []
    for name, whole in packed.fields.items():
        counts = packed.sizes[:, 1 if name in _BY_ENTRY else 2 if name == "routes" else 0]
        _require(len(whole) == counts.sum(), f"{name} of the trees is cut off")
        parts.append([np.array(part) for part in np.split(whole, np.cumsum(counts)[:-1])])
    return [Nodes(*fields) for fields in zip(*parts, strict=True)]


def put_trees(archive: Archive, trees: list[Nodes]) -> None:
    """Add trees to an archive."""
    packed = pack_trees(trees)
    archive.put("trees.sizes", packed.sizes)
    for name, whole in packed.fields.items():
        archive.put(f"trees.{name}", whole)


def taken_trees(archive: Archive, n_columns: int, n_outputs: int) -> list[Nodes]:
    """The trees that `put_trees` added.

    Parameters
    ----------
    archive
    n_columns
        Columns that they may split on.
    n_outputs
        Classes, or 1.
    """
    sizes = _array(archive, "trees.sizes", "i8", 2)
    _require(sizes.shape[1] == 3 and len(sizes) and (sizes >= 0).all(), "there are no trees")
    fields = {
        name: _array(archive, f"trees.{name}", dtype, 2 if name == "routes" else 1)
        for name, dtype in _NODE_TYPES.items()
    }
    trees = unpack_trees(PackedTrees(sizes, fields))
    for tree in trees:
        _check_tree(tree, n_columns, n_outputs)
    return trees


def _check_tree(tree: Nodes, n_columns: int, n_outputs: int) -> None:
    """Every way down a tree ends in a leaf of it, whatever the codes are."""
    inner = tree.column >= 0
    leaf = ~inner
    node = np.arange(len(tree.column))
    _require(len(node), "a tree has no node")
    _require((tree.column < n_columns).all(), "a tree splits on a column that is not there")
    child, branches = tree.child.astype(np.int64)[inner], tree.branches.astype(np.int64)[inner]
    _require((child > node[inner]).all() and (branches >= 2).all(), "a tree leads back")
    _require((child + branches <= len(node)).all(), "a tree leads out")
    _require((tree.missing[inner] < branches).all(), "a tree leads out")
    _require(tree.routes.shape[1] == 256 and (tree.route[inner] < len(tree.routes)).all(), "a route is not there")
    routed = inner & (tree.route >= 0)
    furthest = tree.routes.max(axis=1, initial=0)[tree.route[routed]]
    _require((furthest < tree.branches[routed]).all(), "a route leads out")
    begin, end = tree.begin[leaf], tree.end[leaf]
    _require((begin >= 0).all() and (begin <= end).all() and (end <= len(tree.entry_class)).all(), "a leaf is open")
    _require(((tree.entry_class >= 0) & (tree.entry_class < n_outputs)).all(), "a leaf has an unknown class")


# Ferns ---------------------------------------------------------------------------------------------------------------


def put_ferns(archive: Archive, ferns: Ferns) -> None:
    """Add ferns."""
    for name in Trunks._fields:
        archive.put(f"ferns.{name}", getattr(ferns.trunks, name))
    archive.put("ferns.scores", ferns.scores)


def taken_ferns(archive: Archive, n_columns: int, n_classes: int) -> Ferns:
    """The ferns that `put_ferns` added."""
    trunks = Trunks(
        *(_array(archive, f"ferns.{name}", dtype, 2 + (name == "subset")) for name, dtype in _TRUNK_TYPES.items())
    )
    scores = _array(archive, "ferns.scores", "f8", 2)
    n_ferns, depth = trunks.column.shape
    _require(n_ferns and 1 <= depth <= _DEEPEST, "there are no ferns")
    _require(trunks.least.shape == trunks.width.shape == (n_ferns, depth), "the splits of ferns are cut off")
    _require(trunks.subset.shape == (n_ferns, depth, 4), "the splits of ferns are cut off")
    _require(scores.shape == (n_ferns, n_classes << depth), "the scores of ferns are cut off")
    _require(((trunks.column >= 0) & (trunks.column < n_columns)).all(), "a fern splits on a column that is not there")
    return Ferns(trunks, scores)


# Bins ----------------------------------------------------------------------------------------------------------------


def put_coding(archive: Archive, coding: Coding) -> None:
    """Add the bins of columns."""
    for name in ("positions", "kinds", "exact"):
        archive.put(f"bins.{name}", getattr(coding, name))
    for name in Grids._fields:
        archive.put(f"bins.{name}", getattr(coding.grids, name))
    archive.entries["bins"] = {
        "names": coding.names.to_pylist(),
        "n_columns": int(coding.n_columns),
        "labels": [[place, labels.to_pylist()] for place, labels in coding.labels.items()],
    }


def taken_coding(archive: Archive, n_columns: int) -> Coding:
    """The bins that `put_coding` added, of so many columns."""
    about = archive.entries["bins"]
    names = pa.array(about["names"], pa.large_string())
    width = about["n_columns"]
    positions = _array(archive, "bins.positions", "i8")
    kinds, exact = _array(archive, "bins.kinds", "u1"), _array(archive, "bins.exact", "?")
    grids = Grids(*(_array(archive, f"bins.{name}", dtype) for name, dtype in _GRID_TYPES.items()))
    _require(
        len(names) == len(positions) == len(kinds) == len(exact) == n_columns and names.null_count == 0,
        "bins of other columns",
    )
    _require(type(width) is int and ((positions >= 0) & (positions < width)).all(), "a column is not in the table")
    _require((kinds <= 3).all(), "a column is of no kind")
    _require(
        len(grids.shift) == len(grids.origin) == len(grids.lengths) == len(grids.offsets) - 1 == n_columns, "grids"
    )
    steps = np.maximum(grids.lengths - 1, 0)
    _require(
        (grids.lengths >= 0).all() and (grids.lengths <= _LONGEST_GRID).all() and (grids.shift < 64).all(), "grids"
    )
    _require(np.array_equal(grids.offsets, np.concatenate(([0], np.cumsum(steps)))), "grids")
    _require(len(grids.steps) == grids.offsets[-1], "grids")
    for grid in unpack_grids(grids):
        _require(np.isfinite(grid).all() and not (grid[:-1] > grid[1:]).any(), "bins that are none")
    labels = {place: pa.array(words, pa.large_string()) for place, words in about["labels"]}
    _require(all(type(place) is int and 0 <= place < n_columns for place in labels), "labels of no column")
    _require(all(len(words) <= _MOST_CODES and not words.null_count for words in labels.values()), "too many labels")
    return Coding(names, positions, width, kinds, exact, grids, labels)
