"""Folders of Parquet parts that are split by columns and joined by a key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.errors import SourceError

N = 30
KEYS = [f"s{i:02d}" for i in range(N)]


def part(folder: Path, name: str, keys: list[object], columns: dict[str, object]) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": keys, **columns}), folder / f"{name}.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three parts in three orders; the number in every cell tells its row and its column."""
    out = tmp_path / "parts"
    for p in range(3):
        order = np.arange(N) if p == 0 else np.random.default_rng(p).permutation(N)
        columns: dict[str, object] = {f"c{p}{j}": order * 10 + j + 100 * p for j in range(4)}
        columns |= {f"word{p}": [f"w{i % 4}" for i in order]} if p else {}
        part(out, f"part-{p}", [KEYS[i] for i in order], columns)
    return out


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_rows_are_brought_into_the_order_of_the_first_part(folder: Path, kind: pa.DataType) -> None:
    path = folder / "part-1.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "id", table.column("id").cast(kind)), path)
    store = fernwood.ingest(folder, key="id", target=np.arange(N) % 2)
    assert "id" not in list(store.names)
    assert store.n_columns == 14
    for p in range(3):
        for j in range(4):
            np.testing.assert_array_equal(store.column(f"c{p}{j}"), np.arange(N) * 10 + j + 100 * p)
    assert store.column("word2").tolist() == [f"w{i % 4}" for i in range(N)]
    chosen = fernwood.ingest(folder, key="id", columns=["c23", "c10", "c11"], target="word1")
    assert list(chosen.names) == ["c10", "c11", "c23"]
    np.testing.assert_array_equal(chosen.target.values, np.arange(N) % 4)


def test_a_file_is_matched_by_the_key(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("id,y\n" + "".join(f"{KEYS[i]},{i * 7 % N / 4}\n" for i in reversed(range(N))))
    store = fernwood.ingest(folder, key="id", target=str(tmp_path / "y.csv"), groups="id")
    np.testing.assert_array_equal(store.target.values, np.arange(N) * 7 % N / 4)
    assert store.groups.tolist() == list(range(N))


def refused(folder: Path, sentence: str, **options: object) -> None:
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(folder, **{"key": "id", **options})


def test_parts_that_do_not_join(folder: Path) -> None:
    part(folder, "part-3", [*KEYS[:-1], "other"], {"z": range(N)})
    refused(folder, "'part-0.parquet' has a row 's29' in its column 'id' and 'part-3.parquet' has none")
    part(folder, "part-3", [*KEYS, "other"], {"z": range(N + 1)})
    refused(folder, "'part-3.parquet' has a row 'other' in its column 'id' and 'part-0.parquet' has none")
    part(folder, "part-3", [*KEYS[:-1], KEYS[4]], {"z": range(N)})
    refused(folder, "the key 's04' stands more than once in column 'id' of 'part-3.parquet'")
    part(folder, "part-3", [*KEYS[:-1], None], {"z": range(N)})
    refused(folder, "column 'id' of 'part-3.parquet' is missing in row 29")
    part(folder, "part-3", [[k] for k in KEYS], {"z": range(N)})
    refused(folder, "column 'id' of 'part-3.parquet' is of another type")
    part(folder, "part-3", KEYS, {"c00": range(N)})
    refused(folder, "column 'c00' is in 'part-0.parquet' and in 'part-3.parquet'")
    pq.write_table(pa.table({"idd": KEYS, "z": range(N)}), folder / "part-3.parquet")
    refused(folder, r"'part-3.parquet' has no column 'id', by which the parts are to be joined; did you mean 'idd'\?")


def test_a_long_key_that_stands_in_every_row_is_not_written_out(folder: Path) -> None:
    """A page of a few kilobytes that would be 40 GB as one word a row."""
    keys = pa.DictionaryArray.from_arrays(np.zeros(200_000, np.int8), pa.array(["k" * 200_000]))
    part(folder, "part-3", keys, {"z": np.zeros(200_000)})
    refused(folder, "the key 'kkk.*' stands more than once in column 'id' of 'part-3.parquet'")


def test_parts_without_a_key(folder: Path, tmp_path: Path) -> None:
    refused(folder, r"column 'id' is in 'part-0.parquet' and in 'part-1.parquet'.*--key", key=None)
    out = tmp_path / "other"
    out.mkdir()
    pq.write_table(pa.table({"a": range(5)}), out / "1.parquet")
    pq.write_table(pa.table({"b": range(6)}), out / "2.parquet")
    refused(
        out, r"'2.parquet' has 6 rows and '1.parquet' has 5; .* matched by a column that names them \(--key", key=None
    )
    pq.write_table(pa.table({"a": range(6)}), out / "2.parquet")
    refused(out, "have the same columns and are stacked, so there is nothing to join by 'a'", key="a")
    refused(out / "1.parquet", "key says which column the parts of a Parquet folder are joined by")


def test_one_part_goes_without_its_key(tmp_path: Path) -> None:
    part(tmp_path / "one", "a", list(range(4)), {"x": [3, 1, 2, 5]})
    assert list(fernwood.ingest(tmp_path / "one", key="id").names) == ["x"]
