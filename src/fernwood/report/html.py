"""The report: one HTML file that needs nothing else, from a result."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fernwood.errors import StoreError, shown
from fernwood.files import replaced_file
from fernwood.report import charts, words
from fernwood.report.figures import coverage_of, top_of
from fernwood.report.graph import partner_chart
from fernwood.report.shapes import missing_said, of_numbers, shape_chart
from fernwood.report.table import listing
from fernwood.report.text import count_of, cut, number, readable, share, size, span
from fernwood.shortage import pass_on_shortage
from fernwood.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from fernwood.result import Result

__all__ = ["html_of", "write_html"]

_SHAPES = 12
_GROUPS, _MEMBERS = 40, 30
_NAME = 60


class Shape(NamedTuple):
    """What one of the best columns looks like."""

    name: str
    effect: str
    missing: str
    picture: Markup


class Tile(NamedTuple):
    """A figure at the top of a page."""

    value: str
    name: str


def html_of(result: Result) -> str:
    """The report of a result as a page: one file, no request leaves it, whatever the columns are called.

    Examples
    --------
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> result = fernwood.SnowballSelector(random_state=0).fit(table.data, table.target).result_
    >>> page = html_of(result)
    >>> "60 columns matter" in page, len(page) < 5_000_000
    (True, True)
    """
    style, script = _asset("report.css"), _asset("report.js")
    return (
        _environment()
        .get_template("report.html")
        .render(
            policy=_policy(style, script),
            style=Markup(style),  # noqa: S704  (ours)
            script=Markup(script),  # noqa: S704  (ours)
            version=__version__,
            **_content(result),
        )
    )


def write_html(page: str, path: Path) -> None:
    """Write a report to a file, which appears whole or not at all."""
    try:
        with replaced_file(path) as file:
            file.write(page.encode())
    except OSError as error:
        pass_on_shortage(error)
        raise StoreError(
            f"the report {shown(path)} cannot be written: {error.strerror or error}; mend that, or choose another place"
        ) from error


def _content(result: Result) -> dict[str, Any]:
    """Everything that the page shows."""
    course = result.course
    profiles = result.insight.profiles
    n_done = (result.insight.history.done or [result.facts.n_draws])[-1]
    return {
        "facts": result.facts,
        "headline": words.headline(result),
        "answer": words.answer(result),
        "tiles": _tiles(result),
        "cautions": words.cautions(result),
        "listing": listing(result),
        "n_decided": len(result.confirmed) + len(result.tentative),
        "against": result.facts.against,
        "score_chart": charts.score_chart(result),
        "ranking_chart": charts.ranking_chart(result),
        "comparison": result.insight.comparison,
        "found_chart": charts.found_chart(result),
        "history": result.insight.history,
        "n_done": n_done,
        "coverage_chart": charts.coverage_chart(result),
        "coverage": coverage_of(result),
        "shapes": [
            Shape(
                cut(result.names[position], _NAME),
                profile.effect,
                missing_said(profile),
                shape_chart(result.names[position], profile, result.facts.target),
            )
            for position in top_of(result, _SHAPES).tolist()
            if (profile := profiles.get(position)) is not None
        ],
        "classes": _classes(result),
        "groups": _groups(result),
        "partners": partner_chart(result),
        "course": course,
        "memory_chart": None if course is None else charts.memory_chart(course),
        "work_chart": None if course is None else charts.work_chart(course, result.facts.unit, n_done),
        "parameters": {name: json.dumps(value) for name, value in result.facts.parameters.items()},
        "target": readable(result.facts.target) or "given as an array",
        # Python has lines, which stay; all else that does not show is escaped.
        "call": "" if course is None else "\n".join(map(readable, course.call.split("\n"))),
    }


def _tiles(result: Result) -> list[Tile]:
    facts, course = result.facts, result.course
    tiles = []
    if result.minimal is not None and not result.minimal.blind:
        tiles.append(Tile(f"{len(result.selected):,}", "suffice"))
    tiles += [Tile(f"{len(result.confirmed):,}", "confirmed"), Tile(f"{len(result.tentative):,}", "tentative")]
    tiles.append(Tile(f"{result.n_examined:,}", f"of {facts.n_columns:,} columns examined"))
    rate = words.tested_at(result)
    if rate is not None:
        tiles.append(Tile(f"{rate[1]:g}", rate[0]))
    if course is not None:
        tiles.append(Tile(span(course.seconds), "of search"))
        limit = f" of {size(course.memory)}" if course.memory else ""
        tiles.append(Tile(size(course.peak), f"peak memory{limit}"))
    return tiles


def _classes(result: Result) -> list[str]:
    """The names of classes in the order of their colours; none of a target of numbers."""
    for profile in result.insight.profiles.values():
        return [] if of_numbers(profile) else [cut(name, 30) for name in profile.lines]
    return []


def _groups(result: Result) -> dict[str, Any]:
    """Groups of columns that stand for each other, largest first, as far as there is room."""
    groups = [] if result.relations is None else sorted(result.relations.groups, key=len, reverse=True)
    return {
        "shown": [
            {
                "names": [cut(result.names[position], _NAME) for position in group[:_MEMBERS]],
                "more": max(len(group) - _MEMBERS, 0),
                "n": len(group),
            }
            for group in groups[:_GROUPS]
        ],
        "more": max(len(groups) - _GROUPS, 0),
        "n": len(groups),
    }


def _asset(name: str) -> str:
    return (files("fernwood.report") / "page" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """What the page may do: its own style and script, and nothing else; so no request can leave it."""
    sums = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    own = f"style-src 'sha256-{sums[0]}'; script-src 'sha256-{sums[1]}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("fernwood.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count_of": count_of, "number": number, "share": share, "span": span, "size": size}
    return environment
