"""The page `docs/reproduction.md`, made from the results: what the papers print beside what we get."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from experiments.catalogue import NAMES
from experiments.experiment import Told
from experiments.items.methods import short_table
from experiments.writing import RESULTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = ROOT / "docs" / "reproduction.md"
README = ROOT / "README.md"
_INTRODUCTION = ROOT / "experiments" / "introduction.md"


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    files = [results / f"{name}.json" for name in NAMES]
    told = [json.loads(path.read_text(encoding="utf-8")) for path in files if path.is_file()]
    sections = ["\n".join(_section(experiment)) for experiment in told]
    introduction = _INTRODUCTION.read_text(encoding="utf-8").replace("{summary}", _summary(told))
    return "\n".join([introduction, *sections])


def readme(text: str, results: Path = RESULTS) -> str:
    """The README with the table of methods and peers as it was last measured."""
    path = results / "methods.json"
    if not path.is_file():
        return text
    rows = json.loads(path.read_text(encoding="utf-8"))["parts"]["tables"]["figures"]
    lines = "\n".join(short_table(Told(rows)))
    return re.sub(r"(<!-- methods -->\n).*?(\n<!-- end of methods -->)", rf"\1\n{lines}\n\2", text, flags=re.DOTALL)


def _summary(told: list[dict[str, Any]]) -> str:
    """A table of the experiments: how many claims agree."""
    lines = ["| experiment | claims | exact | agree | differ | minutes |", "| --- | --- | --- | --- | --- | --- |"]
    for one in told:
        verdicts = [claim["verdict"] for part in one["parts"].values() for claim in part["claims"]]
        counts = " | ".join(str(verdicts.count(verdict)) for verdict in ("exact", "agrees", "differs"))
        lines.append(f"| [{one['title']}](#{_anchor(one['title'])}) | {len(verdicts)} | {counts} | {_minutes(one)} |")
    return "\n".join(lines)


def _minutes(told: dict[str, Any]) -> str:
    """How much work it was: of processors where that was counted, else by the clock."""
    if "processor_seconds" in told:
        return f"{told['processor_seconds'] / 60:.1f} of a processor"
    return f"{told['wall_seconds'] / 60:.0f} by the clock, on a busy machine"


def _section(told: dict[str, Any]) -> Iterator[str]:
    yield f"## {told['title']}\n"
    yield f"`{told['command']}`; minutes of work: {_minutes(told)}; commit {told['commit']}.\n"
    if told["missing"]:
        yield f"Left out, since the data were not there: {', '.join(told['missing'])}.\n"
    for part in told["parts"].values():
        yield f"### {part['title']}\n"
        yield f"{part['source']}." + (f" {part['text']}" if part["text"] else "") + "\n"
        if part["picture"]:
            yield f"![{part['title']}](figures/reproduction/{part['picture']})\n"
        if part["table"]:
            yield "\n".join([*part["table"], ""])
        if part["claims"]:
            yield "| claim | paper | ours | verdict | note |"
            yield "| --- | --- | --- | --- | --- |"
            yield from map(_row, part["claims"])
            yield ""


def _row(claim: dict[str, Any]) -> str:
    note = " ".join(text for text in (claim.get("note", ""), claim.get("differs", "")) if text)
    verdict = claim["verdict"] if claim["verdict"] != "differs" else "**differs**"
    cells = (claim["about"], claim.get("paper", ""), claim.get("ours", ""), verdict, note)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _anchor(title: str) -> str:
    """The anchor that Markdown gives a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower())).strip("-")
