"""How far contexts of random columns came: the chance that columns which tell nothing but together have met."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["Exploration"]

_SURE = 0.95


class Exploration(NamedTuple):
    """Contexts of random columns.

    Attributes
    ----------
    n_contexts : made so far
    depth : random columns in each, beside those found
    n_columns : that they are drawn from, those that are not found

    Examples
    --------
    >>> explored = Exploration(1000, 6, 2000)
    >>> round(explored.met(2), 3), explored.needed(2), explored.needed(3)
    (0.998, 500, 133343)
    """

    n_contexts: int
    depth: int
    n_columns: int

    def met(self, degree: int) -> float:
        """The chance that a column of a pure interaction of so many was examined beside all others at least once."""
        chance = self._at_once(degree)
        return 1.0 if chance >= 1 else -math.expm1(self.n_contexts * math.log1p(-chance))

    def needed(self, degree: int) -> int | None:
        """Contexts that make this chance 0.95; None where no number does."""
        chance = self._at_once(degree)
        if chance <= 0:
            return None
        return 1 if chance >= 1 else math.ceil(math.log(1 - _SURE) / math.log1p(-chance))

    def _at_once(self, degree: int) -> float:
        """The chance that a context holds all but one of the columns, whichever that one is: it shows there.

        With all of them in a context nothing shows, since a column is not examined in a context that holds it.
        """
        chance = float(degree)
        for i in range(degree - 1):
            chance *= max(self.depth - i, 0) / max(self.n_columns - i, 1)
        chance *= max(self.n_columns - self.depth, 0) / max(self.n_columns - degree + 1, 1)
        return min(chance, 1.0)

    @property
    def degree(self) -> int:
        """The largest number of columns whose pure interactions were met with a chance of 0.95; 1 where none were."""
        return next((d for d in (3, 2) if self.n_contexts and self.met(d) >= _SURE), 1)

    @property
    def said(self) -> str:
        """How far it came, and what more would cost, in a sentence."""
        # A third column shows beside two in a context, and none where a context holds all columns there are.
        pairs, threes = self.needed(2), self.needed(3)
        if not self.n_contexts:
            said = "columns that tell nothing but together were looked for beside columns found only"
            if pairs is not None:
                said += f"; max_contexts={pairs} would meet any two of them with a chance of 95 %"
                said += f", {threes} any three" if threes is not None else ""
            return said
        three = "; a context of so few rows, or columns, is too small to meet three"
        if threes is not None:
            three = f", any three with {_percent(self.met(3))}"
        said = (
            f"{self.n_contexts:,} contexts of random columns met any two that tell nothing but together with a chance "
            f"of {_percent(self.met(2))}{three}"
        )
        more = [f"max_contexts={pairs} (two)"] if self.degree < 2 and pairs is not None else []
        more += [f"max_contexts={threes} (three)"] if self.degree < 3 and threes is not None else []
        if more:
            said += f"; {' or '.join(more)} would make that 95 %"
        return said

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the chances and what more would cost."""
        return {
            "said": self.said,
            "contexts": self.n_contexts,
            "columns_a_context": self.depth,
            "degree": self.degree,
            "chance_met": {str(d): self.met(d) if self.n_contexts else 0.0 for d in (2, 3)},
            "contexts_needed": {str(d): self.needed(d) for d in (2, 3)},
        }


def _percent(chance: float) -> str:
    """A chance that is not rounded to certainty.

    Examples
    --------
    >>> _percent(0.98765), _percent(0.99999)
    ('98.8 %', 'more than 99.9 %')
    """
    return "more than 99.9 %" if chance > 0.999 else f"{100 * chance:.3g} %"
