"""What an experiment is: parts, each a table or figure of a paper; cells, the units of work; claims, what they show."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Row = dict[str, Any]
"""Settings and figures by name: numbers, strings, truth values; nothing nested."""


@dataclass(frozen=True)
class Cell:
    """A unit of work that is kept as soon as it is done: a function of a module, and what it is called with.

    The function returns one row of figures or several; settings are added to each. A cell whose time counts is
    measured `alone`, after all others; a cell that needs a data set names its file.
    """

    measure: Callable[..., Row | list[Row]]
    settings: Row
    needs: str | None = None
    alone: bool = False

    @property
    def key(self) -> str:
        """What tells cells apart, and finds one that was measured before."""
        return json.dumps([self.measure.__module__, self.measure.__qualname__, self.settings])

    def __str__(self) -> str:
        return f"{self.measure.__name__} {' '.join(f'{name}={value}' for name, value in self.settings.items())}"

    def rows(self) -> list[Row]:
        """Do the work."""
        told = self.measure(**self.settings)
        return [{**self.settings, **row} for row in (told if isinstance(told, list) else [told])]


@dataclass(frozen=True)
class Claim:
    """Something that a paper prints or says, and what we get.

    `direction` is whether what the paper concludes holds here, which also small runs can tell; `agrees` asks for the
    figures as well and is the direction where there are none. `differs` says why we do not expect it to hold.
    """

    about: str
    paper: str
    ours: str
    direction: bool
    agrees: bool | None = None
    exact: bool = False
    note: str = ""
    differs: str = ""

    @property
    def verdict(self) -> str:
        """In a word."""
        agrees = self.direction if self.agrees is None else self.direction and self.agrees
        return ("exact" if self.exact else "agrees") if agrees else "differs"


class Told:
    """The rows of a part."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def where(self, **settings: Any) -> Told:
        """The rows that have these values."""
        return Told(row for row in self.rows if all(row.get(name) == value for name, value in settings.items()))

    def each(self, name: str) -> dict[Any, Told]:
        """Rows by the value of a setting, in the order in which values come."""
        out: dict[Any, list[Row]] = {}
        for row in self.rows:
            if name in row:
                out.setdefault(row[name], []).append(row)
        return {value: Told(rows) for value, rows in out.items()}

    def values(self, name: str) -> list[Any]:
        """A figure of every row that has it."""
        return [row[name] for row in self.rows if name in row]

    def mean(self, name: str) -> float:
        """The mean of a figure over rows."""
        values = self.values(name)
        if not values:
            raise LookupError(f"no row has {name!r}; there are {len(self.rows)} rows")
        return float(sum(values) / len(values))


@dataclass(frozen=True)
class Part:
    """A table, a figure or a group of claims of a paper.

    `cells` makes the units of work, few and small where it is told to be quick; `claims` reads what they gave; `draw`
    draws it on a matplotlib figure; `table` is for figures that no claim is about, as lines of Markdown.
    """

    name: str
    title: str
    source: str
    cells: Callable[[bool], list[Cell]]
    claims: Callable[[Told], Iterable[Claim]]
    draw: Callable[[Told, Any], None] | None = None
    text: str = ""
    size: tuple[float, float] = field(default=(9.0, 4.0))
    table: Callable[[Told], Iterable[str]] | None = None


@dataclass(frozen=True)
class Experiment:
    """What one command reproduces."""

    name: str
    item: int
    title: str
    parts: tuple[Part, ...]
