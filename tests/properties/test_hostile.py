"""Names, paths and files of strangers: shown as text, kept as they are, and never followed out of their place."""

from __future__ import annotations

import csv
import io
import os
import pty
import resource
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.errors import FernwoodError, SourceError, StoreError
from fernwood.files import Descriptor
from fernwood.reduced.formulas import Formulas
from fernwood.run.directory import RunDirectory
from fernwood.sources.place import Url
from torture.commands import run_command
from torture.escapes import csv_escapes, html_escapes, terminal_escapes
from torture.judging import unprintable
from torture.strangers import (
    CONTROLS,
    MARKUP,
    hostile_run,
    hostile_table,
    swollen_csv,
    swollen_npz,
    swollen_parquet,
)


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of hostile names, and the run that was made of it; its name is hostile, too."""
    folder = tmp_path_factory.mktemp("strange") / "<img src=x onerror=alert(9)>\x1b]0;owned\x07"
    folder.mkdir()
    target = hostile_table(folder / "t\x1b[31m.parquet")
    said = told(
        [
            "select",
            folder / "t\x1b[31m.parquet",
            "--target",
            target,
            "--out",
            folder / "r.run",
            "--seed",
            "0",
            "--report",
        ]
    )
    assert "confirmed" in said
    return folder


def told(arguments: list[Any]) -> str:
    """All that a command says, or the sentence with which it refuses."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            run_command([str(argument) for argument in arguments])
        except FernwoodError as error:
            return f"{out.getvalue()}{err.getvalue()}{error}\n"
    return out.getvalue() + err.getvalue()


def commands(folder: Path, run: Path) -> dict[str, list[Any]]:
    table = folder / "t\x1b[31m.parquet"
    return {
        "status": ["status", run],
        "status as JSON": ["status", run, "--json"],
        "report": ["report", run, "--output", folder / "page.html", "--force"],
        "decisions": ["export", run, "--to", "csv", "--output", folder / "d.csv", "--force"],
        "names": ["export", run, "--to", "names", "--output", folder / "n.txt", "--force"],
        "apply": ["apply", run, table, "--output", folder / "a.csv", "--force"],
        "compare": ["compare", run, run],
        "info": ["info", run / "table.fern"],
        "verify": ["verify", run / "table.fern"],
        "plan": ["plan", run / "table.fern"],
        "resume": ["resume", run],
        "a run that is not there": ["status", folder / "none\x1b[31m.run"],
        "a table that is not there": [
            "ingest",
            folder / "none\x1b[31m.csv",
            "--target",
            CONTROLS[0],
            "--out",
            folder / "o",
        ],
        "a target that is not there": ["ingest", table, "--target", CONTROLS[0], "--out", folder / "o.fern"],
        "an option that is not there": ["export", run, f"--{CONTROLS[0]}"],
    }


@pytest.mark.parametrize("made_up", [False, True], ids=["a table of a stranger", "a run of a stranger"])
def test_no_command_says_a_control_character(strange: Path, made_up: bool, tmp_path: Path) -> None:
    import shutil

    run = tmp_path / "r\x1b]0;owned\x07.run"
    shutil.copytree(strange / "r.run", run)
    if made_up:
        hostile_run(run)
    said = {name: told(command) for name, command in commands(strange, run).items()}
    assert {name: bad for name, text in said.items() if (bad := terminal_escapes(text))} == {}
    assert sum(map(bool, said.values())) > 10
    assert not {"internal", "damaged"} & set("".join(said.values()).split())


@pytest.mark.parametrize("made_up", [False, True], ids=["a table of a stranger", "a run of a stranger"])
def test_a_report_is_text(strange: Path, made_up: bool, tmp_path: Path) -> None:
    import shutil

    run = tmp_path / "r.run"
    shutil.copytree(strange / "r.run", run)
    if made_up:
        hostile_run(run)
    assert "the report is" in told(["report", run])
    page = (run / "report.html").read_text(encoding="utf-8")
    assert html_escapes(page) == []
    assert ("owned" if made_up else "alert(2)") in page  # it is there, as text


def test_the_checks_see_what_they_should() -> None:
    assert html_escapes("<script></script><img src=x>") == ["<img>", "<img src>"]
    assert html_escapes("<script></script><a href='javascript:x'>") == ["<a href='javascript:x'>"]
    assert html_escapes("<script></script><script></script>") == ["2 scripts"]
    assert html_escapes("<script></script><p onclick=x>\x1b") == ["<p onclick>", r"text with '\x1b'"]
    assert terminal_escapes("a\x1b[31mb", styled=True) == []
    assert terminal_escapes("a\x1b[31mb") == [r"'\x1b'"]
    assert terminal_escapes("a\x1b]0;x\x07", styled=True) == [r"'\x07'", r"'\x1b'"]
    assert terminal_escapes("\x1b[5;35;43mred", ["\x1b[5;35;43mred"], styled=True)


# Spreadsheets ---------------------------------------------------------------------------------------------------------


def test_formulas_are_warned_of_and_kept(strange: Path) -> None:
    """Programs get names as they are; people are told what a spreadsheet would make of them."""
    out = strange / "kept.csv"
    said = told(["export", strange / "r.run", "--to", "csv", "--output", out])
    assert "begin as a formula does, which a spreadsheet would run; --spreadsheet puts an apostrophe in front" in said
    with out.open(encoding="utf-8", newline="") as file:
        names = {row["column"] for row in csv.DictReader(file)}
    assert set(MARKUP) <= names
    assert len(csv_escapes(out)) >= 5
    assert "formula" not in told(["export", strange / "r.run", "--to", "csv", "--output", out, "--force", "--quiet"])


@pytest.mark.parametrize(
    "command",
    [
        ["export", "RUN", "--to", "csv", "--output", "OUT"],
        ["export", "RUN", "--table", "OUT"],
        ["export", "RUN", "--table", "OUT", "--only", "all"],
        ["apply", "RUN", "TABLE", "--output", "OUT"],
    ],
    ids=["decisions", "reduced table", "whole table", "apply"],
)
def test_nothing_in_a_spreadsheet_is_a_formula(strange: Path, command: list[str], tmp_path: Path) -> None:
    places = {"RUN": strange / "r.run", "TABLE": strange / "t\x1b[31m.parquet", "OUT": tmp_path / "out.csv"}
    plain = [places.get(word, word) for word in command]
    assert "--spreadsheet puts an apostrophe" in told(plain)
    assert csv_escapes(tmp_path / "out.csv")
    said = told([*plain, "--force", "--spreadsheet"])
    assert "apostrophe" not in said
    assert csv_escapes(tmp_path / "out.csv") == []


def test_spreadsheets_are_csv(strange: Path, tmp_path: Path) -> None:
    run = strange / "r.run"
    assert "--spreadsheet is for CSV" in told(["export", run, "--to", "json", "--spreadsheet"])
    table = ["apply", run, strange / "t\x1b[31m.parquet", "--output", tmp_path / "x.parquet", "--spreadsheet"]
    assert "--spreadsheet is for CSV" in told(table)


def test_what_begins_as_a_formula() -> None:
    cells = ["=a", "+a", "-a", "@a", "\ta", "\ra", "＝a", "-1", "+1.5e3", ".5", "a=1", "", None, "'=a", "-", "1-2"]
    table = pa.table({"-x": cells, "n": range(-8, 8), "c": pa.array(["=u", "v"] * 8).dictionary_encode()})
    seen, guarded = Formulas(), Formulas(guard=True)
    assert seen.passed(table) is table
    assert (seen.n, seen.first) == (1 + 8 + 8, "=a")
    mended = guarded.passed(table)
    assert mended.column_names == ["'-x", "n", "c"]
    assert mended.column(0).to_pylist() == [f"'{c}" if c in (*cells[:7], "-") else c for c in cells]
    assert mended.column("n").to_pylist() == list(range(-8, 8))
    assert mended.column("c").to_pylist()[:2] == ["'=u", "v"]
    assert (guarded.n, guarded.said) == (seen.n, "")


def test_a_terminal_gets_text() -> None:
    """Decisions sent to a terminal: a control character of a name is shown, not obeyed; a file gets it as it is."""
    ours, theirs = pty.openpty()
    try:
        assert Descriptor(theirs).write("é\x1b[31m,\u202ex\n=1\n".encode()) == len("é\x1b[31m,\u202ex\n=1\n".encode())
        shown = os.read(ours, 1000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert shown == "é\\x1b[31m,\\u202ex\r\n=1\r\n"
    reading, writing = os.pipe()
    Descriptor(writing).write(b"\x1b")
    assert os.read(reading, 10) == b"\x1b"
    os.close(reading)
    os.close(writing)


# Paths ----------------------------------------------------------------------------------------------------------------


def test_a_link_in_a_run_leads_nobody_to_write_elsewhere(strange: Path, tmp_path: Path) -> None:
    import shutil

    run = tmp_path / "r.run"
    shutil.copytree(strange / "r.run", run)
    precious = tmp_path / "precious.txt"
    precious.write_text("as it was")
    for name in ("events.jsonl", "checkpoint.npz", "result.json", "report.html", "decisions.parquet"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(precious)
    for name in (".checkpoint.npz.partial", ".result.json.partial"):
        (run / name).symlink_to(precious)
    for command in (["resume", run], ["report", run], ["status", run]):
        assert unprintable(told(command)) == ""
    assert precious.read_text() == "as it was"


@pytest.mark.parametrize("name", ["loop", "loop/s.fern", "a\x00b", "x" * 300, "file/s.fern"])
def test_paths_that_lead_nowhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("1")
    with pytest.raises(StoreError, match="there is no store"):
        fernwood.open(tmp_path / name)
    with pytest.raises(SourceError, match="there is no file"):
        fernwood.ingest(tmp_path / name)
    with pytest.raises(StoreError, match="no name that a store can have|there is no directory|cannot be made in"):
        fernwood.ingest(np.eye(4), tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "file", "loop"]


@pytest.mark.parametrize(
    "address", ["simplecache::http://h/x", "reference://x", "ssh://h/x", "github://a:b@/x", "dask://x"]
)
def test_a_run_does_not_choose_who_fetches_its_store(strange: Path, address: str) -> None:
    began = RunDirectory.open(strange / "r.run")
    manifest = type(began.manifest)(**{**began.manifest.__dict__, "store": address})
    assert not Url(address).is_plain
    with pytest.raises(StoreError, match="give it with --store if you trust it"):
        RunDirectory(began.path, manifest).store_path  # noqa: B018


# Files that grow ------------------------------------------------------------------------------------------------------

CHILD = """
import resource, sys
import fernwood
from fernwood.errors import FernwoodError
fernwood.ingest([[1.0, 2.0], [3.0, 4.0]])
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    fernwood.ingest(sys.argv[1], sys.argv[2], memory="64MB", target=sys.argv[3] or None)
    print("worked")
except FernwoodError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held)
"""


@pytest.mark.parametrize(("kind", "target"), [("csv", ""), ("parquet", ""), ("parquet", "y"), ("target", "y")])
def test_what_grows_a_thousandfold_stays_inside_the_budget(kind: str, target: str, tmp_path: Path) -> None:
    path = tmp_path / ("t.csv.gz" if kind == "csv" else "t.parquet")
    if kind == "csv":
        swollen_csv(path, 100 * 2**20)
    else:
        swollen_parquet(path, 16 * 2**20)
    assert path.stat().st_size < 2**20
    if kind == "target":
        path, target = tmp_path / "small.csv", f"{path}:{target}"
        path.write_text("a,b\n1,2\n3,4\n")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, path, tmp_path / "o.fern", target], capture_output=True, text=True, check=True
    )
    sentence, grown = done.stdout.splitlines()
    assert int(grown) * 1024 < 160 * 10**6, done.stdout
    assert any(words in sentence for words in ("more than", "too small", "does not fit", "they must agree"))


def test_a_checkpoint_that_grows_is_damaged(strange: Path, tmp_path: Path) -> None:
    import shutil

    run = tmp_path / "r.run"
    shutil.copytree(strange / "r.run", run)
    for name in ("result.json", "checkpoint-before.npz"):
        (run / name).unlink(missing_ok=True)
    swollen_npz(run / "checkpoint.npz", 2**28)
    assert (run / "checkpoint.npz").stat().st_size < 2 * 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "the checkpoint of 'r.run' is damaged" in told(["resume", run])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_million_names_and_a_line_without_end(tmp_path: Path) -> None:
    n = 200_000
    (tmp_path / "wide.csv").write_text(
        ",".join(f"c{i}" for i in range(n)) + "\n" + (",".join("12" * (n // 2)) + "\n") * 3
    )
    assert fernwood.ingest(tmp_path / "wide.csv", memory="256MB").n_columns == n
    (tmp_path / "long.csv").write_bytes(b"a,b\n1," + b"x" * (17 * 2**20))
    with pytest.raises(FernwoodError, match="has a cell of more than 16777216 bytes"):
        fernwood.ingest(tmp_path / "long.csv", memory="256MB")


def test_names_of_files_are_only_names(tmp_path: Path) -> None:
    """A store and a run under names that a shell, a page or a glob would take for more."""
    for name in ("$(touch x)", "a;b", "*", "[x]", "-rf", "~", "%2e%2e", "'\"", "\u202ea", "a\nb"):
        store = fernwood.ingest(np.eye(4), tmp_path / f"{name}.fern", target=[0, 1, 0, 1])
        assert store.path.parent == tmp_path
        fernwood.ingest(np.eye(4), tmp_path / f"{name}.fern", target=[0, 1, 0, 1], force=True).verify()
        assert fernwood.open(tmp_path / f"{name}.fern").n_rows == 4
    assert len(list(tmp_path.iterdir())) == 10
    pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "x y.parquet")
    assert fernwood.ingest(tmp_path / "x y.parquet").n_rows == 2
