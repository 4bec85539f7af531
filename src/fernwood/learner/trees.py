"""Trees on codes: growing one, and predicting with it.

>>> import numpy as np
>>> from fernwood import seeds
>>> from fernwood.learner.settings import TreeSettings
>>> from fernwood.learner.target import class_target
>>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.uint8)
>>> target = class_target([0, 0, 1, 1])
>>> tree = grow(codes, target, TreeSettings(rule="cart"), state=seeds.state(0))
>>> predict_shares(tree, codes, 2)[:, 1].tolist()
[0.0, 0.0, 1.0, 1.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import ParameterError, TargetError
from fernwood.kernels.growing import Nodes, add_forest, column_ratios, grow_tree
from fernwood.kernels.predicting import add_entries, find_leaves
from fernwood.sources.base import Kind

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fernwood.kernels.histograms import Target
    from fernwood.kernels.tables import Rules
    from fernwood.learner.settings import TreeSettings
    from fernwood.learner.target import TreeTarget

__all__ = [
    "Ground",
    "Tree",
    "add_importances",
    "bootstrap",
    "gain_ratios",
    "grow",
    "grow_on",
    "lay_out",
    "leaves",
    "predict_shares",
    "predict_values",
]

Tree = Nodes
"""A grown tree: flat arrays, whose columns are places in the subspace it grew on."""


def grow(
    codes: NDArray[np.uint8],
    target: TreeTarget,
    settings: TreeSettings,
    *,
    state: NDArray[np.uint64],
    kinds: ArrayLike | None = None,
    addresses: ArrayLike | None = None,
    rows: ArrayLike | None = None,
) -> Tree:
    """Grow one tree on a subspace.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows), C order
        As `Store.read` gives them; 255 is missing.
    target
        For all rows of `codes`.
    settings
        How to grow.
    state : uint64 array of four
        From `fernwood.seeds.state`; it is not changed.
    kinds : array of `Kind`, optional
        What the columns hold; by default all are ordered.
    addresses : integers, optional
        One a column, the checksum of its codes: columns are looked at in this order, so that the tree does not depend
        on the order in which they are given. By default their places.
    rows : row numbers, optional
        The rows to grow on, a row as often as it is given; by default all. Rows of weight zero are left out.

    Notes
    -----
    Peak memory: as much as `codes`, and some 200 bytes a row. The lock of the interpreter is free meanwhile.
    """
    return grow_on(lay_out(codes, target, settings, kinds, addresses), state, rows)


class Ground(NamedTuple):
    """What many trees can grow on: codes and target, checked once, and the columns in the order they are looked at."""

    codes: NDArray[np.uint8]
    order: NDArray[np.int32]
    categories: NDArray[np.bool_]
    target: Target
    rules: Rules
    every_row: NDArray[np.int32]


def lay_out(
    codes: NDArray[np.uint8],
    target: TreeTarget,
    settings: TreeSettings,
    kinds: ArrayLike | None = None,
    addresses: ArrayLike | None = None,
) -> Ground:
    """Check what trees are to grow on; see `grow` for the parameters."""
    n_columns, n_rows = _shape(codes)
    if target.n_rows != n_rows:
        raise TargetError(
            f"the target has {target.n_rows} rows and the codes have {n_rows}; they must be the same rows"
        )
    if target.kernel.classes == (settings.criterion == "variance"):
        what = "classes" if target.kernel.classes else "numbers"
        right = "entropy or gini" if target.kernel.classes else "variance"
        raise ParameterError(f"criterion is {settings.criterion!r} and the target is {what}; use {right}")
    categories, order = _kinds_and_order(n_columns, kinds, addresses)
    every_row = _chosen_rows(n_rows, target.kernel, None)
    return Ground(codes, order, categories, target.kernel, settings.rules(n_columns), every_row)


def grow_on(ground: Ground, state: NDArray[np.uint64], rows: ArrayLike | None = None) -> Tree:
    """Grow one more tree on the same ground; `state` and `rows` are those of `grow`."""
    codes, order, categories, target, rules, every_row = ground
    chosen = every_row if rows is None else _chosen_rows(codes.shape[1], target, rows)
    tree: Tree = grow_tree(codes, order, categories, target, rules, chosen, np.array(state, np.uint64))
    return tree


def add_importances(
    ground: Ground,
    states: NDArray[np.uint64],
    out: NDArray[np.float64],
    bags: NDArray[np.uint64] | None = None,
    bag_size: int = 0,
) -> None:
    """Grow many trees, and add up their columns' mean decreases of impurity; ten times less goes on around the growing.

    Parameters
    ----------
    ground
    states : uint64 array, shape (trees, 4)
        Where every tree grows from, as in `grow`.
    out : float64 array, one a column
        Importances are added, tree by tree.
    bags : uint64 array, shape (trees, 4), optional
        Where `bootstrap` draws every tree's rows, among those of positive weight; without it, trees grow on all these.
    bag_size
        How many rows it draws.

    Examples
    --------
    >>> from fernwood import seeds
    >>> from fernwood.learner.settings import TreeSettings
    >>> from fernwood.learner.target import class_target
    >>> ground = lay_out(np.array([[0, 0, 1, 1]], np.uint8), class_target([0, 0, 1, 1]), TreeSettings())
    >>> out = np.zeros(1)
    >>> add_importances(ground, seeds.states(3, 0), out)
    >>> out.tolist()
    [3.0]
    """
    codes, order, categories, target, rules, every_row = ground
    drawn = np.empty((0, 4), np.uint64) if bags is None else bags.copy()
    add_forest(codes, order, categories, target, rules, every_row, bag_size, drawn, states.copy(), out)


def gain_ratios(codes: NDArray[np.uint8], target: TreeTarget, kinds: ArrayLike | None = None) -> NDArray[np.float64]:
    """The gain ratio of every column on its own: that of its best split of all rows; see `grow` for the parameters.

    Numbers are split in two where they gain most, categories with a branch each.

    Examples
    --------
    >>> from fernwood.learner.target import class_target
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [7, 7, 7, 7]], np.uint8)
    >>> gain_ratios(codes, class_target([0, 0, 1, 1])).tolist()
    [1.0, 0.0, 0.0]
    """
    from fernwood.learner.settings import TreeSettings

    ground = lay_out(codes, target, TreeSettings("cart", "gain-ratio"), kinds)
    state = np.ones(4, np.uint64)  # nothing is drawn: columns are not compared
    ratios: NDArray[np.float64] = column_ratios(*ground, state)
    return ratios


def _shape(codes: NDArray[np.uint8]) -> tuple[int, int]:
    if codes.dtype != np.uint8 or codes.ndim != 2 or not codes.flags.c_contiguous or not codes.size:
        raise ParameterError(
            f"codes have type {codes.dtype} and shape {codes.shape}; give a contiguous uint8 array of columns by rows"
        )
    return codes.shape[0], codes.shape[1]


def _chosen_rows(n_rows: int, target: Target, rows: ArrayLike | None) -> NDArray[np.int32]:
    if rows is None and not target.weighted:
        return np.arange(n_rows, dtype=np.int32)
    chosen = np.arange(n_rows, dtype=np.int32) if rows is None else np.array(rows, np.int32)
    if target.weighted:
        chosen = chosen[target.weights[chosen] > 0]
    if len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n_rows:
        raise ParameterError(
            f"there are {len(chosen)} rows of positive weight to grow on, numbered below {n_rows}; give some"
        )
    return chosen


def _kinds_and_order(
    n_columns: int, kinds: ArrayLike | None, addresses: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Which columns hold categories, and the columns in the order of their addresses."""
    given = np.zeros(n_columns, np.uint8) if kinds is None else np.asarray(kinds, np.uint8)
    if given.shape != (n_columns,):
        raise ParameterError(f"kinds have shape {given.shape}; give one for each of the {n_columns} columns")
    if addresses is None:
        return given == Kind.CATEGORY, np.arange(n_columns, dtype=np.int32)
    return given == Kind.CATEGORY, np.argsort(np.asarray(addresses), kind="stable").astype(np.int32)


def bootstrap(n_rows: int, state: NDArray[np.uint64], size: int | None = None) -> NDArray[np.int32]:
    """Row numbers drawn with replacement, by default as many as there are, in ascending order.

    Examples
    --------
    >>> from fernwood import seeds
    >>> len(bootstrap(5, seeds.state(0)))
    5
    """
    from fernwood.kernels.random import sample_with_replacement

    out = np.empty(n_rows if size is None else size, np.int32)
    sample_with_replacement(np.array(state, np.uint64), n_rows, out)
    out.sort()
    return out


def leaves(tree: Tree, codes: NDArray[np.uint8], rows: ArrayLike | None = None) -> NDArray[np.int32]:
    """The leaf of every row; `codes` are of the columns that the tree grew on, in the same order."""
    _shape(codes)
    chosen = np.arange(codes.shape[1], dtype=np.int32) if rows is None else np.asarray(rows, np.int32)
    out: NDArray[np.int32] = find_leaves(tree, codes, chosen)
    return out


def predict_shares(
    tree: Tree, codes: NDArray[np.uint8], n_classes: int, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The share of every class (as `TreeTarget.classes` orders them) in the leaf of every row, shape (rows, classes).

    Shares are added to `out` where it is given, so that a forest needs one array.
    """
    shares = np.zeros((codes.shape[1], n_classes)) if out is None else out
    add_entries(tree, leaves(tree, codes), shares)
    return shares


def predict_values(tree: Tree, codes: NDArray[np.uint8], target: TreeTarget) -> NDArray[np.float64]:
    """The mean of the target, in its own units, in the leaf of every row."""
    out = np.zeros((codes.shape[1], 1))
    add_entries(tree, leaves(tree, codes), out)
    return np.asarray(target.centre + target.unit * out[:, 0])
