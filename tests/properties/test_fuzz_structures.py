"""Files that are well formed but for what strangers change in them: Hypothesis makes the changes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import fernwood
from fernwood.errors import StoreError
from fernwood.saved import DECISIONS_NAME, INSIGHT_NAME, SUMMARY_NAME, load_result
from fernwood.sealed import digest, seal
from torture.judging import judge
from torture.target import PART
from torture.targets import target
from torture.targets.runs import base_run
from torture.targets.stores import base_store, write_files

EDITS = st.binary(min_size=1, max_size=40)
"""Choices of the edits of `torture/edits.py`."""
FEW = settings(max_examples=20)


@pytest.mark.parametrize("name", ["store", "model", "run", "result", "parquet"])
@FEW
@given(data=EDITS)
def test_edits_of_what_fernwood_writes(name: str, data: bytes) -> None:
    if name == "parquet":
        data = b"\x02" + data
    if name in ("run", "result"):
        data = bytes([data[0] % 2 + 1]) + data[1:]  # of two methods: making ready the others takes long
    assert judge(target(name), data) is None


CELLS = st.one_of(
    st.sampled_from(
        ["", "NA", "1", "-0", "1e400", "-1e-400", "nan", "inf", '"', '""', '"a', "2021-02-30", "true", "0x1"]
    ),
    st.floats().map(str),
    st.integers().map(str),
    st.text(max_size=5),
)
DIALECTS = st.tuples(st.integers(0, 4), st.integers(0, 255), st.integers(0, 5), st.integers(0, 1)).map(bytes)


@settings(max_examples=60)
@given(DIALECTS, st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6), st.sampled_from(",\t;| "))
def test_delimited_text(dialect: bytes, lines: list[list[str]], delimiter: str) -> None:
    text = "\n".join(delimiter.join(line) for line in lines)
    assert judge(target("text"), dialect + text.encode("utf-8", "replace")) is None


SHAPES = st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 2**31, 2**63 - 1, 2**64, True, 1.5, None, "x"]), max_size=3)
TYPES = st.sampled_from(
    ["<f8", "<f4", ">i2", "|b1", "|u1", "<U0", "|V0", "|S0", "<U3", "|O", "<M8[us]", "<c16", "x", ""]
)


@settings(max_examples=60)
@given(
    TYPES,
    SHAPES,
    st.booleans(),
    st.binary(max_size=64),
    st.sampled_from([b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"]),
)
def test_headers_of_arrays(descr: str, shape: list[object], fortran: bool, body: bytes, version: bytes) -> None:
    header = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)}).encode() + b"\n"
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    assert judge(target("npy"), b"\x00\x93NUMPY" + version + size + header + body) is None


WORDS = st.sampled_from(["0", "1", "2", "-9", "NA", "f1", "s1", "rs1", "x\ty", "é", "1e999", "nan", ""])
LINES = st.lists(st.lists(WORDS, max_size=7).map(" ".join), max_size=4).map(lambda lines: "\n".join(lines).encode())


@FEW
@given(
    st.sampled_from([b"\x6c\x1b\x01", b"\x6c\x1b\x00", b"\x6c\x1b", b""]), st.binary(max_size=8), LINES, LINES, LINES
)
def test_plink(magic: bytes, packed: bytes, bim: bytes, fam: bytes, pheno: bytes) -> None:
    assert judge(target("plink"), PART.join([magic + packed, bim, fam, pheno])) is None


NUMBERS = st.sampled_from(["0", "1", "2", "3", "-1", "2147483648", "9" * 30, "1.5", "nan", "x", ""])
HEADS = st.sampled_from(
    ["integer general", "real symmetric", "pattern general", "complex general", "array real general", ""]
)


@settings(max_examples=40)
@given(st.integers(0, 3), HEADS, st.lists(st.lists(NUMBERS, max_size=4).map(" ".join), max_size=6))
def test_matrix_market(flags: int, head: str, lines: list[str]) -> None:
    text = "\n".join([f"%%MatrixMarket matrix coordinate {head}", *lines])
    assert judge(target("sparse"), bytes([0, flags]) + text.encode()) is None


# What nobody may get through, one by one ------------------------------------------------------------------------------

LIES = {
    "a file outside": ("columns", "name", "../columns.parquet"),
    "an absolute path": ("columns", "name", "/etc/passwd"),
    "a hidden file": ("rows", "name", ".rows"),
    "no name": ("columns", "name", ""),
    "a NUL": ("columns", "name", "a\x00b"),
    "a negative size": ("columns", "size", -1),
    "a size that is none": ("columns", "size", "1"),
    "terabytes of rows": (None, "n_rows", 10**13),
    "terabytes of columns": (None, "n_columns", 10**13),
    "not a number": (None, "n_rows", float("nan")),
    "a list": (None, "n_columns", [1]),
    "notes that are none": (None, "notes", 5),
    "no bins": (None, "bins", None),
    "roles of nobody": (None, "roles", {"target": {}}),
    "roles that are none": (None, "roles", {"target": 5}),
}


@pytest.mark.parametrize("lie", LIES)
def test_manifests_that_lie(lie: str, tmp_path: Path) -> None:
    part, key, value = LIES[lie]
    files = dict(base_store())
    manifest = json.loads(files["manifest.json"])
    del manifest["checksum"]
    (manifest if part is None else manifest[part])[key] = value
    files["manifest.json"] = seal(manifest)
    write_files(tmp_path / "s.fern", files)
    with pytest.raises(StoreError) as refused:
        fernwood.open(tmp_path / "s.fern").roles  # noqa: B018
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"target": np.zeros(10**6, np.int32)}),
        pa.table({"target": [["x" * 1000]] * 24}),
        pa.table({name: np.zeros(24, np.int32) for name in "abcd"}),
    ],
    ids=["rows", "lists", "columns"],
)
def test_roles_that_grow_are_not_read(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict(base_store())
    manifest = json.loads(files["manifest.json"])
    assert manifest["n_rows"] == 24
    written = io.BytesIO()
    pq.write_table(table, written)
    files["rows.parquet"] = written.getvalue()
    del manifest["checksum"]
    manifest["rows"] |= {"size": len(files["rows.parquet"]), "checksum": digest(files["rows.parquet"])}
    files["manifest.json"] = seal(manifest)
    write_files(tmp_path / "s.fern", files)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(StoreError, match="the rows of 's.fern' do not fit its manifest"):
        fernwood.open(tmp_path / "s.fern").roles  # noqa: B018


def _lying_result(folder: Path, part: str, key: str, value: object) -> Path:
    """A result of which one value is not what it was, sealed as if it were."""
    files = dict(base_run("snowball"))
    summary, insight = json.loads(files[SUMMARY_NAME]), json.loads(files[INSIGHT_NAME])
    table = pq.read_table(io.BytesIO(files[DECISIONS_NAME]))
    if part == "decisions":
        place = table.column_names.index(key)
        values = [value, *table.column(place).to_pylist()[1:]]
        table = table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))
    elif part == "insight":
        insight["comparison" if key in insight["comparison"] else "history"][key] = value
    else:
        (summary["parameters"] if key in summary["parameters"] else summary)[key] = value
    written = io.BytesIO()
    pq.write_table(table, written)
    files[DECISIONS_NAME] = written.getvalue()
    for entries in (summary, insight):
        entries.pop("checksum", None)
    files[INSIGHT_NAME] = seal(insight)
    if key != "files":
        summary["files"] = {name: digest(files[name]) for name in (DECISIONS_NAME, INSIGHT_NAME)}
    files[SUMMARY_NAME] = seal(summary)
    write_files(folder / "r.run", files)
    return folder / "r.run"


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("summary", "files", []),
        ("summary", "files", {"decisions.parquet": 5}),
        ("summary", "fdr", None),
        ("summary", "fdr", {}),
        ("summary", "fdr", "x"),
        ("summary", "fdr", -1),
        ("summary", "given", 5),
        ("summary", "n_rows", 10**30),
        ("summary", "smallest_p", 2.0),
        ("decisions", "score", float("inf")),
        ("decisions", "score", float("nan")),
        ("decisions", "p", -0.5),
        ("decisions", "q", float("nan")),
        ("decisions", "draws", -1),
        ("insight", "scores", [float("inf")]),
        ("insight", "scores", [10**400]),
        ("insight", "threshold", float("nan")),
        ("insight", "n", -1),
        ("insight", "found", [-5]),
    ],
)
def test_results_that_lie(part: str, key: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the result in 'r.run' is damaged"):
        load_result(_lying_result(tmp_path, part, key, value))


def test_a_result_that_does_not_lie(tmp_path: Path) -> None:
    assert load_result(_lying_result(tmp_path, "summary", "fdr", 0.2)).facts.parameters["fdr"] == 0.2


def test_an_array_that_python_2_wrote(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }".ljust(117) + b"\n"
    (tmp_path / "t.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(48))
    assert fernwood.ingest(tmp_path / "t.npy").n_rows == 2


def test_an_array_that_says_it_is_larger_than_its_file_takes_no_memory() -> None:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 2)})
    assert judge(target("npy"), b"\x00" + file.getvalue()) is None
