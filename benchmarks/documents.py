"""Tables of figures in documents: what a cell shows is what a results file holds.

    python -m benchmarks.documents      every table anew, from what was measured last

The heading of a column names its figures in backticks, in the order in which a cell has them; the last cell of a row
names the case and, where the case measures several things, what comes before the names:

    | noise | p ≤ 0.01, times `1e2` ± `1e2_error` | case |
    | counts | 0.98 ± 0.05 | `calibration-noise` `zeros` |

Where no heading names any, a row has a single figure, which its last cell names behind the case:

    | what | measured | case and figure |
    | peak memory of the demo | 373 MB | `demo` `peak_bytes` |
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NAME = re.compile(r"`([\w.-]+)`")
_SINGLE = re.compile(r"^\| .* \| (?P<shown>[\d.,]+) ?(?P<unit>[^|]*) \| `(?P<case>[\w-]+)` `(?P<figure>\w+)` \|$")
_UNITS = {"MB": 1e6, "MB/s": 1e6, "GB": 1e9, "GB/s": 1e9}


class Row(NamedTuple):
    """A row of a table of figures: its line, its case, and the figures of every cell."""

    line: int
    case: str
    figures: list[list[str]]


def recorded() -> dict[str, list[dict[str, Any]]]:
    """The figures of every case, oldest first."""
    out: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(RESULTS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            out.setdefault(entry["case"], []).append(entry["figures"])
    return out


def rows_of(lines: list[str]) -> list[Row]:
    """The rows of all tables whose headings name figures."""
    out = []
    headings: list[list[str]] = []
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            headings = []
        elif not headings:
            headings = [_NAME.findall(cell) for cell in cells_of(line)]
        elif any(headings) and (named := _NAME.findall(cells_of(line)[-1])):
            before = "".join(f"{prefix}_" for prefix in named[1:])
            out.append(Row(number, named[0], [[before + name for name in heading] for heading in headings]))
    return out


def cells_of(line: str) -> list[str]:
    """The cells of a row."""
    return line.strip().strip("|").split("|")


def with_figures(line: str, row: Row, figures: dict[str, Any]) -> str:
    """The line of a row with the numbers of its cells taken from figures, to as many digits as they have."""
    cells = [
        _filled(cell, [figures[name] for name in names]) if names else cell
        for cell, names in zip(cells_of(line), row.figures, strict=True)
    ]
    return f"|{'|'.join(cells)}|"


def _filled(cell: str, values: list[float]) -> str:
    """A cell with its numbers replaced, one after another; a cell of words stays."""
    left = iter(values)
    return _NUMBER.sub(lambda shown: f"{next(left):.{len(shown[0].partition('.')[2])}f}", cell)


class Single(NamedTuple):
    """A row with a single figure: its line, its case, the figure, and how it is shown."""

    line: int
    case: str
    figure: str
    shown: str
    unit: str

    def as_shown(self, figures: dict[str, Any]) -> str:
        """The figure of a results file in the unit of the row, to as many digits as it has there."""
        value = figures[self.figure] / _UNITS.get(self.unit.strip(), 1)
        return f"{value:{',' if ',' in self.shown else ''}.{len(self.shown.partition('.')[2])}f}"


def singles_of(lines: list[str]) -> list[Single]:
    """The rows of all tables with a single figure a row."""
    others = {row.line for row in rows_of(lines)}
    found = ((number, _SINGLE.match(line)) for number, line in enumerate(lines) if number not in others)
    return [Single(number, one["case"], one["figure"], one["shown"], one["unit"]) for number, one in found if one]


def brought_up_to_date(text: str, measured: dict[str, list[dict[str, Any]]]) -> str:
    """A document with what was measured last in its tables."""
    lines = text.split("\n")
    for row in (row for row in rows_of(lines) if row.case in measured):  # other tables have names in backticks, too
        named = set().union(*row.figures)
        known = [figures for figures in measured[row.case] if named <= set(figures)]
        lines[row.line] = with_figures(lines[row.line], row, known[-1])
    for one in singles_of(lines):
        known = [figures for figures in measured[one.case] if one.figure in figures]
        before, _, after = lines[one.line].rpartition(f"| {one.shown}")
        lines[one.line] = f"{before}| {one.as_shown(known[-1])}{after}"
    return "\n".join(lines)


if __name__ == "__main__":
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        path.write_text(brought_up_to_date(text, recorded()), encoding="utf-8")
