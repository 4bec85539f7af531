"""Escapes: text of a stranger that became markup, a command to a terminal, or a formula of a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["csv_escapes", "html_escapes", "terminal_escapes"]

_STRANGE_TAGS = {"img", "iframe", "object", "embed", "form", "base", "link", "video", "audio", "frame", "foreignobject"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_IN_TEXT = "\n\t \u200c\u200d"
"""Of a page: blanks, and what joins letters, and people to what they do."""
_STYLED = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
"""How the command line colours words and draws its progress on a terminal."""


class _Page(HTMLParser):
    """Collects what a page would do beside showing text."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag in _STRANGE_TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in {"srcdoc", "formaction", "src", "srcset"}:
                self.found.append(f"<{tag} {name}>")
            if name in {"href", "action", "xlink:href"} and not (value or "").startswith("#"):
                self.found.append(f"<{tag} {name}={value!r:.40}>")

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        if bad := [c for c in data if not c.isprintable() and c not in _IN_TEXT]:
            self.found.append(f"text with {bad[0]!r}")


def html_escapes(page: str) -> list[str]:
    """What of a report is more than text, beside its one script."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    return [*reader.found, *([f"{reader.scripts} scripts"] if reader.scripts != 1 else [])]


def terminal_escapes(said: str, payloads: Iterable[str] = (), *, styled: bool = False) -> list[str]:
    """Control characters that reached a stream; on a terminal (`styled`), beside those that style words there.

    `payloads` are texts that must not be there as they are, whatever else styles words.
    """
    plain = _STYLED.sub("", said) if styled else said
    found = sorted({repr(c) for c in plain if not c.isprintable() and c != "\n"})
    return found + [f"payload {text!r:.40}" for text in payloads if not text.isprintable() and text in said]


def csv_escapes(path: Path) -> list[str]:
    """Cells of a CSV file that a spreadsheet would run."""
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    return [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n＝＋－＠") and cell and not _NUMBER.fullmatch(cell)]
