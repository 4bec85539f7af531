"""The documentation as a site: built strictly, complete, and asking no other machine for anything."""

from __future__ import annotations

import ast
import html
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

import fernwood
from fernwood import datasets, theory
from tests.test_docs import commands, options_of

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings_handlers")),
    reason="MkDocs is not installed: make docs, or the docs extra",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", out],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


class Fetched(HTMLParser):
    """Collects what a browser fetches by itself; links that a reader may follow are none of that."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self.addresses += [told[name] for name in ("src", "srcset", "poster", "data") if name in told]
        if tag == "link":
            self.addresses.append(told.get("href", ""))


def fetched_by(page: str) -> list[str]:
    parser = Fetched()
    parser.feed(page)
    return parser.addresses


def is_outside(address: str) -> bool:
    return re.match(r"(https?:)?//", address) is not None


def test_no_page_asks_another_machine(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        addresses = fetched_by(page.read_text(encoding="utf-8"))
        assert len(addresses) > 3
        assert [address for address in addresses if is_outside(address)] == [], page.name


def test_no_style_asks_another_machine(site: Path) -> None:
    styles = list(site.rglob("*.css"))
    assert styles
    for style in styles:
        named = re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", style.read_text(encoding="utf-8"))
        assert [address for address in named if is_outside(address)] == [], style.name


def test_an_address_outside_is_noticed() -> None:
    page = '<link href="//a/b.css"><script src="https://a/c.js"></script><img src="d.png"><a href="https://e">e</a>'
    assert [is_outside(address) for address in fetched_by(page)] == [True, True, False]


def test_what_pages_fetch_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name != "404.html":  # served from anywhere, its addresses begin at the root
            for address in fetched_by(page.read_text(encoding="utf-8")):
                if not address.startswith("data:"):
                    assert (page.parent / address.partition("?")[0].partition("#")[0]).exists(), (
                        f"{page.name}: {address}"
                    )


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    there = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    names = [f"fernwood.{name}" for name in fernwood.__all__ if name != "__version__"]
    for module in (datasets, theory):
        names += [f"{module.__name__}.{name}" for name in module.__all__]
    # A function that is called as its module is has the longer name.
    missing = [name for name in names if not re.search(rf'id="{name}(\.{name.rpartition(".")[2]})?"', there)]
    assert missing == [], "name them in docs/reference/*.md, as `::: fernwood.NAME`"


def test_defaults_in_the_reference_are_those_of_the_signatures(site: Path) -> None:
    """What a parser of docstrings makes of sets of choices, and of several names in one entry, is not always true."""
    n_held = 0
    for page in ("selectors", "models"):
        text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
        for part in re.split(r'<h2 id="fernwood\.', text)[1:]:
            estimator = getattr(fernwood, part.partition('"')[0])
            known = inspect.signature(estimator).parameters
            for name, shown in re.findall(r"<b><code>(\w+)</code></b>[^–]*default:\s*<code>(.*?)</code>", part):
                if name in known:
                    told = ast.literal_eval(html.unescape(re.sub(r"<[^>]*>", "", shown)))
                    assert told == known[name].default, f"{estimator.__name__}({name}={told})"
                    n_held += 1
    assert n_held > 120


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    page = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    known = commands()
    assert len(known) > 15
    for name, command in known.items():
        assert f">fernwood {name}<" in page, name
        # `plan` takes the options of `select`; of a switch, the page names the side that changes something.
        options = {parameter.opts[0] for parameter in command.params if parameter.opts[0].startswith("-")}
        assert [option for option in options if f"<code>{option}</code>" not in page] == [], name
    assert "--target" in options_of(known["select"])


def test_every_decision_is_listed(site: Path) -> None:
    page = (site / "decisions" / "index.html").read_text(encoding="utf-8")
    records = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert len(records) >= 17
    assert [record.name for record in records if f'href="{record.stem}.html"' not in page] == []


def test_the_search_has_an_index_that_works_without_a_server(site: Path) -> None:
    text = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    places = {entry["location"].partition("#")[0] for entry in json.loads(text.removeprefix("var __index = "))["docs"]}
    assert {"index.html", "choosing.html", "faq.html", "reference/selectors.html"} <= places
    assert "iframe-worker.js" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium to open the site with")
def test_the_search_finds_pages_from_the_disk(site: Path, tmp_path: Path) -> None:
    how = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000"]
    done = subprocess.run(
        ["chromium", *how, "--dump-dom", f"{(site / 'index.html').as_uri()}?q=tentative"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    assert re.search(r"\d+ matching documents", done.stdout)
    assert re.search(r'<a href="[^"]*faq\.html[^"]*" class="md-search-result__link"', done.stdout)
