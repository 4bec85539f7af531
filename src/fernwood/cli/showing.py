"""The table of the best columns as people see it: as much of it as the terminal is wide."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fernwood.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from fernwood.result import Result

__all__ = ["fitted", "print_table"]

_SHOWN_COLUMNS = 25
_SHOWN_PARTNERS = 2
_NO_TERMINAL = 120
"""As wide as lines are where nobody says how wide they may be."""
_GAP = 2
_STYLES = {"confirmed": "green", "tentative": "yellow"}


@dataclass
class _Field:
    """A column of the table that is printed.

    Attributes
    ----------
    heading, cells
    least, usual, most : how narrow it may be made, up to which width it comes before the others, and how wide it is
        at most
    worth : fields of little worth leave first where there is no room
    """

    heading: str
    cells: list[str] = field(default_factory=list)
    least: int = 0
    usual: int = 0
    most: int = 60
    worth: int = 9
    side: Literal["left", "right"] = "left"

    @property
    def natural(self) -> int:
        """As wide as it would be."""
        from rich.cells import cell_len

        return min(max(map(cell_len, (self.heading, *self.cells))), self.most)

    @property
    def narrowest(self) -> int:
        """As narrow as it may be made."""
        return min(self.least or self.natural, self.natural)


def print_table(result: Result) -> None:
    """Print the best columns of a result, as many as people read."""
    from rich.console import Console
    from rich.text import Text

    chosen = result.order[: len(result.confirmed) + len(result.tentative)]
    rows = result.to_table(chosen[:_SHOWN_COLUMNS]).to_pylist()
    wide = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if wide else _NO_TERMINAL, highlight=False)
    fields = [field for field in _fields(result, rows) if any(field.cells)]
    shown, widths, left = fitted(fields, console.width)
    _print_rows(console, shown, widths)
    more = len(chosen) - len(rows)
    notes = [f"… and {more:,} more"] if more else []
    if left:
        notes.append(f"no room here for: {', '.join(field.heading for field in left)}")
    for note in notes:
        console.print(Text(note, style="dim"))


def fitted(fields: Sequence[_Field], width: int) -> tuple[list[_Field], list[int], list[_Field]]:
    """The fields that fit into a width, how wide each is then, and those that do not fit.

    Fields are made narrower before one leaves, and the one of the least worth leaves first.

    Examples
    --------
    >>> name, p = _Field("column", ["a" * 30], least=8), _Field("p", ["1e-3"], worth=1)
    >>> [field.heading for field in fitted([name, p], 40)[0]], fitted([name, p], 20)[1], fitted([name, p], 10)[1]
    (['column', 'p'], [14, 4], [10])
    """
    shown, left = list(fields), []
    while True:
        gaps = _GAP * (len(shown) - 1)
        if len(shown) == 1 or sum(one.narrowest for one in shown) + gaps <= width:
            break
        least = min(shown[1:], key=lambda one: one.worth)
        shown.remove(least)
        left.append(least)
    widths = [one.narrowest for one in shown]
    free = width - sum(widths) - gaps
    by_worth = sorted(range(len(shown)), key=lambda place: -shown[place].worth)
    for wishes in ([min(one.usual, one.natural) for one in shown], [one.natural for one in shown]):
        for place in by_worth:
            wider = min(max(wishes[place] - widths[place], 0), max(free, 0))
            widths[place] += wider
            free -= wider
    widths[0] = min(widths[0], max(width, 1))
    return shown, widths, [one for one in fields if one in left]


def _print_rows(console: Console, fields: list[_Field], widths: list[int]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", pad_edge=False)
    for field_, width in zip(fields, widths, strict=True):
        table.add_column(Text(field_.heading), width=width, no_wrap=True, overflow="ellipsis", justify=field_.side)
    for cells in zip(*(field_.cells for field_ in fields), strict=True):
        table.add_row(*(Text(cell, style=_STYLES.get(cell, ""), overflow="ellipsis", no_wrap=True) for cell in cells))
    console.print(table)


# What there is to show -------------------------------------------------------------------------------------------


def _fields(result: Result, rows: list[dict[str, Any]]) -> list[_Field]:
    """All that is worth showing, in order."""
    decision = _cells(rows, lambda row: str(row["decision"]))
    fields = [
        _Field("column", _cells(rows, lambda row: printable(row["column"])), least=10, usual=14, worth=7),
        _Field("decision", decision, worth=9 if len(set(decision)) > 1 else 5),
    ]
    profiles = result.insight.profiles
    seen = [profiles.get(row["position"]) for row in rows]
    effect = ["" if profile is None else printable(profile.effect) for profile in seen]
    about = _Field("effect", effect, least=17, usual=26, most=48, worth=8)
    fields += _tested(rows, about) if result.p is not None else [*_counted(result, rows), about]
    if result.relations is not None:
        beside = _cells(rows, lambda row: ", ".join(printable(name) for name in row["partners"][:_SHOWN_PARTNERS]))
        group = _cells(rows, lambda row: "" if row["group"] is None else f"group {row['group']}")
        fields += [
            _Field("more beside", beside, least=12, usual=20, most=40, worth=4),
            _Field("same as", group, worth=3),
        ]
    if result.minimal is not None:
        fields.append(_Field("suffices", _cells(rows, _suffices), least=15, usual=22, most=40, worth=8))
    return fields


def _cells(rows: list[dict[str, Any]], cell: Callable[[dict[str, Any]], str]) -> list[str]:
    return [cell(row) for row in rows]


def _tested(rows: list[dict[str, Any]], about: _Field) -> list[_Field]:
    told = _cells(rows, lambda row: row["reason"].split(",")[0].removeprefix("told "))
    told = ["beside others" if words == "in the context of others" else words for words in told]
    tells = len(set(told)) > 1
    return [
        _Field("p", _cells(rows, lambda row: f"{row['p']:.1e}"), worth=6, side="right"),
        _Field("q", _cells(rows, lambda row: f"{row['q']:.1e}"), worth=2, side="right"),
        _Field("told", told, most=28, worth=5 if tells else 1),
        about,
    ]


def _counted(result: Result, rows: list[dict[str, Any]]) -> list[_Field]:
    """Of a search that does not test."""
    facts = result.facts
    score, often = {"filter": ("gain ratio", "calls"), "elimination": ("error rose by", "removals")}.get(
        facts.method, ("importance", facts.unit)
    )
    fields = [_Field(score, _cells(rows, lambda row: f"{row['score']:.4f}"), worth=5, side="right")]
    if facts.against:
        wins = _cells(rows, lambda row: f"{100 * row['wins'] / max(row['draws'], 1):.1f} %")
        fields.append(_Field(f"above the {facts.against}", wins, worth=4, side="right"))
    return [*fields, _Field(often, _cells(rows, lambda row: f"{row['draws']:,}"), worth=1, side="right")]


def _suffices(row: dict[str, Any]) -> str:
    told_by = ", ".join(printable(name) for name in row["stand_ins"])
    return "kept" if row["minimal"] else told_by and f"told by {told_by}"
