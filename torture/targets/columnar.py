"""Parquet and Arrow files: any bytes, and well-formed files of any types."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from torture.edits import HOSTILE_NAMES, edited_table
from torture.target import Choices, Target, making
from torture.targets.tables import ingested


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data)
    kind, flags = choices.number(4), choices.number(256)
    path = folder / ("t.feather" if kind % 2 else "t.parquet")
    if kind < 2:
        path.write_bytes(choices.rest())
    else:
        table = _base()
        with making():
            for _ in range(1 + choices.number(4)):
                table = edited_table(table, choices)
            _write(table, path, flags)
    target = -1 if flags & 1 and kind >= 2 else None
    ingested(path, folder, clean_names=bool(flags & 2), target=target, many_categories="drop" if flags & 4 else "error")


def _write(table: pa.Table, path: Path | io.BytesIO, flags: int) -> None:
    if isinstance(path, Path) and path.suffix == ".feather":
        pyarrow.feather.write_feather(table, str(path), compression="lz4" if flags & 8 else "uncompressed")
    else:
        codec = "zstd" if flags & 8 else "none"
        pq.write_table(table, path, compression=codec, use_dictionary=not flags & 16, row_group_size=3)


def _base() -> pa.Table:
    n = 6
    rng = np.random.default_rng(0)
    columns = {
        "number": rng.standard_normal(n),
        "whole": np.arange(n),
        "word": pa.array(["u", "v", None, "u", "w", "v"]),
        "category": pa.array(["u", "v", "v", "u", "w", "v"]).dictionary_encode(),
        "day": pa.array(np.arange(n) * 86_400_000_000, pa.timestamp("us")),
        "truth": pa.array([True, False, None, True, True, False]),
        "half": pa.array(np.arange(n), pa.float16()),
        "decimal": pa.array(range(n), pa.decimal128(20, 3)),
        HOSTILE_NAMES[13]: np.arange(n),
        "y": np.arange(n) % 2,
    }
    return pa.table(columns)


def _seeds() -> Mapping[str, bytes]:
    small = pa.table({"a": [1.0, 2.0, 3.0], "w": ["u", "v", "u"], "y": [0, 1, 0]})
    seeds = {"edits-parquet": bytes([2, 0]), "edits-feather": bytes([3, 9]), "edits-target": bytes([2, 3, 0, 0, 0, 5])}
    for number, flags in enumerate((0, 8, 16)):
        file = io.BytesIO()
        _write(small, file, flags)
        seeds[f"parquet-{number}"] = bytes([0, 0]) + file.getvalue()
    file = io.BytesIO()
    pyarrow.feather.write_feather(small, file, compression="uncompressed")
    seeds["feather"] = bytes([1, 0]) + file.getvalue()
    return seeds


TARGETS = {"parquet": Target("parquet", "Parquet and Arrow files", _use, _seeds)}
