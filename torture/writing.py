"""What a long test leaves: `torture/results/NAME.json`, and the table of bars in the documentation."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.provenance import ROOT, provenance
from torture.catalogue import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torture.part import Bar, Part

RESULTS = ROOT / "torture" / "results"
PAGE = ROOT / "docs" / "trust.md"
_PACKAGES = ("fernwood", "numpy", "numba", "pyarrow")


def write(part: Part, bars: Sequence[Bar], *, minutes: float, seed: int, seconds: float, results: Path) -> None:
    """Keep the figures of a run of full size."""
    told = {
        "part": part.name,
        "title": part.title,
        "command": f"python -m torture {part.name} --minutes {minutes:g} --seed {seed}",
        "seconds": round(seconds, 1),
        "bars": [bar._asdict() for bar in bars],
        **provenance(_PACKAGES),
    }
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(told, indent=1, ensure_ascii=False)
    (results / f"{part.name}.json").write_text(text + "\n", encoding="utf-8")


def table(results: Path = RESULTS) -> str:
    """All bars, as Markdown, from what is kept of the last runs."""
    lines = ["| what | bar | measured | | command |", "| --- | --- | --- | --- | --- |"]
    for name in NAMES:
        path = results / f"{name}.json"
        if path.is_file():
            told = json.loads(path.read_text(encoding="utf-8"))
            lines += [_line(bar, told["command"]) for bar in told["bars"]]
    return "\n".join(lines)


def page(text: str, results: Path = RESULTS) -> str:
    """The page about trust, with the table as it was last measured."""
    lines = table(results).replace("\\", r"\\")
    return re.sub(r"(<!-- torture -->\n).*?(\n<!-- end of torture -->)", rf"\1\n{lines}\n\2", text, flags=re.DOTALL)


def _line(bar: dict[str, Any], command: str) -> str:
    cells = (bar["about"], bar["asked"], bar["measured"], "met" if bar["met"] else "**missed**", f"`{command}`")
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
