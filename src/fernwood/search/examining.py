"""Passes over a store: every column, and every shadow, examined in all contexts of a wave, a block at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.components import fill_components
from fernwood.learner.many import in_order
from fernwood.search.components import Components, frequent, pair_counts
from fernwood.sources.base import Kind
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.search.dealing import Dealer
    from fernwood.store.base import Store

__all__ = ["Examiner", "Shadows", "block_width", "draw_shadows"]

_BLOCK_BYTES = 2**21
"""Codes that a thread looks at together: some thousand short columns, and few enough to stay in a cache."""
_FEWEST_COLUMNS = 64
"""Fewer columns than this would leave lanes of the kernel empty."""
_LANES, _MOST_BLOCK_BYTES = 32, 2**25
"""Of very many rows, columns that a thread looks at together all the same, while they take no more than so much."""
_EVEN_ENOUGH = 4  # as a power of two
_SHADOWS_A_KIND, _SHADOWS_OF_A_RARE_KIND, _SHADOWS_A_RARE_COLUMN = 1000, 300, 20
_SHADOWS_ALONE, _MOST_SHADOWS_ALONE, _ALONE_A_COLUMN = 5000, 20_000, 4
"""Shadows without context, which are cheap: the farther out they count, the less is modelled."""
_KINDS_APART = 4096  # more than all kinds that differ by components and spread
_MOST_SHADOWS = 20_000


class Shadows(NamedTuple):
    """Shadows of the columns of one kind.

    Attributes
    ----------
    members : int64 array; ranks of the columns of this kind
    models : int64 array; ranks of the columns that are permuted, a column perhaps more than once
    copies : uint64 array; which copy of its model a shadow is
    n_always : how many of the shadows, the first ones, are examined in contexts; the others only without
    """

    members: NDArray[np.int64]
    models: NDArray[np.int64]
    copies: NDArray[np.uint64]
    n_always: int


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
    deal
        Makes shadows.
    n_threads
    """

    def __init__(
        self,
        store: Store,
        ids: NDArray[np.int64],
        rows: NDArray[np.int64] | None,
        weights: NDArray[np.float64],
        deal: Dealer,
        n_threads: int,
    ) -> None:
        self._store = store
        self._ids = ids
        self.rows = slice(None) if rows is None else rows
        self._components = Components(weights)
        self._kept = np.full(len(ids), -1, np.int16)
        self._deal = deal
        self._n_threads = n_threads
        self._width = block_width(store.n_rows)
        self.categories = store.kinds[ids] == Kind.CATEGORY
        self._checksums = store.checksums[ids]

    def codes(self, ranks: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The codes of some columns, for the rows that count."""
        codes = self._store.read(self._ids[ranks])
        return np.ascontiguousarray(codes[:, self.rows])

    def components(self, rank: int, most_rows: int) -> NDArray[np.float32]:
        """What a column stands for, row by row: its ranks, or all contrasts of categories; shape (components, rows).

        Of very many rows, so many evenly spaced ones.
        """
        codes = self.codes(np.array([rank]))
        amounts = self._components.amounts(codes)
        n_used = int(np.count_nonzero(amounts[0, :MISSING]))
        n_components = max(n_used - 1, 1) if self.categories[rank] else 1
        part = np.arange((n_components + 1) // 2)
        table = np.empty((len(part), 256, 2), np.float32)
        fill_components(amounts, self.categories[[rank]], np.zeros_like(part), part, table)
        spaced = codes[0, :: -(-codes.shape[1] // most_rows)]
        return np.concatenate([pair[spaced].T for pair in table])[:n_components]

    def survey(self) -> NDArray[np.int64]:
        """Look at every column once, and say for each of which kind it is.

        Columns of a kind have scores of about the same distribution by chance: as many components, codes that are about
        equally spread (from sixteen equal ones on, the distribution hardly depends on them), and about the same
        dependence on groups and strata. The most frequent components are kept for all passes to come.
        """
        n = len(self._ids)
        kinds, marks = np.empty(n, np.int64), np.empty(n, np.uint64)

        def look(ranks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
            codes = self.codes(ranks)
            amounts, categories = self._components.amounts(codes), self.categories[ranks]
            share = amounts / amounts.sum(axis=1, keepdims=True)
            spread = np.minimum(np.rint(np.log2(1 / (share**2).sum(axis=1))), _EVEN_ENOUGH)
            kind = np.asarray(np.rint(4 * np.log2(pair_counts(amounts, categories))) * 16 + spread, np.int64)
            if self._deal.in_pieces:
                kind += _KINDS_APART * self._tied(codes, amounts, categories)
            return ranks, kind, self._components.marks(amounts, categories)

        for ranks, kind, mark in in_order(look, self._blocks(np.arange(n)), self._n_threads):
            kinds[ranks], marks[ranks] = kind, mark
        firsts, self._kept = frequent(marks)
        amounts = np.empty((len(firsts), 256))
        for places in self._blocks(firsts):  # in very many rows, codes hardly ever occur equally often
            amounts[places] = self._components.amounts(self.codes(firsts[places]))
        self._components.keep(amounts, self.categories[firsts])
        return kinds

    def _tied(
        self, codes: NDArray[np.uint8], amounts: NDArray[np.float64], categories: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """How columns depend on groups and strata; a few at a time, since numbers take eight times what codes do."""
        table = np.empty((len(codes), 256, 2), np.float32)
        part = np.zeros(len(codes), np.int64)
        fill_components(amounts, categories, np.arange(len(codes)), part, table)
        tied = np.empty(len(codes), np.int64)
        for few in range(0, len(codes), _FEWEST_COLUMNS):
            chosen = slice(few, few + _FEWEST_COLUMNS)
            values = np.stack([t[c, 0] for t, c in zip(table[chosen], codes[chosen], strict=True)])
            tied[chosen] = self._deal.tied(values)
        return tied

    def examine(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
        copies: NDArray[np.uint64] | None = None,
    ) -> None:
        """Give the scores of some columns to `use`, block by block: places in `ranks`, and the scores there.

        With `copies`, those of their shadows.
        """

        def look(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
            chosen = ranks[places]
            codes = self.codes(chosen)
            if copies is not None:
                codes = self._deal(codes, self._checksums[chosen], copies[places])
            scores = np.zeros((len(codes), len(contexts.rows), 2), np.float32)
            self._components.add_scores(codes, self.categories[chosen], self._kept[chosen], contexts, scores)
            return places, scores

        for places, scores in in_order(look, self._blocks(ranks), self._n_threads):
            use(places, scores)

    def _blocks(self, ranks: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Places in `ranks` by the block, so that the store is read from front to back.

        As many as a thread looks at together, but enough blocks for all threads.
        """
        order = np.argsort(self._ids[ranks], kind="stable")
        fair = -(-len(ranks) // (2 * self._n_threads))
        width = min(self._width, max(fair, _FEWEST_COLUMNS))
        for first in range(0, len(ranks), width):
            yield order[first : first + width]


def block_width(n_rows: int) -> int:
    """How many columns of so many rows a thread looks at together.

    Examples
    --------
    >>> block_width(1000), block_width(10**6), block_width(10**8)
    (2097, 32, 1)
    """
    return max(1, _BLOCK_BYTES // n_rows, min(_LANES, _MOST_BLOCK_BYTES // n_rows))


def draw_shadows(kinds: NDArray[np.int64]) -> list[Shadows]:
    """Shadows for every kind of column: one for each of them, but at least some hundreds and not many more.

    Where columns are few, there are more for columns by themselves. Ranks are by content, so that taking the first
    columns of a kind is as good as drawing them.
    """
    alone = min(max(_ALONE_A_COLUMN * len(kinds), _SHADOWS_ALONE), _MOST_SHADOWS_ALONE)
    out = []
    for kind in np.unique(kinds).tolist():
        members = np.flatnonzero(kinds == kind)
        n = len(members)
        rare = min(_SHADOWS_OF_A_RARE_KIND + _SHADOWS_A_RARE_COLUMN * n, _SHADOWS_A_KIND)
        n_always = min(max(n, rare), _MOST_SHADOWS)
        places = np.arange(max(n_always, _SHADOWS_A_KIND, alone * n // len(kinds)))
        copies = (places // len(members)).astype(np.uint64)
        out.append(Shadows(members, members[places % len(members)], copies, n_always))
    return out
