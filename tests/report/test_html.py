"""The report as a page: what it says, whatever the columns are called, and how large it gets."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.naive_bayes import GaussianNB

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import StoreError
from fernwood.report.html import html_of, write_html
from fernwood.report.notebook import card_of
from fernwood.report.shapes import shape_chart
from fernwood.report.svg import Scale, element, marks, ticks
from fernwood.report.text import number, span
from fernwood.report.words import cautions, headline
from tests.report.made import ALONG, CATEGORIES, HOSTILE, NAMES, made_result, with_profiles

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Reader(HTMLParser):
    """Reads a page as a browser would, and keeps its elements, attributes and text; unbalanced ones are an error."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def test_it_opens_with_the_answer() -> None:
    page = read(html_of(made_result()))
    text = " ".join(page.text.split())
    for said in (
        "8 of 40 columns matter for ‘disease’",
        "confirmed 8; 2 more are tentative",
        "The false discovery rate is 0.1",
        "The search took 12.5 s in 2 sittings and at most 300 MB of memory of the 512 MB that it was allowed",
        "fernwood select genes.csv --target disease --seed 7",
        "0123456789abcdef",
        "higher in 'case'",
    ):
        assert said in text
    assert text.index("The search took") < text.index("Confirmed and tentative columns")


@pytest.mark.parametrize("profile", [None, CATEGORIES, ALONG], ids=["numbers", "categories", "regression"])
def test_hostile_names_are_text(profile: object) -> None:
    result = made_result(names=NAMES, target=HOSTILE, notes=[f"{HOSTILE} is a copy"])
    if profile is not None:
        result = with_profiles(result, profile)  # type: ignore[arg-type]
    page = read(html_of(result))
    assert {tag for tag, _ in page.tags} & {"img", "iframe", "object", "a:script"} == set()
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert HOSTILE in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "a" * 10_000 in page.text
    assert "حمض نووي" in page.text
    assert "\x00" not in page.text
    assert "\u202e" not in page.text
    card = read(card_of(result))
    assert HOSTILE in card.text
    assert "img" not in {tag for tag, _ in card.tags}


def test_no_request_can_leave_it() -> None:
    page = html_of(made_result())
    tags = read(page).tags
    policy = next(attrs["content"] for _, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not re.findall(r"https?:|//[a-z]", page)
    assert not [attrs for _, attrs in tags if attrs.keys() & {"src", "srcset", "style"}]
    assert all((attrs["href"] or "").startswith("#") for tag, attrs in tags if tag == "a")


def test_nothing_found_says_why() -> None:
    result = made_result(n_confirmed=0, n_tentative=0)
    assert headline(result) == "No column was found that tells of ‘disease’"
    text = read(html_of(result)).text
    assert "Nothing was confirmed" in text
    assert "more rows" in text
    assert "These came nearest" in text


def test_a_run_that_stopped_early_says_so_at_the_top() -> None:
    page = read(html_of(made_result(n_draws=2)))
    text = " ".join(page.text.split())
    assert "Stopped early. This search was stopped after 2 of 5 waves" in text
    assert text.index("Stopped early.") < text.index("8 of 40 columns matter for ‘disease’ so far", 100)


def test_cautions_name_what_could_be_wrong() -> None:
    quiet = {caution.title for caution in cautions(made_result(n_tentative=0))}
    assert quiet == {"Columns that stand for each other", "Do not judge a model on these rows"}
    result = made_result(n_rows=30, n_usable=39, notes=["'x3' equals the target"])
    assert result.relations is not None
    result = replace(result, relations=replace(result.relations, giving_away=[0]))
    result = with_profiles(result, replace(CATEGORIES, strength=0.99))
    loud = {caution.title for caution in cautions(result)}
    assert loud > quiet
    assert {
        "Some columns give the target away",
        "Too good to be true?",
        "Only 30 rows",
        "Seen while the table was read",
        "1 column could not be used",
        "2 tentative columns",
    } <= loud
    assert cautions(result)[0].level == "stop"


def test_a_million_columns_make_a_small_page_quickly() -> None:
    result = made_result(1_000_000, 30_000)
    began = time.perf_counter()
    page = html_of(result)
    took = time.perf_counter() - began
    assert len(page.encode()) <= 5_000_000
    assert took <= 10
    assert "29,002 more columns have no room on this page" in read(page).text


def test_long_names_do_not_make_a_large_page() -> None:
    names = [f"{i}" + "🧬" * 10_000 for i in range(500)]
    page = html_of(made_result(1000, 500, names=names)).encode()
    assert len(page) <= 5_000_000


def learned(method: str) -> fernwood.Result:  # type: ignore[name-defined]
    table = make_madelon(200, 40, class_sep=3.0, random_state=0)
    selectors = {
        "snowball": fernwood.SnowballSelector(random_state=0),
        "minimal": fernwood.SnowballSelector(goal="minimal", random_state=0),
        "subspace": fernwood.SubspaceSelector(q=20, n_iter=60, random_state=0),
        "probe": fernwood.SubspaceSelector(q=20, n_iter=60, rule="probe", random_state=0),
        "ferns": fernwood.FernSelector(scans=100, random_state=0),
        "boruta": fernwood.BorutaSelector(max_iter=12, random_state=0),
        "elimination": fernwood.EliminationSelector(GaussianNB(), random_state=0),
        "filter": fernwood.FilterSelector(GaussianNB(), random_state=0),
    }
    return selectors[method].fit(table.data, table.target).result_


@pytest.mark.filterwarnings("ignore:.*tentative after 12 iterations:fernwood.FernwoodWarning")
@pytest.mark.parametrize(
    "method", ["snowball", "minimal", "subspace", "probe", "ferns", "boruta", "elimination", "filter"]
)
def test_every_method_has_a_report(method: str, tmp_path: Path) -> None:
    result = learned(method)
    page = result.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page
    reader = read(page)
    assert headline(result) in reader.text
    assert sum(tag == "svg" and attrs.get("class") == "chart" for tag, attrs in reader.tags) >= 3
    assert "nan" not in re.findall(r"[\w.]+", reader.text.lower())
    assert not [value for _, attrs in reader.tags for value in attrs.values() if value and "nan" in value.split()]
    assert card_of(result).startswith("<div")


def test_notebooks_show_what_was_found() -> None:
    table = make_madelon(200, 40, class_sep=3.0, random_state=0)
    selector = fernwood.SnowballSelector(random_state=0)
    assert "columns matter" not in selector._repr_html_()
    selector.fit(table.data, table.target)
    for shown in (selector._repr_html_(), selector._repr_mimebundle_()["text/html"]):
        assert "SnowballSelector" in shown
        assert headline(selector.result_) in shown
    assert headline(selector.result_) in selector.result_._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in selector._repr_mimebundle_()


def test_the_call_asks_for_the_same_again() -> None:
    table = make_madelon(200, 40, class_sep=3.0, random_state=0)
    result = fernwood.SnowballSelector(fdr=0.2, n_jobs=1).fit(table.data, table.target).result_
    assert result.course is not None
    again = result.course.call.replace(".fit(X, y)", "").split("\n\n")[1]
    assert again == f"SnowballSelector(fdr=0.2, random_state={result.facts.seed})"
    assert "SnowballSelector(fdr=0.2, random_state=" in read(html_of(result)).text


def test_a_report_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    with pytest.raises(StoreError, match="the report '.*' cannot be written: .*; mend that, or choose another place"):
        write_html("page", tmp_path / "a-file" / "report.html")


def test_scales_and_marks() -> None:
    assert Scale(3, 3, 0, 10)(3) == 0
    assert Scale(0, 10, 0, 100)(99) == 100
    assert ticks(5, 5) == [5]
    for low, high in np.random.default_rng(0).uniform(-1e6, 1e6, (200, 2)).tolist():
        marks = ticks(min(low, high), max(low, high))
        assert 2 <= len(marks) <= 8
        assert min(low, high) - 1e-6 <= marks[0] < marks[-1] <= max(low, high) + 1e-6
    assert str(element("rect", x='"><b>')) == '<rect x="&#34;&gt;&lt;b&gt;"></rect>'


def test_marks_along_an_axis() -> None:
    for low, high in [(0, 1), (2018.2, 2022.4), (1e6 - 0.002, 1e6 + 0.003), (-3e-15, 2e-15), (-4.1, 4.9), (4e5, 9e5)]:
        texts = marks(ticks(low, high, 3))
        assert len(set(texts)) == len(texts) >= 2, texts
        assert all(low <= float(text.replace(",", "")) <= high for text in texts), texts
    assert marks(ticks(2018.2, 2022.4)) == ["2019", "2020", "2021", "2022"]
    for low, high in [(-1.7e308, 1.7e308), (0, 5e-324), (0, 1e-310), (1e300, 1.0000001e300), (1e17, 1e17)]:
        assert max(map(len, marks(ticks(low, high)))) < 20
        assert 0 <= Scale(low, high, 0, 10)(high) <= 10
    assert max(len(number(value)) for value in (1e15, -1.7e308, 999_999_999_999)) <= 15


def texts_of(chart: str, name: str) -> list[tuple[float, str]]:
    """Places and texts of a class in a picture."""
    return [(float(x), text) for x, text in re.findall(rf'class="{name}" x="([-\d.]+)"[^>]*>([^<]*)<', chart)]


def test_long_numbers_have_room() -> None:
    lines = {"lower quartile": [1e6, 2e6], "median": [2e6, 3e6], "upper quartile": [3e6, 4e6]}
    chart = str(shape_chart("x", replace(ALONG, lines=lines, edges=[1e15, 1e15 + 1, 1e15 + 2]), "price"))
    marked = texts_of(chart, "tick")
    assert "2,000,000" in [text for _, text in marked]
    assert all(x >= 5.5 * len(text) for x, text in marked if text.endswith("000,000"))


def test_only_as_many_categories_are_named_as_have_room() -> None:
    names = [f"category of a long name, {i}" for i in range(20)]
    profile = replace(CATEGORIES, categories=names, rows=[1] * 20, lines={"case": [0.05] * 20})
    chart = str(shape_chart("x", profile, "y"))
    below = [(x, text) for x, text in texts_of(chart, "tick") if "…" in text]
    assert 1 <= len(below) <= 4
    assert all(b - a >= 5.5 * len(text) for (a, _), (b, text) in pairwise(below))
    assert chart.count("<title>") == 21  # the picture's own, and one for each bar


def test_a_class_called_median() -> None:
    lines = {"high": [0.2, 0.8], "low": [0.5, 0.5], "median": [0.4, 0.6]}
    for profile in (replace(CATEGORIES, lines=lines), replace(ALONG, rows=[10, 5], lines=lines)):
        page = html_of(with_profiles(made_result(), profile))
        assert "Share of each class along the column" in page
        assert "median</bdi>" in page


def test_a_column_of_one_value_has_a_picture() -> None:
    one = replace(ALONG, edges=[3.0, 3.0], rows=[10], lines={"case": [1.0], "control": [None]})
    path = re.findall(r'class="line-0" d="([^"]+)"', str(shape_chart("x", one, "y")))[0]
    first, last = (float(point.split()[0]) for point in path[1:].split("L"))
    assert last - first > 100


def test_python_to_ask_again_keeps_its_lines() -> None:
    result = made_result()
    assert result.course is not None
    call = "from fernwood import A\n\nA().fit(X, y)"
    result = replace(result, course=replace(result.course, call=f"{call}\x1b\u202e"))
    assert f"<code>{call}\\x1b\\u202e</code>" in html_of(result)


def test_sentences_fit_what_was_found() -> None:
    nothing = made_result(n_confirmed=0, n_tentative=0)
    assert "known at the first count" not in html_of(nothing)
    assert "Of 8 columns found in the end, 1 was known at the first count" in html_of(made_result())
    assert "The snowball: columns found against waves" in html_of(made_result())
    assert "Columns found against draws" in html_of(made_result(method="boruta", unit="draws", parameters={"alpha": 1}))
    strong = with_profiles(made_result(), replace(CATEGORIES, strength=0.99))
    assert "to look at first</a>: Too good to be true?</p>" in html_of(strong)


def test_paper_is_white() -> None:
    """The colours of the dark page are for screens; a media query in print would win over those of paper."""
    style = (files("fernwood.report") / "page" / "report.css").read_text()
    dark = re.findall(r"([^{}]*)\{ :root[^{}]*\{[^{}]*color-scheme: dark", style)
    assert len(dark) == style.count("color-scheme: dark;") == 2
    assert all("@media screen" in query for query in dark)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 ms"),
        (0.0949, "95 ms"),
        (0.0951, "0.1 s"),
        (59.9, "59.9 s"),
        (59.97, "1 min 0 s"),
        (3599.6, "1 h 0 min"),
        (86_000, "23 h 53 min"),
        (86_380, "1 d 0 h"),
        (200_000, "2 d 8 h"),
        (10**9, "11574 d 2 h"),
    ],
)
def test_times_for_people(seconds: float, said: str) -> None:
    assert span(seconds) == said
