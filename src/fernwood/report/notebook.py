"""A card for notebooks: the answer in a few lines, with the best columns; plain HTML with a little style of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from fernwood.report.figures import score_name, top_of
from fernwood.report.text import number, readable, size, span
from fernwood.report.words import headline, promise

if TYPE_CHECKING:
    from fernwood.result import Result

__all__ = ["card_of"]

_ROWS = 8
_NAME = 60
_CARD = "border:1px solid #8884;border-radius:8px;padding:.7em 1em;max-width:46em;font-family:system-ui,sans-serif"
_CELL = "text-align:left;padding:.15em 1.2em .15em 0"


def card_of(result: Result) -> str:
    """The answer as a fragment of HTML.

    Examples
    --------
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> card = card_of(fernwood.SnowballSelector(random_state=0).fit(table.data, table.target).result_)
    >>> "columns matter" in card, len(card) < 6000
    (True, True)
    """
    chosen = top_of(result, _ROWS)
    tested = result.p is not None
    heads = ("column", "decision", "q" if tested else score_name(result), "effect")
    rows = [Markup("").join(Markup('<th style="{}">{}</th>').format(_CELL, head) for head in heads)]
    for row in result.to_table(chosen).to_pylist():
        profile = result.insight.profiles.get(row["position"])
        name = readable(row["column"])
        cells = (
            name if len(name) <= _NAME else f"{name[: _NAME - 1]}…",
            row["decision"],
            f"{row['q']:.1e}" if tested else number(row["score"]),
            "" if profile is None else readable(profile.effect),
        )
        rows.append(Markup("").join(Markup('<td style="{}"><bdi>{}</bdi></td>').format(_CELL, cell) for cell in cells))
    lines = Markup("").join(Markup("<tr>{}</tr>").format(row) for row in rows)
    n_more = len(result.confirmed) + len(result.tentative) - len(chosen)
    said = [promise(result)]
    if not len(result.confirmed):
        said = [result.why_nothing()]
    if not result.facts.finished:
        said.insert(0, f"Stopped {result.facts.how_far}.")
    if n_more > 0:
        said.insert(0, f"… and {n_more:,} more.")
    if result.course is not None:
        said.append(f"{span(result.course.seconds)}, peak memory {size(result.course.peak)}.")
    text = Markup(" ").join(escape(readable(sentence)) for sentence in said)
    return str(
        Markup(
            '<div class="fernwood-card" style="{}"><strong>{}</strong><table style="margin:.5em 0;border-collapse:'
            'collapse">{}</table><div style="opacity:.75;font-size:.92em">{} The whole report: '
            "<code>result_.to_html(&quot;report.html&quot;)</code></div></div>"
        ).format(_CARD, headline(result), lines, text)
    )
