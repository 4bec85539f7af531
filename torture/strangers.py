"""What strangers send: tables, runs and archives whose names attack whoever shows them, and files that grow."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fernwood.saved import DECISIONS_NAME, INSIGHT_NAME, SUMMARY_NAME
from fernwood.sealed import digest, seal

__all__ = ["CONTROLS", "MARKUP", "hostile_run", "hostile_table", "swollen_csv", "swollen_npz", "swollen_parquet"]

MARKUP = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "javascript:alert(3)",
    "</title></style></script><svg onload=alert(4)>",
    "{{ 7 * 7 }}{% for x in y %}",
    "[red]x[/red]",
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3",
    "@SUM(1,2)",
    "＝1+2",
    "../../etc/passwd",
    "\u202egnp.exe",
    "名前 👩‍🔬",
)
"""Names that a table may have."""
CONTROLS = (
    "\x1b[5;35;43mred",
    "\x1b]0;owned\x07",
    "\x9b6n",
    "a\nb\rc",
    "nul\x00",
    "\x08\x08\x08back",
    "\u2028line\u2066turned",
    "\t=1+2",
    "\r=1+2",
)
"""Names that a table may not have, and a made-up run may all the same."""
_TOLD = ("call", "host", "stage", "why")


def hostile_table(path: Path, n: int = 60) -> str:
    """Write a table in which columns with hostile names tell the target, and say what the target is called."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    target = "<b onmouseover=alert(5)>"
    columns: dict[str, object] = {name: y + 0.05 * rng.standard_normal(n) for name in MARKUP}
    labels = pa.array([(*MARKUP[:4], *CONTROLS)[k] for k in np.where(y, rng.integers(0, 4, n), rng.integers(4, 13, n))])
    columns["words"] = labels
    columns["noise"] = rng.standard_normal(n)
    columns[target] = pa.array([(MARKUP[1], CONTROLS[0])[k] for k in y])
    pq.write_table(pa.table(columns), path)
    return target


def hostile_run(run: Path) -> None:
    """Let the names of a run's columns, in every file that says them, become control characters, sealed again."""
    table = pq.read_table(run / DECISIONS_NAME)
    names = table.column("column").to_pylist()
    renamed = {name: f"{CONTROLS[i % len(CONTROLS)]}{i}" for i, name in enumerate(names)}
    place = table.column_names.index("column")
    table = table.set_column(place, "column", pa.array([renamed[name] for name in names]))
    pq.write_table(table, run / DECISIONS_NAME)

    def mended(value: object) -> object:
        if isinstance(value, str):
            return renamed.get(value, value)
        if isinstance(value, list):
            return [mended(one) for one in value]
        if isinstance(value, dict):
            return {str(mended(key)): mended(one) for key, one in value.items()}
        return value

    insight = mended(json.loads((run / INSIGHT_NAME).read_bytes()))
    (run / INSIGHT_NAME).write_text(json.dumps(insight))
    summary = mended({k: v for k, v in json.loads((run / SUMMARY_NAME).read_bytes()).items() if k != "checksum"})
    assert isinstance(summary, dict)
    summary["files"] = {name: digest((run / name).read_bytes()) for name in (DECISIONS_NAME, INSIGHT_NAME)}
    for name, value in {"target": CONTROLS[1], "notes": list(CONTROLS), "method": summary["method"]}.items():
        if name in summary:
            summary[name] = value
    (run / SUMMARY_NAME).write_bytes(seal(summary))
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    for event in events:
        event |= {k: CONTROLS[i % len(CONTROLS)] for i, k in enumerate(_TOLD) if k in event}
        if "leading" in event:
            event["leading"] = list(CONTROLS)
    (run / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


# Files that grow ------------------------------------------------------------------------------------------------------


def swollen_csv(path: Path, n_bytes: int) -> None:
    """A compressed table a thousand times smaller than its text: one line that is far longer than memory."""
    with gzip.open(path, "wb", 9) as file:
        file.write(b"a,b,y\n")
        for _ in range(n_bytes // 2**20):
            file.write(b"1" * 2**20)
        file.write(b",2,3\n")


def swollen_parquet(path: Path, n_rows: int) -> None:
    """Two columns of very many equal values: a few kilobytes of runs."""
    piece = pa.table({"a": pa.array(np.zeros(2**20)).dictionary_encode(), "w": ["u"] * 2**20, "y": [0] * 2**20})
    with pq.ParquetWriter(path, piece.schema, compression="zstd") as writer:
        for _ in range(max(1, n_rows // 2**20)):
            writer.write_table(piece)


def swollen_npz(path: Path, n_bytes: int) -> None:
    """An archive of arrays of zeros, compressed a thousandfold, as `numpy.savez_compressed` makes it."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (n_bytes // 8,)})
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out,
        out.open("state.npy", "w", force_zip64=True) as member,
    ):
        member.write(header.getvalue())
        for _ in range(n_bytes // 2**20):
            member.write(bytes(2**20))
