"""Partners as a small graph: columns that tell more beside each other, joined by lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.report.svg import Chart
from fernwood.report.text import count_of, cut

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

    from fernwood.result import Result

__all__ = ["partner_chart"]

_MOST = 28
_STEPS = 300
_NAME = 14
_LABEL = 6.4
"""How wide a letter of a label is, and how high a line."""


class _Graph(NamedTuple):
    """Positions of columns in the table, and links between their places here."""

    columns: list[int]
    links: NDArray[np.int64]


def partner_chart(result: Result) -> tuple[Markup, int] | None:
    """The best columns with partners, and how many more have any; None where none has."""
    graph = _graph_of(result)
    if graph is None:
        return None
    shown, links = graph
    n_all = len(_linked(result))
    width, height = (480.0, 220.0) if len(shown) <= 6 else (480.0, 400.0)
    places = _laid_out(len(shown), links, width, height)
    about = f"{count_of(len(shown), 'column')} and {count_of(len(links), 'link')} between partners."
    chart = Chart(about, width, height, left=0, right=0, top=0, bottom=0)
    for a, b in links.tolist():
        (x1, y1), (x2, y2) = places[a], places[b]
        chart.add("line", class_="link", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2))
    scores = result.score[shown]
    radius = 4 + 5 * np.sqrt(np.maximum(scores, 0) / max(float(scores.max()), 1e-12))
    for place, position in enumerate(shown):
        x, y = (float(value) for value in places[place])
        chart.add("circle", class_="node", cx=x, cy=y, r=float(radius[place]))
        label = cut(result.names[position], _NAME)
        above = y < height - 24
        chart.add(
            "text",
            label,
            class_="label halo",
            x=float(np.clip(x, _LABEL * len(label) / 2, width - _LABEL * len(label) / 2)),
            y=y + float(radius[place]) + 12 if above else y - float(radius[place]) - 4,
            text_anchor="middle",
        )
    return chart.done(), n_all - len(shown)


def _linked(result: Result) -> set[int]:
    if result.relations is None:
        return set()
    partners = result.relations.partners
    return set(partners) | {beside for others in partners.values() for beside in others}


def _graph_of(result: Result) -> _Graph | None:
    """The best columns that are linked, and their links, each once."""
    linked = _linked(result)
    if not linked or result.relations is None:
        return None
    ahead = result.order[: len(result.confirmed) + len(result.tentative)].tolist()
    shown = [position for position in ahead if position in linked][:_MOST]
    place = {position: i for i, position in enumerate(shown)}
    links = {
        (min(place[a], place[b]), max(place[a], place[b]))
        for a, others in result.relations.partners.items()
        for b in others
        if a in place and b in place
    }
    if not links:
        return None
    used = sorted({i for link in links for i in link})
    again = {old: new for new, old in enumerate(used)}
    pairs = np.array(sorted((again[a], again[b]) for a, b in links), np.int64)
    return _Graph([shown[i] for i in used], pairs)


def _laid_out(n: int, links: NDArray[np.int64], width: float, height: float) -> NDArray[np.float64]:
    """Places on the paper: linked columns near each other, others apart; the same for the same graph.

    Springs along links and a push between all pairs, cooled down step by step, from places on a circle.
    """
    angle = 2 * np.pi * np.arange(n) * 0.381966  # the golden section spreads neighbours in the order apart
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (0.3 + 0.5 * np.arange(n)[:, None] / max(n, 1))
    ideal = 1.6 / np.sqrt(max(n, 1))
    for step in range(_STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        move = (apart / distance[..., None] * (ideal**2 / distance)[..., None]).sum(axis=1)
        along = places[links[:, 0]] - places[links[:, 1]]
        pull = along * np.sqrt((along**2).sum(axis=1, keepdims=True)) / ideal
        np.add.at(move, links[:, 0], -pull)
        np.add.at(move, links[:, 1], pull)
        move -= 0.3 * places  # so that parts without a link between them stay on the paper
        length = np.maximum(np.sqrt((move**2).sum(axis=1, keepdims=True)), 1e-9)
        places = places + move / length * np.minimum(length, 0.12 * (1 - step / _STEPS))
    low, high = places.min(axis=0), places.max(axis=0)
    part = (places - low) / np.maximum(high - low, 1e-9)
    margin = np.array([46.0, 22.0])
    return np.asarray(margin + part * (np.array([width, height]) - 2 * margin - np.array([0.0, 10.0])))
