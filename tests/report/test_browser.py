"""The report in a real browser: it sorts, filters, copies and darkens, asks nothing of the network, and is accessible.

Needs playwright, a chromium on the path and axe-core in ``.browser`` (`make browser`); skipped with a reason elsewhere.
``FERNWOOD_SCREENSHOTS`` names a directory for the pictures.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from tests.report.made import HOSTILE, NAMES, made_result

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")

ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / ".browser" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here; install one")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as machinery:
        opened = machinery.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports: of a small search with hostile names, of 100 000 columns, and of searches that went otherwise."""
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((300, 100_000), np.float32)
    ill = np.where(wide[:, 5] + wide[:, 70_000] > 0, "case", "control")
    searched = fernwood.SnowballSelector(random_state=0).fit(wide, ill).result_
    assert {5, 70_000} <= set(searched.confirmed.tolist())
    results = {
        "small": made_result(names=NAMES),
        "wide": searched,
        "nothing": made_result(n_confirmed=0, n_tentative=0),
        "stopped": made_result(n_draws=2),
    }
    for name, result in results.items():
        result.to_html(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in results}


class Watched:
    """A page, and what it did that it should not do."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.faults.append("a dialog opened"), dialog.dismiss()))
        page.on("request", self._ask)

    def _ask(self, request: Any) -> None:
        if request.url != self.opened:
            self.faults.append(f"request: {request.url}")

    def open(self, path: Path) -> Any:
        self.opened = path.as_uri()
        self.page.goto(self.opened)
        return self.page


@pytest.fixture
def watched(browser: Any, request: pytest.FixtureRequest) -> Iterator[Watched]:
    about = {"viewport": {"width": 1280, "height": 900}, **getattr(request, "param", {})}
    context = browser.new_context(**about)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield Watched(context.new_page())
    context.close()


def names_in(page: Any) -> list[str]:
    return page.eval_on_selector_all(
        "#table tbody tr:not([hidden]) th bdi", "cells => cells.map(cell => cell.textContent)"
    )


@pytest.mark.parametrize(
    "watched", [{"viewport": {"width": width, "height": 900}} for width in (1280, 390)], indirect=True
)
@pytest.mark.parametrize("name", ["small", "wide", "nothing", "stopped"])
def test_it_opens_quietly_and_fits(watched: Watched, pages: dict[str, Path], name: str) -> None:
    page = watched.open(pages[name])
    assert watched.faults == []
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    folder = Path(os.environ.get("FERNWOOD_SCREENSHOTS", pages[name].parent))
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)


def test_the_watch_sees_what_it_should(watched: Watched, tmp_path: Path) -> None:
    """A page without our care: the checks of this file would catch it."""
    bad = tmp_path / "bad.html"
    bad.write_text(f"<p>{HOSTILE}</p><script>console.error('no')</script>")
    watched.open(bad)
    watched.page.wait_for_timeout(200)
    assert {fault.split(":")[0] for fault in watched.faults} >= {"console", "request", "a dialog opened"}


def test_the_table_sorts(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["stopped"])
    ranked = names_in(page)
    assert ranked == [f"x{i}" for i in range(10)]
    heading = page.get_by_role("button", name="evidence")
    heading.click()
    assert names_in(page) == ranked[::-1]
    assert page.get_by_role("columnheader", name="evidence").get_attribute("aria-sort") == "ascending"
    heading.focus()
    page.keyboard.press("Enter")
    assert names_in(page) == ranked
    assert page.get_by_role("columnheader", name="evidence").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="column", exact=True).click()
    assert names_in(page) == sorted(ranked)
    assert watched.faults == []


def test_the_table_filters_and_copies(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["stopped"])
    page.get_by_label("Decision").select_option("tentative")
    assert names_in(page) == ["x8", "x9"]
    page.get_by_label("Filter").fill("X9")
    assert names_in(page) == ["x9"]
    assert page.locator("#said").inner_text() == "1 of 10 columns"
    page.get_by_role("button", name="Copy names").click()
    assert page.evaluate("navigator.clipboard.readText()") == "x9"
    page.get_by_role("button", name="Copy table").click()
    heads, row = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert heads.split("\t")[:2] == ["column", "decision"]
    assert row.split("\t")[:2] == ["x9", "tentative"]
    page.get_by_label("Filter").fill("no such column")
    assert names_in(page) == []
    assert watched.faults == []


@pytest.mark.parametrize("name", ["small", "wide"])
def test_tables_of_searches_sort_and_filter(watched: Watched, pages: dict[str, Path], name: str) -> None:
    page = watched.open(pages[name])
    ranked = names_in(page)
    assert len(ranked) >= 2
    for heading in ("q", "q", "column"):
        page.get_by_role("button", name=heading, exact=True).click()
        assert sorted(names_in(page)) == sorted(ranked)
    last = names_in(page)[-1]
    page.get_by_label("Filter").fill(last)
    assert last in names_in(page)
    assert len(names_in(page)) < len(ranked)
    page.get_by_label("Filter").fill("")
    page.locator("#theme").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert watched.faults == []


def test_the_command_is_copied(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["small"])
    page.get_by_role("button", name="Copy", exact=True).click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("fernwood select genes.csv --target disease")


@pytest.mark.parametrize("watched", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_it_darkens(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["small"])
    paper = "getComputedStyle(document.body).backgroundColor"
    before, button = page.evaluate(paper), page.locator("#theme")
    pressed = button.get_attribute("aria-pressed")
    button.click()
    assert page.evaluate(paper) != before
    assert button.get_attribute("aria-pressed") != pressed
    button.click()
    assert page.evaluate(paper) == before
    assert watched.faults == []


def test_a_hostile_name_is_only_text(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["small"])
    assert HOSTILE in names_in(page)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert watched.faults == []


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: make browser")
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(browser: Any, pages: dict[str, Path], scheme: str, width: int) -> None:
    """Contrast, labels, roles and keyboard, by axe-core's rules."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    # Colours and widths are the same on every page; what stands on it is not.
    for path in pages.values() if (scheme, width) == ("light", 1280) else [pages["small"], pages["stopped"]]:
        page.goto(path.as_uri())
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        assert len(found["passes"]) > 10
        told = [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found["violations"]]
        assert told == [], path.name
    context.close()


def test_everything_is_reached_by_keyboard(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["stopped"])
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    assert {"Skip to the columns", "theme", "filter", "decision", "Copy names", "evidence, −log₁₀ p", "Copy"} <= set(
        reached
    )


@pytest.mark.parametrize("watched", [{"color_scheme": "dark"}], indirect=True)
def test_paper_is_white_beside_a_dark_screen(watched: Watched, pages: dict[str, Path]) -> None:
    page = watched.open(pages["small"])
    colour = "getComputedStyle(document.body).backgroundColor"
    bars = "getComputedStyle(document.documentElement).getPropertyValue('--c0')"
    on_screen = page.evaluate(bars)
    assert page.evaluate(colour) == "rgb(18, 23, 20)"
    for theme in ("", "dark", "light"):
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        assert page.evaluate(bars) != on_screen
