"""Store directories: manifests, records and codes that lie, under checksums that fit."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import fernwood
from fernwood.sealed import digest, seal
from torture.edits import edited_bytes, edited_json, edited_table
from torture.target import Choices, Target, making
from torture.targets.tables import looked_at

__all__ = ["base_store", "edited_store", "files_of", "small_frame", "write_files"]

_HEADER = 128


def small_frame(n: int = 24) -> pa.Table:
    """Columns of every kind, a target, weights and groups."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return pa.table(
        {
            "signal": y + 0.1 * rng.standard_normal(n),
            "noise": np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
            "whole": rng.integers(0, 4, n),
            "word": pa.array([["u", "v", "w", None][k] for k in rng.integers(0, 4, n)]),
            "truth": pa.array((rng.random(n) > 0.5).tolist()),
            "day": pa.array(rng.integers(0, 10**15, n), pa.timestamp("us")),
            "y": pa.array(np.array(["sick", "well"])[y]),
            "w": rng.integers(1, 4, n).astype(float),
            "g": rng.integers(0, 5, n),
        }
    )


def files_of(directory: Path) -> dict[str, bytes]:
    """All files of a directory, by their paths from it."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """The files of a directory that is not there yet."""
    for name, data in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)


@cache
def base_store() -> dict[str, bytes]:
    """The files of a small store."""
    with tempfile.TemporaryDirectory() as folder:
        fernwood.ingest(small_frame(), Path(folder) / "s.fern", target="y", weights="w", groups="g").close()
        return files_of(Path(folder) / "s.fern")


def _table_bytes(table: pa.Table) -> bytes:
    file = io.BytesIO()
    try:
        pq.write_table(table, file, row_group_size=4, write_page_checksum=True)
    except (pa.ArrowException, UnicodeError):
        return b"PAR1"
    return file.getvalue()


def edited_store(choices: Choices) -> dict[str, bytes]:
    """The small store after some edits; its checksums fit the edits unless the choices are otherwise."""
    files = dict(base_store())
    manifest = json.loads(files.pop("manifest.json"))
    codes = manifest["codes"][0]["name"]
    columns, rows = manifest["columns"]["name"], manifest["rows"]["name"]
    tables = {name: pq.read_table(io.BytesIO(files[name])) for name in (columns, rows)}
    honest = choices.number(8) != 7
    for _ in range(1 + choices.number(4)):
        match choices.number(8):
            case 0 | 1 | 2:
                manifest = edited_json(manifest, choices)
            case 3 | 4:
                tables[columns] = edited_table(tables[columns], choices)
                files[columns] = _table_bytes(tables[columns])
            case 5:
                tables[rows] = edited_table(tables[rows], choices)
                files[rows] = _table_bytes(tables[rows])
            case 6:
                files[codes] = files[codes][:_HEADER] + edited_bytes(files[codes][_HEADER:], choices)
            case _:
                name = choices.one_of(sorted(files))
                files[name] = edited_bytes(files[name], choices)
    if honest:
        _recorded(manifest, files)
    try:
        files["manifest.json"] = seal(manifest) if isinstance(manifest, dict) else json.dumps(manifest).encode()
    except (RecursionError, UnicodeError):
        files["manifest.json"] = b"[" * 100_000
    return files


def _recorded(manifest: Any, files: Mapping[str, bytes]) -> None:
    """Let a manifest give the sizes and checksums that its files have, as far as it still names them."""
    if not isinstance(manifest, dict):
        return
    several = manifest.get("codes")
    records = [*(several if isinstance(several, list) else []), manifest.get("columns"), manifest.get("rows")]
    for record in records:
        if isinstance(record, dict) and isinstance(record.get("name"), str) and record["name"] in files:
            data = files[record["name"]]
            is_codes = isinstance(several, list) and record in several
            record.update(size=len(data), checksum=digest(data[:_HEADER] if is_codes else data))


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data)
    searched = choices.number(4) == 0
    with making():
        write_files(folder / "s.fern", edited_store(choices))
    with fernwood.open(folder / "s.fern") as store:
        if not searched:
            looked_at(store)
        else:
            fernwood.SubspaceSelector(n_iter=4, q=3, random_state=0, n_jobs=1).fit(store)


def _seeds() -> Mapping[str, bytes]:
    base_store()
    rng = np.random.default_rng(5)
    return {"nothing": b"\x01", **{f"edits-{i}": rng.bytes(3 + i) for i in range(40)}}


TARGETS = {"store": Target("store", "stores (manifest, records, codes)", _use, _seeds)}
