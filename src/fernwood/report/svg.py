"""Drawing charts as inline SVG: scales, ticks, axes. Colours are classes, so that a page can be light or dark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from fernwood.report.text import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Chart", "Scale", "element", "marks", "path_of", "ticks"]

_TICK = 4
_MOST_TICKS = 12
_SMALLEST = 1e-300
_SHORT = (1e-3, 1e8)
"""Numbers that are written without a power of ten."""
_CHARACTER = 6.2
"""About how wide a character of a tick's label is."""


def element(tag: str, content: object = None, /, **attributes: object) -> Markup:
    """An element; attributes and content are escaped unless they are `Markup`.

    Examples
    --------
    >>> print(element("text", "<b>", x=1.5, class_="label"))
    <text x="1.5" class="label">&lt;b&gt;</text>
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_short(value))}"' for name, value in attributes.items()
    )
    return Markup("<{}{}>{}</{}>").format(
        Markup(tag),  # noqa: S704  (ours)
        Markup(written),  # noqa: S704  (escaped above)
        "" if content is None else content,
        Markup(tag),  # noqa: S704
    )


def _short(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def path_of(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """The `d` of a path through points.

    Examples
    --------
    >>> path_of([(0, 1), (2.5, 3)])
    'M0 1L2.5 3'
    """
    body = "L".join(f"{_short(float(x))} {_short(float(y))}" for x, y in points)
    return f"M{body}{'Z' if closed else ''}"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that divide a range evenly.

    Examples
    --------
    >>> ticks(0, 97), ticks(0.0, 0.3, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [0.0, 0.1, 0.2, 0.3])
    """
    if not high > low:
        return [low]
    raw = (high / 2 - low / 2) / max(about, 1) * 2  # the whole range may be more than a number can hold
    if not _SMALLEST < raw < math.inf:
        return [low, high]
    exponent = math.floor(math.log10(raw))
    step = next(10.0**exponent * k for k in (1, 2, 2.5, 5, 10) if 10.0**exponent * k >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    if last == first and about < _MOST_TICKS:  # one mark alone gives no scale
        return ticks(low, high, about + 1)
    return [round(k * step, 2 - exponent) for k in range(first, last + 1)]


def marks(values: Sequence[float]) -> list[str]:
    """Evenly spaced numbers as they stand along an axis: as short as it goes, and never two alike.

    Examples
    --------
    >>> marks([0, 0.25, 0.5]), marks([2019.5, 2020]), marks([400_000, 600_000]), marks([0, 1e18, 2e18])
    (['0', '0.25', '0.5'], ['2019.5', '2020'], ['400,000', '600,000'], ['0', '1e18', '2e18'])
    """
    most = max(map(abs, values), default=0.0)
    near = 1e-3 * (values[1] - values[0] if len(values) > 1 else most)
    if most and not _SHORT[0] <= most < _SHORT[1]:
        every = ([f"{value:.{digits}e}" for value in values] for digits in range(16))
    else:
        comma = "," if most >= 10_000 else ""  # years have none
        every = ([f"{value:{comma}.{digits}f}" for value in values] for digits in range(16))
    for texts in every:
        if all(abs(float(text.replace(",", "")) - value) <= near for text, value in zip(texts, values, strict=True)):
            break
    return [_trimmed(text) for text in texts]


def _trimmed(text: str) -> str:
    """A number without zeros that say nothing."""
    body, _, power = text.partition("e")
    body = body.rstrip("0").rstrip(".") if "." in body else body
    return f"{body}e{int(power)}" if power and float(body) else body


class Scale:
    """From values to places on the paper.

    Parameters
    ----------
    low, high : the values at both ends; where they are equal the range is widened
    start, end : their places
    logarithmic : whether counts are shown by their logarithm, with 0 at the start

    Examples
    --------
    >>> Scale(0, 10, 100, 200)(5)
    150.0
    >>> Scale(0, 999, 0, 90, logarithmic=True)(99)
    60.0
    """

    def __init__(self, low: float, high: float, start: float, end: float, *, logarithmic: bool = False) -> None:
        self.low, self.high = low, high if high / 2 > low / 2 else low + max(1.0, abs(low))
        self._start, self._end = start, end
        self._logarithmic = logarithmic

    def __call__(self, value: float) -> float:
        """Where a value lies; beyond the ends, at the end."""
        low, high = self._bent(self.low), self._bent(self.high)
        part = (self._bent(value) / 2 - low / 2) / (high / 2 - low / 2)  # the whole may be more than a number holds
        return self._start + (self._end - self._start) * min(max(part, 0.0), 1.0)

    def _bent(self, value: float) -> float:
        return math.log10(1 + max(value, 0.0)) if self._logarithmic else value

    def marks(self, about: int, shown: Callable[[float], str] | None, *, whole: bool = False) -> dict[float, str]:
        """Where to put marks, and how they are written; at whole numbers only where asked."""
        places = [value for value in self._ticks(about) if not whole or value == round(value)]
        if shown is None and not self._logarithmic:
            return dict(zip(places, marks(places), strict=True))
        return {value: (shown or number)(value) for value in places}

    def _ticks(self, about: int) -> list[float]:
        if not self._logarithmic:
            return ticks(self.low, self.high, about)
        powers = [0.0] + [10.0**k for k in range(math.floor(math.log10(max(self.high, 1))) + 1)]
        every = math.ceil(len(powers) / (about + 1))
        return [powers[0], *powers[1::every]]


class Chart:
    """A rectangle with axes to draw in.

    Parameters
    ----------
    about : what the picture shows, in a sentence for those who do not see it
    width, height : in units of about one pixel
    left, right, top, bottom : room around the plot

    Examples
    --------
    >>> chart = Chart("nothing", 100, 50)
    >>> chart.scales((0, 1), (0, 1))
    >>> chart.add("circle", cx=chart.x(0.5), cy=chart.y(0.5), r=2)
    >>> str(chart.done())[:25]
    '<svg class="chart" viewBo'
    """

    def __init__(
        self,
        about: str,
        width: float = 480,
        height: float = 260,
        *,
        left: float = 52,
        right: float = 14,
        top: float = 28,
        bottom: float = 42,
    ) -> None:
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = left, width - right, top, height - bottom
        self._about = about
        self._parts: list[Markup] = []

    def scales(self, x: tuple[float, float], y: tuple[float, float], *, log_y: bool = False) -> None:
        """Say what range of values the plot shows."""
        self.x = Scale(*x, self.left, self.right)
        self.y = Scale(*y, self.bottom, self.top, logarithmic=log_y)

    def add(self, tag: str, content: object = None, /, **attributes: object) -> None:
        """Add an element."""
        self._parts.append(element(tag, content, **attributes))

    def axes(
        self,
        x: str = "",
        y: str = "",
        *,
        shown_x: Callable[[float], str] | None = None,
        shown_y: Callable[[float], str] | None = None,
        about_x: int = 6,
        about_y: int = 4,
        whole_x: bool = False,
        whole_y: bool = False,
    ) -> None:
        """Draw grid lines, marks and the names of the axes.

        Parameters
        ----------
        x, y : names
        shown_x, shown_y : how a value at a mark is written, where that is not a number
        about_x, about_y : how many marks there are, roughly
        whole_x, whole_y : whether there are marks at whole numbers only
        """
        up = self.y.marks(about_y, shown_y, whole=whole_y)
        # Long numbers get the room that they need; all that is drawn comes after the axes.
        self.left = max(self.left, 10 + _CHARACTER * max(map(len, up.values()), default=0))
        self.x = Scale(self.x.low, self.x.high, self.left, self.right)
        for value, text in up.items():
            place = self.y(value)
            self.add("line", class_="grid", x1=self.left, x2=self.right, y1=place, y2=place)
            self.add("text", text, class_="tick", x=self.left - 6, y=place + 4, text_anchor="end")
        self.add("line", class_="axis", x1=self.left, x2=self.right, y1=self.bottom, y2=self.bottom)
        along = self.x.marks(about_x, shown_x, whole=whole_x)
        widest = max(map(len, along.values()), default=0) * _CHARACTER
        room = (self.right - self.left) / max(len(along), 1)
        for value, text in list(along.items())[:: max(1, math.ceil(widest / max(room, 1.0)))]:
            place, half = self.x(value), _CHARACTER * len(text) / 2
            self.add("line", class_="axis", x1=place, x2=place, y1=self.bottom, y2=self.bottom + _TICK)
            middle = min(max(place, half), self.width - half)
            self.add("text", text, class_="tick", x=middle, y=self.bottom + 17, text_anchor="middle")
        if x:
            middle = (self.left + self.right) / 2
            self.add("text", x, class_="axis-name", x=middle, y=self.height - 6, text_anchor="middle")
        if y:
            self.add("text", y, class_="axis-name", x=4, y=self.top - 14)

    def steps(self, x: Sequence[float], y: Sequence[float], class_: str, *, filled: str = "") -> None:
        """Draw a line that stays until the next point, and fill what is below it where asked."""
        points = [(self.x(x[0]), self.y(y[0]))]
        for i in range(1, len(x)):
            points += [(self.x(x[i]), self.y(y[i - 1])), (self.x(x[i]), self.y(y[i]))]
        if filled:
            around = [(points[0][0], self.bottom), *points, (points[-1][0], self.bottom)]
            self.add("path", class_=filled, d=path_of(around, closed=True))
        self.add("path", class_=class_, d=path_of(points))

    def histogram(self, edges: Sequence[float], heights: Sequence[float], class_: str, *, outline: str = "") -> None:
        """Fill a histogram, with a line along its top where asked."""
        points: list[tuple[float, float]] = []
        for i, height in enumerate(heights):
            points += [(self.x(edges[i]), self.y(height)), (self.x(edges[i + 1]), self.y(height))]
        around = [(points[0][0], self.bottom), *points, (points[-1][0], self.bottom)]
        if class_:
            self.add("path", class_=class_, d=path_of(around, closed=True))
        if outline:
            self.add("path", class_=outline, d=path_of(points))

    def mark_x(self, value: float, text: str, class_: str, *, line: int = 0) -> None:
        """A vertical line at a value, with a word at its top on the side that has room."""
        place = self.x(value)
        self.add("line", class_=class_, x1=place, x2=place, y1=self.top, y2=self.bottom)
        left_half = place < (self.left + self.right) / 2
        self.add(
            "text",
            text,
            class_=f"note {class_}-note",
            x=place + (5 if left_half else -5),
            y=self.top + 10 + 14 * line,
            text_anchor="start" if left_half else "end",
        )

    def mark_y(self, value: float, text: str, class_: str) -> None:
        """A horizontal line at a value, with a word above its right end."""
        place = self.y(value)
        self.add("line", class_=class_, x1=self.left, x2=self.right, y1=place, y2=place)
        self.add("text", text, class_=f"note {class_}-note", x=self.right, y=place - 5, text_anchor="end")

    def done(self, class_: str = "chart") -> Markup:
        """The picture."""
        return element(
            "svg",
            Markup("").join([element("title", self._about), *self._parts]),
            class_=class_,
            viewBox=f"0 0 {_short(float(self.width))} {_short(float(self.height))}",
            role="img",
            aria_label=self._about,
        )
