"""What trees leave open of a target, on rows that they did not grow on, from any of some columns.

Trees grow on bootstrap samples, and each row is predicted by those that did not grow on it. The loss of a prediction is
the square of what it is off by, for classes summed over their shares (Brier), over what the prediction without any
column would lose: 0 when nothing is left open, 1 when the columns tell nothing, also where a sample of the rows has one
class only, so that nothing can be seen. One scale for classes and numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.importance.trees import impurity_decrease
from fernwood.kernels.predicting import add_entries
from fernwood.learner.many import in_order
from fernwood.learner.rows import RowSampling
from fernwood.learner.settings import TreeSettings
from fernwood.learner.trees import grow_on, lay_out, leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.target import TreeTarget

__all__ = ["Left", "OutOfBag"]

_MOST_FEATURES = 32
"""Columns that a node looks at, of many: all of them would cost much, and say little more."""


class Left(NamedTuple):
    """What some columns leave open: the share of the target, row by row, and how much each of them took away.

    Attributes
    ----------
    rows : float64 array; the loss of every row that was predicted, whose weighted mean is `share`
    share : float
    importance : float64 array; mean decrease of impurity of every column
    """

    rows: NDArray[np.float64]
    share: float
    importance: NDArray[np.float64]


class OutOfBag:
    """Says what a subset of columns leaves open; subsets are compared on the same samples of rows.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    kinds : array of `Kind`
    addresses : uint64 array; the checksums of the columns
    target
    groups : int32 array, optional
        Numbers from 0 on; rows of a group are drawn together.
    n_trees
    seed, address
        Trees and samples have their addresses below these.
    n_threads
        The answer does not depend on it.

    Examples
    --------
    >>> from fernwood.learner.target import class_target
    >>> codes = np.random.default_rng(0).integers(0, 9, (3, 200)).astype(np.uint8)
    >>> target = class_target(codes[1] > 4)
    >>> bag = OutOfBag(codes, np.zeros(3, np.uint8), np.arange(3, dtype=np.uint64), target, n_trees=20, seed=0)
    >>> round(bag(np.array([1, 2])).share, 1), bag(np.array([0, 2])).share > 0.9
    (0.0, True)
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        kinds: NDArray[np.uint8],
        addresses: NDArray[np.uint64],
        target: TreeTarget,
        *,
        groups: NDArray[np.int32] | None = None,
        n_trees: int,
        seed: int,
        address: tuple[int, ...] = (),
        n_threads: int = 1,
    ) -> None:
        self._codes, self._kinds, self._addresses = codes, kinds, addresses
        self._target = target
        self._n_threads = n_threads
        self._states = [seeds.state(seed, *address, 0, number) for number in range(n_trees)]
        sampling = RowSampling(with_replacement=True)
        self._drawn = [
            sampling.draw(target.n_rows, seed, *address, 1, number, groups=groups) for number in range(n_trees)
        ]
        self._times = np.zeros(target.n_rows)
        for drawn in self._drawn:
            self._times[drawn.left_out] += 1
        kernel = target.kernel
        self._predicted = (self._times > 0) & (kernel.weights > 0)
        if kernel.classes:
            self._truth = np.eye(len(target.classes))[kernel.labels]
        else:
            self._truth = np.asarray(kernel.values, np.float64)[:, None]
        weights = kernel.weights[self._predicted]
        self.weights = weights / weights.mean()
        self._varies = bool(np.ptp(self._truth[self._predicted], axis=0).any())
        middle = np.average(self._truth[self._predicted], axis=0, weights=weights)
        self._open = np.average(((self._truth[self._predicted] - middle) ** 2).sum(axis=1), weights=weights)

    def __call__(self, places: NDArray[np.int64]) -> Left:
        """What these columns leave open, by their places among `codes`."""
        codes = np.ascontiguousarray(self._codes[places])
        settings = TreeSettings(
            criterion="entropy" if self._target.kernel.classes else "variance",
            max_features=min(_MOST_FEATURES, len(places)),
        )
        ground = lay_out(codes, self._target, settings, self._kinds[places], self._addresses[places])

        def fit(number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            grown, left_out = self._drawn[number]
            tree = grow_on(ground, self._states[number], grown)
            said = np.zeros((len(left_out), self._truth.shape[1]))
            add_entries(tree, leaves(tree, codes, left_out), said)
            return said, impurity_decrease(tree, len(places))

        said, importance = np.zeros_like(self._truth), np.zeros(len(places))
        for drawn, (votes, gains) in zip(
            self._drawn, in_order(fit, range(len(self._drawn)), self._n_threads), strict=True
        ):
            said[drawn.left_out] += votes
            importance += gains
        chosen = self._predicted
        if not self._varies:  # what cannot be seen is left open altogether
            return Left(np.ones(int(chosen.sum())), 1.0, importance / len(self._drawn))
        off = said[chosen] / self._times[chosen, None] - self._truth[chosen]
        rows = (off**2).sum(axis=1) / self._open
        return Left(rows, float(np.average(rows, weights=self.weights)), importance / len(self._drawn))
