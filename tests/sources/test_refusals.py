"""What would be misread in silence is refused, with a way out."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import fernwood
from fernwood.errors import BudgetError, SourceError, StoreError, TargetError
from fernwood.files import mapped_file
from fernwood.sources import open_source
from fernwood.sources.arrays import NpySource

RNG = np.random.default_rng(2)
TABLE = RNG.random((6, 3))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ma.masked_array(TABLE, mask=TABLE > 0.5), "a masked array hides its values"),
        ([[1, "a"], [2, "b"], ["x", "c"]], "mixes types"),
        ([[1, 2], [3]], "differ in length"),
        (scipy.sparse.coo_array(np.arange(4.0)), "two dimensions"),
        (pd.DataFrame({"a": [1 + 2j, 3j]}), "convert it|give it one type|not real numbers"),
        (pa.table([pa.array([[1], [2]])], names=["a"]), "neither numbers, booleans, dates nor text"),
        (
            pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"]),
            "'a' stands over column 0 and again over column 1",
        ),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[0, "0"]), "'0' stands over column 0 and again over column 1"),
    ],
)
def test_tables(table: object, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(table)


def test_numbers_beside_words_stay_numbers() -> None:
    store = fernwood.ingest([[1, "a"], [2, "b"], [10, "a"]])
    assert store.column("x0").tolist() == [1, 2, 10]
    assert store.labels("x1") == ["a", "b"]


def test_equal_names_can_be_cleaned() -> None:
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]], columns=["a", "a"])
    assert list(fernwood.ingest(frame, clean_names=True).names) == ["a", "a (2)"]


@pytest.mark.parametrize("role", ["target", "groups"])
@pytest.mark.parametrize("values", [[2**60, 2**60 + 1, 2**60, 7, 7, 7]])
def test_numbers_that_doubles_merge_are_no_labels(role: str, values: list[int]) -> None:
    with pytest.raises(TargetError, match="beyond 2\\*\\*53"):
        fernwood.ingest(TABLE, **{role: values})
    store = fernwood.ingest(TABLE, **{role: [str(v) for v in values]})
    labels = store.groups if role == "groups" else store.target.values
    assert labels is not None
    assert len(set(labels.tolist())) == 3


def test_masked_and_mixed_targets() -> None:
    with pytest.raises(SourceError, match="masked array"):
        fernwood.ingest(TABLE, target=np.ma.masked_array([0, 1] * 3, mask=[0, 0, 0, 1, 0, 0]))
    with pytest.raises(SourceError, match="mixes types"):
        fernwood.ingest(TABLE, target=[1, "a", 1, "b", 1, 1])


@pytest.mark.parametrize(
    "options", [{"transposed": True}, {"header": False}, {"missing": "?"}, {"categorical": "x0"}, {"decimal": ","}]
)
@pytest.mark.parametrize("kind", ["array", "frame", "npy", "parquet", "folder"])
def test_options_of_text_are_not_ignored_elsewhere(kind: str, options: dict[str, object], tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE, columns=["x0", "x1", "x2"])
    np.save(tmp_path / "t.npy", TABLE)
    frame.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "parts").mkdir()
    frame.to_parquet(tmp_path / "parts" / "a.parquet")
    tables = {
        "array": TABLE,
        "frame": frame,
        "npy": tmp_path / "t.npy",
        "parquet": tmp_path / "t.parquet",
        "folder": tmp_path / "parts",
    }
    with pytest.raises(SourceError, match="says how a text file is written"):
        fernwood.ingest(tables[kind], **options)


def test_one_text_is_one_entry(tmp_path: Path) -> None:
    assert list(fernwood.ingest(np.eye(13)[:, :13], drop="12").names) == [f"x{i}" for i in range(12)]
    (tmp_path / "t.csv").write_text("a,b\nN,1\nA,2\nNA,3\n")
    assert fernwood.ingest(tmp_path / "t.csv", missing="NA").labels("a") == ["A", "N"]
    with pytest.raises(SourceError, match="no column is left"):
        fernwood.ingest(TABLE, columns=[])


def test_a_value_that_stands_twice_in_a_dictionary_is_one_category() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", "a", "b"]))
    store = fernwood.ingest(pa.table({"c": column, "d": [1.0, 2.0, 3.0, 4.0]}))
    assert store.labels("c") == ["a", "b"]
    assert store.column("c").tolist() == ["a", "a", "b", None]


def test_blank_lines_of_one_column_are_missing_cells(tmp_path: Path) -> None:
    for end in ("\n", "\r\n"):
        (tmp_path / "t.csv").write_bytes(end.join(["y", "1", "", "3", "", ""]).encode())
        np.testing.assert_array_equal(fernwood.ingest(tmp_path / "t.csv").column("y"), [1, np.nan, 3])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["", "w", "\ufeffw", '"a ""w"""'])
def test_the_first_rows_of_one_column_may_be_missing_too(tmp_path: Path, before: str, end: str) -> None:
    header = [before] if before else []
    (tmp_path / "t.csv").write_bytes(end.join([*header, "", "", "3", "", "5", ""]).encode())
    store = fernwood.ingest(tmp_path / "t.csv", header=bool(before))
    np.testing.assert_array_equal(store.column(0), [np.nan, np.nan, 3, np.nan, 5])
    np.testing.assert_array_equal(fernwood.ingest(tmp_path / "t.csv").column(0), store.column(0))


@pytest.mark.parametrize("role", ["target", "weights", "groups"])
@pytest.mark.parametrize("text", ["w\n\n2\n3\n4\n", "\n2\n3\n4\n"])
def test_a_role_with_a_missing_first_row_is_no_shorter_one(tmp_path: Path, role: str, text: str) -> None:
    (tmp_path / "w.csv").write_text(text)
    with pytest.raises(TargetError, match="has 4 values and the table has 3 rows; they must agree"):
        fernwood.ingest(TABLE[:3], **{role: tmp_path / "w.csv"})
    with pytest.raises(TargetError, match="missing"):
        fernwood.ingest(TABLE[:4], **{role: tmp_path / "w.csv"})


def test_a_mapping_whose_file_was_replaced_keeps_its_values(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", TABLE)
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    np.save(tmp_path / "new.npy", TABLE + 1)
    (tmp_path / "new.npy").rename(tmp_path / "t.npy")
    np.testing.assert_array_equal(fernwood.ingest(mapped).column(0), TABLE[:, 0])


def test_a_mapping_whose_file_differs_in_the_middle_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.random.default_rng(0).random((600, 20)))
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    if mapped_file(mapped.__array_interface__["data"][0]) is None:
        pytest.skip("this system does not say which files are mapped")
    assert isinstance(open_source(mapped), NpySource)
    before = np.array(mapped)
    after = before.copy()
    after[200:400] += 1
    np.save(tmp_path / "new.npy", after)
    (tmp_path / "new.npy").rename(tmp_path / "t.npy")
    np.testing.assert_array_equal(fernwood.ingest(mapped).read(range(20)), fernwood.ingest(before).read(range(20)))


def test_where_nobody_says_what_is_mapped_a_file_like_the_mapping_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fernwood.sources.arrays.mapped_file", lambda _: None)
    np.save(tmp_path / "t.npy", TABLE)
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    assert isinstance(open_source(mapped), NpySource)
    np.save(tmp_path / "new.npy", TABLE + 1)
    (tmp_path / "new.npy").rename(tmp_path / "t.npy")
    assert not isinstance(open_source(mapped), NpySource)


def test_parts_in_another_order_need_names_that_differ(tmp_path: Path) -> None:
    """Which of two columns of one name is which, their order alone could say."""
    columns = [pa.array([1.0, 2.0]), pa.array([3.0, 4.5]), pa.array([5.0, 6.0])]
    pq.write_table(pa.table(columns, names=["a", "a", "b"]), tmp_path / "part-1.parquet")
    pq.write_table(pa.table(columns, names=["a", "a", "b"]), tmp_path / "part-2.parquet")
    store = fernwood.ingest(tmp_path, clean_names=True)
    assert [store.column(i).tolist() for i in range(3)] == [[1, 2, 1, 2], [3, 4.5, 3, 4.5], [5, 6, 5, 6]]
    for names, found in ((["b", "a", "a"], columns), (["a", "b", "b"], columns), (["b", "a"], columns[:2])):
        pq.write_table(pa.table(found, names=names), tmp_path / "part-3.parquet")
        with pytest.raises(SourceError, match="'part-3.parquet' has other columns than 'part-1.parquet', or has them"):
            fernwood.ingest(tmp_path, clean_names=True)


def test_parts_stack_by_number_and_subfolders_are_seen(tmp_path: Path) -> None:
    for i in (1, 2, 10):
        pq.write_table(pa.table({"x": [i * 1.0, i + 0.5], "w": [f"w{i}", "same"]}), tmp_path / f"part-{i}.parquet")
    store = fernwood.ingest(tmp_path)
    assert store.column("x").tolist() == [1, 1.5, 2, 2.5, 10, 10.5]
    assert store.column("w").tolist() == ["w1", "same", "w2", "same", "w10", "same"]
    (tmp_path / "year=2023").mkdir()
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "year=2023" / "a.parquet")
    with pytest.raises(SourceError, match="further down, in 'year=2023'"):
        fernwood.ingest(tmp_path)


def test_superscripts_in_names_of_parts_are_no_numbers(tmp_path: Path) -> None:
    for i, name in enumerate(("a1²3", "²1", "a1²1")):
        pq.write_table(pa.table({"x": [float(i)]}), tmp_path / f"{name}.parquet")
    assert sorted(fernwood.ingest(tmp_path).column("x").tolist()) == [0, 1, 2]


def test_a_folder_is_looked_through_as_far_as_one_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "table"
    deep = table / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (deep / "round").symlink_to(table)
    (table / "closed").mkdir()
    pq.write_table(pa.table({"x": [1.0, 2.0]}), table / "part.parquet")
    real, refused = os.scandir, {}

    def scandir(path: Any) -> Any:
        if code := refused.get(Path(str(path)).name):
            raise OSError(code, os.strerror(code), str(path))
        return real(path)

    monkeypatch.setattr("os.scandir", scandir)
    for code in (errno.EACCES, errno.ENOENT, 0):
        refused["closed"] = code
        assert fernwood.ingest(table).n_columns == 1
    for name, code in (("closed", errno.EIO), ("b", errno.EINVAL)):
        refused.clear()
        refused[name] = code
        with pytest.raises(SourceError, match=r"cannot be looked through \(.*\); mend that, or give a folder"):
            fernwood.ingest(table)
    refused.clear()
    pq.write_table(pa.table({"x": [1.0]}), deep / "late.parquet")
    with pytest.raises(SourceError, match="further down, in 'a'"):
        fernwood.ingest(table)
    monkeypatch.setattr("fernwood.files.looking._MOST_BELOW", 2)
    assert fernwood.ingest(table).n_columns == 1


def test_words_beyond_the_budget_are_refused(tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w") as file:
        file.write("id,x\n")
        file.writelines(f"a rather long word number {i},{i % 7}\n" for i in range(150_000))
    with pytest.raises(SourceError, match="more different words .* leave out columns such as 'id'"):
        fernwood.ingest(tmp_path / "t.csv", many_categories="drop", memory="100MB")
    assert list(fernwood.ingest(tmp_path / "t.csv", many_categories="drop", memory="1GB").names) == ["x"]


def test_converting_a_sparse_matrix_counts() -> None:
    matrix = scipy.sparse.random_array((3000, 3000), density=0.5, format="coo", random_state=np.random.default_rng(0))
    with pytest.raises(BudgetError) as caught:
        fernwood.ingest(matrix, memory="60MB")
    assert caught.value.least > 2 * matrix.nnz * 12


def test_names_that_no_file_can_have() -> None:
    with pytest.raises(SourceError, match="there is no file"):
        fernwood.ingest("x" * 300 + ".csv")
    with pytest.raises(TargetError, match="there is no target"):
        fernwood.ingest(TABLE, target="x" * 300)


def test_files_that_are_not_what_their_names_say(tmp_path: Path) -> None:
    files = {
        "empty.csv": (b"", "'empty.csv' is empty; give a file that holds a table, or copy it again"),
        "stream.feather": (b"FEA1 and more", "'stream.feather' is no Arrow IPC file; streams and the first Feather"),
        "sparse.mtx": (
            b"%%MatrixMarket matrix coordinate real general\n3 2000000000 1\n1 1 1\n",
            "'sparse.mtx' says that it has 2,000,000,000 columns, and is too small a file to have entries of most of",
        ),
        "wide.mtx": (
            b"%%MatrixMarket matrix coordinate real general\n3000000000 2 1\n1 1 1\n",
            "'wide.mtx' has no line of rows, columns and entries behind its header; write it again",
        ),
    }
    for name, (data, sentence) in files.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(SourceError, match=sentence):
            fernwood.ingest(tmp_path / name)


def test_a_batch_that_follows_offsets_out_of_the_file(tmp_path: Path) -> None:
    """Arrow takes a file at its word; what it says is held against what is there."""
    words = pa.array(["one", "two", "three"])
    with pa.ipc.new_file(tmp_path / "t.arrow", pa.schema([("a", pa.string())])) as file:
        file.write(pa.record_batch([words], names=["a"]))
    data = (tmp_path / "t.arrow").read_bytes()
    offsets = np.array([0, 3, 6, 11], np.int32).tobytes()
    assert data.count(offsets) == 1
    (tmp_path / "t.arrow").write_bytes(data.replace(offsets, np.array([0, 3, 6, 2**30], np.int32).tobytes()))
    with pytest.raises(
        SourceError, match=r"'t.arrow' cannot be read as Arrow IPC or Feather, .* \(.*\); copy it again"
    ):
        fernwood.ingest(tmp_path / "t.arrow")


def test_a_table_at_a_url_is_copied_first() -> None:
    with pytest.raises(
        SourceError, match="'s3://bucket/t.csv' is a URL, and tables are read from disk; copy it to one"
    ):
        fernwood.ingest("s3://bucket/t.csv")
    with pytest.raises(StoreError, match="a store is made on disk, and 's3://bucket/t.fern' is a URL; make it here"):
        fernwood.ingest(TABLE, "s3://bucket/t.fern")


def test_one_cell_a_line_is_nothing_to_turn(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("gene\n1\n2\n")
    with pytest.raises(SourceError, match="the first line of 't.csv' has one cell; .*: check the delimiter, or leave"):
        fernwood.ingest(tmp_path / "t.csv", transposed=True)


def test_columns_that_hold_nothing_or_nulls_of_their_own() -> None:
    """Arrow has a type for nothing at all, and dictionaries may hold a null as a value."""
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", None, "b"]))
    store = fernwood.ingest(pa.table({"gone": pa.nulls(4), "c": words, "d": [1.0, 2.0, 3.0, 4.0]}))
    assert store.n_missing.tolist() == [4, 1, 0]
    assert store.column("c").tolist() == ["a", None, "b", "a"]


@pytest.mark.parametrize("dropped", [[], ["a"], ["a (2)"], ["b"], ["a", "a (2)"]])
@pytest.mark.parametrize("target", [None, "a", "a (2)"])
def test_a_name_that_stands_twice_in_parquet(tmp_path: Path, dropped: list[str], target: str | None) -> None:
    """Arrow brings both columns of a name, however few are asked for, and not in the order of the file."""
    values = {"a": [1, 2, 3, 3], "b": [5, 5, 6, 5], "a (2)": [7, 8, 8, 9]}
    pq.write_table(pa.table([pa.array(v) for v in values.values()], names=["a", "b", "a"]), tmp_path / "t.parquet")
    dropped = [name for name in dropped if name != target]
    how = {} if target is None else {"target": target, "task": "regression"}
    store = fernwood.ingest(tmp_path / "t.parquet", clean_names=True, drop=dropped, **how)
    assert list(store.names) == [name for name in values if name not in dropped and name != target]
    for name in store.names:
        assert store.column(name).tolist() == values[name]
    if target is not None:
        assert store.target.values.tolist() == values[target]


def test_a_column_of_another_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("height,weight\n" + "1,2\n3,4\n" * 3)
    with pytest.raises(TargetError, match=r"'y.csv' has no column 'heigth'; did you mean 'height'\?"):
        fernwood.ingest(TABLE, target=f"{tmp_path / 'y.csv'}:heigth")
    assert fernwood.ingest(TABLE, target=f"{tmp_path / 'y.csv'}:weight", task="regression").n_columns == 3
