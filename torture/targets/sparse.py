"""Sparse text: MatrixMarket by itself, 10x folders, and SVMlight."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

from torture.target import PART, Choices, Target, parted
from torture.targets.tables import ingested


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data[:2])
    kind, flags = choices.number(3), choices.number(256)
    content = data[2:]
    if kind == 0:
        path = folder / ("t.mtx.gz" if flags & 1 else "t.mtx")
        path.write_bytes(gzip.compress(content, 1) if flags & 1 else content)
        ingested(path, folder, transposed=bool(flags & 2))
    elif kind == 1:
        path = folder / "t.svmlight"
        path.write_bytes(content)
        ingested(path, folder, target="label" if flags & 1 else None)
    else:
        cells = folder / "cells"
        cells.mkdir()
        for name, part in zip(("matrix.mtx", "barcodes.tsv", "features.tsv"), parted(content, 3), strict=True):
            (cells / name).write_bytes(part)
        ingested(cells, folder, clean_names=bool(flags & 1))


def _seeds() -> Mapping[str, bytes]:
    head = b"%%MatrixMarket matrix coordinate "
    matrix = head + b"integer general\n%\n3 4 5\n1 1 2\n2 4 7\n3 2 1\n1 3 4\n3 3 9\n"
    barcodes, features = b"AA-1\nAC-1\nAG-1\nAT-1\n", b"g1\tone\tGene\ng2\ttwo\tGene\ng3\tone\tGene\n"
    return {
        "matrix": bytes([0, 0]) + matrix,
        "matrix-gzip": bytes([0, 3]) + matrix,
        "real": bytes([0, 0]) + head + b"real general\n2 2 2\n1 1 1.5e3\n2 2 -.25\n",
        "pattern": bytes([0, 2]) + head + b"pattern general\n2 3 2\n1 1\n2 3\n",
        "symmetric": bytes([0, 0]) + head + b"real symmetric\n2 2 2\n1 1 1\n2 1 3\n",
        "huge": bytes([0, 0]) + head + b"real general\n999999999999 999999999999 1\n1 1 1\n",
        "wide": bytes([0, 0]) + head + b"real general\n3 2147483647 1\n1 1 1\n",
        "cells": bytes([2, 1]) + PART.join([matrix, barcodes, features]),
        "svmlight": bytes([1, 1]) + b"1 1:0.5 3:2 # note\n-1 qid:4 2:1e3\n1 1:1 2:2 3:3\n-1 5:0\n",
        "svmlight-zero": bytes([1, 0]) + b"0 0:1\n1 0:2 7:3\n",
        "svmlight-far": bytes([1, 0]) + b"0 1:1\n1 2147483646:2\n",
    }


TARGETS = {"sparse": Target("sparse", "MatrixMarket, 10x folders, SVMlight", _use, _seeds)}
