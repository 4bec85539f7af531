"""Every example of the README and the documents runs, in order, in an empty directory, and shows what it prints.

A block of ``python`` is executed; ``output`` is what the block before it printed; in ``console``, lines after ``$`` are
commands, and the others what they print. An ellipsis stands for anything. What is said without a language is not run,
but its commands must have the options that it names.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

import fernwood.cli
from benchmarks.documents import brought_up_to_date, recorded, rows_of, singles_of, with_figures

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
MADE_WITH_THE_SITE = {ROOT / "docs" / "reference" / "command-line.md"}
COMMAND = "from fernwood.cli import main; main()"


class Block(NamedTuple):
    """A block of code: its language, which may be empty, and its text."""

    language: str
    text: str


def blocks_of(document: Path) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", document.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [Block(*parts) for parts in found]


def stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def shows(shown: str, printed: str) -> bool:
    """Whether something printed is what is shown, an ellipsis standing for anything."""
    pattern = ".*".join(re.escape(part) for part in stripped(shown).split("…"))
    return re.fullmatch(pattern, stripped(printed), re.DOTALL) is not None


def run_commands(text: str, environment: dict[str, str]) -> None:
    """Run the commands of a block and hold what they print to what the block shows, where it shows something."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        code, printed, complaints = run_command(command, environment)
        assert code == 0, f"{command}\n{complaints}"
        assert not shown.strip() or shows(shown, printed), f"{command}\n{printed}"


def run_command(command: str, environment: dict[str, str]) -> tuple[int, str, str]:
    """The exit code of a command, what it printed, and what it complained of.

    One of Fernwood that needs no shell runs here, which saves a start of Python; tests/cli starts the real ones. A
    budget counts what Python and the libraries take, which here are the libraries of all tests.
    """
    words = shlex.split(command)
    if words[0] == "fernwood" and "--memory" not in words and not set("|&;<>$`*?~") & set(command):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            heard = CliRunner().invoke(fernwood.cli.load_commands(), words[1:], env=environment, prog_name="fernwood")
        return heard.exit_code, heard.stdout, f"{heard.stderr}\n{heard.exception!r}"
    done = subprocess.run(
        command, shell=True, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `fernwood` is this one."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "fernwood").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{COMMAND}" "$@"\n')
    (folder / "fernwood").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_run(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for language, text in blocks_of(document):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as heard:
                exec(compile(text, document.name, "exec"), names)
            printed = heard.getvalue()
        elif language == "output":
            assert shows(text, printed), f"{document.name} shows\n{text}\nand this was printed\n{printed}"
        elif language == "console" and document.name != "theory.md":  # tests/theory holds that page to the letter
            run_commands(text, environment)


def test_an_example_that_shows_something_else_is_noticed(environment: dict[str, str]) -> None:
    assert shows("a…\nd\n", "a b\nc\nd \n")
    assert not shows("a…\nd\n", "a b\nc\n")
    run_commands("$ fernwood --version\nfernwood …\n", environment)
    with pytest.raises(AssertionError, match="fernwood --version"):
        run_commands("$ fernwood --version\nsomething else\n", environment)
    with pytest.raises(AssertionError, match="no-such"):
        run_commands("$ fernwood no-such\n", environment)
    run_commands("$ fernwood --version | cat\nfernwood …\n", environment)
    with pytest.raises(AssertionError, match="no-such"):
        run_commands("$ fernwood no-such && true\n", environment)


def commands() -> dict[str, Any]:
    """Every command of the command line, by its words."""
    for module in pkgutil.iter_modules(fernwood.cli.__path__):
        import_module(f"fernwood.cli.{module.name}")
    theory = typer.main.get_command(import_module("fernwood.cli.theory").app)
    whole = typer.main.get_command(fernwood.cli.app)
    found = {name: command for name, command in whole.commands.items() if name != "theory"}
    return found | {f"theory {name}": command for name, command in theory.commands.items()}


def options_of(command: Any) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def test_every_command_is_one_of_the_command_line(environment: dict[str, str]) -> None:
    """The reference lists what the modules of the command line define; a command that nothing loads is not there."""
    asked = (
        "import contextlib, json, sys; from fernwood import cli\n"
        "sys.argv = ['fernwood', '--version']\n"
        "with contextlib.suppress(SystemExit): cli.main()\n"
        "print(json.dumps([c.name or c.callback.__name__ for c in cli.app.registered_commands]))"
    )
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert sorted(loaded) == sorted(name for name in commands() if not name.startswith("theory"))


def test_commands_that_are_shown_exist_and_have_their_options() -> None:
    known = commands()
    n_shown = 0
    for document in DOCUMENTS:
        for line in re.findall(r"^(?:\$ )?(?:\.venv/bin/)?fernwood (.*)$", document.read_text(), re.MULTILINE):
            words = shlex.split(line.split("   ")[0], comments=True)
            name = " ".join(words[:2]) if words[0] == "theory" else words[0]
            options = {word for word in words if re.match(r"--?[a-zA-Z]", word)}
            assert name in known, f"{document.name}: fernwood {line}"
            assert options <= options_of(known[name]), f"{document.name}: fernwood {line}"
            n_shown += 1
    assert n_shown > 40


def test_links_lead_somewhere() -> None:
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            there = (document.parent / link).resolve()
            assert there.exists() or there in MADE_WITH_THE_SITE, f"{document.name} links to {link}"


def test_every_page_is_in_the_navigation() -> None:
    """The site is built strictly, too; this needs no MkDocs."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    named = set(re.findall(r"- ([\w./-]+\.md)\b", nav))
    there = {str(page.relative_to(ROOT / "docs")) for page in PAGES} | {"reference/command-line.md"}
    assert {page for page in there if not page.startswith("decisions/")} == named
    assert re.search(r": decisions/", nav)


def test_the_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


@pytest.mark.parametrize(
    ("name", "least"),
    [("README.md", 8), ("docs/memory.md", 9), ("docs/faq.md", 5), ("docs/cluster.md", 19), ("docs/gpu.md", 11)],
)
def test_single_figures_are_those_measured(name: str, least: int) -> None:
    """Every row of such a table names a case and a figure, and rounds a value that a results file holds."""
    measured = recorded()
    rows = singles_of((ROOT / name).read_text().splitlines())
    assert len(rows) >= least
    for row in rows:
        values = [row.as_shown(figures) for figures in measured[row.case] if row.figure in figures]
        assert row.shown in values, f"{row.case} {row.figure}"


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("snowball.md", 16),
        ("calibration.md", 20),
        ("boruta.md", 5),
        ("ferns.md", 24),
        ("elimination.md", 48),
        ("minimal.md", 1),
        ("choosing.md", 21),
        ("error-rate.md", 4),
        ("boruta-users.md", 6),
        ("faq.md", 1),
        ("cluster.md", 1),
    ],
)
def test_figures_of_documents_are_those_measured(name: str, least: int) -> None:
    """Every row of a table of figures shows what one line of a results file holds."""
    measured = recorded()
    lines = (ROOT / "docs" / name).read_text().splitlines()
    rows = rows_of(lines)
    assert len(rows) >= least
    for row in rows:
        known = [figures for figures in measured[row.case] if set().union(*row.figures) <= set(figures)]
        assert lines[row.line] in [with_figures(lines[row.line], row, figures) for figures in known]


def test_tables_are_brought_up_to_date() -> None:
    text = """
| noise | p ≤ 0.01, times `1e2` ± `1e2_error` | case |
| --- | --- | --- |
| counts | 0.98 ± 0.05 | `noise` `zeros` |

| what | measured | case and figure |
| --- | --- | --- |
| memory of 12 MB | 12 MB | `demo` `peak` |
| columns | 1,234 | `demo` `columns` |
| words | stay | as they are |
"""
    measured = {
        "noise": [{"zeros_1e2": 1.0, "zeros_1e2_error": 0.2}, {"zeros_1e2": 1.126, "zeros_1e2_error": 0.3}, {"p": 1.0}],
        "demo": [{"peak": 1.0}, {"peak": 34_567_890.0, "columns": 98765}],
    }
    assert brought_up_to_date(text, measured) == text.replace("0.98 ± 0.05", "1.13 ± 0.30").replace(
        "| 12 MB", "| 35 MB"
    ).replace("1,234", "98,765")


def test_results_fit_their_schema() -> None:
    schema = json.loads((ROOT / "benchmarks" / "schema.json").read_text())
    for path in (ROOT / "benchmarks" / "results").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            assert set(entry) == set(schema["required"])
            assert all(isinstance(value, int | float) for value in entry["figures"].values())
            assert all(isinstance(value, bool) for value in entry["bars"].values())
