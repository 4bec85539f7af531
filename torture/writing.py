"""What a long test leaves: `torture/results/NAME.json`, and the table of bars in the documentation."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.provenance import ROOT, provenance
from torture.catalogue import NAMES
from torture.part import NOT_RUN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torture.part import Asked, Bar, Part

RESULTS = ROOT / "torture" / "results"
PAGE = ROOT / "docs" / "trust.md"
_PACKAGES = ("fernwood", "numpy", "numba", "pyarrow")


def write(part: Part, bars: Sequence[Bar], asked: Asked, *, seconds: float, results: Path) -> None:
    """Keep the figures of a run of full size; pieces that were not run keep those they have, with where these are from.

    Each of these bars says in `earlier` by which command, at which commit and on which day it was measured.
    """
    path = results / f"{part.name}.json"
    kept = _kept(path) if path.is_file() else {}
    pieces = "".join(f" --only {piece}" for piece in asked.only) if len(asked.only) < len(part.pieces) else ""
    told = {
        "part": part.name,
        "title": part.title,
        "command": f"python -m torture {part.name}{pieces} --minutes {asked.minutes:g} --seed {asked.seed}",
        "seconds": round(seconds, 1),
        "bars": [kept.get(bar.about, bar._asdict()) if bar.measured == NOT_RUN else bar._asdict() for bar in bars],
        **provenance(_PACKAGES),
    }
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(told, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _kept(path: Path) -> dict[str, dict[str, Any]]:
    """The bars of the last run by what they are about, each with the command and the commit that it is from."""
    told = json.loads(path.read_text(encoding="utf-8"))
    origin = {key: told[key] for key in ("command", "commit", "date")}
    return {bar["about"]: {"earlier": origin} | bar for bar in told["bars"] if bar["measured"] != NOT_RUN}


def table(results: Path = RESULTS) -> str:
    """All bars, as Markdown, from what is kept of the last runs."""
    lines = ["| what | bar | measured | | command |", "| --- | --- | --- | --- | --- |"]
    for name in NAMES:
        path = results / f"{name}.json"
        if path.is_file():
            told = json.loads(path.read_text(encoding="utf-8"))
            lines += [_line(bar, bar.get("earlier", told)["command"]) for bar in told["bars"]]
    return "\n".join(lines)


def page(text: str, results: Path = RESULTS) -> str:
    """The page about trust, with the table as it was last measured."""
    lines = table(results).replace("\\", r"\\")
    return re.sub(r"(<!-- torture -->\n).*?(\n<!-- end of torture -->)", rf"\1\n{lines}\n\2", text, flags=re.DOTALL)


def _line(bar: dict[str, Any], command: str) -> str:
    cells = (bar["about"], bar["asked"], bar["measured"], "met" if bar["met"] else "**missed**", f"`{command}`")
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
