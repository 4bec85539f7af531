"""Damage of any kind is seen: flipped bytes, missing and cut-off files, manifests of other versions and from strangers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.errors import ParameterError, StoreError
from fernwood.sealed import digest
from fernwood.store import writer
from fernwood.store.manifest import MANIFEST_NAME


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "s.fern"
    rng = np.random.default_rng(0)
    fernwood.ingest(rng.standard_normal((40, 30)), path, target=rng.integers(0, 2, 40), weights=np.ones(40))
    return path


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "s.fern"))


def rewrite(store: Path, **changes: object) -> None:
    """Change a manifest and give it a checksum that fits, as a stranger could."""
    entries = json.loads((store / MANIFEST_NAME).read_text()) | changes
    entries["checksum"] = "0" * 32
    blank = (json.dumps(entries, indent=1) + "\n").encode()
    (store / MANIFEST_NAME).write_bytes(blank.replace(b'"' + b"0" * 32 + b'"\n}', f'"{digest(blank)}"\n}}'.encode()))


@pytest.mark.parametrize("name", [MANIFEST_NAME, "codes.npy", "columns.parquet", "rows.parquet"])
def test_a_flipped_bit_anywhere_is_found(store: Path, name: str) -> None:
    path = store / name
    whole = path.read_bytes()
    rng = np.random.default_rng(3)
    places = {0, 1, len(whole) - 1, *rng.integers(0, len(whole), 60).tolist()}
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(StoreError):
            fernwood.open(store).verify()
    path.write_bytes(whole)
    fernwood.open(store).verify()


@pytest.mark.parametrize("name", ["codes.npy", "columns.parquet", "rows.parquet"])
def test_a_missing_or_cut_off_file_is_found_on_opening(store: Path, name: str) -> None:
    whole = (store / name).read_bytes()
    (store / name).write_bytes(whole[:-1])
    with pytest.raises(StoreError, match=f"'{name}' of 's.fern' has {len(whole) - 1} bytes where {len(whole)} were"):
        fernwood.open(store)
    (store / name).unlink()
    with pytest.raises(StoreError, match=f"lacks its file '{name}'"):
        fernwood.open(store)


def test_a_missing_shard_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer.DiskWriter.__init__, "__defaults__", (100,))
    fernwood.ingest(np.random.default_rng(0).random((40, 9)), tmp_path / "s.fern")
    (tmp_path / "s.fern" / "codes-00002.npy").unlink()
    with pytest.raises(StoreError, match="lacks its file 'codes-00002.npy'"):
        fernwood.open(tmp_path / "s.fern")


def test_a_newer_format_is_named(store: Path) -> None:
    rewrite(store, version=2)
    with pytest.raises(StoreError, match="store format 2, this Fernwood reads up to 1; update Fernwood"):
        fernwood.open(store)


@pytest.mark.parametrize("name", ["../codes.npy", "/etc/passwd", "..\\x", ".hidden"])
def test_a_manifest_cannot_point_outside(store: Path, name: str) -> None:
    entries = json.loads((store / MANIFEST_NAME).read_text())
    rewrite(store, codes=[entries["codes"][0] | {"name": name}])
    with pytest.raises(StoreError, match="names a file outside of it"):
        fernwood.open(store)


@pytest.mark.parametrize(
    "changes",
    [
        {"codes": 3},
        {"codes": []},
        {"columns": None},
        {"extra": 1},
        {"rows": {"name": "x"}},
        {"n_rows": "abc"},
        {"n_rows": 10**13},
        {"n_columns": 2},
        {"n_columns": -1},
        {"shard_columns": 0},
        {"shard_columns": 2**63},
        {"version": "9"},
        {"version": 0},
        {"version": True},
        {"notes": [3]},
        {"fingerprint": None},
    ],
)
def test_a_manifest_of_another_shape_is_damaged(store: Path, changes: dict[str, object]) -> None:
    rewrite(store, **changes)
    with pytest.raises(StoreError, match="manifest of 's.fern' is damaged"):
        fernwood.open(store)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"format": "other", "version": 1, "checksum": ""}', "[" * 100_000]
)
def test_other_files_are_no_manifest(store: Path, content: str) -> None:
    (store / MANIFEST_NAME).write_text(content)
    with pytest.raises(StoreError):
        fernwood.open(store)


def test_a_directory_or_nothing_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a Fernwood store: it has no manifest.json"):
        fernwood.open(tmp_path)
    with pytest.raises(StoreError, match="there is no store"):
        fernwood.open(tmp_path / "nothing.fern")


def rerecord(store: Path, changed: Callable[[pa.Table], pa.Table], part: str = "columns") -> None:
    """Change the records of columns or of rows, and give them a checksum that fits."""
    path = store / f"{part}.parquet"
    pq.write_table(changed(pq.read_table(path)), path)
    record = {"name": path.name, "size": path.stat().st_size, "checksum": digest(path.read_bytes())}
    rewrite(store, **{part: record})


def with_field(records: pa.Table, name: str, of_first: object) -> pa.Table:
    """The records with another value of a field for the first column."""
    place = records.schema.get_field_index(name)
    values = [of_first, *records.column(name).to_pylist()[1:]]
    return records.set_column(place, records.schema.field(name), pa.array(values, records.schema.field(name).type))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (lambda t: t.drop_columns("origin"), "the field origin is not there, or of another type"),
        (lambda t: t.append_column("origin", t.column("shift")), "the field origin is not there, or of another type"),
        (lambda t: with_field(t, "shift", None), "the field shift is missing of a column"),
        (lambda t: with_field(t, "steps", [1] * 300), "the field steps is too long, or has gaps"),
        (lambda t: with_field(t, "steps", [None]), "the field steps is too long, or has gaps"),
        (lambda t: with_field(t, "kind", "pickle"), "a column is of no kind"),
        (lambda t: with_field(t, "shift", 64), "a grid is none"),
    ],
)
def test_records_that_lie(store: Path, changed: Callable[[pa.Table], pa.Table], why: str) -> None:
    rerecord(store, lambda records: records)
    fernwood.open(store).scales([0])  # the forger's hand alone is not what is refused
    rerecord(store, changed)
    with pytest.raises(StoreError) as refused:
        fernwood.open(store).scales([0])
    assert str(refused.value) == f"the records of 's.fern' are damaged ({why}); make the store again"


def with_weights(rows: pa.Table, weights: np.ndarray) -> pa.Table:
    return rows.set_column(rows.column_names.index("weight"), "weight", pa.array(weights))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (lambda t: t.slice(0, 39), "roles of other rows, or too many"),
        (lambda t: with_weights(t, np.ones(40, np.float32)), "a role of other rows, or of another type"),
        (lambda t: with_weights(t, np.full(40, -1.0)), "weights that are none"),
        (lambda t: with_weights(t, np.full(40, np.inf)), "weights that are none"),
        (lambda t: t.append_column("group", pa.array(np.full(40, 40, np.int32))), "groups that are none"),
        (lambda t: with_field(t, "target", 2), "a target that is none"),
    ],
)
def test_rows_that_lie(store: Path, changed: Callable[[pa.Table], pa.Table], why: str) -> None:
    rerecord(store, lambda rows: rows, "rows")
    assert fernwood.open(store).weights is not None
    rerecord(store, changed, "rows")
    with pytest.raises(StoreError, match="the rows of 's.fern' do not fit its manifest; make the store again") as lie:
        fernwood.open(store).weights  # noqa: B018
    assert str(lie.value.__cause__) == why


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"classes": [None, 1]}, "a target without a name, or with classes that are none"),
        ({"name": 5}, "a target without a name, or with classes that are none"),
        ({"task": "pickle"}, "a target without a name, or with classes that are none"),
        ({"classes": [1, 1]}, "a target that is none"),
        ({"task": "regression"}, "a target that is none"),
    ],
)
def test_a_target_that_lies(store: Path, changes: dict[str, object], why: str) -> None:
    roles = json.loads((store / MANIFEST_NAME).read_text())["roles"]
    rewrite(store, roles={"target": {**roles["target"], **changes}})
    with pytest.raises(StoreError, match="the rows of 's.fern' do not fit its manifest; make the store again") as lie:
        fernwood.open(store).target  # noqa: B018
    assert str(lie.value.__cause__) == why


@pytest.mark.parametrize(("field", "value"), [("origin", 2**62), ("codes", 0)])
def test_bins_that_are_none_name_the_column(store: Path, field: str, value: int) -> None:
    rerecord(store, lambda records: with_field(records, field, value))
    with pytest.raises(StoreError, match="the bins of column 'x0' are none; make the store again"):
        fernwood.open(store).scales([0])


def test_fewer_records_than_columns(store: Path) -> None:
    rerecord(store, lambda records: records.slice(0, 29))
    with pytest.raises(StoreError, match="the records of 's.fern' do not fit its manifest; make the store again"):
        fernwood.open(store).scales([0])


def test_positions_are_whole_numbers(store: Path) -> None:
    with pytest.raises(ParameterError, match="columns are given as float64; read takes positions, whole numbers"):
        fernwood.open(store).read([0.5])


def test_damaged_codes_name_the_column(store: Path) -> None:
    codes = bytearray((store / "codes.npy").read_bytes())
    codes[128 + 40 * 7] ^= 1
    (store / "codes.npy").write_bytes(codes)
    with pytest.raises(StoreError, match=r"the codes of 1 of 30 columns do not fit their checksums, first 'x7'"):
        fernwood.open(store).verify()
