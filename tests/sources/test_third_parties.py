"""A package of another party, installed by its metadata alone, is found, used, and named when it is broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fernwood
from fernwood.errors import SourceError

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def install(folder: Path, entry: str | None = None) -> None:
    """The package of the page, as an installer leaves it."""
    (folder / "fernwood_notes.py").write_text(blocks("python")[0])
    project = tomllib.loads(blocks("toml")[0])["project"]
    about = folder / "fernwood_notes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    entries = project["entry-points"]["fernwood.sources"]
    lines = [f"{name} = {entry or target}" for name, target in entries.items()]
    (about / "entry_points.txt").write_text("[fernwood.sources]\n" + "\n".join(lines) + "\n")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "garden.notes"
    path.write_text("height 1.5 2.5 ? 4\nleaves 7 8 9 12\nill 0 1 0 1\n")
    return path


def test_the_command_line_reads_it(tmp_path: Path, notes: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages)
    path = os.pathsep.join([str(packages), *filter(None, sys.path)])
    command = [sys.executable, "-c", "from fernwood.cli import main; main()"]
    arguments = ["ingest", str(notes), "--target", "ill", "--out", str(tmp_path / "g.fern"), "--json"]
    done = subprocess.run(
        [*command, *arguments], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["columns"] == 2
    store = fernwood.open(tmp_path / "g.fern")
    assert list(store.names) == ["height", "leaves"]
    assert store.column("leaves").tolist() == [7, 8, 9, 12]
    assert store.n_missing.tolist() == [1, 0]
    refused = subprocess.run(
        [*command, *arguments, "--force", "--transposed"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert refused.returncode == 2
    assert "transposed says how a text file is written, and 'garden.notes' is none" in refused.stderr


def test_without_the_package_the_name_says_nothing(notes: Path) -> None:
    with pytest.raises(SourceError, match="the name of 'garden.notes' does not say what it is; Fernwood reads text"):
        fernwood.ingest(notes)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (
            "no_such_module:NOTES",
            "the source 'notes' of another package cannot be loaded .*update or remove that package",
        ),
        ("fernwood_notes:NotesSource", "is a ABCMeta, not a fernwood.sources.formats.Format"),
    ],
)
def test_a_broken_package_is_named(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, entry: str, sentence: str
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, entry)
    monkeypatch.syspath_prepend(packages)
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(notes)
    sys.modules.pop("fernwood_notes", None)


def test_our_formats_are_not_held_up_by_a_broken_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "no_such_module:NOTES")
    monkeypatch.syspath_prepend(packages)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    assert fernwood.ingest(tmp_path / "t.csv").n_columns == 2
