"""Columns against shadows: from scores in many contexts to one p-value a column, and which columns that finds.

A shadow is a column with its values dealt anew to the rows: it looks like the column and says nothing. Columns and
shadows are treated alike throughout, so that a column that says nothing is one more shadow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.kernels.telling import Chances, add_up, tell

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "by_chance",
    "combined",
    "false_discoveries",
    "found_at",
    "inverse_chances",
    "smallest_counted",
    "summed",
    "tail_chances",
]

_ALONE = 0.3
"""The weight of a column by itself, without context, among all its contexts."""
_TAIL = 100
"""So many of the highest shadows, or the highest tenth, say how the tail falls beyond them all."""
_FEWEST_FOR_A_TAIL = 20
"""Fewer shadows than this have no tail to model: one or two of them say nothing about how it falls."""
_FEW_COLUMNS = 8
_SAME = 2.0**-18
"""Evidence that differs by less than this share of itself is the same: it is made of sums in single precision."""


def by_chance(mean: NDArray[np.float64], spread: NDArray[np.float64]) -> Chances:
    """What chance does to scores, by the mean and standard deviation of those of shadows.

    Parameters
    ----------
    mean, spread : arrays, shape (contexts, scores)

    Examples
    --------
    >>> by_chance(np.array([[2.0]]), np.array([[3.0]])).middle.tolist()
    [[0.75]]
    """
    some = mean > 0
    scale = np.where(some, mean, 1.0)
    h = np.maximum((spread / scale) ** 2 / 9, 1e-12)
    width = np.where(some, np.sqrt(h), np.inf)
    return Chances(*(part.astype(np.float32) for part in (scale, 1 - h, width)))


def inverse_chances(scores: NDArray[np.float32], chances: Chances) -> NDArray[np.float32]:
    """About 1/p of every column in every context, judged by what chance does there.

    Of the scores that a column has in a context, the mean of 1/p counts.

    Parameters
    ----------
    scores : array, shape (columns, contexts, scores)
    chances

    Examples
    --------
    >>> scores = np.array([[[1.0]], [[30.0]]], np.float32)
    >>> bool(np.diff(inverse_chances(scores, by_chance(np.array([[2.0]]), np.array([[2.0]])))[:, 0]) > 100)
    True
    """
    out = np.empty(scores.shape[:2], np.float32)
    tell(scores, chances, out)
    return out


def summed(told: NDArray[np.float32]) -> NDArray[np.float64]:
    """The sum of 1/p over contexts, by column.

    Examples
    --------
    >>> summed(np.array([[1.0, 2.0], [0.5, 4.0]], np.float32)).tolist()
    [3.0, 4.5]
    """
    out = np.empty(len(told))
    add_up(told, out)
    return out


def combined(
    alone: NDArray[np.floating[Any]], in_contexts: NDArray[np.floating[Any]], n_contexts: NDArray[np.integer[Any]] | int
) -> NDArray[np.float64]:
    """One number for the evidence of many contexts: minus the logarithm of the harmonic mean of their p.

    The harmonic mean holds whatever the contexts have to do with each other (Wilson 2019), and one context that tells
    much is enough.

    Parameters
    ----------
    alone : 1/p of the column by itself
    in_contexts : sum of 1/p over contexts
    n_contexts : how many those are
    """
    number = np.asarray(n_contexts)
    by_itself = np.asarray(alone, np.float64)
    mean = np.where(number > 0, in_contexts / np.maximum(number, 1), by_itself)
    return np.asarray(np.log(_ALONE * by_itself + (1 - _ALONE) * mean))


def tail_chances(evidence: NDArray[np.float64], shadows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The p-value of every column: the share of shadows that reach its evidence, modelled where none does.

    ::

        log p  .
                   .
                       . .            .  counted: (shadows that reach it + 1) / (n + 1)
                            . .   .
                                      .  the highest shadow
                                      +  +  +  +  +  modelled, and never above the count
               ----------------------------------- evidence

    Notes
    -----
    A column that carries no information is one more shadow, so that the counted p-value is right whatever the shadows
    are like, ties included. A model would be no better where a shadow reaches the column, and wrong where shadows tie:
    a column of five ones has six scores.

    Examples
    --------
    >>> shadows = np.log(1000 / np.arange(1, 1001))
    >>> chances = tail_chances(np.array([0.0, np.log(100), 20.0]), shadows)
    >>> [float(round(c, 3)) for c in chances[:2]], bool(1e-9 < chances[2] < 1e-7)
    ([1.0, 0.011], True)
    """
    n = len(shadows)
    reached = evidence - _SAME * np.abs(evidence)
    # Few columns are compared with the shadows one by one; for many, sorting them all pays.
    if len(evidence) > _FEW_COLUMNS:
        null = np.sort(shadows)
        as_much = n - np.searchsorted(null, reached, side="left")
    else:
        null = np.partition(shadows, n - _tail_of(n) - 1)
        as_much = np.array([np.count_nonzero(null >= value) for value in reached])
    out = np.asarray((as_much + 1) / (n + 1))
    beyond = as_much == 0
    if n >= _FEWEST_FOR_A_TAIL and beyond.any():
        out[beyond] = np.minimum(out[beyond], _beyond_all(evidence[beyond], null))
    return out


def _beyond_all(evidence: NDArray[np.float64], null: NDArray[np.float64]) -> NDArray[np.float64]:
    """The modelled p-value of evidence that no shadow reaches; `null` is in order from the start of its tail on.

    How far k shadows lie beyond the start of the tail says how it falls, with the error of a mean of k: for an
    exponential, the chance that one more lies beyond x is (1 + x / (k · mean))⁻ᵏ. A slope that is flatter by one
    standard error is assumed besides, and the larger p-value holds. Shadows that tie count once for k.
    """
    n = len(null)
    start = null[n - _tail_of(n) - 1]
    tail = np.sort(null[n - _tail_of(n) :])
    tail = tail[tail - start > _SAME * np.abs(tail)]
    if not len(tail):
        return np.ones(len(evidence))
    k = 1 + np.count_nonzero(np.diff(tail) > _SAME * np.abs(tail[1:]))
    beyond = (evidence - start) / (tail.mean() - start)
    unknown_slope, flatter = (1 + beyond / k) ** -float(k), np.exp(-beyond / (1 + 1 / np.sqrt(k)))
    share = (len(tail) + 1) / (n + 1)
    return np.asarray(np.maximum(share * np.maximum(unknown_slope, flatter), np.finfo(np.float64).tiny))


def smallest_counted(n_shadows: int) -> float:
    """The p-value below which `tail_chances` comes from its model of the tail.

    Examples
    --------
    >>> smallest_counted(9999)
    0.0001
    """
    return 1 / (n_shadows + 1) if n_shadows >= _FEWEST_FOR_A_TAIL else 0.0


def _tail_of(n_shadows: int) -> int:
    return max(1, min(_TAIL, n_shadows // 10))


def false_discoveries(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every column the smallest false discovery rate at which it is found (Benjamini and Hochberg 1995).

    Examples
    --------
    >>> false_discoveries(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.03]
    """
    n = len(chances)
    order = np.argsort(chances, kind="stable")
    rates = _rates(chances[order], n)
    np.minimum.accumulate(rates[::-1], out=rates[::-1])
    out = np.empty(n)
    out[order] = rates  # at most 1: the last is the largest chance
    return out


def found_at(level: float, chances: NDArray[np.float64], n_columns: int | None = None) -> NDArray[np.bool_]:
    """Which columns have a false discovery rate of at most `level`, as `false_discoveries` says, with far less memory.

    Parameters
    ----------
    level
        Below 1.
    chances
    n_columns
        Of how many columns these are the ones that matter; the others have a chance of 1.

    Examples
    --------
    >>> found_at(0.03, np.array([0.01, 0.5, 0.02])).tolist()
    [True, False, True]
    """
    few = np.sort(chances[chances <= level])
    passing = np.flatnonzero(_rates(few.copy(), n_columns or len(chances)) <= level)
    return chances <= few[passing[-1]] if len(passing) else np.zeros(len(chances), bool)


def _rates(chances: NDArray[np.float64], n_columns: int) -> NDArray[np.float64]:
    """The false discovery rate up to each of some chances in increasing order; they are overwritten."""
    chances *= n_columns
    chances /= np.arange(1, len(chances) + 1)
    return chances
