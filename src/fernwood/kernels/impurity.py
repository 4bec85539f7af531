r"""How pure a group of rows is, as a score that adds up: branches are better the larger the sum of their scores.

With w_c the weight of class c in a group, W its whole weight and S its weighted sum of target values,

    entropy    Σ f(w_c) − f(W)     f(x) = x log₂ x       W · impurity = −score
    Gini       Σ w_c² / W                                W · impurity = W − score
    variance   S² / W                                    W · impurity = Σ w y² − score

so that the decrease of weight times impurity from a node to its branches is their scores less the node's, whatever the
criterion. All terms of the entropy lie on a fine grid, a power of two at which sums are exact; a score is then the same
in whatever order rows, classes or branches are added. Scores are compared on a coarser grid, so that decreases that
are equal on paper are equal here, and a decrease of nothing is exactly zero. How coarse it is, is said by the node (see
`scale`): a grid for the whole tree would take the small decreases of small nodes for nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit, njit_no_refcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "COARSE",
    "ENTROPY",
    "GAIN_RATIO",
    "GINI",
    "GRID_BITS",
    "HEAVY",
    "MEAN",
    "ROW",
    "SCORE",
    "UNIT",
    "VARIANCE",
    "WHOLE",
    "Measure",
    "class_score",
    "class_term",
    "decrease",
    "make_measure",
    "value_score",
]

ENTROPY, GINI, VARIANCE, GAIN_RATIO = 0, 1, 2, 3
"""The gain ratio is entropy, but that splits are then compared by their gain for every bit that they tell of rows."""

SCORE, COARSE, UNIT, WHOLE, HEAVY, MEAN, ROW = 0, 1, 2, 3, 4, 5, 6
"""What `Measure.node` holds: the node's score; one over the step of the grid on which its splits are compared; what a
decrease of one is worth in the tree; its weight as it sees it, and what one of that is worth in the tree; its mean;
and what a row weighs on average, in the tree. Of classes that are not weighted, the grid is that of `make_measure`."""

GRID_BITS = 40
"""A decrease is at most so many bits long in steps of the coarse grid; ten more are left to what rounding takes."""
_SPARE_BITS = 10


class Measure(NamedTuple):
    """A criterion, ready for groups of up to n rows.

    Attributes
    ----------
    gini : bool; else entropy, where there are classes
    table : float64 array of n + 1; f for entropy, else 1 / k (0 for k = 0)
    both : float64 array of n + 1; room for the table of one class in one node
    fine : float; one over the step of the fine grid
    node : float64 array; what is to be known of the node that is being split, see `SCORE`
    """

    gini: bool
    table: NDArray[np.float64]
    both: NDArray[np.float64]
    fine: float
    node: NDArray[np.float64]


@njit_no_refcount
def class_term(weight, fine):
    """f(weight) = weight · log₂ weight, on the fine grid."""
    if weight <= 0.0:
        return 0.0
    return np.rint(weight * math.log2(weight) * fine) / fine


@njit
def make_measure(criterion, n, weighted):
    """The measure of a criterion for groups of at most `n` rows, which weigh one each, or one together (`weighted`)."""
    largest = math.log2(2.0 * n) + 2.0 if weighted else 2.0 * n * (math.log2(2.0 * n) + 1.0) + 2.0
    fine = 2.0 ** (GRID_BITS + _SPARE_BITS - math.ceil(math.log2(largest)))
    table = np.empty(n + 1)
    table[0] = 0.0
    for k in range(1, n + 1):
        table[k] = 1.0 / k if criterion in (GINI, VARIANCE) else class_term(np.float64(k), fine)
    node = np.zeros(7)
    node[COARSE] = fine / 2.0**_SPARE_BITS
    return Measure(criterion == GINI, table, np.empty(n + 1), fine, node)


@njit_no_refcount
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


@njit_no_refcount
def value_score(sum_of_values, total):
    """The score of one group from its weighted sum of target values and its weight, as from a table of 1 / k."""
    return sum_of_values * sum_of_values * (1.0 / total) if total > 0.0 else 0.0


@njit_no_refcount
def decrease(score, base, coarse):
    """The decrease of weight times impurity from a node's score to its branches', in steps of the coarse grid."""
    return np.rint((score - base) * coarse)
