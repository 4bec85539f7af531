"""Delimited text as its documentation says it, one character at a time; numbers are Python's float()."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple


class Cell(NamedTuple):
    """A cell: the line on which it begins, what it is, and its number or its text (quotes still on)."""

    line: int
    kind: Literal["number", "missing", "text", "quoted"]
    value: float | str | None


class Ragged(NamedTuple):
    """The first line whose number of cells is not that of the first line."""

    line: int
    n_cells: int


class Parsed(NamedTuple):
    """Whole rows before the first ragged line."""

    rows: list[list[Cell]]
    ragged: Ragged | None


def parse(text: str, delimiter: str = ",", decimal: str = ".", missing: Sequence[str] = ("NA",)) -> Parsed | None:
    """All cells of a table, whose first line says how many a line has.

    None where that has no answer: a bare return before a quote that never ends is a blank line in a table of several
    columns, which makes it one of a single column, in which it is part of the first of two cells.
    """
    parsed = _parse(text, delimiter, decimal, missing, one_column=False)
    if parsed.rows and len(parsed.rows[0]) == 1:
        again = _parse(text, delimiter, decimal, missing, one_column=True)
        return again if not again.rows or len(again.rows[0]) == 1 else None
    return parsed


def _parse(text: str, delimiter: str, decimal: str, missing: Sequence[str], *, one_column: bool) -> Parsed:
    rows: list[list[Cell]] = []
    row: list[Cell] = []
    line, i, after_delimiter = 1, 0, False
    while i < len(text) or after_delimiter:
        blank = not row and i < len(text) and text[i] in "\r\n"
        if blank and not (one_column and text[i:].strip("\r\n")):  # passed over, but in the middle of one column
            line += text[i] == "\n"
            i += 1
            continue
        end, quoted = _cell_end(text, i, delimiter)
        raw = text[i:end]
        row.append(_cell(raw, quoted, line, delimiter, decimal, missing))
        line += raw.count("\n")
        after_delimiter = text[end : end + 1] == delimiter
        i = end + 1
        if after_delimiter:
            if rows and len(row) == len(rows[0]):
                return Parsed(rows, Ragged(line, len(row)))
            continue
        if rows and len(row) != len(rows[0]):
            return Parsed(rows, Ragged(line, len(row)))
        i += text[end : end + 2] == "\r\n"
        line += 1
        rows.append(row)
        row = []
    return Parsed(rows, None)


def _cell_end(text: str, begin: int, delimiter: str) -> tuple[int, bool]:
    i = begin
    while text[i : i + 1] == " " and delimiter != " ":
        i += 1
    quoted = text[i : i + 1] == '"'
    if quoted:
        i += 1
        while i < len(text):
            if text[i : i + 2] == '""':
                i += 2
            elif text[i] == '"':
                break
            else:
                i += 1
        i += 1
    while i < len(text) and not (text[i] in (delimiter, "\n") or text[i:] == "\r" or text[i : i + 2] == "\r\n"):
        i += 1
    return min(i, len(text)), quoted


def _cell(raw: str, quoted: bool, line: int, delimiter: str, decimal: str, missing: Sequence[str]) -> Cell:
    bare = raw.strip(" ")
    if quoted:
        return Cell(line, "quoted", bare)
    if bare == "" or bare in missing:
        return Cell(line, "missing", None)
    number = number_of(bare, decimal)
    return Cell(line, "text", bare) if number is None else Cell(line, "number", number)


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number that a text spells, or None."""
    point = re.escape(decimal)
    if re.fullmatch(rf"[+-]?([0-9]+{point}?[0-9]*|{point}[0-9]+)([eE][+-]?[0-9]+)?", text) is None:
        return None
    return float(text.replace(decimal, "."))
