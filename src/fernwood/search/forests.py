"""Importances of columns beside their shadows, from a forest of our own trees; no shadow outlives the fit it is in.

A fit grows some trees on codes that it reads and shadows that it deals by itself, so that fits run side by side. Where
the columns are too many for one fit, each iteration parts them at random into blocks, and every block has as many
trees. A node looks at as many columns as it would with all columns at hand, so that a column is looked at as often as
in a forest on all of them; and two columns that are in one block meet in one tree the more often.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.learner.many import in_order
from fernwood.learner.rows import RowSampling
from fernwood.learner.settings import TreeSettings
from fernwood.search.fitting import FitSettings, TreeFits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.target import TreeTarget
    from fernwood.search.fitting import Importance
    from fernwood.store.base import Store

__all__ = ["Forests", "block_width", "usual_trees"]

_BLOCKS = 7  # an address below the seed, beside those of `search.fitting`

_FIT_COLUMNS, _FEWEST_COLUMNS = 1000, 50
_FIT_BYTES = 16_000_000
_TREES_A_FIT, _FITS = 50, 16
"""Trees of a fit at least, and fits of a block in all where there are more trees than that."""
_LOOKS, _USUAL_DEPTH = 100, 10
_FIT_NUMBERS = 2**32


def block_width(n_rows: int, n_columns: int, n_shadows: int) -> int:
    """How many columns a fit holds beside their shadows: a thousand, unless that is above 16 MB; 50 at least.

    Examples
    --------
    >>> block_width(1000, 500, 1), block_width(1000, 100_000, 1), block_width(10**6, 100_000, 1)
    (500, 1000, 50)
    """
    return min(n_columns, max(min(_FIT_BYTES // (n_rows * (1 + n_shadows)), _FIT_COLUMNS), _FEWEST_COLUMNS))


def usual_trees(n_features: int, max_depth: int | None) -> int:
    """Trees that look at every feature, columns and shadows, about a hundred times, √n being looked at on every level.

    Examples
    --------
    >>> usual_trees(10_000, 5), usual_trees(1000, None)
    (2000, 317)
    """
    return max(1, math.ceil(_LOOKS * math.sqrt(n_features) / (max_depth or _USUAL_DEPTH)))


class Growing(NamedTuple):
    """How the forest of an iteration grows.

    Attributes
    ----------
    tree : with `max_features` of all columns and shadows together
    n_trees : a number, or "auto" for `usual_trees`
    importance : see `fernwood.search.fitting.FitSettings`
    """

    tree: TreeSettings
    n_trees: int | Literal["auto"]
    importance: Importance


class Forests:
    """Grows a forest for every iteration of Boruta; the answer does not depend on the number of threads.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns; an iteration names ranks in this order.
    target
        The store's, as trees use it.
    growing
    seed
    n_threads
        Fits that run side by side.
    """

    def __init__(
        self, store: Store, ids: NDArray[np.int64], target: TreeTarget, growing: Growing, seed: int, n_threads: int
    ) -> None:
        self._store = store
        self._ids = ids
        self._target = target
        self._growing = growing
        self._seed = seed
        self._n_threads = n_threads

    def __call__(
        self, columns: NDArray[np.int64], iteration: int, n_shadows: int, first_shadow: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Importances of columns and of their shadows; see `fernwood.search.boruta.Importances`."""
        n = len(columns)
        places = self._blocks(n, iteration, n_shadows)
        n_features = n * (1 + n_shadows)
        tree, n_trees, importance = self._growing
        if n_trees == "auto":
            n_trees = usual_trees(n_features, tree.max_depth)
        trees_a_block = -(-n_trees // len(places))
        trees_a_fit = min(max(_TREES_A_FIT, -(-trees_a_block // _FITS)), trees_a_block)
        n_fits = -(-trees_a_block // trees_a_fit)
        settings = FitSettings(
            TreeSettings(tree.rule, tree.criterion, tree.features(n_features), tree.max_depth),
            trees_a_fit,
            RowSampling(with_replacement=True),
            importance,
            probe=False,
            shadows=n_shadows,
            first_shadow=first_shadow,
        )
        fits = TreeFits(self._store, self._ids, self._target, settings, self._seed)

        def fit(number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            scores = fits(columns[places[number // n_fits]], iteration * _FIT_NUMBERS + number)
            return scores.importance, scores.shadows

        total, shadows = np.zeros(n), np.zeros((n_shadows, n))
        every = in_order(fit, range(len(places) * n_fits), self._n_threads)
        for number, (of_columns, of_shadows) in enumerate(every):
            block = places[number // n_fits]
            total[block] += of_columns / n_fits
            shadows[:, block] += of_shadows / n_fits
        return total, shadows

    def _blocks(self, n_columns: int, iteration: int, n_shadows: int) -> list[NDArray[np.int64]]:
        """Places of the columns of every block, in increasing order."""
        n_blocks = -(-n_columns // block_width(self._store.n_rows, n_columns, n_shadows))
        if n_blocks == 1:
            return [np.arange(n_columns)]
        dealt = seeds.generator(self._seed, _BLOCKS, iteration).permutation(n_columns)
        return [np.sort(part) for part in np.array_split(dealt, n_blocks)]
