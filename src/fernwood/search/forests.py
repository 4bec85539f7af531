"""Importances of columns beside their shadows, from our own trees or ferns; no shadow outlives its iteration.

A fit grows some trees, and the fits of a block run side by side on the same codes and shadows. Where the columns are
too many for one block, each iteration parts them at random into several, and every block has as many trees. A node
looks at as many columns as it would with all columns at hand, so that a column is looked at as often as in a forest on
all of them; and two columns that are in one block meet in one tree the more often.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from fernwood import seeds
from fernwood.learner.many import in_order
from fernwood.learner.rows import RowSampling
from fernwood.search.fern_fitting import FernColumns, FernFits, FernFitSettings
from fernwood.search.fitting import FitSettings, TreeFits
from fernwood.work.packing import pack, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fernwood.learner.ferns import FernRows
    from fernwood.learner.settings import TreeSettings
    from fernwood.learner.target import TreeTarget
    from fernwood.search.fitting import Importance
    from fernwood.search.subspace import Scores
    from fernwood.search.working import Crew
    from fernwood.store.base import Store

__all__ = ["FernForests", "Forest", "Forests", "Growing", "block_width", "usual_ferns", "usual_trees"]

_BLOCKS = 7  # an address below the seed, beside those of `search.fitting`

_FIT_COLUMNS, _FEWEST_COLUMNS = 1000, 50
_FIT_BYTES = 16_000_000
_TREES_A_FIT, _FITS = 10, 16
"""Trees of a fit at least, and fits of a block in all where there are more trees than that."""
_SCANS_A_FIT = 10
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


def usual_ferns(n_columns: int, depth: int) -> int:
    """Ferns of which a column is in about a hundred.

    Examples
    --------
    >>> usual_ferns(7000, 7)
    100000
    """
    return math.ceil(_LOOKS * n_columns / depth)


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


class Forest(NamedTuple):
    """The forest of one iteration: columns and blocks of it, shadows of a column and the first of them, its number."""

    n_columns: int
    n_blocks: int
    n_shadows: int
    first_shadow: int
    iteration: int


class _Fits(Protocol):
    """What fits blocks: columns and shadows are laid out once, and fits with different numbers grow on them."""

    def lay(self, columns: NDArray[np.int64]) -> Any: ...

    def fit(self, laid: Any, draw: int) -> Scores: ...


_Told: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64]]"
"""Importances of the columns of a block, and of their shadows."""


class _LaidOnce:
    """Blocks laid out by the first fit that needs them, and let go by the last."""

    def __init__(self, lay: Callable[[int], Any], n_fits: int) -> None:
        self._lay = lay
        self._n_fits = n_fits
        self._known = Lock()
        self._blocks: dict[int, tuple[Lock, list[Any]]] = {}
        self._done: Counter[int] = Counter()

    @contextmanager
    def out(self, block: int) -> Iterator[Any]:
        """The block, laid out."""
        with self._known:
            making, laid = self._blocks.setdefault(block, (Lock(), []))
        with making:
            if not laid:
                laid.append(self._lay(block))
        yield laid[0]
        with self._known:
            self._done[block] += 1
            if self._done[block] == self._n_fits:
                del self._blocks[block]


class _InBlocks(ABC):
    """Importances for every iteration of Boruta, from fits of blocks; the answer does not depend on the threads.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns; an iteration names ranks in this order.
    seed
    n_threads
        Fits that run side by side.
    crew
        Workers of other processes that fit blocks instead.
    """

    def __init__(
        self, store: Store, ids: NDArray[np.int64], seed: int, n_threads: int, crew: Crew | None = None
    ) -> None:
        self._store = store
        self._ids = ids
        self._seed = seed
        self._n_threads = n_threads
        self._crew = crew

    @abstractmethod
    def _fits(self, forest: Forest) -> tuple[_Fits, int]:
        """What fits a block of an iteration, and how many fits it has."""

    def __call__(
        self, columns: NDArray[np.int64], iteration: int, n_shadows: int, first_shadow: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Importances of columns and of their shadows; see `fernwood.search.boruta.Importances`."""
        n = len(columns)
        places = self._blocks(n, iteration, n_shadows)
        forest = Forest(n, len(places), n_shadows, first_shadow, iteration)
        n_fits = self._fits(forest)[1]
        total, shadows = np.zeros(n), np.zeros((n_shadows, n))
        blocks = [columns[block] for block in places]
        every = self._here(forest, blocks) if self._crew is None else self._by_crew(self._crew, forest, blocks)
        for number, (of_columns, of_shadows) in enumerate(every):
            block = places[number // n_fits]
            total[block] += of_columns / n_fits
            shadows[:, block] += of_shadows / n_fits
        return total, shadows

    def _here(self, forest: Forest, blocks: list[NDArray[np.int64]]) -> Iterator[_Told]:
        """What the fits of all blocks say, block after block, by threads of this process."""
        fits, n_fits = self._fits(forest)
        laid = _LaidOnce(lambda block: fits.lay(blocks[block]), n_fits)

        def fit(number: int) -> _Told:
            with laid.out(number // n_fits) as block:
                scores = fits.fit(block, forest.iteration * _FIT_NUMBERS + number)
            return scores.importance, scores.shadows

        return in_order(fit, range(len(blocks) * n_fits), self._n_threads)

    def _by_crew(self, crew: Crew, forest: Forest, blocks: list[NDArray[np.int64]]) -> Iterator[_Told]:
        """The same, by workers; fits of one block are asked of several where blocks are few."""
        n_fits = self._fits(forest)[1]
        cut = shares(range(n_fits), max(1, crew.n_workers // len(blocks)))
        asked = [
            (forest, pack(block), range(number * n_fits + some.start, number * n_fits + some.stop))
            for number, block in enumerate(blocks)
            for some in (cut if len(blocks) < 2 * crew.n_workers else [range(n_fits)])
        ]
        return chain.from_iterable(crew.ask("fits", asked))

    def fits_of_block(self, forest: Forest, block: NDArray[np.int64], numbers: range) -> list[_Told]:
        """What some fits of a block of columns say, given by their numbers among those of all blocks."""
        fits, _ = self._fits(forest)
        laid = fits.lay(block)
        every = (fits.fit(laid, forest.iteration * _FIT_NUMBERS + number) for number in numbers)
        return [(scores.importance, scores.shadows) for scores in every]

    def _blocks(self, n_columns: int, iteration: int, n_shadows: int) -> list[NDArray[np.int64]]:
        """Places of the columns of every block, in increasing order."""
        n_blocks = -(-n_columns // block_width(self._store.n_rows, n_columns, n_shadows))
        if n_blocks == 1:
            return [np.arange(n_columns)]
        dealt = seeds.generator(self._seed, _BLOCKS, iteration).permutation(n_columns)
        return [np.sort(part) for part in np.array_split(dealt, n_blocks)]


class Forests(_InBlocks):
    """Grows a forest for every iteration of Boruta.

    Parameters
    ----------
    store, ids, seed, n_threads, crew
        See `_InBlocks`.
    target
        The store's, as trees use it.
    growing
    """

    def __init__(
        self,
        store: Store,
        ids: NDArray[np.int64],
        target: TreeTarget,
        growing: Growing,
        seed: int,
        n_threads: int,
        crew: Crew | None = None,
    ) -> None:
        super().__init__(store, ids, seed, n_threads, crew)
        self._target = target
        self._growing = growing

    def _fits(self, forest: Forest) -> tuple[_Fits, int]:
        n_columns, n_blocks, n_shadows, first_shadow, _ = forest
        n_features = n_columns * (1 + n_shadows)
        tree, n_trees, importance = self._growing
        if n_trees == "auto":
            n_trees = usual_trees(n_features, tree.max_depth)
        trees_a_block = -(-n_trees // n_blocks)
        trees_a_fit = min(max(_TREES_A_FIT, -(-trees_a_block // _FITS)), trees_a_block)
        settings = FitSettings(
            replace(tree, max_features=tree.features(n_features)),
            trees_a_fit,
            RowSampling(with_replacement=True),
            importance,
            probe=False,
            shadows=n_shadows,
            first_shadow=first_shadow,
        )
        fits = TreeFits(self._store, self._ids, self._target, settings, self._seed)
        return fits, -(-trees_a_block // trees_a_fit)


class FernForests(_InBlocks):
    """Grows random ferns for every iteration of Boruta; of shadows, only what (7) asks of them is ever made.

    Parameters
    ----------
    store, ids, seed, n_threads, crew
        See `_InBlocks`.
    rows
        The rows of the store as ferns use them.
    depth
    n_ferns
        A number, or "auto" for so many that a column is in a hundred on average.
    """

    def __init__(
        self,
        store: Store,
        ids: NDArray[np.int64],
        rows: FernRows,
        depth: int,
        n_ferns: int | Literal["auto"],
        seed: int,
        n_threads: int,
        crew: Crew | None = None,
    ) -> None:
        super().__init__(store, ids, seed, n_threads, crew)
        self._columns = FernColumns(store, ids, rows, seed)
        self._depth = depth
        self._n_ferns = n_ferns

    def _fits(self, forest: Forest) -> tuple[_Fits, int]:
        n_columns, n_blocks, n_shadows, first_shadow, _ = forest
        wished = usual_ferns(n_columns, self._depth) if self._n_ferns == "auto" else self._n_ferns
        ferns_a_block = -(-wished // n_blocks)
        # Fits are few enough that a column is in several ferns of each, since the mean of a fit is over these.
        scans = ferns_a_block * n_blocks * self._depth / n_columns
        n_fits = max(1, min(_FITS, int(scans // _SCANS_A_FIT)))
        settings = FernFitSettings(self._depth, -(-ferns_a_block // n_fits), False, n_shadows, first_shadow)
        return FernFits(self._columns, settings, self._seed), n_fits
