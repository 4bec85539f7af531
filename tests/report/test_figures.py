"""What is drawn and listed: the right numbers, in the right colours."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from fernwood.course import Course, Sample
from fernwood.insight import Comparison
from fernwood.relations import Minimal, Relations
from fernwood.report import charts
from fernwood.report.figures import coverage_of, scores_of
from fernwood.report.graph import partner_chart
from fernwood.report.html import html_of
from fernwood.report.shapes import shape_chart
from fernwood.report.svg import Chart
from fernwood.report.table import Cell, listing
from fernwood.result import Result
from tests.report.made import CATEGORIES, NUMBERS, made_result


def elements(chart: object, tag: str, name: str) -> list[dict[str, str]]:
    """Attributes of the elements of a class."""
    found = [dict(re.findall(r'([\w-]+)="([^"]*)"', body)) for body in re.findall(rf"<{tag}( [^>]*)>", str(chart))]
    return [attributes for attributes in found if attributes.get("class") == name]


def with_comparison(result: Result, **about: object) -> Result:
    changed = replace(result.insight.comparison, **about)  # type: ignore[arg-type]
    return replace(result, insight=replace(result.insight, comparison=changed))


# Numbers ---------------------------------------------------------------------------------------------------------


def test_scores_by_decision_against_shadows() -> None:
    result = made_result()
    scores = scores_of(result)
    assert scores.counts.sum(axis=1).tolist() == [8, 2, 30]
    assert scores.threshold == 5.0
    # As many shadows as columns that were looked at, however many were made.
    assert scores.shadows is not None
    assert scores.shadows.sum() == pytest.approx(40)
    assert scores_of(with_comparison(result, best=True)).shadows is None
    assert scores_of(with_comparison(result, scores=[], threshold=None)).shadows is None
    draws = result.draws.copy()
    draws[20:] = 0
    some = scores_of(replace(result, draws=draws))
    assert some.counts.sum() == 20
    assert some.shadows is not None
    assert some.shadows.sum() == pytest.approx(20)


def test_coverage_is_of_usable_columns() -> None:
    result = made_result(n_usable=30)
    draws = np.zeros(40, np.int32)
    draws[:28] = np.arange(3, 31)
    coverage = coverage_of(replace(result, draws=draws))
    assert (coverage.least, coverage.most, coverage.never) == (0, 30, 2)
    assert coverage.counts.sum() == 30
    assert "2 columns never." in html_of(replace(result, draws=draws))
    assert coverage_of(made_result(n_usable=0)).counts.tolist() == [0]


# Pictures --------------------------------------------------------------------------------------------------------


def test_a_threshold_and_shadows_are_drawn_where_there_are_any() -> None:
    result = made_result()
    bare = with_comparison(result, scores=[], threshold=None)
    for draw in (charts.score_chart, charts.ranking_chart):
        assert len(elements(draw(result), "line", "threshold")) == 1
        assert not elements(draw(bare), "line", "threshold")
    assert len(elements(charts.ranking_chart(result), "rect", "zone")) == 1
    assert not elements(charts.ranking_chart(bare), "rect", "zone")
    assert len(elements(charts.score_chart(result), "path", "line-shadow")) == 1
    assert not elements(charts.score_chart(bare), "path", "line-shadow")
    assert "From the threshold on" in html_of(result)
    assert "From the threshold on" not in html_of(bare)


def test_colours_are_those_of_the_decisions() -> None:
    result = made_result()
    ranking = charts.ranking_chart(result)
    assert len(elements(ranking, "circle", "fill-confirmed")) == 8
    assert len(elements(ranking, "circle", "fill-tentative")) == 2
    scores = charts.score_chart(result)
    fills = re.findall(r'class="(fill-\w+)"', str(scores))
    assert fills == ["fill-rejected", "fill-tentative", "fill-confirmed"]  # from behind
    assert re.findall(r'<tr data-decision="(\w+)"', html_of(result)) == ["confirmed"] * 8 + ["tentative"] * 2


def test_a_better_column_reaches_farther() -> None:
    places = [float(dot["cx"]) for dot in elements(charts.ranking_chart(made_result()), "circle", "fill-confirmed")]
    assert places == sorted(places, reverse=True)
    assert len(set(places)) == 8


def test_memory_is_held_against_the_budget() -> None:
    course = made_result().course
    assert course is not None
    chart = str(charts.memory_chart(course))
    assert "budget 512 MB" in chart
    assert "peak 300 MB" in chart
    assert "budget" not in str(charts.memory_chart(replace(course, memory=0)))
    assert charts.memory_chart(replace(course, samples=course.samples[:1])) is None


def test_work_ends_where_the_search_did() -> None:
    course = Course(3.0, 10, samples=[Sample(float(i), "searching", (0, 4, 99)[i], 0, 5) for i in range(3)])
    chart = str(charts.work_chart(course, "waves", 8))
    assert "4 a second on average" in chart
    assert ">99<" not in chart
    assert ">8<" in chart
    assert charts.work_chart(replace(course, samples=[]), "waves", 8) is None


def test_marks_of_counts_are_whole() -> None:
    chart = Chart("x")
    chart.scales((0, 1), (0, 1))
    chart.axes(whole_x=True, whole_y=True)
    assert set(re.findall(r'class="tick"[^>]*>([^<]*)<', str(chart.done()))) == {"0", "1"}
    found = charts.found_chart(made_result(n_confirmed=1))
    assert not re.findall(r">0\.\d+<", str(found))


def test_pictures_say_what_they_are() -> None:
    for chart in (charts.score_chart(made_result()), shape_chart("age", NUMBERS, "ill")):
        top = re.match(r'<svg class="chart" [^>]*role="img" aria-label="([^"]+)"><title>([^<]+)</title>', str(chart))
        assert top is not None
        assert top[1] == top[2]


def test_classes_have_colours_of_their_own() -> None:
    chart = str(shape_chart("age", NUMBERS, "ill"))
    paths = {place: re.findall(rf'class="line-{place}" d="([^"]+)"', chart) for place in (0, 1)}
    assert [len(found) for found in paths.values()] == [1, 1]
    assert paths[0] != paths[1]
    bars = str(shape_chart("ward", CATEGORIES, "ill"))
    assert [bars.count(f'class="fill-{place}"') for place in (0, 1)] == [2, 2]
    assert "3 rows without a value" in html_of(made_result())


def test_partners_are_joined_either_way() -> None:
    drawn = partner_chart(made_result())
    assert drawn is not None
    assert len(elements(drawn[0], "line", "link")) == 3  # 0 and 1, 0 and 2, 3 and 0
    assert drawn[1] == 0
    many = replace(made_result(60, 50), relations=Relations([], {i: [i + 1] for i in range(49)}, []))
    drawn = partner_chart(many)
    assert drawn is not None
    assert drawn[1] == 22
    assert "22 more columns with partners not drawn" in html_of(many)
    assert str(drawn[0]) in html_of(many)
    assert partner_chart(replace(many, relations=Relations())) is None


# The table -------------------------------------------------------------------------------------------------------


def column(result: Result, key: str) -> list[Cell]:
    listed = listing(result)
    place = [heading.key for heading in listed.headings].index(key)
    return [row.cells[place] for row in listed.rows]


def test_cells_sort_by_what_they_mean() -> None:
    result = made_result()
    assert result.p is not None
    assert [cell.sort for cell in column(result, "p")] == sorted(result.p[:10].tolist())
    scores = column(result, "score")
    assert [cell.sort for cell in scores] == result.score[:10].tolist()
    assert scores[0].bar == 1.0
    assert scores[-1].bar == pytest.approx(result.score[9] / result.score[0])
    groups = column(result, "group")
    assert [cell.text for cell in groups[:3]] == ["1", "1", ""]
    assert groups[2].sort > groups[0].sort  # type: ignore[operator]  (columns without a group come last)
    numeric = {heading.key for heading in listing(result).headings if heading.numeric}
    assert numeric == {"score", "p", "q", "group", "draws"}


def test_cells_say_how_a_column_was_told() -> None:
    assert {cell.text for cell in column(made_result(), "told")} == {"by itself", "in one wave"}


def test_partners_are_cut_and_counted() -> None:
    result = replace(made_result(), relations=Relations([], {0: [1, 2, 3, 4, 5], 1: [2]}, []))
    assert [cell.text for cell in column(result, "partners")[:3]] == ["x1, x2, x3 and 2 more", "x2", ""]


def test_the_few_that_suffice() -> None:
    result = replace(made_result(), minimal=Minimal([0, 2], {1: [0]}, 0.2, 0.21, 0.02, 3))
    assert [cell.text for cell in column(result, "minimal")[:4]] == ["kept", "told by x0", "kept", ""]
    page = html_of(result)
    assert "<dt>suffice</dt><dd>2</dd>" in page
    assert "<dt>confirmed</dt><dd>8</dd>" in page
    assert "<dt>tentative</dt><dd>2</dd>" in page
    assert "<dt>false discovery rate</dt><dd>0.1</dd>" in page


def test_wins_are_a_share_of_draws() -> None:
    result = made_result(method="boruta", parameters={"alpha": 0.05}, against="best shadow")
    result = replace(result, p=None, q=None, wins=np.full(40, 96, np.int32))
    assert {(cell.text, cell.sort) for cell in column(result, "wins")} == {("75 %", 0.75)}


def test_groups_are_shown_largest_first_as_far_as_there_is_room() -> None:
    groups = [[2 * i, 2 * i + 1] for i in range(44)] + [list(range(100, 140))]
    page = html_of(replace(made_result(200, 150), relations=Relations(groups, {}, [])))
    sizes = re.findall(r'<li><span class="n">(\d+) columns</span>', page)
    assert sizes == ["40"] + ["2"] * 39
    assert "and 10 more</li>" in page
    assert "5 more groups not shown" in page


def test_what_has_no_room_is_counted() -> None:
    assert listing(made_result()).n_left_out == 0
    assert listing(made_result(1500, 1200)).n_left_out == 202
    assert "202 more columns have no room on this page" in html_of(made_result(1500, 1200))


def test_the_seed_is_told() -> None:
    assert "<dt>seed</dt><dd>4711</dd>" in html_of(made_result(seed=4711))


def test_a_comparison_without_scores_is_none() -> None:
    assert (
        scores_of(replace(made_result(), insight=replace(made_result().insight, comparison=Comparison()))).shadows
        is None
    )
