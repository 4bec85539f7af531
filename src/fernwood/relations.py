"""What confirmed columns have to do with each other: partners, stand-ins, and the few of them that suffice.

Columns are positions in the table here; in files they are names, since positions mean nothing without the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["MOST_OPEN", "Minimal", "Relations", "given_away"]

MOST_OPEN = 0.05
"""The share of a target of classes that a column may leave open, and still be said to give it away."""


@dataclass(frozen=True)
class Relations:
    """Who belongs to whom, by position.

    Attributes
    ----------
    groups : lists of columns that can all stand for each other, two or more in each, best first
    partners : for a column, those beside which it tells more, strongest first
    giving_away : columns that leave next to nothing of the target open; see `given_away`
    """

    groups: list[list[int]] = field(default_factory=list)
    partners: dict[int, list[int]] = field(default_factory=dict)
    giving_away: list[int] = field(default_factory=list)

    def named(self, name: Callable[[int], str]) -> dict[str, Any]:
        """The same by name, as plain values."""
        return {
            "groups": [[name(i) for i in group] for group in self.groups],
            "partners": _named(self.partners, name),
            "giving_away": [name(i) for i in self.giving_away],
        }

    @classmethod
    def from_names(cls, entries: Mapping[str, Any], place: Mapping[str, int]) -> Relations:
        """What `named` wrote."""
        return cls(
            [[place[name] for name in group] for group in entries["groups"]],
            _placed(entries["partners"], place),
            [place[name] for name in entries["giving_away"]],
        )

    def columns(self, chosen: Sequence[int], name: Callable[[int], str]) -> dict[str, pa.Array]:
        """Of some positions: the number of their group, and the names of their partners."""
        number = {i: k for k, group in enumerate(self.groups, 1) for i in group}
        return {
            "group": pa.array([number.get(i) for i in chosen], pa.int32()),
            "partners": _lists(self.partners, chosen, name),
        }


def given_away(task: str) -> str:
    """What a column that gives the target away does.

    Examples
    --------
    >>> given_away("regression")
    "such a column puts the rows in the target's order"
    """
    if task == "regression":
        return "such a column puts the rows in the target's order"
    return f"at most {100 * MOST_OPEN:g} % of the target is left open once such a column is known"


@dataclass(frozen=True)
class Minimal:
    """A few of the confirmed columns that predict as well as all of them do.

    Attributes
    ----------
    kept : positions, those that take most of the target's spread away first
    stand_ins : for every confirmed column left out, the kept ones that it can be told from, strongest first; none where
        it cannot, and what it adds beside all that are kept is within the tolerance, or where it took no part
    open_all, open_kept : share of the target that trees leave open on rows they did not grow on, from all confirmed
        columns that took part and from those kept
    tolerance : by how much the latter may be larger
    n_fits : subsets of columns that trees were grown on
    blind : whether trees leave not clearly less open with all columns than with none, so that none was left out
    n_passed_over : confirmed columns that took no part, since there were too many
    """

    kept: list[int]
    stand_ins: dict[int, list[int]]
    open_all: float
    open_kept: float
    tolerance: float
    n_fits: int
    blind: bool = False
    n_passed_over: int = 0

    def named(self, name: Callable[[int], str]) -> dict[str, Any]:
        """The same by name, as plain values."""
        return {
            "kept": [name(i) for i in self.kept],
            "stand_ins": _named(self.stand_ins, name),
            **{key: getattr(self, key) for key in _PLAIN},
        }

    @classmethod
    def from_names(cls, entries: Mapping[str, Any], place: Mapping[str, int]) -> Minimal:
        """What `named` wrote."""
        # Earlier versions do not say so: of several columns, none was tried without where all of them tell nothing.
        several = len(entries["kept"]) + len(entries["stand_ins"]) > 1
        unsaid = {"blind": several and entries["n_fits"] == 1, "n_passed_over": 0}
        return cls(
            [place[name] for name in entries["kept"]],
            _placed(entries["stand_ins"], place),
            **{key: {**unsaid, **entries}[key] for key in _PLAIN},
        )

    def columns(self, chosen: Sequence[int], name: Callable[[int], str]) -> dict[str, pa.Array]:
        """Of some positions: whether they are kept, and the names of those that stand in for them."""
        kept = set(self.kept)
        return {
            "minimal": pa.array([i in kept for i in chosen]),
            "stand_ins": _lists(self.stand_ins, chosen, name),
        }

    @property
    def said(self) -> str:
        """A sentence about it."""
        n_all = len(self.kept) + len(self.stand_ins)
        if self.stand_ins:
            all_of_them = f"the best {n_all - self.n_passed_over:,}, which took part" if self.n_passed_over else "all"
            return (
                f"{len(self.kept):,} of the {n_all:,} confirmed columns suffice: trees leave "
                f"{100 * self.open_kept:.1f} % of the target open with them, {100 * self.open_all:.1f} % with "
                f"{all_of_them}"
            )
        if n_all == 1:
            return (
                f"the one confirmed column is kept: trees leave {100 * self.open_all:.1f} % of the target open with it"
            )
        if self.blind:
            return (
                f"all {n_all:,} confirmed columns are kept: trees leave {100 * self.open_all:.1f} % of the target open "
                "with all of them, not clearly less than with none, so none can be judged"
            )
        return (
            f"all {n_all:,} confirmed columns are kept: without any one of them, trees leave clearly more of the "
            "target open"
        )


_PLAIN = ("open_all", "open_kept", "tolerance", "n_fits", "blind", "n_passed_over")


def _named(beside: Mapping[int, list[int]], name: Callable[[int], str]) -> dict[str, list[str]]:
    return {name(i): [name(j) for j in others] for i, others in beside.items()}


def _placed(beside: Mapping[str, list[str]], place: Mapping[str, int]) -> dict[int, list[int]]:
    return {place[name]: [place[other] for other in others] for name, others in beside.items()}


def _lists(beside: Mapping[int, list[int]], chosen: Sequence[int], name: Callable[[int], str]) -> pa.Array:
    names = {i: name(i) for i in {one for others in beside.values() for one in others}}
    return pa.array([[names[j] for j in beside.get(i, ())] for i in chosen], pa.list_(pa.string()))
