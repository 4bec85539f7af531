"""Every Python block of the README and the documents runs, in order, in an empty directory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.documents import recorded, rows_of, with_figures

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_code_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(block, document.name, "exec"), names)


def test_links_lead_somewhere() -> None:
    for document in [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name} links to {link}"


def test_the_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


def test_figures_of_the_readme_are_those_measured() -> None:
    """Every row of the README's table names a case and a figure, and rounds a value that a results file holds."""
    measured = recorded()
    rows = re.findall(
        r"^\| .* \| ([\d.,]+) ?([^|]*) \| `([\w-]+)` `(\w+)` \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert len(rows) >= 8
    for shown, unit, case, figure in rows:
        factor = {"MB": 1e6, "MB/s": 1e6, "GB/s": 1e9, "GB": 1e9}.get(unit.strip(), 1)
        digits = len(shown.partition(".")[2])
        values = [round(line[figure] / factor, digits) for line in measured[case] if figure in line]
        assert float(shown.replace(",", "")) in values, f"{case} {figure}"


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("snowball.md", 16),
        ("calibration.md", 20),
        ("boruta.md", 5),
        ("ferns.md", 24),
        ("elimination.md", 48),
        ("minimal.md", 1),
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


def test_results_fit_their_schema() -> None:
    schema = json.loads((ROOT / "benchmarks" / "schema.json").read_text())
    for path in (ROOT / "benchmarks" / "results").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            assert set(entry) == set(schema["required"])
            assert all(isinstance(value, int | float) for value in entry["figures"].values())
            assert all(isinstance(value, bool) for value in entry["bars"].values())
