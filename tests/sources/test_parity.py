"""The same table through every source gives the same store, bit for bit."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from numpy.typing import NDArray

import fernwood
from fernwood.errors import SourceError
from fernwood.sources import Workspace, arrays, open_source, text
from fernwood.sources.scratch import ColumnBlocks, RowBlocks
from fernwood.store import Store

N = 400
DAY = dt.date(2019, 12, 20)


def mixed_table() -> pa.Table:
    """Numbers with holes and more than 255 values, whole numbers, booleans, strings, dates, and a target."""
    rng = np.random.default_rng(7)

    def holes(values: list[Any], share: float = 0.1) -> list[Any]:
        return [None if hole else value for value, hole in zip(values, rng.random(N) < share, strict=True)]

    words = ["red", "green", 'light "blue"', "a, b", "é", "x y"]
    days = [DAY + dt.timedelta(days=int(d)) for d in rng.integers(0, 200, N)]
    return pa.table(
        {
            "normal": pa.array(holes(rng.standard_normal(N).tolist())),
            "huge and tiny": pa.array((np.exp(rng.uniform(-600, 600, N)) * rng.choice([-1, 1], N)).tolist()),
            "count": pa.array(rng.integers(-40, 2000, N), pa.int64()),
            "level": pa.array(holes(rng.integers(0, 5, N).tolist()), pa.int16()),
            "flag": pa.array(holes((rng.random(N) < 0.3).tolist())),
            "colour": pa.array(holes([words[i] for i in rng.integers(0, len(words), N)])),
            "day": pa.array(holes(days), pa.date32()),
            "constant": pa.array([2.5] * N),
            "nothing": pa.array([None] * N, pa.float64()),
            "outcome": pa.array(["case" if v else "control" for v in rng.integers(0, 2, N)]),
        }
    )


TABLE = mixed_table()
NAMES = TABLE.column_names


def spelled(value: Any) -> str:
    if value is None:
        return "NA"
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return repr(value) if isinstance(value, float) else str(value)


def as_lines(table: pa.Table, delimiter: str) -> str:
    columns = [[spelled(v) for v in column.to_pylist()] for column in table.columns]
    lines = [delimiter.join(table.column_names), *(delimiter.join(row) for row in zip(*columns, strict=True))]
    return "\n".join(lines) + "\n"


def as_csv(folder: Path) -> Path:
    (folder / "t.csv").write_text(as_lines(TABLE, ","), encoding="utf-8")
    return folder / "t.csv"


def as_gz(folder: Path) -> Path:
    (folder / "t.csv.gz").write_bytes(gzip.compress(as_lines(TABLE, ",").encode()))
    return folder / "t.csv.gz"


def as_tsv(folder: Path) -> Path:
    (folder / "t.tsv").write_text(as_lines(TABLE, "\t").replace("\n", "\r\n"), encoding="utf-8", newline="")
    return folder / "t.tsv"


def as_transposed(folder: Path) -> Path:
    lines = ["id\t" + "\t".join(f"s{i}" for i in range(N))]
    lines += [name + "\t" + "\t".join(map(spelled, TABLE.column(name).to_pylist())) for name in NAMES]
    (folder / "t.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "t.tsv"


def as_parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "t.parquet", row_group_size=90)
    return folder / "t.parquet"


def as_rows_folder(folder: Path) -> Path:
    (folder / "parts").mkdir()
    for i, (a, b) in enumerate([(0, 1), (1, 150), (150, N)]):
        part = TABLE.slice(a, b - a)
        if i == 1:  # parts need not agree on the order of columns, nor on how text is kept
            colour = part.column("colour").combine_chunks().dictionary_encode()
            part = part.set_column(NAMES.index("colour"), "colour", colour).select(NAMES[::-1])
        pq.write_table(part, folder / "parts" / f"part-{i}.parquet")
    (folder / "parts" / "_SUCCESS").touch()
    return folder / "parts"


def as_columns_folder(folder: Path) -> Path:
    (folder / "parts").mkdir()
    for i, (a, b) in enumerate([(0, 1), (1, 6), (6, len(NAMES))]):
        pq.write_table(TABLE.select(NAMES[a:b]), folder / "parts" / f"part-{i}.parquet")
    return folder / "parts"


def as_feather(folder: Path) -> Path:
    pyarrow.feather.write_feather(TABLE, folder / "t.feather", compression="zstd", chunksize=130)
    return folder / "t.feather"


def as_ipc(folder: Path) -> Path:
    with pa.ipc.new_file(folder / "t.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=77)
    return folder / "t.arrow"


def as_dictionaries(_: Path) -> pa.Table:
    index = NAMES.index("colour")
    return TABLE.set_column(index, "colour", TABLE.column("colour").combine_chunks().dictionary_encode())


@np.errstate(invalid="ignore")  # pandas 2 looks whether infinite numbers are whole ones
def nullable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes()


MIXED: dict[str, Callable[[Path], Any]] = {
    "pyarrow": lambda _: TABLE,
    "pyarrow in chunks": lambda _: pa.concat_tables([TABLE.slice(0, 33), TABLE.slice(33)]),
    "pyarrow dictionaries": as_dictionaries,
    "pandas": lambda _: TABLE.to_pandas(),
    "pandas of arrow": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas nullable": lambda _: nullable(TABLE.to_pandas()),
    "polars": lambda _: pl.from_arrow(TABLE),
    "polars lazy": lambda _: pl.from_arrow(TABLE).lazy(),
    "csv": as_csv,
    "csv.gz": as_gz,
    "tsv": as_tsv,
    "transposed": as_transposed,
    "parquet": as_parquet,
    "parquet by rows": as_rows_folder,
    "parquet by columns": as_columns_folder,
    "feather": as_feather,
    "ipc": as_ipc,
}


def assert_equal(store: Store, wanted: Store, *, names: bool = True) -> None:
    np.testing.assert_array_equal(store.read(range(store.n_columns)), wanted.read(range(wanted.n_columns)))
    if names:
        assert list(store.names) == list(wanted.names)
    assert store.kinds.tolist() == wanted.kinds.tolist()
    assert store.n_missing.tolist() == wanted.n_missing.tolist()
    for i in range(store.n_columns):
        np.testing.assert_array_equal(store.column(i), wanted.column(i))
    assert (store.target is None) == (wanted.target is None)
    if store.target is not None and wanted.target is not None:
        assert (store.target.task, store.target.classes) == (wanted.target.task, wanted.target.classes)
        np.testing.assert_array_equal(store.target.values, wanted.target.values)
    if list(store.names) == list(wanted.names):
        assert store.fingerprint == wanted.fingerprint


@pytest.fixture(scope="module")
def mixed() -> Store:
    return fernwood.ingest(TABLE, target="outcome")


def test_the_table_is_worth_comparing(mixed: Store) -> None:
    assert list(mixed.names) == NAMES[:-1]
    kinds = ["number"] * 4 + ["boolean", "category", "date", "number", "number"]
    assert [("number", "boolean", "date", "category")[k] for k in mixed.kinds] == kinds
    assert all(8 <= n < 200 for n in mixed.n_codes[:2])  # more than 255 values: binned
    assert (mixed.n_missing > 0).tolist() == [True, False, False, True, True, True, True, False, True]
    assert mixed.usable.tolist() == [True] * 7 + [False, False]
    assert mixed.column("colour").tolist() == TABLE.column("colour").to_pylist()
    assert mixed.column("flag").tolist()[:3] != mixed.column("level").tolist()[:3]
    np.testing.assert_array_equal(mixed.column("day"), TABLE.column("day").to_numpy().astype("datetime64[us]"))


@pytest.mark.parametrize("source", MIXED)
def test_mixed_table(source: str, tmp_path: Path, mixed: Store) -> None:
    table = MIXED[source](tmp_path)
    assert_equal(fernwood.ingest(table, target="outcome", transposed=source == "transposed"), mixed)


@pytest.mark.parametrize("source", MIXED)
def test_some_columns_of_the_mixed_table(source: str, tmp_path: Path) -> None:
    table = MIXED[source](tmp_path)
    how: dict[str, Any] = {"target": "count", "weights": "constant", "groups": "outcome", "drop": ["level", "n*"]}
    store = fernwood.ingest(table, transposed=source == "transposed", **how)
    assert list(store.names) == ["huge and tiny", "flag", "colour", "day"]
    assert_equal(store, fernwood.ingest(TABLE, **how))
    np.testing.assert_array_equal(store.groups, fernwood.ingest(TABLE, **how).groups)


@pytest.mark.parametrize("source", ["csv", "parquet", "transposed"])
def test_a_target_from_another_file(source: str, tmp_path: Path, mixed: Store) -> None:
    table = MIXED[source](tmp_path)
    (tmp_path / "outcome.csv").write_text("outcome\n" + "\n".join(TABLE.column("outcome").to_pylist()) + "\n")
    store = fernwood.ingest(table, target=tmp_path / "outcome.csv", drop=["outcome"], transposed=source == "transposed")
    assert_equal(store, mixed)


@pytest.mark.parametrize("source", ["pandas", "parquet", "csv", "ipc"])
def test_on_disk_as_in_memory(source: str, tmp_path: Path, mixed: Store) -> None:
    store = fernwood.ingest(MIXED[source](tmp_path), tmp_path / "t.fern", target="outcome")
    assert_equal(store, mixed)
    store.verify()


# Tables of numbers alone --------------------------------------------------------------------------------------------


def numbers(dtype: Any = np.float64, n_rows: int = 300, n_columns: int = 23) -> NDArray[Any]:
    rng = np.random.default_rng(3)
    array = rng.standard_normal((n_rows, n_columns)) * np.exp(rng.uniform(-8, 8, n_columns))
    array[:, ::3] = rng.integers(0, 40, array[:, ::3].shape)
    array[:, 5] = 1
    array[rng.random(array.shape) < 0.05] = 0
    kind = np.dtype(dtype).kind
    if kind in "iu":
        array = np.clip(np.abs(array) if kind == "u" else array, np.iinfo(dtype).min, np.iinfo(dtype).max)
    if kind == "b":
        array = array > 0
    array = array.astype(dtype)
    if kind == "f":
        holes = rng.random(array.shape) < 0.05
        holes[:, 4] = False  # a column that can be a target
        array[holes] = np.nan
    return array


Y = np.arange(300) % 2


def as_memmap(array: NDArray[Any], folder: Path, order: str) -> np.memmap:
    mapped = np.memmap(folder / "t.bin", array.dtype, "w+", 64, array.shape, order)
    mapped[:] = array
    mapped.flush()
    return mapped


def as_npy(array: NDArray[Any], folder: Path, order: str) -> Path:
    np.save(folder / "t.npy", np.asarray(array, order=order))
    return folder / "t.npy"


NUMERIC: dict[str, Callable[[NDArray[Any], Path], Any]] = {
    "C": lambda a, _: np.ascontiguousarray(a),
    "F": lambda a, _: np.asfortranarray(a),
    "strided": lambda a, _: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "list": lambda a, _: a.tolist(),
    "memmap C": lambda a, folder: as_memmap(a, folder, "C"),
    "memmap F": lambda a, folder: as_memmap(a, folder, "F"),
    "memmap part": lambda a, folder: as_memmap(np.vstack([a[:9], a]), folder, "C")[9:],
    "npy C": lambda a, folder: as_npy(a, folder, "C"),
    "npy F": lambda a, folder: as_npy(a, folder, "F"),
    "npy mapped": lambda a, folder: np.load(as_npy(a, folder, "F"), mmap_mode="r"),
    "csr": lambda a, _: scipy.sparse.csr_array(a),
    "csc": lambda a, _: scipy.sparse.csc_array(a),
    "coo": lambda a, _: scipy.sparse.coo_matrix(a),
    "pandas": lambda a, _: pd.DataFrame(a),
    "polars": lambda a, _: pl.DataFrame(a),
}


@pytest.mark.parametrize("source", NUMERIC)
def test_numeric_table(source: str, tmp_path: Path) -> None:
    array = numbers()
    wanted = fernwood.ingest(
        pa.table({f"x{i}": pa.array(c, from_pandas=True) for i, c in enumerate(array.T)}), target=Y
    )
    assert wanted.n_missing.sum() > 200
    store = fernwood.ingest(NUMERIC[source](array, tmp_path), target=Y)
    assert_equal(store, wanted, names=source not in {"pandas", "polars"})


@pytest.mark.parametrize("source", NUMERIC)
def test_some_columns_of_a_numeric_table(source: str, tmp_path: Path) -> None:
    array = numbers()
    keep = [1, 2, 3, 9, 11, 12, 19, 21]
    store = fernwood.ingest(NUMERIC[source](array, tmp_path), target=4, columns=keep, task="regression")
    wanted = fernwood.ingest(np.ascontiguousarray(array[:, keep]), target=array[:, 4], task="regression")
    assert_equal(store, wanted, names=False)


DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f8", ">f4", ">i2", ">u4", "<f8"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_numeric_dtype(dtype: str, order: str, tmp_path: Path) -> None:
    array = numbers(dtype)
    doubles = array.astype(np.float64)
    wanted = fernwood.ingest(doubles if dtype != "?" else array, target=Y)
    store = fernwood.ingest(as_npy(array, tmp_path, order), target=Y)
    assert_equal(store, wanted)
    assert set(store.kinds.tolist()) == ({1} if dtype == "?" else {0})
    assert_equal(fernwood.ingest(np.asarray(array, order=order), target=Y), wanted)


@pytest.mark.parametrize("dtype", ["c16", "S3", "M8[s]", "i4,f8"])
def test_other_dtypes_are_refused_in_a_file(dtype: str, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.zeros((4, 3), dtype))
    with pytest.raises(SourceError, match="'t.npy' holds values of type .*, not real numbers"):
        fernwood.ingest(tmp_path / "t.npy")


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.full((3, 3), None, object), allow_pickle=True)
    with pytest.raises(SourceError, match="'t.npy' holds pickled Python objects, which are never loaded"):
        fernwood.ingest(tmp_path / "t.npy")


def test_what_was_written_to_a_private_mapping_counts(tmp_path: Path) -> None:
    array = numbers()
    private = np.load(as_npy(array, tmp_path, "C"), mmap_mode="c")
    private[:, 0] = np.arange(300) % 7
    np.testing.assert_array_equal(fernwood.ingest(private).column(0), np.arange(300) % 7)


def test_arrays_of_words_and_dates() -> None:
    words = fernwood.ingest(np.array([["a", "x"], ["b", None], ["a", "y"]], object))
    assert words.column(1).tolist() == ["x", None, "y"]
    dates = fernwood.ingest(np.array([["2020-01-01"], ["NaT"], ["2021-05-05"]], "datetime64[D]"))
    assert dates.kinds.tolist() == [2]
    np.testing.assert_array_equal(dates.column(0), np.array(["2020-01-01", "NaT", "2021-05-05"], "datetime64[us]"))


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_names_that_stand_twice_can_be_cleaned(suffix: str, tmp_path: Path) -> None:
    columns = [pa.array([i, 2 * i, 0]) for i in range(1, 4)] + [pa.array([0, 1, 0])]
    table = pa.table(columns, names=["a", "b", "a", "a.b"])
    path = tmp_path / f"t.{suffix}"
    pq.write_table(table, path) if suffix == "parquet" else pyarrow.feather.write_feather(table, path)
    with pytest.raises(SourceError, match="'a' stands over column 0 and again over column 2"):
        fernwood.ingest(path)
    store = fernwood.ingest(path, clean_names=True, target="a.b", drop=["b"])
    assert list(store.names) == ["a", "a (2)"]
    assert store.column("a (2)").tolist() == [3, 6, 0]
    assert store.column("a").tolist() == [1, 2, 0]


# Scratch: rows turned into columns out of core ----------------------------------------------------------------------


def read_all(source: Any, memory: int, folder: Path, columns: NDArray[np.int64]) -> tuple[str, NDArray[Any]]:
    opened = open_source(source)
    with opened.reading(columns, Workspace(memory, folder, lambda _: None)) as reader:
        parts = [reader.band(a, min(a + 37, len(columns))).values for a in range(0, len(columns), 37)]
        return type(reader).__name__, np.concatenate(parts).astype(float)


@pytest.mark.parametrize("dtype", ["f4", "i2", "?", ">f8"])
def test_rows_turned_out_of_core(dtype: str, tmp_path: Path) -> None:
    array = numbers(dtype, n_rows=9000, n_columns=130)
    path = as_npy(array, tmp_path, "C")
    for columns in (np.arange(130), np.array([129, 4, 5, 6, 60])):
        kinds = {}
        for memory in (2**28, 400_000, 2_000_000):
            name, values = read_all(path, memory, tmp_path, columns)
            kinds[memory] = name
            np.testing.assert_array_equal(values, array[:, columns].T.astype(float))
        assert kinds == {2**28: "_NpyReader", 400_000: "TurnedReader", 2_000_000: "TurnedReader"}
    assert [p.name for p in tmp_path.iterdir()] == ["t.npy"]


@pytest.mark.parametrize("limit", [0, 1000, 50_000, 10**9])
@pytest.mark.parametrize("heights", [[1, 1, 1], [40, 60], [7, 50, 1, 42]])
def test_scratch_in_a_file_as_in_memory(limit: int, heights: list[int], tmp_path: Path) -> None:
    rows = np.random.default_rng(1).standard_normal((sum(heights), 31))
    edges = np.cumsum([0, *heights])
    blocks = RowBlocks(np.dtype(np.float64), tmp_path, limit)
    turned = ColumnBlocks(31, tmp_path / "other", limit)
    (tmp_path / "other").mkdir()
    for a, b in zip(edges, edges[1:], strict=False):
        blocks.append(rows[a:b])
        turned.append(rows[a:b])
    assert bool(list(tmp_path.glob("scratch-*.bin"))) == (blocks.held == 0)
    assert blocks.held <= limit
    for start, stop in [(0, 31), (4, 5), (30, 31), (11, 29)]:
        np.testing.assert_array_equal(blocks.columns(start, stop), rows.T[start:stop])
    for start, stop in [(0, len(rows)), (1, 2), (1, 3)]:
        np.testing.assert_array_equal(turned.columns(start, stop), rows[start:stop])
    blocks.close()
    turned.close()
    assert list(tmp_path.rglob("*.bin")) == []


@pytest.mark.parametrize("spill", ["RowBlocks", "ColumnBlocks"])
def test_a_text_table_that_spills(spill: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mixed: Store) -> None:
    used = []
    real = {"RowBlocks": RowBlocks, "ColumnBlocks": ColumnBlocks}[spill]

    def small(n: Any, directory: Path, limit: int) -> Any:
        used.append(limit)
        return real(n, directory, 3000)

    monkeypatch.setattr(text, spill, small)
    monkeypatch.setattr(text.TextSource, "_shares", lambda *_: (3, 3000))
    transposed = spill == "ColumnBlocks"
    table = (as_transposed if transposed else as_csv)(tmp_path)
    store = fernwood.ingest(table, tmp_path / "t.fern", target="outcome", transposed=transposed)
    assert used
    assert_equal(store, mixed)
    assert not list((tmp_path / "t.fern").glob("scratch*"))


def test_a_small_budget_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turned = []
    monkeypatch.setattr(arrays, "_SMALLEST_PIECE", 10**9)
    monkeypatch.setattr(arrays, "RowBlocks", lambda *a: turned.append(a) or RowBlocks(*a))
    array = numbers("f4", n_rows=60_000, n_columns=50)
    path = as_npy(array, tmp_path, "C")
    small = fernwood.ingest(path, target=4, task="regression", memory="64MB")
    assert len(turned) == 1
    assert_equal(small, fernwood.ingest(array, target=4, task="regression", memory="1GB"))
