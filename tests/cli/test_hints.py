"""Help where it is needed: what to do next, what was meant, and what a shell completes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import COMMAND, environment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    names = ["height", "weight", "site", *(f"g{i}" for i in range(6)), "disease", "patient"]
    cells = rng.integers(0, 9, (40, len(names)))
    cells[:, names.index("disease")] %= 2
    cells[:, names.index("patient")] = np.arange(40) // 4
    lines = [",".join(names), *(",".join(map(str, row)) for row in cells.tolist())]
    (tmp_path / "genes.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_command_alone_says_what_to_do_next(run: Any, folder: Path) -> None:
    done = run()
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) == 6
    for words in ("fernwood demo", "fernwood select TABLE.csv --target COLUMN", "fernwood plan", "fernwood --help"):
        assert words in done.out
    assert max(map(len, done.out.splitlines())) < 80
    for name in ("old.run", "new\x1b.run"):
        (folder / name).mkdir()
        (folder / name / "run.json").write_text("{}")
        os.utime(folder / name / "run.json", ns=(len(name), len(name)))
    assert "fernwood status new\\x1b.run" in run().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("selct genes.csv", "fernwood has no command 'selct'; did you mean 'select'?"),
        ("zzz", "fernwood has no command 'zzz'; fernwood --help shows what there is"),
        ("theory convergnce", "fernwood theory has no command 'convergnce'; did you mean 'convergence'?"),
        ("select genes.csv --taget disease", "fernwood select has no option '--taget'; did you mean '--target'?"),
        ("select genes.csv --zzz", "fernwood select has no option '--zzz'; fernwood select --help shows"),
        ("select genes.csv --target disease --method snowbal", "did you mean 'snowball'?"),
        ("select gene.csv --target disease", "there is no file 'gene.csv'; did you mean 'genes.csv'?"),
        ("select gene.csv", "there is no file 'gene.csv'; did you mean 'genes.csv'?"),  # before it asks for a target
        ("plan nosuch.fern", "there is no file 'nosuch.fern'; check the path"),
        ("select sub/gene.csv", "there is no file 'sub/gene.csv'; check the path"),
        ("ingest genes.tsv --target disease --out s.fern", "did you mean 'genes.csv'?"),
        (
            "select genes.csv --target diseas",
            "there is no target 'diseas': neither a column of the table nor a file; d",
        ),
        ("select genes.csv --target Disease", "; did you mean 'disease'?"),
        ("select genes.csv --target disease --given sit", "did you mean 'site'?"),
        ("select genes.csv --target disease --groups patent", "did you mean 'patient'?"),
        ("select genes.csv --target disease --weights weihgt", "did you mean 'weight'?"),
        ("select genes.csv --target disease --columns heigth", "did you mean 'height'?"),
        ("select genes.csv --target disease --drop heigth", "did you mean 'height'?"),
        ("status gene.run", "there is no run 'gene.run'; did you mean 'genes.run'?"),
        ("resume gene.run", "there is no run 'gene.run'; did you mean 'genes.run'?"),
        ("export gene.run --to csv", "there is no run 'gene.run'; did you mean 'genes.run'?"),
        ("report nothing", "there is no run 'nothing'; make one with `fernwood select --out`"),
        ("info genes.frn", "there is no store 'genes.frn'; did you mean 'genes.fern'?"),
    ],
)
def test_what_was_meant(run: Any, folder: Path, arguments: str, words: str) -> None:
    for name, files in {"genes.run": ("run.json", "result.json"), "genes.fern": ("manifest.json",)}.items():
        if "genes.tsv" in arguments or ".csv" in arguments:
            continue  # a table is asked for
        (folder / name).mkdir()
        for file in files:
            (folder / name / file).write_text("{}")
    done = run(*arguments.split())
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert done.err.startswith("fernwood: ")


def test_a_target_at_the_end_of_a_very_wide_table_is_found() -> None:
    from fernwood.sources.names import ListedNames

    names = ListedNames([f"column number {i}" for i in range(30_000)] + ["disease"])
    assert names.nearest("diseas") == "; did you mean 'disease'?"
    assert ListedNames(["a", "disease"]).nearest("diseas") == "; did you mean 'disease'?"


def commands() -> list[list[str]]:
    """All commands, as words."""
    from fernwood.cli import load_commands, theory

    names = [command.name for command in load_commands().registered_commands]
    inner = [command.name or command.callback.__name__ for command in theory.app.registered_commands]
    return [[str(name)] for name in names] + [["theory", str(name)] for name in inner]


def test_the_command_line_knows_where_every_command_is() -> None:
    from fernwood.cli import _COMMANDS

    assert set(_COMMANDS) == {words[0] for words in commands()}


def test_every_help_has_an_example_on_one_line(run: Any) -> None:
    assert len(commands()) > 15
    for command in commands():
        done = run(*command, "--help", before="import os; os.environ['COLUMNS'] = '80'")
        assert done.code == 0, done.err
        lines = [line.strip() for line in done.out.splitlines() if "Example: fernwood" in line]
        assert lines, f"{command} has no example"
        assert lines[0].startswith(f"Example: fernwood {' '.join(command)}")
        assert max(map(len, done.out.splitlines())) <= 80
        following = done.out.splitlines()[done.out.splitlines().index(f" {lines[0]}".ljust(80)) + 1]
        assert not following.strip(), f"the example of {command} does not fit on a line of 80"


# Completion ------------------------------------------------------------------------------------------------------


def completed(run: Any, *words: str) -> list[str]:
    """What bash offers for the last word, by the way that its completion takes."""
    about = {
        "_FERNWOOD_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("fernwood", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = run(before=f"import os; os.environ.update({about!r})")
    assert (done.code, done.err) == (0, "")
    return list(done.out.split())


def test_a_shell_completes(run: Any, folder: Path) -> None:
    for name, file in (("genes.run", "run.json"), ("genes.fern", "manifest.json"), ("genes.d", "notes.txt")):
        (folder / name).mkdir()
        (folder / name / file).write_text("{}")
    assert completed(run, "se") == ["select"]
    assert completed(run, "select", "--ta") == ["--target", "--task"]
    assert completed(run, "select", "genes.csv", "--method", "s") == ["snowball", "subspace"]
    assert completed(run, "theory", "con") == ["convergence"]
    assert completed(run, "status", "g") == ["genes.run"]
    assert completed(run, "compare", "./gen") == ["./genes.run"]
    assert completed(run, "export", f"{folder}/") == [f"{folder}/genes.run"]
    assert completed(run, "info", "g") == ["genes.fern"]
    assert completed(run, "status", "nothing/") == []
    assert completed(run, "select", "g") == []  # the shell offers files by itself


def test_completion_can_be_installed(folder: Path) -> None:
    """It says what it would install for bash, and installs it into a home of its own."""
    about = {**environment(), "SHELL": "/bin/bash", "HOME": str(folder)}
    script = "import sys; sys.argv = ['fernwood', *sys.argv[1:]]; from fernwood.cli import main; main()"

    def asked(option: str) -> str:
        done = subprocess.run(
            [*COMMAND[:2], script, option, "bash"],
            cwd=folder,
            env={**about, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = asked("--show-completion")
    assert "_FERNWOOD_COMPLETE=complete_bash" in shown
    assert "complete -o default -F _fernwood_completion fernwood" in shown
    asked("--install-completion")
    installed = [path for path in folder.rglob("*") if path.is_file() and "fernwood" in path.name]
    assert any("_FERNWOOD_COMPLETE=complete_bash" in path.read_text() for path in installed)
