"""Passes over a store: every column, and every shadow, examined in all contexts of a wave, a block at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.examining import Contexts, examine_pairs, fill_components, weigh_codes
from fernwood.learner.many import in_order
from fernwood.search.shadows import deal_shadows, shadow_addresses
from fernwood.sources.base import Kind
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["Examiner", "Shadows", "draw_shadows"]

_BLOCK_BYTES = 2**21
"""Codes that a thread looks at together: some thousand short columns, and few enough to stay in a cache."""
_FEWEST_COLUMNS = 64
"""Fewer columns than this would leave lanes of the kernel empty."""
_EVEN_ENOUGH = 4  # as a power of two
_SHADOWS_A_KIND = 2000
_MOST_SHADOWS = 20_000


class Shadows(NamedTuple):
    """Shadows of the columns of one kind.

    Attributes
    ----------
    members : int64 array; ranks of the columns of this kind
    models : int64 array; ranks of the columns that are permuted, a column perhaps more than once
    copies : uint64 array; which copy of its model a shadow is
    """

    members: NDArray[np.int64]
    models: NDArray[np.int64]
    copies: NDArray[np.uint64]


class Examiner:
    """Scores of a store's columns and of their shadows.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns that are examined; everything else is said in ranks in this order.
    rows : int64 array or None
        The rows that count, where some do not.
    weights : float64 array
        Of those rows.
    seed
        Below which shadows have their addresses.
    n_threads
    """

    def __init__(
        self,
        store: Store,
        ids: NDArray[np.int64],
        rows: NDArray[np.int64] | None,
        weights: NDArray[np.float64],
        seed: int,
        n_threads: int,
    ) -> None:
        self._store = store
        self._ids = ids
        self._rows = rows
        self._weights = weights
        self._seed = seed
        self._n_threads = n_threads
        self._width = max(1, _BLOCK_BYTES // store.n_rows)
        self.categories = store.kinds[ids] == Kind.CATEGORY
        self._checksums = store.checksums[ids]

    def codes(self, ranks: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The codes of some columns, for the rows that count."""
        codes = self._store.read(self._ids[ranks])
        return codes if self._rows is None else np.ascontiguousarray(codes[:, self._rows])

    def kinds(self) -> NDArray[np.int64]:
        """A number for every column: those with the same one have scores of about the same distribution by chance.

        That is as many components, and codes that are about equally spread; from sixteen equal ones on, the
        distribution hardly depends on them.
        """

        def look(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
            amounts = self._amounts(self.codes(ranks))
            share = amounts / amounts.sum(axis=1, keepdims=True)
            spread = np.minimum(np.rint(np.log2(1 / (share**2).sum(axis=1))), _EVEN_ENOUGH)
            n_components = _pair_counts(amounts, self.categories[ranks])
            return np.asarray(np.rint(4 * np.log2(n_components)) * 16 + spread, np.int64)

        return np.concatenate(list(in_order(look, self._blocks(len(self._ids)), self._n_threads)))

    def examine(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
        copies: NDArray[np.uint64] | None = None,
    ) -> None:
        """Give the scores of some columns to `use`, block by block in order: places in `ranks`, and the scores there.

        With `copies`, those of their shadows.
        """

        def look(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
            chosen = ranks[places]
            codes = self.codes(chosen)
            if copies is not None:
                deal_shadows(codes, shadow_addresses(self._checksums[chosen], self._seed, copies[places]), codes)
            return places, self._scores(codes, self.categories[chosen], contexts)

        for places, scores in in_order(look, self._blocks(len(ranks)), self._n_threads):
            use(places, scores)

    def _scores(
        self, codes: NDArray[np.uint8], categories: NDArray[np.bool_], contexts: Contexts
    ) -> NDArray[np.float32]:
        amounts = self._amounts(codes)
        counts = _pair_counts(amounts, categories)
        owner = np.repeat(np.arange(len(codes)), counts)
        part = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        last = np.cumsum(counts) - 1
        part[last[amounts[:, MISSING] > 0]] = -1
        table = np.empty((len(owner), 256, 2), np.float32)
        fill_components(amounts, categories, owner, part, table)
        out = np.zeros((len(codes), len(contexts.rows)), np.float32)
        examine_pairs(codes, owner, table, contexts, out)
        return out

    def _amounts(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        amounts = np.empty((len(codes), 256))
        weigh_codes(codes, self._weights, amounts)
        return amounts

    def _blocks(self, n: int) -> Iterator[NDArray[np.int64]]:
        """Places by the block: as many as a thread looks at together, but enough blocks for all threads."""
        fair = -(-n // (2 * self._n_threads))
        width = min(self._width, max(fair, _FEWEST_COLUMNS))
        for first in range(0, n, width):
            yield np.arange(first, min(first + width, n))


def _pair_counts(amounts: NDArray[np.float64], categories: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Pairs of components of every column: one, or what its categories need, and one for missing values."""
    n_used = np.count_nonzero(amounts[:, :MISSING], axis=1)
    return np.where(categories, np.maximum(n_used // 2, 1), 1) + (amounts[:, MISSING] > 0)


def draw_shadows(kinds: NDArray[np.int64]) -> list[Shadows]:
    """Shadows for every kind of column: one for each of them, but at least some thousand and not many more.

    Ranks are by content, so that taking the first columns of a kind is as good as drawing them.
    """
    out = []
    for kind in np.unique(kinds).tolist():
        members = np.flatnonzero(kinds == kind)
        n = min(max(len(members), _SHADOWS_A_KIND), _MOST_SHADOWS)
        places = np.arange(n)
        out.append(Shadows(members, members[places % len(members)], (places // len(members)).astype(np.uint64)))
    return out
