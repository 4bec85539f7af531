r"""How pure a group of rows is, as a score that adds up: branches are better the larger the sum of their scores.

With w_c the weight of class c in a group, W its whole weight and S its weighted sum of target values,

    entropy    Σ f(w_c) − f(W)     f(x) = x log₂ x       W · impurity = −score
    Gini       Σ w_c² / W                                W · impurity = W − score
    variance   S² / W                                    W · impurity = Σ w y² − score

so that the decrease of weight times impurity from a node to its branches is their scores less the node's, whatever the
criterion. All terms of the entropy lie on a fine grid, a power of two at which sums are exact; a score is then the same
in whatever order rows, classes or branches are added. Scores are compared on a coarser grid, so that decreases that
are equal on paper are equal here, and a decrease of nothing is exactly zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fernwood.kernels.borrowing import borrowing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ENTROPY",
    "GAIN_RATIO",
    "GINI",
    "VARIANCE",
    "Measure",
    "class_score",
    "class_term",
    "decrease",
    "make_measure",
    "value_score",
]

ENTROPY, GINI, VARIANCE, GAIN_RATIO = 0, 1, 2, 3
"""The gain ratio is entropy, but that splits are then compared by their gain for every bit that they tell of rows."""


class Measure(NamedTuple):
    """A criterion, ready for groups of up to n rows.

    Attributes
    ----------
    gini : bool; else entropy, where there are classes
    table : float64 array of n + 1; f for entropy, else 1 / k (0 for k = 0)
    both : float64 array of n + 1; room for the table of one class in one node
    fine, coarse : float; one over the steps of the two grids
    base : float64 array of one; the score of the node that is being split
    """

    gini: bool
    table: NDArray[np.float64]
    both: NDArray[np.float64]
    fine: float
    coarse: float
    base: NDArray[np.float64]


@borrowing
def class_term(weight, fine):
    """f(weight) = weight · log₂ weight, on the fine grid."""
    if weight <= 0.0:
        return 0.0
    return np.rint(weight * math.log2(weight) * fine) / fine


@njit(nogil=True, cache=True)
def make_measure(criterion, n):
    """The measure of a criterion for groups of at most `n` rows, or twice that weight."""
    bits = math.ceil(math.log2(2.0 * n * (math.log2(2.0 * n) + 1.0) + 2.0))
    fine = 2.0 ** (50 - bits)
    table = np.empty(n + 1)
    table[0] = 0.0
    for k in range(1, n + 1):
        table[k] = 1.0 / k if criterion in (GINI, VARIANCE) else class_term(np.float64(k), fine)
    return Measure(criterion == GINI, table, np.empty(n + 1), fine, fine / 1024.0, np.zeros(1))


@borrowing
def class_score(weights, total, measure):
    """The score of one group from its weight of every class and in all."""
    score = 0.0
    if total <= 0.0:
        return score
    if measure.gini:
        for weight in weights:
            score += weight * weight
        return score / total
    for weight in weights:
        score += class_term(weight, measure.fine)
    return score - class_term(total, measure.fine)


@borrowing
def value_score(sum_of_values, total):
    """The score of one group from its weighted sum of target values and its weight."""
    return sum_of_values * sum_of_values / total if total > 0.0 else 0.0


@borrowing
def decrease(score, base, coarse):
    """The decrease of weight times impurity from a node's score to its branches', in steps of the coarse grid."""
    return np.rint((score - base) * coarse)
