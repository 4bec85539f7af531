"""Arrays in `.npy` files: headers that lie, types that are none, shapes beyond any memory."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from torture.target import Choices, Target
from torture.targets.tables import ingested


def _use(data: bytes, folder: Path) -> None:
    flags = Choices(data[:1]).number(256)
    path = folder / "t.npy"
    path.write_bytes(data[1:])
    ingested(path, folder, target=0 if flags & 1 else None)


def _saved(array: np.ndarray, flags: int = 0) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=array.dtype.hasobject)
    return bytes([flags]) + file.getvalue()


def _lying(header: str, version: bytes = b"\x01\x00") -> bytes:
    text = header.encode() + b"\n"
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x00\x93NUMPY" + version + size + text + bytes(64)


def _seeds() -> Mapping[str, bytes]:
    rng = np.random.default_rng(0)
    return {
        "doubles": _saved(rng.standard_normal((6, 3))),
        "target": _saved(np.arange(12).reshape(6, 2) % 3, 1),
        "columns": _saved(np.asfortranarray(rng.standard_normal((5, 4)).astype("f4"))),
        "booleans": _saved(rng.random((6, 3)) > 0.5),
        "words": _saved(np.array([["a", "b"], ["c", "d"]])),
        "objects": _saved(np.array([[1, None], ["a", 2]], object)),
        "dates": _saved(np.arange(4).reshape(2, 2).astype("M8[us]")),
        "big-endian": _saved(rng.standard_normal((4, 2)).astype(">f8")),
        "records": _saved(np.zeros((2, 2), [("a", "f8"), ("b", "i4")])),
        "huge": _lying("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 2), }"),
        "negative": _lying("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8), }"),
        "nothing": _lying("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 0), }"),
        "empty-type": _lying("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000, 1000000), }"),
        "no-bytes": _lying("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000, 1000000), }"),
        "second": _lying("{'descr': '<i2', 'fortran_order': True, 'shape': (4, 8), }", b"\x02\x00"),
        "third": _lying("{'descr': [('é', '<f8')], 'fortran_order': False, 'shape': (2, 2), }", b"\x03\x00"),
        "code": _lying("{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2, 2), }"),
        "truth": _lying("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2.0), }"),
    }


TARGETS = {"npy": Target("npy", "arrays (.npy)", _use, _seeds)}
