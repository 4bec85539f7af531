"""What a column looks like beside the target: a small chart for the page, a smaller one for a row of the table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fernwood.report.svg import Chart, element, path_of
from fernwood.report.text import count_of, cut, number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from fernwood.insight import Profile

__all__ = ["missing_said", "of_numbers", "shape_chart", "spark"]

_LOWER, _MEDIAN, _UPPER = "lower quartile", "median", "upper quartile"
_COLOURS = 10
_MOST_BARS = 20
_LABEL, _TIP, _CHARACTER = 16, 24, 6.5
"""Letters of a category that are enough to know it by, below a bar and on it, and how wide a letter is."""


def of_numbers(profile: Profile) -> bool:
    """Whether the target is one of numbers; a class may be called median, too."""
    return profile.lines.keys() == {_LOWER, _MEDIAN, _UPPER}


def shape_chart(name: str, profile: Profile, target: str) -> Markup:
    """The distribution of a column in each class, or of the target along the column."""
    along = of_numbers(profile)
    what = f"{cut(target, 30)} along {cut(name, 30)}" if along else f"{cut(name, 30)} in each class"
    chart = Chart(f"Distribution of {what}: {profile.effect}.", 320, 190, left=44, right=10, top=8, bottom=26)
    if profile.kind == "category":
        _draw_bars(chart, profile)
    elif along:
        _draw_band(chart, profile)
    else:
        _draw_classes(chart, profile)
    return chart.done()


def _draw_classes(chart: Chart, profile: Profile) -> None:
    """The share of a class that lies in each bin, drawn as steps; bins are of the same width as far as data allow."""
    heights = [_plain(line) for line in profile.lines.values()]
    edges = profile.edges
    if edges[0] == edges[-1]:  # one value, or none: what tells is where it is missing
        edges = [edges[0] - 0.5 + place / (len(edges) - 1) for place in range(len(edges))]
    chart.scales((edges[0], edges[-1]), (0, max(max(line) for line in heights) or 1.0))
    chart.axes(shown_y=share, about_x=4, about_y=3)
    for place, line in enumerate(heights):
        colour = place % _COLOURS
        filled = f"wash-{colour}" if len(heights) <= 3 else ""
        chart.histogram(edges, line, filled, outline=f"line-{colour}")


def _draw_band(chart: Chart, profile: Profile) -> None:
    """The median of the target in each bin, and the band between its quartiles."""
    places = [a / 2 + b / 2 for a, b in zip(profile.edges[:-1], profile.edges[1:], strict=True)]
    rows = [
        (x, low, middle, high)
        for x, low, middle, high in zip(places, *(profile.lines[key] for key in (_LOWER, _MEDIAN, _UPPER)), strict=True)
        if low is not None and middle is not None and high is not None
    ]
    lowest, highest = min((row[1] for row in rows), default=0.0), max((row[3] for row in rows), default=1.0)
    chart.scales((profile.edges[0], profile.edges[-1]), (lowest, highest))
    chart.axes(about_x=4, about_y=3)
    around = [(chart.x(x), chart.y(high)) for x, _, _, high in rows]
    around += [(chart.x(x), chart.y(low)) for x, low, _, _ in reversed(rows)]
    if around:
        chart.add("path", class_="wash-0", d=path_of(around, closed=True))
        chart.add("path", class_="line-0", d=path_of((chart.x(x), chart.y(middle)) for x, _, middle, _ in rows))


def _draw_bars(chart: Chart, profile: Profile) -> None:
    """Bars for each category, side by side for the classes; of a target of numbers, its median and quartiles."""
    names = profile.categories[:_MOST_BARS]
    along = of_numbers(profile)
    lines = [profile.lines[_MEDIAN]] if along else list(profile.lines.values())
    values = [value for line in lines for value in line[: len(names)] if value is not None]
    chart.scales((0, len(names)), (min(*values, 0.0) if values else 0.0, max(values, default=1.0) or 1.0))
    chart.axes(about_y=3, about_x=0, shown_x=lambda _: "", shown_y=None if along else share)
    width = (chart.right - chart.left) / max(len(names), 1)
    bar = 0.8 * width / len(lines)
    # As many names as have room, evenly spaced; all of them stand at their bars for those who point there.
    longest = min(max(map(len, names), default=1), _LABEL)
    every = math.ceil(longest * _CHARACTER / width)
    room = max(int(every * width / _CHARACTER), 1)
    for i, category in enumerate(names):
        left = chart.left + width * (i + 0.1)
        for place, line in enumerate(lines):
            value = line[i]
            if value is None:
                continue
            zero, end = chart.y(max(chart.y.low, 0.0)), chart.y(value)
            chart.add(
                "rect",
                element("title", f"{cut(category, _TIP)}: {number(value) if along else share(value)}"),
                class_=f"fill-{place % _COLOURS}",
                x=left + bar * place,
                y=min(zero, end),
                width=max(bar - 0.5, 0.5),
                height=abs(zero - end),
            )
        if i % every:
            continue
        text = cut(category, room)
        half = _CHARACTER * len(text) / 2
        middle = min(max(left + 0.4 * width, half), chart.width - half)
        chart.add("text", text, class_="tick", x=middle, y=chart.bottom + 17, text_anchor="middle")


def spark(profile: Profile) -> Markup:
    """The same at the size of a word; it says nothing that the words beside it do not."""
    chart = Chart(profile.effect, 72, 22, left=1, right=1, top=2, bottom=1)
    bins = len(profile.rows)
    if of_numbers(profile):
        values = [(i, value) for i, value in enumerate(profile.lines[_MEDIAN]) if value is not None]
        heights = [value for _, value in values]
        chart.scales((-0.5, bins - 0.5), (min(heights, default=0.0), max(heights, default=1.0)))
        chart.add("path", class_="line-0", d=path_of((chart.x(i), chart.y(value)) for i, value in values or [(0, 0)]))
        return chart.done("spark")
    lines = [_plain(line) for line in list(profile.lines.values())[:4]]
    chart.scales((0, bins), (0, max((max(line, default=0) for line in lines), default=1) or 1))
    for place, line in enumerate(lines):
        chart.histogram([*range(bins + 1)], line, f"wash-{place}" if len(lines) <= 2 else "", outline=f"line-{place}")
    return chart.done("spark")


def _plain(line: Sequence[float | None]) -> list[float]:
    return [value or 0.0 for value in line]


def missing_said(profile: Profile) -> str:
    """How many rows have no value, where any."""
    return f"{count_of(profile.missing, 'row')} without a value" if profile.missing else ""
