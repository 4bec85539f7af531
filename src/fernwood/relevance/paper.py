"""The rules of the papers: any importance at all, and the random probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Evidence", "by_importance", "by_probe"]


class Evidence(NamedTuple):
    """What the draws so far say of every column.

    Attributes
    ----------
    draws : int32 array; how often the column was drawn
    importance : float64 array; the sum of its importances over those draws
    wins : int32 array; in how many of them it was more important than the random probe
    """

    draws: NDArray[np.int32]
    importance: NDArray[np.float64]
    wins: NDArray[np.int32]

    @classmethod
    def none(cls, n_columns: int) -> Evidence:
        """Before the first draw."""
        return cls(np.zeros(n_columns, np.int32), np.zeros(n_columns), np.zeros(n_columns, np.int32))

    def with_draws(self, draws: Iterable[tuple[NDArray[np.int64], NDArray[np.float64], float]]) -> Evidence:
        """The evidence with some draws added, in their order: the columns of each, their importances, the probe's."""
        counts, importance, wins = self.draws.copy(), self.importance.copy(), self.wins.copy()
        for columns, scores, probe in draws:
            counts[columns] += 1
            importance[columns] += scores
            wins[columns] += scores > probe
        return Evidence(counts, importance, wins)

    def mean_importance(self, columns: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float64]:
        """The mean importance of columns over the draws they were in; 0 where there was none."""
        return np.asarray(self.importance[columns] / np.maximum(self.draws[columns], 1))


def by_importance(evidence: Evidence) -> NDArray[np.int64]:
    """Columns that ever had an importance above zero: step 2(c) of Algorithm 1, sound with infinitely many rows only.

    Examples
    --------
    >>> by_importance(Evidence(np.array([2, 2, 0]), np.array([0.5, 0.0, 0.0]), np.zeros(3, int)))
    array([0])
    """
    return np.flatnonzero(evidence.importance > 0)


def by_probe(evidence: Evidence, least_draws: int = 5, share: float = 0.95) -> NDArray[np.int64]:
    """Columns drawn more than `least_draws` times that beat the random probe in at least `share` of them (the slides).

    Examples
    --------
    >>> by_probe(Evidence(np.array([40, 40, 3]), np.zeros(3), np.array([38, 37, 3])))
    array([0])
    """
    return np.flatnonzero((evidence.draws > least_draws) & (evidence.wins >= share * evidence.draws))
