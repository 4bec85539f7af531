"""Tables of figures in documents: what a cell shows is what a results file holds.

The heading of a column names its figures in backticks, in the order in which a cell has them; the last cell of a row
names the case and, where the case measures several things, what comes before the names:

    | noise | p ≤ 0.01, times `1e2` ± `1e2_error` | case |
    | counts | 0.98 ± 0.05 | `calibration-noise` `zeros` |
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).resolve().parent / "results"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NAME = re.compile(r"`([\w.-]+)`")


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
