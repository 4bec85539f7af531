"""What the commands do when all is well."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.budget import parse_size
from torture.terminal import shown_on_a_terminal

from .conftest import COMMAND

SMALL = "age,dose,site,sick,w\n" + "".join(
    f"{20 + i * 7 % 41},{i * 37 % 11 / 4},{'abc'[i % 3]},{'yes' if i % 4 else 'no'},{1 + i % 2}\n" for i in range(40)
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "small.csv").write_text(SMALL)
    return tmp_path / "small.csv"


@pytest.fixture
def array(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", np.c_[rng.standard_normal((50, 6)), np.arange(50) % 2].astype("f4"))
    return tmp_path / "a.npy"


def no_control_characters(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


def test_version(run_fresh: Any) -> None:
    assert run_fresh("--version")[:3] == (0, f"fernwood {fernwood.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["ingest", "info", "verify", "demo", "--version"]),
        (["-h"], ["ingest"]),
        (["ingest", "--help"], ["--target", "--memory", "--drop", "--transposed", "--clean-names", "Example"]),
        (["info", "--help"], ["--json"]),
        (["verify", "--help"], ["checksums"]),
        (["demo", "--help"], ["--out", "--seed"]),
        (["export", "--help"], ["--to", "--table", "--only", "--null", "names", "Example", "reduced.parquet"]),
        (["apply", "--help"], ["--output", "--memory", "--transposed", "--store", "--json", "Example", "genes.run"]),
        (["compare", "--help"], ["--limit", "--json", "Example", "monday.run"]),
    ],
)
def test_help(run: Any, arguments: list[str], words: list[str]) -> None:
    done = run(*arguments)
    assert done.code == 0
    assert done.err == ""
    assert [word for word in words if word not in done.out] == []


def test_the_console_script_is_the_same_command() -> None:
    script = Path(sys.executable).parent / "fernwood"
    if not script.exists():
        pytest.skip("Fernwood is not installed beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"fernwood {fernwood.__version__}\n"


def test_without_a_command_the_next_step_is_shown(run: Any) -> None:
    done = run()
    assert done.code == 0
    for command in ("fernwood demo", "fernwood select TABLE.csv --target COLUMN --out RUN", "fernwood --help"):
        assert command in done.out
    assert done.err == ""


def test_ingest_info_verify(run_fresh: Any, run: Any, table: Path, tmp_path: Path) -> None:
    done = run_fresh("ingest", table, "--target", "sick", "--out", "s.fern")
    assert done.code == 0
    assert done.err == ""
    assert re.fullmatch(
        r"s\.fern: 40 rows, 4 columns, [\d.]+ kB; [\d.]+ s \([\d.]+ k?B/s\), peak memory [\d.]+ MB\n", done.out
    )
    about = run("info", "s.fern")
    assert about.code == 0
    for words in (
        "40 rows × 4 columns",
        "3 numbers, 1 category",
        "'sick', classification, 2 classes",
        "'no' 10, 'yes' 30",
    ):
        assert words in about.out
    assert no_control_characters(about.out)
    whole = run_fresh("verify", "s.fern")
    assert whole.code == 0
    assert whole.out.startswith("s.fern is whole: 4 columns, ")
    assert run("verify", "--quiet", "s.fern")[:3] == (0, "", "")
    store = fernwood.open(tmp_path / "s.fern")
    assert about.out.count(store.fingerprint) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.fern", "small.csv"]


def test_info_as_json(run: Any, table: Path, tmp_path: Path) -> None:
    run("ingest", table, "--target", "sick", "--weights", "w", "--groups", "site", "--out", "s.fern")
    done = run("info", "s.fern", "--json")
    assert json.loads(done.out) == fernwood.open(tmp_path / "s.fern").describe().to_json()
    about = json.loads(done.out)
    assert (about["rows"], about["columns"], about["weights"], about["groups"]) == (40, 2, True, 3)
    assert about["target"] == {
        "name": "sick",
        "task": "classification",
        "classes": [{"label": "no", "rows": 10}, {"label": "yes", "rows": 30}],
    }


def test_the_same_store_as_from_the_library(run: Any, table: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"target": "sick", "weights": "w", "drop": ["d*"]}
    assert run("ingest", table, "--target", "sick", "--weights", "w", "--drop", "d*", "--out", "s.fern").code == 0
    store, wanted = fernwood.open(tmp_path / "s.fern"), fernwood.ingest(table, **how)
    assert store.fingerprint == wanted.fingerprint
    assert list(store.names) == ["age", "site"]
    np.testing.assert_array_equal(store.weights, [1 + i % 2 for i in range(40)])


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--drop", "age", "--drop", "w"], ["dose", "site"]),
        (["--drop", "?*e"], ["w"]),
        (["--columns", "d*", "--columns", "0"], ["age", "dose"]),
        (["--columns", "*e", "--drop", "a*"], ["dose", "site"]),
    ],
)
def test_choosing_columns(run: Any, table: Path, tmp_path: Path, options: list[str], names: list[str]) -> None:
    assert run("ingest", table, "--target", "sick", "--out", "s.fern", *options).code == 0
    assert list(fernwood.open(tmp_path / "s.fern").names) == names


@pytest.mark.parametrize("target", ["age", "0", "-5", "ages.csv"])
def test_a_target_by_name_index_or_file(run: Any, table: Path, tmp_path: Path, target: str) -> None:
    ages = [20 + i * 7 % 41 for i in range(40)]
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n")
    extra = ["--drop", "age"] if target == "ages.csv" else []
    done = run("ingest", table, f"--target={target}", "--out", "s.fern", *extra)
    assert done.code == 0, done.err
    store = fernwood.open(tmp_path / "s.fern")
    assert store.target is not None
    assert store.target.task == "regression"
    assert store.target.values.tolist() == ages
    assert list(store.names) == ["dose", "site", "sick", "w"]


def test_weights_and_groups_from_files(run: Any, table: Path, tmp_path: Path) -> None:
    (tmp_path / "weights.csv").write_text("w\n" + "0.5\n2\n" * 20)
    np.save(tmp_path / "groups.npy", (np.arange(40) // 10)[:, None])
    how = ["--weights", tmp_path / "weights.csv", "--groups", tmp_path / "groups.npy"]
    assert run("ingest", table, "--target", "sick", "--out", "s.fern", *how).code == 0
    store = fernwood.open(tmp_path / "s.fern")
    assert store.weights is not None
    assert store.groups is not None
    assert store.weights.tolist() == [0.5, 2] * 20
    assert store.groups.tolist() == (np.arange(40) // 10).tolist()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_task(run: Any, array: Path, tmp_path: Path, task: str) -> None:
    assert run("ingest", array, "--target=-1", "--task", task, "--out", "s.fern").code == 0
    assert fernwood.open(tmp_path / "s.fern").describe().target["task"] == task


def test_transposed_and_text_options(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("id:s1:s2:s3:s4\ny:a:b:a:a\ng1:1,5:2:?:4\ncode:1:2:1:2\n")
    options = ["--delimiter", ":", "--decimal", ",", "--missing", "?", "--categorical", "code"]
    done = run("ingest", "t.txt", "--transposed", "--target", "y", "--out", "s.fern", *options)
    assert done.code == 0, done.err
    store = fernwood.open(tmp_path / "s.fern")
    np.testing.assert_array_equal(store.column("g1"), [1.5, 2, np.nan, 4])
    assert store.labels("code") == ["1", "2"]


def test_header_and_tab(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("1\t2\n3\t4\n5\t6\n4\t4\n")
    for option, n_rows in (("--header", 3), ("--no-header", 4)):
        done = run("ingest", "t.txt", option, "--delimiter", "tab", "--target", "0", "--out", f"s{option}.fern")
        assert done.code == 0, done.err
        assert fernwood.open(tmp_path / f"s{option}.fern").n_rows == n_rows


def test_many_categories(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("word,a,y\n" + "".join(f"w{i},{i % 3},{i % 2}\n" for i in range(300)))
    refused = run("ingest", "t.csv", "--target", "y", "--out", "s.fern")
    assert refused.code == 2
    assert "--many-categories" in refused.err
    assert run("ingest", "t.csv", "--target", "y", "--out", "s.fern", "--many-categories", "drop").code == 0
    assert list(fernwood.open(tmp_path / "s.fern").names) == ["a"]


def test_force_replaces_and_quiet_is_quiet(run: Any, array: Path, tmp_path: Path) -> None:
    how = ["ingest", array, "--target=-1", "--out", "s.fern", "--quiet"]
    assert run(*how) == (0, "", "", 0)
    first = fernwood.open(tmp_path / "s.fern").fingerprint
    assert run(*how, "--force", "--drop", "x0") == (0, "", "", 0)
    store = fernwood.open(tmp_path / "s.fern")
    store.verify()
    assert store.fingerprint != first
    assert store.names[0] == "x1"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy", "s.fern"]


def test_warnings(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "row,copy,x,y\n" + "".join(f"{i + 1},{'uv'[i % 2]},{i % 3},{i % 2}\n" for i in range(12))
    )
    done = run("ingest", "t.csv", "--target", "y", "--out", "s.fern")
    assert done.code == 0
    assert done.err.splitlines() == [
        "warning: column 'copy' tells the target exactly, class by class: drop what gives the answer away",
        "warning: column 'row' numbers the rows one by one: an index is no measurement, drop it",
    ]
    assert "tells the target exactly" in " ".join(run("info", "s.fern").out.split())
    assert run("ingest", "t.csv", "--target", "y", "--out", "s.fern", "--force", "-q").err == ""


def test_parquet_and_its_folder(run: Any, tmp_path: Path) -> None:
    part = pa.table({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"], "y": [True, False, False]})
    (tmp_path / "parts").mkdir()
    for i in range(2):
        pq.write_table(part, tmp_path / "parts" / f"{i}.parquet")
    assert run("ingest", "parts", "--target", "y", "--out", "s.fern").code == 0
    store = fernwood.open(tmp_path / "s.fern")
    assert store.column("a").tolist() == [1, 2, 4] * 2
    assert store.target is not None
    assert store.target.classes == (False, True)


def on_a_terminal(cwd: Path, *arguments: object) -> tuple[int, str]:
    """Run a command with a pseudo-terminal for its output and gather what it shows."""
    about = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    return shown_on_a_terminal([*COMMAND, *map(str, arguments)], 100, cwd, about, stdin=-1, stderr=-1)


def test_a_bar_on_a_terminal_and_plain_lines_elsewhere(run: Any, array: Path, tmp_path: Path) -> None:
    code, shown = on_a_terminal(tmp_path, "ingest", array, "--target=-1", "--out", "s.fern")
    assert code == 0
    assert "storing" in shown
    assert "100 %" in shown
    assert "columns/s" in shown
    assert "\x1b[" in shown
    assert re.search(r"s\.fern: 50 rows, 6 columns", shown)
    code, shown = on_a_terminal(tmp_path, "ingest", array, "--target=-1", "--out", "q.fern", "--quiet")
    assert (code, shown) == (0, "")
    done = run("ingest", array, "--target=-1", "--out", "p.fern")
    assert no_control_characters(done.out)
    assert done.err == ""


def test_a_refusal_on_a_terminal_is_a_line_too(tmp_path: Path) -> None:
    code, shown = on_a_terminal(tmp_path, "ingest", "none.csv", "--target", "y", "--out", "s.fern")
    assert (code, shown) == (2, "fernwood: there is no file 'none.csv'; check the path\r\n")


def large(tmp_path: Path, suffix: str, n_rows: int, n_columns: int) -> Path:
    rng = np.random.default_rng(1)
    path = tmp_path / f"large.{suffix}"
    if suffix == "npy":
        np.save(path, rng.standard_normal((n_rows, n_columns), np.float32))
    else:
        values = rng.integers(0, 9999, (n_rows, n_columns))
        with path.open("w") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in values.tolist())
    return path


@pytest.mark.parametrize(
    ("suffix", "n_rows", "n_columns"),
    [
        ("npy", 500, 3000),
        ("npy", 150_000, 16),  # what quantising takes grows with the rows
        ("csv", 60, 3000),
        ("csv", 500, 4500),  # as doubles, it nearly fits the half of the budget in which it is kept
    ],
)
def test_the_least_memory_is_told_works_and_is_kept(
    run_fresh: Any, tmp_path: Path, suffix: str, n_rows: int, n_columns: int
) -> None:
    table = large(tmp_path, suffix, n_rows, n_columns)
    # Quiet: a slow machine says how far it is in the midst of what is asked for here.
    how = ["ingest", table, "--target", "0", "--task", "regression", "--out", "s.fern", "--quiet", "--memory"]
    refused = run_fresh(*how, "20MB")
    assert refused.code == 2
    assert refused.out == ""
    told = re.fullmatch(r"fernwood: --memory 20\.0 MB is too small, .*; at least ([\d.]+ MB) would do\n", refused.err)
    assert told, refused.err
    assert not (tmp_path / "s.fern").exists()
    done = run_fresh(*how, told[1])
    assert done.code == 0, done.err
    assert done.peak <= parse_size(told[1])
    assert fernwood.open(tmp_path / "s.fern").n_columns == n_columns - 1


def test_the_package_is_the_command_where_nothing_is_installed(tmp_path: Path) -> None:
    here = os.environ | {"PYTHONPATH": str(Path(fernwood.__file__).parents[1])}
    command = [sys.executable, "-m", "fernwood"]
    told = subprocess.run([*command, "--version"], cwd=tmp_path, env=here, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, f"fernwood {fernwood.__version__}\n")
    told = subprocess.run([*command, "selct"], cwd=tmp_path, env=here, capture_output=True, text=True)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "did you mean 'select'?" in told.stderr


def test_quiet_is_quiet_about_compiling_too(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n" + "1,0\n2,1\n" * 5)
    anew = (
        "from fernwood.kernels import ready\n"
        "ready._compiled.clear(); ready._is_compiled = lambda family: False\n"
        "ready._child = ready.ExitStack; ready._is_done = lambda *_: False\n"
    )
    asked = ("ingest", "t.csv", "--target", "y", "--out", "s.fern", "--force")
    assert "compiling numerical code" in run(*asked, before=anew).err
    assert run(*asked, "--quiet", before=anew)[:3] == (0, "", "")
