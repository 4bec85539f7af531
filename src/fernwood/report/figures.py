"""The numbers behind pictures, from a result; the page and the matplotlib displays draw the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.relevance.decision import Decision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.result import Result

__all__ = ["Coverage", "Scores", "coverage_of", "score_name", "scores_of", "top_of"]

_BINS = 48
_COVERAGE_BINS = 32


class Scores(NamedTuple):
    """How many columns have which score, by decision, and how many of them there would be if all were shadows.

    Attributes
    ----------
    edges : float64 array, one more than bins
    counts : int64 array, shape (3, bins): confirmed, tentative, and the others that were examined
    shadows : float64 array, or None where there were none
    threshold : the score from which on columns are confirmed, if there is one
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    shadows: NDArray[np.float64] | None
    threshold: float | None


class Coverage(NamedTuple):
    """How often usable columns were looked at.

    Attributes
    ----------
    edges, counts : of a histogram
    least, median, most : of draws
    never : columns that were not looked at
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    least: int
    median: float
    most: int
    never: int


def score_name(result: Result) -> str:
    """What the score of a result is, for an axis."""
    if result.facts.method == "elimination":
        return "error rose by"
    if result.facts.method == "filter":
        return "gain ratio"
    return "evidence, −log₁₀ p" if result.facts.method == "snowball" else "importance"


def scores_of(result: Result) -> Scores:
    """The distribution of scores against that of shadows.

    Examples
    --------
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> result = fernwood.SnowballSelector(random_state=0).fit(table.data, table.target).result_
    >>> int(scores_of(result).counts.sum())
    60
    """
    examined = result.draws > 0
    comparison = result.insight.comparison
    shadows = np.array(comparison.scores)
    ends = [result.score[examined], shadows, np.array([v for v in (comparison.threshold,) if v is not None])]
    every = np.concatenate([end for end in ends if len(end)] or [np.zeros(1)])
    low, high = min(float(every.min()), 0.0), float(every.max())
    # Of halves, since a difference may be twice the largest number.
    edges = 2 * np.linspace(low / 2, (high if high > low else low + 1) / 2, _BINS + 1)
    decisions = result.verdicts.decision
    counts = np.stack(
        [
            np.histogram(result.score[examined & chosen], edges)[0]
            for chosen in (
                decisions == Decision.CONFIRMED,
                decisions == Decision.TENTATIVE,
                decisions >= Decision.REJECTED,
            )
        ]
    )
    expected = None
    if len(shadows) and not comparison.best:
        expected = np.histogram(shadows, edges)[0] * (np.count_nonzero(examined) / len(shadows))
    return Scores(edges, counts.astype(np.int64), expected, comparison.threshold)


def coverage_of(result: Result) -> Coverage:
    """How often columns were looked at.

    Examples
    --------
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> result = fernwood.SubspaceSelector(q=20, random_state=0).fit(table.data, table.target).result_
    >>> coverage_of(result).never
    0
    """
    n_usable = result.facts.n_usable
    draws = np.sort(result.draws)[len(result.draws) - n_usable :]  # others were never looked at
    if not len(draws):
        return Coverage(np.array([0.0, 1.0]), np.zeros(1, np.int64), 0, 0.0, 0, 0)
    least, most = int(draws[0]), int(draws[-1])
    n_bins = min(most - least + 1, _COVERAGE_BINS)
    # Bins of whole numbers of draws, so that none is empty for that reason alone.
    width = -(-(most - least + 1) // n_bins)
    edges = least - 0.5 + width * np.arange(n_bins + 1, dtype=np.float64)
    edges = edges[: int(np.searchsorted(edges, most)) + 1]
    counts = np.histogram(draws, edges)[0].astype(np.int64)
    return Coverage(edges, counts, least, float(np.median(draws)), most, int(np.count_nonzero(draws == 0)))


def top_of(result: Result, most: int) -> NDArray[np.int64]:
    """Positions of the best confirmed and tentative columns; where there are none, of the best of all examined."""
    chosen = result.order[: len(result.confirmed) + len(result.tentative)]
    if not len(chosen):
        chosen = result.order[: min(most, result.n_examined)]
    return chosen[:most]
