"""What leaves a run: names, the columns selected, and the reduced table from the run's store."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from fernwood.cli.export import _write_names
from fernwood.errors import ShortageError, StoreError
from fernwood.reduced.writing import said_of_disk
from fernwood.sources.names import ListedNames
from tests.made_runs import made_run

N = 600
FULL_DISK = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
)


def mixed() -> pa.Table:
    """A column of every kind, some with missing values; `many` has more values than a store keeps."""
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "few": pa.array(rng.integers(0, 9, N) / 4),
            "many": pa.array(rng.standard_normal(N)),
            "noise": pa.array(rng.standard_normal(N)),
            "site": pa.array([None if i % 7 == 0 else "abc"[i % 3] for i in range(N)]),
            "day": pa.array(np.arange(N) % 40, pa.int32()).cast(pa.date32()),
            "yes": pa.array([None if i % 11 == 0 else i % 2 == 0 for i in range(N)]),
            "y": pa.array([["no", "yes"][i % 2] for i in range(N)]),
            "patient": pa.array([f"p{i // 4}" for i in range(N)]),
            "w": pa.array([1.0 + i % 3 for i in range(N)]),
        }
    )


SELECTED = ["site", "many", "few", "yes", "day"]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    pq.write_table(mixed(), tmp_path / "t.parquet")
    made_run(
        tmp_path / "r",
        tmp_path / "t.parquet",
        SELECTED,
        ["noise"],
        target="y",
        groups="patient",
        weights="w",
        minimal=["many", "site"],
    )
    return tmp_path / "r"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ([], ["site", "many"]),
        (["--only", "selected"], ["site", "many"]),
        (["--only", "confirmed"], SELECTED),
        (["--only", "tentative"], ["noise"]),
        (["--only", "all"], [*SELECTED, "noise"]),
    ],
)
def test_names_for_other_tools(run: Any, made: Path, tmp_path: Path, options: list[str], names: list[str]) -> None:
    done = run("export", "r", "--to", "names", *options)
    assert done == (0, "".join(f"{name}\n" for name in names), "", 0)
    assert run("export", "r", "--to", "names", "--null", *options).out == "".join(f"{name}\0" for name in names)
    assert run("export", "r", "--to", "names", "--output", "n.txt", *options)[:3] == (0, "", "")
    assert (tmp_path / "n.txt").read_text() == done.out


def test_only_selected_is_the_few_that_suffice(run: Any, made: Path) -> None:
    rows = json.loads(run("export", "r", "--to", "json", "--only", "selected").out)
    assert [row["column"] for row in rows] == ["site", "many"]
    assert {row["decision"] for row in rows} == {"confirmed"}
    assert [
        row["column"] for row in json.loads(run("export", "r", "--to", "json", "--only", "confirmed").out)
    ] == SELECTED


def test_names_of_a_run_that_found_nothing(run: Any, tmp_path: Path) -> None:
    made_run(tmp_path / "r", mixed().select(["few", "many", "y"]), [], target="y")
    assert run("export", "r", "--to", "names")[:3] == (0, "", "")
    refused = run("export", "r", "--table", "x.csv")
    assert refused.code == 2
    assert refused.err == "fernwood: 'r' has no column that is selected, so that there is no table to make\n"
    assert not (tmp_path / "x.csv").exists()


def read_back(path: Path) -> pa.Table:
    if path.suffix == ".csv":
        return pa_csv.read_csv(path)
    return feather.read_table(path) if path.suffix == ".feather" else pq.read_table(path)


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.feather"])
def test_the_reduced_table(run: Any, made: Path, tmp_path: Path, name: str) -> None:
    done = run("export", "r", "--table", name, "--only", "confirmed")
    assert done.code == 0, done.err
    assert done.out == ""
    table, source = read_back(tmp_path / name), mixed()
    assert table.column_names == ["few", "many", "site", "day", "yes", "y", "group", "weight"]
    for exact in ("few", "site", "yes", "y"):
        wanted, got = source[exact].to_pylist(), table[exact].to_pylist()
        assert got == ([value or "" for value in wanted] if name.endswith("csv") and exact == "site" else wanted)
    assert [str(day)[:10] for day in table["day"].to_pylist()] == [str(day) for day in source["day"].to_pylist()]
    assert table["group"].to_pylist() == [i // 4 for i in range(N)]
    assert table["weight"].to_pylist() == [1 + i % 3 for i in range(N)]
    # The column of more values is off by what is said, and by no more.
    values, decoded = source["many"].to_numpy(), table["many"].to_numpy()
    off = np.abs(values - decoded) / (values.max() - values.min())
    assert off.max() > 0
    worst = float(done.err.split(" on average, ")[1].split(" %")[0]) / 100
    assert off.max() <= worst * 1.06
    typical = float(done.err.split("within ")[1].split(" %")[0]) / 100
    assert off.mean() <= typical * 1.06
    assert done.err.startswith("warning: 1 column had more values than a store keeps and comes as the middles of bins")
    assert "fernwood apply r TABLE has the exact values\n" in done.err
    assert done.err.endswith(f"{name}: 600 rows, 5 columns selected\n")
    assert run("export", "r", "--table", name, "--only", "confirmed").code == 2
    again = run("export", "r", "--table", name, "--only", "confirmed", "--force", "--quiet")
    assert again[:3] == (0, "", "")


def test_a_reduced_table_that_is_exact_says_nothing_of_bins(run: Any, tmp_path: Path) -> None:
    made_run(tmp_path / "r", mixed().select(["few", "many", "y"]), ["few"], target="y")
    done = run("export", "r", "--table", "x.csv", "--to", "names")
    assert done[:3] == (0, "few\n", "x.csv: 600 rows, 1 column selected\n")
    assert (tmp_path / "x.csv").read_text().splitlines()[0] == '"few","y"'


def test_a_target_of_numbers_is_beside_the_columns(run: Any, tmp_path: Path) -> None:
    numbers = np.arange(N) / 8
    made_run(tmp_path / "r", mixed().select(["few", "many"]).append_column("z", pa.array(numbers)), ["few"], target="z")
    assert run("export", "r", "--table", "x.parquet", "--only", "all").code == 0
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == ["few", "many", "z"]
    assert table.column("z").to_numpy().tolist() == numbers.tolist()


def test_a_target_with_the_name_of_a_column(run: Any, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("few\n" + "".join(f"{i % 2}\n" for i in range(N)))
    made_run(tmp_path / "r", mixed().select(["few", "many"]), ["few"], target=tmp_path / "few.csv")
    assert run("export", "r", "--table", "x.csv").code == 0
    assert (tmp_path / "x.csv").read_text().splitlines()[0] == '"few","few (of the row)"'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to export; give --to csv, parquet, json or names, or --table FILE"),
        (["--to", "csv", "--null"], "--null is for names; add --to names, or leave it out"),
        (["--table", "x.csv", "--output", "o"], "--output is for the decisions"),
        (["--table", "x.xlsx"], "'x.xlsx' does not say what to write; let it end in .csv, .parquet or .feather"),
        (["--table", "no/x.csv"], "there is no directory 'no' to write into; make it first"),
        (["--table", "folder.csv"], "'folder.csv' is a directory; give the name of a file"),
        (["--to", "csv", "--output", "no/x.csv"], "there is no directory 'no' to write into; make it first"),
    ],
)
def test_one_sentence_for_what_cannot_be(
    run: Any, made: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = run("export", "r", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_store_that_is_gone(run: Any, made: Path, tmp_path: Path) -> None:
    shutil.move(made / "table.fern", tmp_path / "moved.fern")
    done = run("export", "r", "--table", "x.csv")
    assert done.code == 2
    assert "the store of 'r' is not at hand (there is no store" in done.err
    assert "say with --store where it is now" in done.err
    assert "fernwood apply r TABLE" in done.err
    assert done.err.count("\n") == 1
    assert run("export", "r", "--table", "x.csv", "--store", "moved.fern").code == 0
    made_run(tmp_path / "other", mixed().select(["few", "y"]), ["few"], target="y")
    wrong = run("export", "r", "--table", "y.csv", "--store", "other/table.fern")
    assert wrong.code == 2
    assert "is not the one that 'r' was made on" in wrong.err


@pytest.mark.parametrize("arguments", [["--to", "csv"], ["--to", "json"], ["--to", "parquet"], ["--to", "names"]])
def test_a_full_disk_under_standard_output(run: Any, made: Path, arguments: list[str]) -> None:
    full = "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"
    done = run("export", "r", *arguments, before=full)
    assert done.code == 2
    assert done.err == (
        "fernwood: standard output cannot be written: No space left on device; free some space, or write elsewhere\n"
    )


def test_want_of_memory_is_no_fault_of_the_place() -> None:
    with pytest.raises(ShortageError, match="gives no more memory"), said_of_disk("x.csv"):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "r", "--to", "csv", "--output", "x.csv"],
        ["export", "r", "--to", "parquet", "--output", "x.parquet"],
        ["export", "r", "--to", "json", "--output", "x.json"],
        ["export", "r", "--table", "x.csv"],
        ["export", "r", "--table", "x.parquet"],
        ["export", "r", "--table", "x.feather"],
        ["apply", "r", "t.parquet", "--output", "x.csv"],
        ["apply", "r", "t.parquet", "--output", "x.parquet"],
        ["apply", "r", "t.parquet", "--output", "x.feather"],
    ],
)
def test_a_full_disk_leaves_nothing(run: Any, made: Path, tmp_path: Path, arguments: list[str]) -> None:
    before = sorted(tmp_path.rglob("*"))
    limit = FULL_DISK.replace("2000", "100")
    done = run(*arguments, before=limit)
    assert done.code == 2, done
    assert f"'{arguments[-1]}' cannot be written: File too large; free some space, or write elsewhere\n" in done.err
    assert "Traceback" not in done.err
    assert sorted(tmp_path.rglob("*")) == before
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100


def test_inside_the_budget(run_fresh: Any, tmp_path: Path) -> None:
    """A reduced table of 160 MB as numbers, through scratch files, within 40 MB beside Python and its libraries."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", rng.integers(0, 200, (100_000, 200)).astype(np.uint8))
    made_run(tmp_path / "r", tmp_path / "a.npy", [f"x{i}" for i in range(199)], target="199")
    small = run_fresh("export", "r", "--table", "x.parquet", "--memory", "60MB")
    assert small.code == 2
    least = float(small.err.split("at least ")[1].split()[0])
    done = run_fresh("export", "r", "--table", "x.parquet", "--memory", f"{least * 1.02}MB")
    assert done.code == 0, done.err
    assert done.peak <= least * 1.02e6
    assert done.peak < 100_000 * 199 * 8 + 100e6
    wanted = np.load(tmp_path / "a.npy", mmap_mode="r")
    got = pq.read_table(tmp_path / "x.parquet")
    for place in (0, 57, 198):
        np.testing.assert_array_equal(got.column(place).to_numpy(), wanted[:, place])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy", "r", "x.parquet"]


def test_what_is_in_the_way_of_the_table_is_said_first(run: Any, made: Path, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("")
    done = run("export", made, "--to", "names", "--table", "there.csv")
    assert (done.code, done.out) == (2, "")
    assert "'there.csv' exists" in done.err


@pytest.mark.parametrize(("name", "end"), [("a\nb", b"\n"), ("a\rb", b"\n"), ("a\0b", b"\0")])
def test_a_name_that_ends_a_line_is_in_no_list(name: str, end: bytes) -> None:
    """No store has such a name; the result of a stranger may."""
    result: Any = SimpleNamespace(order=np.arange(2), names=ListedNames(pa.array(["c", name], pa.large_string())))
    out = io.BytesIO()
    with pytest.raises(StoreError, match="holds what ends a line, so that a list would tell it as two; use --to json"):
        _write_names(result, "all", out, end)
    assert out.getvalue() == b""
