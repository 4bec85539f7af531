"""What scores are held against, made small enough to keep: some quantiles, and from which score on columns are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.insight import Comparison
from fernwood.relevance.decision import Decision

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["compared"]

_MOST_SCORES = 1000


def compared(
    null: NDArray[np.float64],
    score: NDArray[np.float64],
    decision: NDArray[np.uint8],
    *,
    n: int | None = None,
    threshold: float | None = None,
    alone: float | None = None,
    best: bool = False,
) -> Comparison:
    """The comparison of columns with shadows or the like.

    Parameters
    ----------
    null
        Scores of the shadows, on the scale of the columns' scores.
    score, decision
        Of the columns.
    n
        How many shadows there are, where `null` has some of them.
    threshold
        From which score on columns are confirmed, where the search says it; else the lowest score that is confirmed, if
        no column with such a score is not.
    alone
        The score that a column would need to be the only one confirmed, where none is.
    best
        Whether `null` has the best shadow of each round, not every shadow.

    Examples
    --------
    >>> decision = np.array([Decision.CONFIRMED, Decision.REJECTED, Decision.CONFIRMED], np.uint8)
    >>> compared(np.array([1.0, 0.5]), np.array([3.0, 1.0, 2.5]), decision)
    Comparison(scores=[0.5, 1.0], n=2, threshold=2.5, best=False)
    """
    null = null[np.isfinite(null)]
    n_all = len(null) if n is None else n
    if not len(null):
        return Comparison()
    if len(null) > _MOST_SCORES:
        null = np.quantile(null, np.linspace(0, 1, _MOST_SCORES))
    if threshold is None:
        threshold = _lowest_confirmed(score, decision, alone)
    return Comparison(np.sort(null).tolist(), n_all, threshold, best)


def _lowest_confirmed(score: NDArray[np.float64], decision: NDArray[np.uint8], alone: float | None) -> float | None:
    lowest = float(np.min(score, where=decision == Decision.CONFIRMED, initial=np.inf))
    # Columns that were not examined are not decided by their score, whatever it is.
    others = (decision == Decision.TENTATIVE) | (decision == Decision.REJECTED)
    if lowest == np.inf:
        lowest = np.inf if alone is None else alone
    highest = float(np.max(score, where=others, initial=-np.inf))
    return lowest if np.isfinite(lowest) and highest < lowest else None
