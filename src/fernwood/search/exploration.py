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
    depth : random columns in each
    n_columns : that they are drawn from

    Examples
    --------
    >>> explored = Exploration(1000, 6, 2000)
    >>> round(explored.met(2), 3), explored.needed(2), explored.needed(3)
    (0.998, 498, 133076)
    """

    n_contexts: int
    depth: int
    n_columns: int

    def met(self, degree: int) -> float:
        """The chance that a column of a pure interaction of so many was examined beside all others at least once."""
        chance = self._at_once(degree)
        return 1.0 if chance >= 1 else -math.expm1(self.n_contexts * math.log1p(-chance))

    def needed(self, degree: int) -> int:
        """Contexts that make this chance 0.95."""
        chance = self._at_once(degree)
        return 1 if chance >= 1 else math.ceil(math.log(1 - _SURE) / math.log1p(-chance))

    def _at_once(self, degree: int) -> float:
        """The chance that a context holds all but one of the columns, whichever that one is: it shows there."""
        chance = float(degree)
        for i in range(degree - 1):
            chance *= max(self.depth - i, 0) / max(self.n_columns - i, 1)
        return max(min(chance, 1.0), 1e-300)

    @property
    def degree(self) -> int:
        """The largest number of columns whose pure interactions were met with a chance of 0.95; 1 where none were."""
        return next((d for d in (3, 2) if self.n_contexts and self.met(d) >= _SURE), 1)

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the chances and what more would cost."""
        return {
            "contexts": self.n_contexts,
            "columns_a_context": self.depth,
            "degree": self.degree,
            "chance_met": {str(d): self.met(d) if self.n_contexts else 0.0 for d in (2, 3)},
            "contexts_needed": {str(d): self.needed(d) for d in (2, 3)},
        }
