"""The charts of a page: scores against shadows, columns found, coverage, and how the run went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.report.figures import coverage_of, score_name, scores_of, top_of
from fernwood.report.svg import Chart
from fernwood.report.text import count_of, cut, number, size, span

if TYPE_CHECKING:
    from markupsafe import Markup

    from fernwood.course import Course
    from fernwood.result import Result

__all__ = ["coverage_chart", "found_chart", "memory_chart", "ranking_chart", "score_chart", "work_chart"]

_TOP = 20
_NAME = 22
_ROW = 19
_DECISIONS = ("confirmed", "tentative", "rejected", "rejected")


def score_chart(result: Result) -> Markup:
    """How many columns have which score, beside what shadows would have."""
    scores = scores_of(result)
    totals = scores.counts.sum(axis=0)
    most = max(float(totals.max()), 1.0 if scores.shadows is None else float(scores.shadows.max()))
    name = score_name(result)
    chart = Chart(
        f"Histogram of {name}: {count_of(int(totals.sum()), 'column')}, of which "
        f"{int(scores.counts[0].sum()):,} are confirmed"
        + ("." if scores.shadows is None else f", against what {result.facts.against} have.")
    )
    chart.scales((float(scores.edges[0]), float(scores.edges[-1])), (0, most), log_y=True)
    chart.axes(name, "columns (logarithmic)")
    edges = scores.edges.tolist()
    # Stacked from behind: all, then those that are tentative or confirmed, then those that are confirmed.
    for counts, class_ in (
        (totals, "rejected"),
        (scores.counts[:2].sum(axis=0), "tentative"),
        (scores.counts[0], "confirmed"),
    ):
        if counts.any():
            chart.histogram(edges, counts.tolist(), f"fill-{class_}")
    if scores.shadows is not None:
        chart.histogram(edges, scores.shadows.tolist(), "", outline="line-shadow")
    if scores.threshold is not None:
        chart.mark_x(scores.threshold, f"threshold {number(scores.threshold)}", "threshold")
    return chart.done()


def ranking_chart(result: Result) -> Markup:
    """The best columns, one below the other, against the shadows."""
    chosen = top_of(result, _TOP)
    scores = result.score[chosen]
    shadows = np.array(result.insight.comparison.scores)
    highest = max(float(scores.max(initial=0.0)), float(shadows.max(initial=0.0)), 1e-12)
    name = score_name(result)
    chart = Chart(
        f"The {count_of(len(chosen), 'best column')} by {name}.",
        height=_ROW * max(len(chosen), 1) + 60,
        left=158,
        top=22,
    )
    chart.scales((min(float(scores.min(initial=0.0)), 0.0), highest * 1.04), (0, 1))
    if len(shadows):
        left, right = chart.x(chart.x.low), chart.x(float(shadows.max()))
        chart.add("rect", class_="zone", x=left, y=chart.top, width=right - left, height=chart.bottom - chart.top)
        chart.add("text", "shadows", class_="note", x=left, y=chart.top - 6)
    chart.axes(name, about_y=0, shown_y=lambda _: "")
    for row, position in enumerate(chosen.tolist()):
        middle = chart.top + _ROW * (row + 0.5)
        class_ = _DECISIONS[int(result.verdicts.decision[position])]
        end = chart.x(float(result.score[position]))
        chart.add(
            "text",
            cut(result.names[position], _NAME),
            class_="label",
            x=chart.left - 8,
            y=middle + 4,
            text_anchor="end",
        )
        chart.add("line", class_=f"stem line-{class_}", x1=chart.x(0), x2=end, y1=middle, y2=middle)
        chart.add("circle", class_=f"fill-{class_}", cx=end, cy=middle, r=4.5)
    threshold = result.insight.comparison.threshold
    if threshold is not None:
        place = chart.x(threshold)
        chart.add("line", class_="threshold", x1=place, x2=place, y1=chart.top, y2=chart.bottom)
    return chart.done()


def found_chart(result: Result) -> Markup | None:
    """Columns found against draws, or whatever the search counts; None where nobody kept count."""
    history = result.insight.history
    if not history.done:
        return None
    unit = result.facts.unit
    left = result.facts.method == "elimination"
    what = "columns left" if left else "columns found"
    chart = Chart(f"{what.capitalize()} against {unit}: {history.found[-1]:,} after {history.done[-1]:,}.")
    first = min(history.done[0], 0)
    chart.scales((first, max(history.done[-1], first + 1)), (0, max(*history.found, 1)))
    chart.axes(unit, what, whole_x=True, whole_y=True)
    chart.steps(history.done, history.found, "line-confirmed", filled="wash-confirmed")
    for x, y in zip(history.done, history.found, strict=True) if len(history.done) <= 24 else []:
        chart.add("circle", class_="fill-confirmed", cx=chart.x(x), cy=chart.y(y), r=3)
    return chart.done()


def coverage_chart(result: Result) -> Markup:
    """How often columns were looked at."""
    coverage = coverage_of(result)
    unit = "contexts" if result.facts.unit == "waves" else result.facts.unit
    chart = Chart(
        f"Histogram of {unit} a column: from {coverage.least:,} to {coverage.most:,}, "
        f"{number(coverage.median)} at the median."
    )
    chart.scales(
        (float(coverage.edges[0]), float(coverage.edges[-1])), (0, float(coverage.counts.max(initial=1))), log_y=True
    )
    chart.axes(f"{unit} a column", "columns (logarithmic)", whole_x=True)
    edges, room = coverage.edges.tolist(), 0.8
    for i, height in enumerate(coverage.counts.tolist()):
        if height:
            left, right = chart.x(edges[i]) + room, chart.x(edges[i + 1]) - room
            right = max(right, left + 1)
            # One bar alone is as wide as a bar, not as the page.
            if len(coverage.counts) == 1:
                middle = (left + right) / 2
                left, right = middle - 24, middle + 24
            top = chart.y(height)
            chart.add("rect", class_="fill-neutral", x=left, y=top, width=right - left, height=chart.bottom - top)
    return chart.done()


def memory_chart(course: Course) -> Markup | None:
    """What the process held over time, against what it was allowed to hold; None where nobody looked."""
    samples = course.samples
    if len(samples) < 2:
        return None
    most = max(course.peak, course.memory, *(sample.resident for sample in samples))
    limit = f" of {size(course.memory)} allowed" if course.memory else ""
    chart = Chart(f"Memory over time: at most {size(course.peak)}{limit}.")
    chart.scales((0, max(samples[-1].seconds, 0.1)), (0, most * 1.12))
    chart.axes("time", "memory", shown_x=span_mark, shown_y=size)
    points = [sample.seconds for sample in samples]
    chart.steps(points, [sample.resident for sample in samples], "line-neutral", filled="wash-neutral")
    if course.memory:
        chart.mark_y(course.memory, f"budget {size(course.memory)}", "threshold")
    if course.peak != course.memory:
        chart.mark_y(course.peak, f"peak {size(course.peak)}", "peak")
    return chart.done()


def work_chart(course: Course, unit: str, most: int) -> Markup | None:
    """Work done over time, in the longest of the stages of a run; None where nobody looked.

    A search that ends before all that was planned counts as done in the end; `most` is what it really did.
    """
    stages = list(dict.fromkeys(sample.stage for sample in course.samples))
    longest = max(stages, key=lambda stage: sum(sample.stage == stage for sample in course.samples), default="")
    samples = [s._replace(done=min(s.done, most)) for s in course.samples if s.stage == longest]
    if len(samples) < 2 or samples[-1].done == samples[0].done:
        return None
    rate = (samples[-1].done - samples[0].done) / max(samples[-1].seconds - samples[0].seconds, 1e-9)
    chart = Chart(f"{unit.capitalize()} over time: {number(float(f'{rate:.3g}'))} a second on average.")
    chart.scales((samples[0].seconds, samples[-1].seconds), (0, max(sample.done for sample in samples)))
    chart.axes("time", unit, shown_x=span_mark, whole_y=True)
    chart.steps([s.seconds for s in samples], [s.done for s in samples], "line-confirmed", filled="wash-confirmed")
    return chart.done()


def span_mark(seconds: float) -> str:
    """A time at a mark of an axis.

    Examples
    --------
    >>> span_mark(20), span_mark(120), span_mark(0.5)
    ('20 s', '2 min', '0.5 s')
    """
    return f"{number(seconds)} s" if seconds < 60 else span(seconds).removesuffix(" 0 s")
