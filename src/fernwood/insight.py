"""What a reader sees of a result beside its decisions: how it was found, against what, and what the columns look like.

Nothing is decided by it. It is made while the table is at hand, so that a report needs the result alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from fernwood.plausible import made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

__all__ = ["Comparison", "History", "Insight", "Profile"]


@dataclass(frozen=True)
class History:
    """How the search came along: after so many draws (or what it counts), columns found and columns examined.

    Attributes
    ----------
    done, found, examined : lists of equal length; `done` increases
    """

    done: list[int] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    examined: list[int] = field(default_factory=list)

    def checked(self) -> Self:
        """The same, if its lists fit each other and are numbers of columns; else a ValueError."""
        if not len(self.done) == len(self.found) == len(self.examined):
            raise ValueError("a history of different lengths")
        if not all(_can_be(n) for n in (*self.done, *self.found, *self.examined)):
            raise ValueError("a history of numbers that cannot be")
        return self


@dataclass(frozen=True)
class Comparison:
    """What the scores of columns are held against.

    Attributes
    ----------
    scores : of shadows or probes, on the scale of the result's scores, rising; where there are many, evenly spaced
        quantiles of them
    n : how many there were
    best : whether they are those of the best shadow of each round, not of every shadow
    threshold : the score from which on columns are confirmed; None where it is not the score alone that decides
    """

    scores: list[float] = field(default_factory=list)
    n: int = 0
    threshold: float | None = None
    best: bool = False

    def checked(self) -> Self:
        """The same, if there are such scores; else a ValueError."""
        if not all(map(isfinite, (*self.scores, self.threshold or 0.0))) or not _can_be(self.n):
            raise ValueError("scores that cannot be")
        return self


@dataclass(frozen=True)
class Profile:
    """How the values of one column go with the target, for a picture and a few words.

    Attributes
    ----------
    effect : in words, such as "higher in case", "rises", "highest in the middle", "differs by category"
    strength : how well the column alone tells rows apart, from 0 (not at all) to 1
    kind : what the column holds
    edges : of a column of numbers, the bounds of its bins in the units of the table, one more than there are bins
    categories : of a column of categories, one for each bin
    rows : how many of the rows that were looked at are in each bin
    lines : for each class, the share of its rows in each bin; for a target of numbers, its "lower quartile", "median"
        and "upper quartile" in each bin (None in an empty one)
    missing : rows without a value, of all that count
    """

    effect: str
    strength: float
    kind: Literal["number", "category"]
    edges: list[float]
    categories: list[str]
    rows: list[int]
    lines: dict[str, list[float | None]]
    missing: int

    def checked(self) -> Self:
        """The same, if its lists fit its bins; else a ValueError."""
        bins = len(self.edges) - 1 if self.kind == "number" else len(self.categories)
        if not (self.rows and self.lines) or {bins, *map(len, self.lines.values())} != {len(self.rows)}:
            raise ValueError("a profile of different lengths")
        drawn = (number for line in self.lines.values() for number in line if number is not None)
        if not all(map(isfinite, (*self.edges, self.strength, *drawn))) or not all(
            map(_can_be, (*self.rows, self.missing))
        ):
            raise ValueError("a profile of numbers that cannot be")
        return self


@dataclass(frozen=True)
class Insight:
    """All of it; parts that a search does not have are empty.

    Attributes
    ----------
    history, comparison
    profiles : of the best columns, by position
    """

    history: History = field(default_factory=History)
    comparison: Comparison = field(default_factory=Comparison)
    profiles: dict[int, Profile] = field(default_factory=dict)

    def named(self, name: Callable[[int], str]) -> dict[str, Any]:
        """As plain values, columns by name."""
        return {
            "history": asdict(self.history),
            "comparison": asdict(self.comparison),
            "profiles": {name(position): asdict(profile) for position, profile in self.profiles.items()},
        }

    @classmethod
    def from_names(cls, entries: Mapping[str, Any], place: Mapping[str, int]) -> Insight:
        """What `named` wrote.

        Examples
        --------
        >>> insight = Insight(History([10, 20], [0, 3], [40, 40]))
        >>> Insight.from_names(insight.named(str), {}) == insight
        True
        """
        return cls(
            made(History, entries["history"]).checked(),
            made(Comparison, entries["comparison"]).checked(),
            {place[name]: made(Profile, profile).checked() for name, profile in entries["profiles"].items()},
        )


def _can_be(number: int) -> bool:
    """Whether there can be so many of something: rows, columns or draws."""
    return 0 <= number < 2**53
