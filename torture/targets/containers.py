"""HDF5 and AnnData files: well-formed files whose arrays and attributes are not those of a table.

Bytes of HDF5 itself are left alone: what its library does with damaged files is not ours to mend.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from torture.edits import HOSTILE_VALUES, edited_array
from torture.target import Choices, Target, making
from torture.targets.tables import ingested


class _Node:
    """A group or an array of a file."""

    def __init__(self, array: np.ndarray | None, attributes: dict[str, Any]) -> None:
        self.array, self.attributes = array, attributes


@cache
def _base() -> dict[str, _Node]:
    rng = np.random.default_rng(0)
    n, p = 6, 4
    sparse = {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": np.array([n, p])}
    frame = {"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"}
    words = {"encoding-type": "string-array", "encoding-version": "0.2.0"}
    numbers = {"encoding-type": "array", "encoding-version": "0.2.0"}
    names = np.array([f"g{i}" for i in range(p)], object)
    cells = np.array([f"c{i}" for i in range(n)], object)
    return {
        "X": _Node(rng.standard_normal((n, p)).astype("f4"), numbers),
        "layers": _Node(None, {"encoding-type": "dict", "encoding-version": "0.1.0"}),
        "layers/counts": _Node(None, sparse),
        "layers/counts/data": _Node(np.array([1.0, 2.0, 3.0]), numbers),
        "layers/counts/indices": _Node(np.array([0, 3, 1], "i4"), numbers),
        "layers/counts/indptr": _Node(np.array([0, 1, 2, 2, 3, 3, 3], "i4"), numbers),
        "var": _Node(None, {**frame, "column-order": np.array([], "S1")}),
        "var/_index": _Node(names, words),
        "obs": _Node(None, {**frame, "column-order": np.array(["y"], object)}),
        "obs/_index": _Node(cells, words),
        "obs/y": _Node(np.arange(n) % 2, numbers),
    }


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data)
    flags = choices.number(256)
    path = folder / ("t.h5ad" if flags & 1 else "t.h5")
    with making():
        _write(path, choices, flags)
    layer = "counts" if flags & 2 else None
    ingested(path, folder, layer=layer, target="y" if flags & 4 else None)


def _write(path: Path, choices: Choices, flags: int) -> None:
    """The file, after some edits."""
    import h5py

    nodes = {name: _Node(node.array, dict(node.attributes)) for name, node in _base().items()}
    root: dict[str, Any] = {"encoding-type": "anndata", "encoding-version": "0.1.0"}
    for _ in range(choices.number(5) if nodes else 0):
        if not nodes:
            break
        name = choices.one_of(sorted(nodes))
        node = nodes[name]
        what = choices.number(4)
        if what == 0 and node.array is not None and node.array.dtype.kind in "iuf":
            node.array = edited_array(node.array, choices)
        elif what == 1:
            key = choices.one_of([*sorted(node.attributes), "shape", "_index"])
            node.attributes[key] = choices.one_of(HOSTILE_VALUES)
        elif what == 2:
            nodes = {
                other: kept for other, kept in nodes.items() if not (other == name or other.startswith(f"{name}/"))
            }
        else:
            root[choices.one_of(["encoding-type", "encoding-version"])] = choices.one_of(HOSTILE_VALUES)
    with h5py.File(path, "w") as file:
        for name, node in nodes.items():
            made = file.require_group(name) if node.array is None else _dataset(file, name, node.array, flags)
            _mark(made, node.attributes)
        _mark(file, root)


def _dataset(file: Any, name: str, array: np.ndarray, flags: int) -> Any:
    import h5py

    if array.dtype.kind == "O":
        return file.create_dataset(name, data=array, dtype=h5py.string_dtype())
    packed = {"chunks": True, "compression": "gzip"} if flags & 8 and array.ndim and array.size else {}
    return file.create_dataset(name, data=array, **packed)


def _mark(node: Any, attributes: dict[str, Any]) -> None:
    for key, value in attributes.items():
        try:
            node.attrs[key] = value
        except (TypeError, ValueError, OSError, RuntimeError, UnicodeError):  # nobody can write it
            continue


def _seeds() -> Mapping[str, bytes]:
    import anndata.io  # noqa: F401  (it brings much along, once)

    rng = np.random.default_rng(3)
    whole = {f"whole-{flags}": bytes([flags]) for flags in (0, 1, 3, 5, 7, 8, 15)}
    return {**whole, **{f"edits-{i}": bytes([(1, 3, 5, 0)[i % 4]]) + rng.bytes(3 + i) for i in range(30)}}


TARGETS = {"hdf5": Target("hdf5", "HDF5 and AnnData", _use, _seeds)}
