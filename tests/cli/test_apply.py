"""The columns that a run selected, taken from other tables, and what is unlike in them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import fernwood
from tests.made_runs import made_run

N = 300


def seen(n: int = N, seed: int = 0) -> pa.Table:
    """What the run is made on."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 90, n), pa.int64()),
            "dose": pa.array(rng.uniform(0, 1, n)),
            "noise": pa.array(rng.standard_normal(n)),
            "site": pa.array(["abc"[i % 3] for i in range(n)]),
            "grade": pa.array([str(1 + i % 3) for i in range(n)]),
            "y": pa.array([i % 2 for i in range(n)]),
        }
    )


SELECTED = ["site", "dose", "age", "grade"]
IN_ORDER = ["age", "dose", "site", "grade"]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    made_run(tmp_path / "r", seen(), SELECTED, ["noise"], target="y")
    return tmp_path / "r"


def new_table(n: int = 50) -> pa.Table:
    """Other rows, the columns in another order, one more, and no target."""
    return seen(n, seed=1).select(["grade", "noise", "site", "dose", "age"]).append_column("more", pa.array(["z"] * n))


def as_text(table: pa.Table, path: Path, delimiter: str = ",") -> None:
    pa_csv.write_csv(table, path, pa_csv.WriteOptions(delimiter=delimiter))


def write(table: pa.Table, path: Path) -> None:
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith(".feather"):
        feather.write_feather(table, path)
    elif name.endswith(".fern"):
        fernwood.ingest(table, path).close()
    elif name == "parts":
        path.mkdir()
        pq.write_table(table.slice(0, 20), path / "part-2.parquet")
        pq.write_table(table.slice(20), path / "part-10.parquet")
    elif name.endswith(".gz"):
        as_text(table, path.with_suffix(""))
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    elif name.endswith(".zst"):
        as_text(table, path.with_suffix(""))
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            out.write(path.with_suffix("").read_bytes())
    else:
        as_text(table, path, "\t" if name.endswith("tsv") else ",")


@pytest.mark.parametrize(
    "name",
    ["new.csv", "new.tsv", "new.csv.gz", "new.csv.zst", "new.parquet", "new.feather", "parts", "new.fern"],
)
@pytest.mark.parametrize("output", ["x.parquet", "x.feather", "x.csv"])
def test_every_source_gives_the_same_columns(run: Any, made: Path, tmp_path: Path, name: str, output: str) -> None:
    table = new_table()
    write(table, tmp_path / name)
    done = run("apply", "r", name, "--output", output)
    assert (done.code, done.out, done.err) == (0, "", f"{output}: 50 rows, 4 columns\n")
    path = tmp_path / output
    got = {"parquet": pq.read_table, "feather": feather.read_table, "csv": pa_csv.read_csv}[output[2:]](path)
    assert got.column_names == IN_ORDER
    for column in IN_ORDER:
        wanted = table[column].to_pylist()
        if output == "x.csv" and column == "grade":
            wanted = [int(value) for value in wanted]  # the reader's choice
        assert got[column].to_pylist() == wanted
    if name in ("new.parquet", "new.feather", "parts") and output != "x.csv":
        assert got.schema == table.select(IN_ORDER).schema  # types stay what they are


def test_to_standard_output(run: Any, made: Path, tmp_path: Path) -> None:
    write(new_table(), tmp_path / "new.csv")
    done = run("apply", "r", "new.csv")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 51
    assert lines[0] == '"age","dose","site","grade"'
    assert run("apply", "r", "new.csv", "--only", "tentative").out.splitlines()[0] == '"noise"'
    full = run("apply", "r", "new.csv", before="os.dup2(os.open('/dev/full', os.O_WRONLY), 1)")
    assert full.code == 2
    assert full.err.startswith("fernwood: standard output cannot be written: No space left on device; ")
    assert full.err.count("\n") == 1


def test_features_in_rows(run: Any, made: Path, tmp_path: Path) -> None:
    table = new_table()
    rows = zip(*[table[c].to_pylist() for c in table.column_names], strict=True)
    turned = list(zip(table.column_names, *rows, strict=True))
    (tmp_path / "new.csv").write_text(
        "\n".join(",".join(map(str, row)) for row in [["name", *(f"s{i}" for i in range(50))], *turned]) + "\n"
    )
    hint = run("apply", "r", "new.csv")
    assert hint.code == 2
    assert "if its features stand in rows, say --transposed" in hint.err
    done = run("apply", "r", "new.csv", "--transposed", "--output", "x.parquet")
    assert done.code == 0, done.err
    assert pq.read_table(tmp_path / "x.parquet").to_pydict() == table.select(IN_ORDER).to_pydict()


def test_missing_columns_are_named(run: Any, made: Path, tmp_path: Path) -> None:
    write(new_table().rename_columns(["grade", "noise", "Site", "doses", "age", "more"]), tmp_path / "new.csv")
    done = run("apply", "r", "new.csv", "--output", "x.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "fernwood: 'new.csv' lacks 2 of the 4 selected columns: 'dose' (did you mean 'doses'?), 'site' (did you mean "
        "'Site'?); give a table that has them\n"
    )
    assert not (tmp_path / "x.csv").exists()


def test_a_column_that_stands_twice(run: Any, made: Path, tmp_path: Path) -> None:
    write(new_table().rename_columns(["grade", "noise", "site", "dose", "age", "dose"]), tmp_path / "new.csv")
    done = run("apply", "r", "new.csv")
    assert done.code == 2
    assert done.err == "fernwood: the selected column 'dose' stands twice in 'new.csv'; rename one of them\n"
    write(new_table().rename_columns(["grade", "more", "site", "dose", "age", "more"]), tmp_path / "new.csv")
    assert run("apply", "r", "new.csv").code == 0  # what is not selected does not matter


def changed(column: str, values: list[Any]) -> pa.Table:
    table = new_table(len(values))
    return table.set_column(table.column_names.index(column), column, pa.array(values))


@pytest.mark.parametrize(
    ("table", "said", "what"),
    [
        (
            changed("dose", ["low", "high"] * 25),
            "'dose' holds values of kind category, and held number in the run",
            "kind",
        ),
        (
            changed("site", ["a", "b", "d", "c", "e"] * 10),
            "'site' has 2 categories that the run did not see, in 20 rows: 'd', 'e'",
            "categories",
        ),
        (
            changed("age", [50] * 48 + [-40, 400]),
            "'age' has values far outside what the run saw, 20 to 89: -40 and 400 (2 of 50 rows are outside)",
            "range",
        ),
        (
            changed("age", [50] * 47 + [90, 92, 140]),
            "'age' has a value far outside what the run saw, 20 to 89: 140 (3 of 50 rows are outside)",
            "range",
        ),
        (
            changed("dose", [0.5] * 30 + [None] * 20),
            "'dose' is missing in 40 % of the rows, and was in 0 % in the run",
            "missing",
        ),
        (
            changed("site", [None] * 50).cast(new_table().schema),
            "'site' is missing in 100 % of the rows, and was in 0 % in the run",
            "missing",
        ),
    ],
)
def test_what_is_unlike_is_told(run: Any, made: Path, tmp_path: Path, table: pa.Table, said: str, what: str) -> None:
    pq.write_table(table, tmp_path / "new.parquet")
    done = run("apply", "r", "new.parquet", "--output", "x.parquet")
    assert done.code == 0
    assert done.err == f"warning: {said}\nx.parquet: 50 rows, 4 columns\n"
    assert run("apply", "r", "new.parquet", "--output", "x.parquet", "--quiet", "--force").err == ""
    told = json.loads(run("apply", "r", "new.parquet", "--output", "x.parquet", "--json", "--force").out)
    assert told["rows"] == 50
    assert told["columns"] == IN_ORDER
    assert told["warnings"] == [said]
    assert [unlike["what"] for unlike in told["unlike"]] == [what]
    assert told["output"] == "x.parquet"


def test_days_far_outside_are_told_as_days(run: Any, tmp_path: Path) -> None:
    days = pa.array(np.datetime64("2024-01-01") + np.arange(50)).cast(pa.timestamp("s"))
    made_run(tmp_path / "r", pa.table({"day": days, "y": np.arange(50) % 2}), ["day"], target="y")
    late = pa.array(np.datetime64("2031-05-04") + np.zeros(50, int)).cast(pa.timestamp("s"))
    pq.write_table(pa.table({"day": late}), tmp_path / "new.parquet")
    said = (
        "far outside what the run saw, 2024-01-01T00:00:00 to 2024-02-19T00:00:00: 2031-05-04T00:00:00 (50 of 50 rows"
    )
    assert said in run("apply", "r", "new.parquet", "--output", "x.csv").err


def test_what_is_like_is_not(run: Any, made: Path, tmp_path: Path) -> None:
    table = changed("age", [50] * 48 + [95, 15])  # a little outside is ordinary
    table = table.set_column(3, "dose", pa.array([None] * 4 + [0.5] * 46))  # and so are few missing values
    pq.write_table(table, tmp_path / "new.parquet")
    assert run("apply", "r", "new.parquet", "--output", "x.csv").err == "x.csv: 50 rows, 4 columns\n"


def test_many_warnings_are_cut(run: Any, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(40)]
    table = pa.table({name: pa.array(np.arange(50.0) % (3 + i)) for i, name in enumerate(names)})
    made_run(tmp_path / "r", table.append_column("y", pa.array(np.arange(50) % 2)), names, target="y")
    pq.write_table(pa.table({name: pa.array([1e6] * 5) for name in names}), tmp_path / "new.parquet")
    done = run("apply", "r", "new.parquet", "--output", "x.csv")
    assert done.err.count("warning: 'c") == 20
    assert "warning: and 20 more; --json lists them all\n" in done.err


def test_arrays_are_taken_by_position(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", np.c_[rng.standard_normal((60, 5)), np.arange(60) % 2].astype("f4"))
    made_run(tmp_path / "r", tmp_path / "a.npy", ["x3", "x1"], target="5")
    new = rng.standard_normal((20, 5)).astype("f4")
    np.save(tmp_path / "new.npy", new)
    done = run("apply", "r", "new.npy", "--output", "x.parquet")
    assert done.code == 0
    assert done.err.startswith("warning: 'new.npy' has no names: its columns are taken by position")
    got = pq.read_table(tmp_path / "x.parquet")
    assert got.column_names == ["x1", "x3"]
    assert got.schema.types == [pa.float32()] * 2
    np.testing.assert_array_equal(got.column(1).to_numpy(), new[:, 3])
    np.save(tmp_path / "narrow.npy", new[:, :3])
    narrow = run("apply", "r", "narrow.npy")
    assert narrow.code == 2
    assert "lacks 1 of the 2 selected columns: 'x3'" in narrow.err


@pytest.mark.parametrize("dtype", ["?", "i1", "<i4", ">i4", "<f8", ">f4", "f2", "u2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_type(run: Any, tmp_path: Path, dtype: str, order: Any) -> None:
    values = np.arange(80).reshape(20, 4) % 3
    made_run(tmp_path / "r", np.c_[values, np.arange(20) % 2], ["x2", "x0"], target=4)
    new = np.asarray(values[::-1] % 2, dtype, order=order)
    np.save(tmp_path / "new.npy", new)
    assert run("apply", "r", "new.npy", "--output", "x.feather").code == 0
    got = feather.read_table(tmp_path / "x.feather")
    assert got.schema.types == [pa.from_numpy_dtype(np.dtype(dtype).newbyteorder("="))] * 2
    np.testing.assert_array_equal(got["x2"].to_numpy(), new[:, 2])


@pytest.mark.parametrize("dtype", ["i8", "u8"])
@pytest.mark.parametrize("name", ["new.npy", "new.h5"])
def test_whole_numbers_of_64_bits_are_exact(run: Any, tmp_path: Path, name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = np.arange(80).reshape(20, 4) % 3
    made_run(tmp_path / "r", np.c_[values, np.arange(20) % 2], ["x2", "x0"], target=4)
    new = values.astype(dtype)
    new[:4, 2] = [limits.max, limits.max - 1, 2**53 + 1, limits.min]
    if name == "new.npy":
        np.save(tmp_path / name, new)
    else:
        with h5py.File(tmp_path / name, "w") as file:
            file["t"] = new
    assert run("apply", "r", name, "--output", "x.parquet").code == 0
    assert pq.read_table(tmp_path / "x.parquet")["x2"].to_pylist() == new[:, 2].tolist()
    lines = run("apply", "r", name).out.split()
    assert lines[1:] == [f"{a},{b}" for a, b in new[:, [0, 2]].tolist()]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([None, None, 2.5, None, -1.0, None]),
        pa.array([None, 2, None, 7, 2, None], pa.int64()),
        pa.array([None, "a", "b c", None, "d", None]),
        pa.array([None, "a", "two\n\nlines", None, "c", None]).dictionary_encode(),
        pa.array([None, True, False, None, True, None]),
        pa.array([None, 86_400, None, 0, 5, None], pa.timestamp("s")),
    ],
    ids=["floats", "whole numbers", "text", "categories", "booleans", "dates"],
)
def test_one_column_with_missing_values_comes_back(run: Any, tmp_path: Path, column: pa.Array) -> None:
    words = pa.types.is_dictionary(column.type)
    known = (column.cast(pa.string()) if words else column).drop_null()
    usual = pa.table({"w": pa.concat_arrays([known] * 4), "y": pa.array([0, 0, 1, 1] * len(known))})
    made_run(tmp_path / "r", usual, ["w"], target="y")
    pq.write_table(pa.table({"w": column}), tmp_path / "new.parquet")
    assert run("apply", "r", "new.parquet", "--output", "x.csv").code == 0
    (tmp_path / "y.csv").write_text(run("apply", "r", "new.parquet").out)
    wanted = fernwood.ingest(pa.table({"w": column}))
    for name in ("x.csv", "y.csv"):
        np.testing.assert_array_equal(fernwood.ingest(tmp_path / name).read([0]), wanted.read([0]))
        np.testing.assert_array_equal(fernwood.ingest(tmp_path / name).column("w"), wanted.column("w"))


def test_scratch_files_on_a_full_disk(run: Any, tmp_path: Path) -> None:
    """Columns that wait in scratch files need room, too."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(40)]
    table = pa.table({name: pa.array(rng.standard_normal(100_000)) for name in names})
    made_run(tmp_path / "r", table.slice(0, 100).append_column("y", pa.array(np.arange(100) % 2)), names, target="y")
    pq.write_table(table, tmp_path / "new.parquet")
    small = run("apply", "r", "new.parquet", "--output", "x.csv", "--memory", "10MB")
    least = float(small.err.split("at least ")[1].split()[0]) + 5
    full = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    )
    done = run("apply", "r", "new.parquet", "--output", "x.csv", "--memory", f"{least}MB", before=full)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "'x.csv' cannot be written: File too large; free some space, or write elsewhere" in done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.parquet", "r"]


def test_without_the_store_nothing_is_compared(run: Any, made: Path, tmp_path: Path) -> None:
    (made / "table.fern").rename(tmp_path / "moved.fern")
    pq.write_table(changed("age", [1000] * 50), tmp_path / "new.parquet")
    done = run("apply", "r", "new.parquet", "--output", "x.csv")
    assert done.code == 0
    assert (
        "warning: kinds and values are not compared with those of the run: the store of 'r' is not at hand" in done.err
    )
    assert "far outside" not in done.err
    told = run("apply", "r", "new.parquet", "--output", "y.csv", "--store", "moved.fern")
    assert "'age' has a value far outside" in told.err
    assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "y.csv").read_bytes()
    wrong = run("apply", "r", "new.parquet", "--output", "z.csv", "--store", "nowhere.fern")
    assert wrong.code == 2
    assert not (tmp_path / "z.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no", "new.csv"], "there is no run 'no'; make one with `fernwood select --out`"),
        (["r", "no.csv"], "there is no file 'no.csv'"),
        (["r", "new.csv", "--json"], "give --output FILE"),
        (["r", "new.csv", "--output", "x.xlsx"], "let it end in .csv, .parquet or .feather"),
        (["r", "new.csv", "--output", "new.csv"], "'new.csv' exists; choose another name or replace it with --force"),
        (
            ["r", "new.csv", "--memory", "10MB"],
            "--memory 10.0 MB is too small, Python and libraries included; at least",
        ),
    ],
)
def test_one_sentence_for_what_cannot_be(
    run: Any, made: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    write(new_table(), tmp_path / "new.csv")
    done = run("apply", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_hostile_names(run: Any, tmp_path: Path) -> None:
    names = ["<img src=x onerror=alert(1)>", "[red]a[/red]", 'q"uote, comma', "\u202eabc", "🌲" * 30]
    rng = np.random.default_rng(0)
    table = pa.table({name: pa.array(rng.integers(0, 5, 40)) for name in names})
    made_run(tmp_path / "r", table.append_column("y", pa.array(np.arange(40) % 2)), names, target="y")
    as_text(table, tmp_path / "new.csv")
    done = run("apply", "r", "new.csv", "--output", "x.csv")
    assert done.code == 0, done.err
    assert pa_csv.read_csv(tmp_path / "x.csv").equals(table)
    as_text(table.rename_columns(["a", "b", "c", "d", "e"]), tmp_path / "bad.csv")
    refused = run("apply", "r", "bad.csv")
    assert refused.code == 2
    assert "\u202e" not in refused.err


def test_a_table_far_wider_than_memory(run_fresh: Any, tmp_path: Path) -> None:
    """400 MB of numbers as text, of which five columns are kept, within a hundred megabytes beside Python."""
    width, rows = 100_000, 500
    names = [f"g{i}" for i in range(width)]
    chosen = ["g99999", "g5", "g70000", "g31", "g40404"]
    rng = np.random.default_rng(0)
    small = rng.integers(0, 100, (40, 5))
    made_run(
        tmp_path / "r",
        pa.table({**{c: pa.array(small[:, i]) for i, c in enumerate(chosen)}, "y": pa.array(np.arange(40) % 2)}),
        chosen,
        target="y",
    )
    values = rng.integers(10, 100, (rows, width), np.uint8)
    cells = np.stack([ord("0") + values // 10, ord("0") + values % 10, np.full_like(values, ord(","))], axis=2)
    cells[:, -1, -1] = ord("\n")
    (tmp_path / "wide.csv").write_bytes((",".join(names) + "\n").encode() + cells.tobytes())
    del cells
    done = run_fresh("apply", "r", "wide.csv", "--output", "x.parquet", "--memory", "330MB")
    assert done.code == 0, done.err
    assert done.peak <= 330e6 < rows * width * 8
    got = pq.read_table(tmp_path / "x.parquet")
    assert got.column_names == chosen
    for name in chosen:
        np.testing.assert_array_equal(got[name].to_numpy(), values[:, int(name[1:])])


def test_more_rows_than_memory(run_fresh: Any, tmp_path: Path) -> None:
    """A Parquet file whose columns go through scratch files: the rows stay in order, and the budget holds."""
    rng = np.random.default_rng(0)
    n = 300_000
    names = [f"v{i}" for i in range(60)]
    table = pa.table({name: pa.array(rng.integers(0, 1000, n) / 8) for name in names})
    made_run(tmp_path / "r", table.slice(0, 100).append_column("y", pa.array(np.arange(100) % 2)), names, target="y")
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=50_000)
    done = run_fresh("apply", "r", "new.parquet", "--output", "x.feather", "--memory", "240MB")
    assert done.code == 0, done.err
    assert done.peak <= 240e6 < n * 60 * 16
    assert feather.read_table(tmp_path / "x.feather").combine_chunks().equals(table.combine_chunks())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.parquet", "r", "x.feather"]
