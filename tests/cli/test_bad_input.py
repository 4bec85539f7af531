"""Bad input: one sentence, exit code 2, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.sealed import digest

GOOD = "a,b,y\n1,2,0\n3,4,1\n5,6,0\n"
Arguments = list[Any]
INGEST: Arguments = ["--target", "y", "--out", "out.fern"]


def text(content: str | bytes, *options: str, name: str = "t.csv") -> Callable[[Path], Arguments]:
    def make(folder: Path) -> Arguments:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return ["ingest", name, *INGEST, *options]

    return make


def npy(array: Any, *options: str, cut: int | None = None) -> Callable[[Path], Arguments]:
    def make(folder: Path) -> Arguments:
        np.save(folder / "t.npy", array)
        (folder / "t.npy").write_bytes((folder / "t.npy").read_bytes()[:cut])
        return ["ingest", "t.npy", "--target", "0", "--out", "out.fern", *options]

    return make


def columnar(suffix: str, cut: float) -> Callable[[Path], Arguments]:
    def make(folder: Path) -> Arguments:
        table = pa.table({"a": np.arange(5000.0), "y": np.arange(5000) % 2})
        path = folder / f"t.{suffix}"
        pq.write_table(table, path) if suffix == "parquet" else pyarrow.feather.write_feather(table, path)
        raw = path.read_bytes()
        path.write_bytes(raw[: int(len(raw) * cut)])
        return ["ingest", path.name, *INGEST]

    return make


def damaged_page(folder: Path) -> Arguments:
    """The footer is whole, a page in the middle is not."""
    arguments = columnar("parquet", 1)(folder)
    raw = bytearray((folder / "t.parquet").read_bytes())
    raw[100:4000] = bytes(3900)
    (folder / "t.parquet").write_bytes(raw)
    return arguments


def empty_folder(folder: Path) -> Arguments:
    (folder / "parts").mkdir()
    return ["ingest", "parts", *INGEST]


def parts_that_disagree(folder: Path) -> Arguments:
    (folder / "parts").mkdir()
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": [0, 1]}), folder / "parts" / "0.parquet")
    pq.write_table(pa.table({"a": ["u", "v"], "y": [0, 1]}), folder / "parts" / "1.parquet")
    return ["ingest", "parts", *INGEST]


def a_second_file(content: str, *options: str) -> Callable[[Path], Arguments]:
    def make(folder: Path) -> Arguments:
        (folder / "t.csv").write_text(GOOD)
        (folder / "other.csv").write_text(content)
        return ["ingest", "t.csv", "--out", "out.fern", *options]

    return make


def lists(folder: Path) -> Arguments:
    pq.write_table(pa.table({"a": [[1.0], [2.0]], "y": [0, 1]}), folder / "t.parquet")
    return ["ingest", "t.parquet", *INGEST]


INPUTS: dict[str, tuple[Callable[[Path], Arguments], list[str]]] = {
    "missing file": (lambda _: ["ingest", "none.csv", *INGEST], ["there is no file 'none.csv'", "check the path"]),
    "empty file": (text(""), ["'t.csv' is empty"]),
    "empty npy": (npy(np.eye(3), cut=0), ["'t.npy' is empty"]),
    "blank lines": (text("\n\n"), ["'t.csv' is empty"]),
    "header only": (text("a,b,y\n"), ["'t.csv' has a header but no rows"]),
    "one row": (text("a,b,y\n1,2,3\n"), ["a single row", "at least two"]),
    "short line": (text(GOOD + "7,8\n"), ["line 5 of 't.csv' has 2 cells where 3 are expected", "mend the line"]),
    "long line": (text(GOOD + "7,8,9,10\n"), ["line 5 of 't.csv' has more than the 3 cells"]),
    "not UTF-8": (text("a,name,y\n1,J\xf6rg,0\n".encode("latin-1")), ["line 2", "not UTF-8", "convert"]),
    "not UTF-8 in the header": (text("\xe4,b,y\n1,2,0\n".encode("latin-1")), ["line 1", "not UTF-8", "convert"]),
    "UTF-16": (text(GOOD.encode("utf-16")), ["UTF-16", "convert"]),
    "an open quote": (text('a,b,y\n1,"2,0\n3,4,1\n'), ["quote that opens on line 2", "mend"]),
    "duplicate names": (text("a,a,y\n1,2,0\n3,4,1\n"), ["'a' stands over column 0 and again over column 1", "--clean-names"]),
    "no such target": (text(GOOD, "--target", "Y2"), ["there is no target 'Y2'", "neither a column of the table nor a file"]),
    "a target nearly there": (text("age,sick\n1,0\n2,1\n", "--target", "sikc"), ["did you mean 'sick'?"]),
    "a target position": (text(GOOD, "--target", "7"), ["there is no target '7'"]),
    "target with holes": (text("a,y\n1,0\n2,NA\n3,1\n4,\n"), ["the target 'y' has 2 missing values", "row 1", "fill them in"]),
    "target of one class": (text("a,y\n1,x\n2,x\n"), ["the target 'y' is 'x' in every row", "two different values"]),
    "target of one number": (text("a,y\n1,3\n2,3\n"), ["the target 'y' is 3 in every row"]),
    "regression on words": (text("a,y\n1,u\n2,v\n3,u\n", "--task", "regression"), ["'y' is text", "--task classification"]),
    "target of other length": (a_second_file("y\n1\n0\n1\n0\n", "--target", "other.csv"), ["4 values", "3 rows", "must agree"]),
    "target of two columns": (a_second_file(GOOD, "--target", "other.csv"), ["has 3 columns; it must have one"]),
    "negative weights": (text("a,y,w\n1,0,1\n2,1,-1\n3,1,1\n", "--weights", "w"), ["the weights 'w'", "negative"]),
    "groups with holes": (text("a,y,g\n1,0,1\n2,1,\n3,1,2\n", "--groups", "g"), ["the groups 'g' are missing in row 1"]),
    "one column for two roles": (text(GOOD, "--weights", "y"), ["'y' cannot be the weights and something else"]),
    "more cells than names": (text("a,y\n1,2,0\n3,4,1\n"), ["line 2", "more cells than the header has names (2)", "row names"]),
    "infinite in text": (text("a,y\n1,0\n-inf,1\n"), ["line 3", "'-inf'", "'a'", "infinite", "--missing", "--drop"]),
    "beyond the largest double": (text("a,y\n1,0\n1e999,1\n"), ["line 3", "'1e999'", "infinite"]),
    "infinite in an array": (npy(np.array([[0, 1.0], [1, np.inf], [1, 2]])), ["'x1' has inf in row 1", "infinite", "--drop"]),
    "infinite target": (npy(np.array([[0, 1.0], [np.inf, 2], [1, 2]])), ["the target 'x0' is infinite in row 1"]),
    "mixed types": (text("a,y\n1,0\nlow,1\n3,1\n"), ["'a'", "mixes text and numbers", "line 3 has 'low'", "--categorical"]),
    "mixed types in parts": (parts_that_disagree, ["disagree on the type of a column", "write them alike"]),
    "lists": (lists, ["column 'a' is of type 'list", "--drop"]),
    "impossible date": (text("a,y\n2021-02-28,0\n2021-02-31,1\n"), ["line 3", "'2021-02-31'", "no date"]),
    "truncated npy": (npy(np.ones((40, 9)), cut=1000), ["'t.npy' is cut off", "1000 bytes", "needs 3008"]),
    "npy without its header": (npy(np.ones((4, 9)), cut=20), ["'t.npy' is not a whole .npy file"]),
    "npy of three dimensions": (npy(np.ones((2, 2, 2))), ["shape (2, 2, 2)", "two dimensions"]),
    "complex npy": (npy(np.ones((3, 3), complex)), ["complex128", "not real numbers"]),
    "npy of objects": (npy(np.full((2, 2), None)), ["pickled Python objects", "never loaded"]),
    "truncated Parquet": (columnar("parquet", 0.6), ["'t.parquet' cannot be read as Parquet", "cut off", "copy it again"]),
    "damaged Parquet": (damaged_page, ["'t.parquet' cannot be read as Parquet", "damaged"]),
    "truncated Feather": (columnar("feather", 0.6), ["'t.feather' cannot be read as Arrow IPC or Feather", "cut off"]),
    "truncated gzip": (text(gzip.compress(GOOD.encode() * 500)[:60], name="t.csv.gz"), ["'t.csv.gz' cannot be read to its end"]),
    "not gzip at all": (text(GOOD, name="t.csv.gz"), ["'t.csv.gz' cannot be read to its end"]),
    "a folder of nothing": (empty_folder, ["the folder 'parts' holds no .parquet file"]),
    "an unknown suffix": (text(GOOD, name="t.xlsx"), ["'t.xlsx' does not say what it is", ".csv"]),
    "a small budget": (text(GOOD, "--memory", "1MB"), ["--memory 1.0 MB is too small", "at least", "would do"]),
    "a budget of nothing": (text(GOOD, "--memory", "lots"), ["memory is 'lots'", "'512MB'"]),
    "no directory": (text(GOOD, "--out", "no/such/out.fern"), ["there is no directory 'no/such'", "make it first"]),
    "nothing left": (text(GOOD, "--drop", "a", "--drop", "b"), ["no column is left beside the target", "keep at least one"]),
    "nothing to drop": (text(GOOD, "--drop", "z*"), ["the column to drop 'z*' matches no column"]),
    "no such column": (text(GOOD, "--columns", "aa"), ["the column 'aa' is no column of the table"]),
    "a bad delimiter": (text(GOOD, "--delimiter", "::"), ["delimiter is '::'", "one character"]),
    "a bad decimal": (text(GOOD, "--decimal", ";"), ["decimal is ';'", "give '.' or ','"]),
    "too few bins": (text(GOOD, "--bins", "3"), ["bins is 3", "8 to 255"]),
    "an array to transpose": (npy(np.eye(3), "--transposed"), ["transposed says how a text file is written", "'t.npy' is none"]),
    "a bad task": (text(GOOD, "--task", "clustering"), ["'clustering'", "classification", "--help"]),
    "an unknown option": (text(GOOD, "--colour", "red"), ["--colour", "--help"]),
    "no target given": (lambda _: ["ingest", "t.csv", "--out", "out.fern"], ["'--target'", "--help"]),
    "an unknown command": (lambda _: ["digest"], ["'digest'", "did you mean 'ingest'?"]),
}  # fmt: skip


def listing(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


def assert_refused(done: Any, words: list[str]) -> None:
    assert done.code == 2, done
    assert done.out == ""
    assert re.fullmatch(r"fernwood: [^\n]+\n", done.err), done.err
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    assert [word for word in words if word not in done.err] == [], done.err
    assert done.err.isprintable() or done.err[:-1].isprintable()


@pytest.mark.parametrize("case", INPUTS)
def test_bad_input(case: str, run: Any, tmp_path: Path) -> None:
    make, words = INPUTS[case]
    arguments = make(tmp_path)
    before = listing(tmp_path)
    assert_refused(run(*arguments), words)
    assert listing(tmp_path) == before


# Outputs and stores -------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    table = np.c_[rng.standard_normal((60, 5)), np.arange(60) % 2]
    fernwood.ingest(table, tmp_path / "s.fern", target=-1)
    np.save(tmp_path / "t.npy", table)
    return tmp_path / "s.fern"


def test_an_output_that_exists(run: Any, store: Path) -> None:
    before = listing(store.parent)
    manifest = (store / "manifest.json").read_bytes()
    assert_refused(run("ingest", "t.npy", "--target", "0", "--out", "s.fern"), ["'s.fern' exists", "--force"])
    assert listing(store.parent) == before
    assert (store / "manifest.json").read_bytes() == manifest


def test_force_replaces_nothing_but_stores(run: Any, store: Path) -> None:
    precious = store.parent / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("do not lose")
    done = run("ingest", "t.npy", "--target", "0", "--out", "precious", "--force")
    assert_refused(done, ["'precious' exists and is not a store", "choose another name"])
    assert (precious / "thesis.txt").read_text() == "do not lose"


def test_a_bad_table_does_not_cost_the_old_store(run: Any, store: Path) -> None:
    before = listing(store.parent)
    (store.parent / "t.npy").write_bytes((store.parent / "t.npy").read_bytes()[:-1])
    assert_refused(run("ingest", "t.npy", "--target", "0", "--out", "s.fern", "--force"), ["cut off"])
    assert listing(store.parent) == before
    fernwood.open(store).verify()


FILES = ["codes", "columns.parquet", "rows.parquet", "manifest.json"]


def file_of(store: Path, name: str) -> Path:
    return next(p for p in sorted(store.iterdir()) if p.name.startswith(name))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0.02, 0.5, 0.99])
def test_a_flipped_byte(run: Any, store: Path, name: str, place: float) -> None:
    path = file_of(store, name)
    raw = bytearray(path.read_bytes())
    raw[int(len(raw) * place)] ^= 1
    path.write_bytes(raw)
    done = run("verify", "s.fern")
    assert_refused(done, [])
    assert re.search("damaged|do not fit|is not a Fernwood store", done.err)


@pytest.mark.parametrize("command", ["info", "verify"])
@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_of_a_store(run: Any, store: Path, name: str, command: str) -> None:
    path = file_of(store, name)
    path.unlink()
    words = ["not a Fernwood store"] if name == "manifest.json" else ["'s.fern' lacks its file", path.name, "again"]
    assert_refused(run(command, "s.fern"), words)


def test_a_file_of_a_store_that_was_cut(run: Any, store: Path) -> None:
    path = file_of(store, "codes")
    path.write_bytes(path.read_bytes()[:-7])
    assert_refused(run("info", "s.fern"), [path.name, "bytes where", "were written"])


@pytest.mark.parametrize("command", [["info"], ["verify"], ["info", "--json"]])
def test_a_newer_format(run: Any, store: Path, command: list[str]) -> None:
    path = store / "manifest.json"
    entries = json.loads(path.read_bytes())
    blank = json.dumps({**entries, "version": entries["version"] + 1, "checksum": "0" * 32}, indent=1) + "\n"
    path.write_text(blank.replace("0" * 32, digest(blank.encode())))
    assert_refused(run(*command, "s.fern"), ["has store format 2, this Fernwood reads up to 1", "update Fernwood"])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("none.fern", ["there is no store 'none.fern'", "fernwood ingest"]),
        ("t.npy", ["'t.npy' is not a Fernwood store"]),
        (".", ["is not a Fernwood store"]),
    ],
)
def test_what_is_no_store(run: Any, store: Path, target: str, words: list[str]) -> None:
    assert_refused(run("info", target), words)
    assert_refused(run("verify", target), words)


# Names --------------------------------------------------------------------------------------------------------------

BAD_NAMES = {
    "empty": (["", "b"], ["column 0", "has no name", "--drop"], ["column 0", "b"]),
    "blank": (["  ", "b"], ["column 0", "has no name", "--drop"], ["column 0", "b"]),
    "very long": (["n" * 70_000, "b"], ["more than 65535 bytes", "shorten"], ["n" * 65_503, "b"]),
    "newline": (['"one\ntwo"', "b"], [r"'one\ntwo'", "line break"], ["one two", "b"]),
    "control": (["bell\x07", "b"], [r"'bell\x07'", "control character"], ["bell", "b"]),
    "escape": (["\x1b[31mred", "b"], [r"'\x1b[31mred'", "control character"], ["[31mred", "b"]),
    "twice": (["b", "b"], ["'b' stands over column 0 and again over column 1", "rename one"], ["b", "b (2)"]),
}


@pytest.mark.parametrize("case", BAD_NAMES)
def test_bad_names_are_refused_unless_cleaned(case: str, run: Any, tmp_path: Path) -> None:
    names, words, cleaned = BAD_NAMES[case]
    arguments = text(",".join([*names, "y"]) + "\n1,2,0\n3,4,1\n5,6,0\n")(tmp_path)
    assert_refused(run(*arguments), [*words, "--clean-names"])
    assert listing(tmp_path) == {"t.csv"}
    done = run(*arguments, "--clean-names")
    assert done.code == 0, done.err
    store = fernwood.open(tmp_path / "out.fern")
    assert list(store.names) == cleaned
    assert store.column(0).tolist() == [1, 3, 5]
    assert store.column(1).tolist() == [2, 4, 6]


ODD_NAMES = [
    "<script>alert(1)</script>",
    "AFFX-BioB-5_at/M33197",
    "../../outside",
    "/etc/passwd",
    "C:\\temp",
    "[bold red]x[/bold red]",
    "${HOME}",
    "--force",
    "=1+1",
    "naïve 名前",
]


def test_names_of_real_data_are_kept_as_they_are(run: Any, tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    rows = "".join(",".join(str((i * k) % 5) for k in range(1, len(ODD_NAMES) + 1)) + f",{i % 2}\n" for i in range(12))
    (inside / "t.csv").write_text(",".join([*ODD_NAMES, "y"]) + "\n" + rows, encoding="utf-8")
    done = run("ingest", inside / "t.csv", "--target", "y", "--out", inside / "out.fern")
    assert done.code == 0, done.err
    outside = {p for p in listing(tmp_path) if not p.startswith("a/b/out.fern/")}
    assert outside == {"a", "a/b", "a/b/t.csv", "a/b/out.fern"}
    assert {p.suffix for p in (inside / "out.fern").rglob("*")} <= {".npy", ".parquet", ".json"}
    store = fernwood.open(inside / "out.fern")
    assert list(store.names) == ODD_NAMES
    assert store.column(ODD_NAMES[1]).tolist() == [(i * 2) % 5 for i in range(12)]
    about = run("info", inside / "out.fern")
    assert about.code == 0
    assert all(c.isprintable() or c == "\n" for c in about.out)
    unfolded = re.sub(r"\s+", "", about.out)
    assert [name for name in ODD_NAMES if f"'{name}'".replace(" ", "") not in unfolded] == []
    assert json.loads(run("info", inside / "out.fern", "--json").out)["first_names"] == ODD_NAMES


@pytest.mark.parametrize("name", ["gene/1", "<b>", "a*b", "[x]"])
def test_odd_names_can_be_targets_and_dropped(name: str, run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{name},b,c\n0,1,2\n1,3,5\n0,5,2\n")
    assert run("ingest", "t.csv", "--target", name, "--out", "s.fern").code == 0
    about = fernwood.open(tmp_path / "s.fern").describe()
    assert about.target is not None
    assert about.target["name"] == name
    assert run("ingest", "t.csv", "--target", "c", "--drop", name, "--out", "s.fern", "--force").code == 0
    assert list(fernwood.open(tmp_path / "s.fern").names) == ["b"]
