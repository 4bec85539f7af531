"""Importances of a tree's columns: impurity decrease, the same without bias on other rows, loss after permuting.

Out-of-sample impurity decrease. Let n of the rows at hand reach a node, n_b of them branch b, n_bc of class c there.
The plain decrease of impurity is never negative, so its mean is above zero even for a column that says nothing: it
rewards chance. If the column says nothing about the target in this node, then, given how many rows every class and
every branch has, each way of dealing the rows to the branches is as likely as any other. The expectation of the plain
decrease under this deal is known exactly,

    entropy    Σ_bc E f(H_bc),  f(x) = x log₂ x,  H_bc hypergeometric(n, n_c, n_b)   in place of  Σ_bc f(n_bc)
    Gini       Σ_bc E H_bc² / n_b,  E H² = n_b n_c/n · (1 − n_c/n) · (n − n_b)/(n − 1) + (n_b n_c/n)²
    variance   (branches with rows − 1) · Σ (y − ȳ)² / (n − 1)                        for the sum of squares between

and is subtracted. The difference has expectation zero for such a column, at every node and hence in all, whatever the
tree; for a column that tells something, it is the plain decrease less a correction of order 1/n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.kernels.predicting import add_gains, fair_decreases, find_leaves, find_leaves_permuted
from fernwood.kernels.random import shuffle

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fernwood.learner.settings import TreeSettings
    from fernwood.learner.target import TreeTarget
    from fernwood.learner.trees import Tree

__all__ = ["impurity_decrease", "out_of_sample_decrease", "permutation_loss"]


def impurity_decrease(tree: Tree, n_columns: int) -> NDArray[np.float64]:
    """Mean decrease of impurity of every column, equation (1) of Sutera et al. for one tree.

    The sum, over the nodes that a column splits, of the node's share of the weight times the decrease of impurity. In
    bits for entropy; for `variance`, in squares of `TreeTarget.unit`.
    """
    out = np.zeros(n_columns)
    add_gains(tree.column, tree.gain, tree.weight[0], out)
    return out


def out_of_sample_decrease(
    tree: Tree, codes: NDArray[np.uint8], target: TreeTarget, settings: TreeSettings, rows: ArrayLike
) -> NDArray[np.float64]:
    """Impurity decrease of every column's splits on rows that the tree did not grow on, free of bias (see above).

    Parameters
    ----------
    tree, codes, target, settings
        What the tree grew from.
    rows : row numbers
        Other rows; each counts once, whatever its weight.
    """
    chosen = _some_rows(rows)
    out: NDArray[np.float64] = fair_decreases(
        tree, codes, target.kernel, chosen, settings.criterion_code, codes.shape[0]
    )
    return out


def permutation_loss(
    tree: Tree,
    codes: NDArray[np.uint8],
    target: TreeTarget,
    rows: ArrayLike,
    *,
    seed: int,
    address: tuple[int, ...],
    addresses: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """What predictions on some rows lose when one column is permuted among them (MDA when they are out of bag).

    Parameters
    ----------
    tree, codes, target
        What the tree grew from.
    rows : row numbers
        Rows that the tree did not grow on.
    seed, address
        The permutation of a column is drawn at this address, followed by the column's own, below the seed.
    addresses : integers, optional
        One a column; by default their places.

    Returns
    -------
    float64 array, one a column
        Decrease of accuracy, or increase of the mean squared error (in squares of `TreeTarget.unit`); 0 for a column
        that the tree does not use.
    """
    chosen = _some_rows(rows)
    places = np.arange(len(codes)) if addresses is None else np.asarray(addresses)
    out = np.zeros(len(codes))
    said = _answers(tree, target)
    before = _losses(said[find_leaves(tree, codes, chosen)], target, chosen)
    for column in np.unique(tree.column[tree.column >= 0]).tolist():
        others = chosen.copy()
        shuffle(seeds.state(seed, *address, int(places[column])), others, len(others))
        after = _losses(said[find_leaves_permuted(tree, codes, chosen, column, others)], target, chosen)
        out[column] = np.mean(after - before)  # row by row: beside the loss of one far row, all others' are nothing
    return out


def _some_rows(rows: ArrayLike) -> NDArray[np.int32]:
    chosen = np.array(rows, np.int32)
    if not len(chosen):
        raise ParameterError("there are 0 rows that the tree did not grow on; grow on fewer rows, or draw again")
    return chosen


def _answers(tree: Tree, target: TreeTarget) -> NDArray[Any]:
    """What every leaf says of its rows: the mean, or the class with the largest share, of equal ones the first."""
    out = np.zeros(len(tree.column), np.int32 if target.kernel.classes else np.float64)
    sizes = np.where(tree.column < 0, tree.end - tree.begin, 0)
    leaf = np.repeat(np.arange(len(sizes)), sizes)
    entry = np.repeat(tree.begin - np.cumsum(sizes) + sizes, sizes) + np.arange(len(leaf))
    if not target.kernel.classes:
        out[leaf] = tree.entry_value[entry]
        return out
    worst_first = np.lexsort((-tree.entry_class[entry], tree.entry_value[entry], leaf))
    out[leaf[worst_first]] = tree.entry_class[entry[worst_first]]  # the last one written stays
    return out


def _losses(answers: NDArray[Any], target: TreeTarget, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    if target.kernel.classes:
        return np.asarray(answers != target.kernel.labels[rows], np.float64)
    return np.asarray((answers - target.kernel.values[rows]) ** 2)
