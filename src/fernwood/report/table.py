"""The table of a page: confirmed and tentative columns with their evidence, as cells that can be sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.report.figures import score_name, top_of
from fernwood.report.shapes import spark
from fernwood.report.text import cut, number, readable, share

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

    from fernwood.result import Result

__all__ = ["Cell", "Heading", "Listing", "listing"]

_MOST_ROWS = 1000
_MOST_CHARACTERS = 800_000
"""Of all names on a page together: it stays below five megabytes whatever they are."""
_PARTNERS, _PARTNER_NAME = 3, 40


class Heading(NamedTuple):
    """A column of the table: how the page knows it, its heading, and whether it holds numbers."""

    key: str
    text: str
    numeric: bool = False


class Cell(NamedTuple):
    """A cell: what is shown, what it is sorted by, a picture beside it, and a share to draw as a bar."""

    text: str
    sort: str | float
    picture: Markup | None = None
    bar: float | None = None


class Row(NamedTuple):
    """A row: the name of the column as it is, its decision, and the cells after the name."""

    name: str
    decision: str
    cells: list[Cell]


class Listing(NamedTuple):
    """The table, and how many columns it leaves out for want of room."""

    headings: list[Heading]
    rows: list[Row]
    n_left_out: int


def listing(result: Result) -> Listing:
    """The confirmed and tentative columns, best first; where there are none, the best of the others."""
    chosen = _fitting(result, top_of(result, _MOST_ROWS))
    n_decided = len(result.confirmed) + len(result.tentative)
    rows = result.to_table(chosen).to_pylist()
    headings = _headings(result)
    highest = max((abs(row["score"]) for row in rows), default=0.0) or 1.0
    listed = [
        Row(
            readable(row["column"]), row["decision"], [_cell(result, heading.key, row, highest) for heading in headings]
        )
        for row in rows
    ]
    return Listing(headings, listed, max(n_decided - len(rows), 0))


def _fitting(result: Result, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """As many columns as have room with their whole names, at least one."""
    lengths = np.cumsum([len(result.names[int(position)]) for position in chosen])
    return chosen[: max(int(np.searchsorted(lengths, _MOST_CHARACTERS, side="right")), 1)]


def _headings(result: Result) -> list[Heading]:
    tested = result.p is not None
    headings = [Heading("decision", "decision"), Heading("score", score_name(result), numeric=True)]
    if tested:
        headings += [Heading("p", "p", numeric=True), Heading("q", "q", numeric=True), Heading("told", "told")]
    elif result.facts.against:
        headings.append(Heading("wins", f"above {result.facts.against}", numeric=True))
    if result.insight.profiles:
        headings.append(Heading("effect", "effect"))
    if result.relations is not None:
        headings += [Heading("partners", "more beside"), Heading("group", "group", numeric=True)]
    if result.minimal is not None:
        headings.append(Heading("minimal", "suffices"))
    headings.append(Heading("draws", "contexts" if result.facts.unit == "waves" else result.facts.unit, numeric=True))
    return headings


def _cell(result: Result, key: str, row: dict[str, Any], highest: float) -> Cell:
    value = row.get(key)
    if key == "score":
        return Cell(number(row["score"]), row["score"], bar=min(abs(row["score"]) / highest, 1.0))
    if key in ("p", "q"):
        return Cell(f"{value:.1e}", float(value or 0.0))
    if key == "wins":
        part = row["wins"] / max(row["draws"], 1)
        return Cell(share(round(part, 3)), part)
    if key == "told":
        told = "beside others" if "context of others" in row["reason"] else row["reason"].split(",")[0]
        told = told.removeprefix("told ")
        return Cell(told, told)
    if key == "effect":
        profile = result.insight.profiles.get(row["position"])
        if profile is None:
            return Cell("", "")
        return Cell(readable(profile.effect), profile.effect, spark(profile))
    if key == "partners":
        beside = ", ".join(cut(name, _PARTNER_NAME) for name in row["partners"][:_PARTNERS])
        more = len(row["partners"]) - _PARTNERS
        return Cell(f"{beside} and {more} more" if more > 0 else beside, beside)
    if key == "minimal":
        told_by = ", ".join(cut(name, _PARTNER_NAME) for name in row["stand_ins"][:_PARTNERS])
        return Cell("kept" if value else told_by and f"told by {told_by}", "" if value else f"~{told_by}")
    if key in ("group", "draws"):
        return Cell("" if value is None else f"{value:,}", 1e9 if value is None else float(value))
    return Cell(str(value), str(value))
