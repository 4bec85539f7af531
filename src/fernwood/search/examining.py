"""Passes over a store: every column, and every shadow, examined in all contexts of a wave, a block at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.kernels.components import fill_components
from fernwood.learner.many import in_order, one_ahead
from fernwood.run.plan import block_width
from fernwood.search.components import Components, frequent, pair_counts
from fernwood.sources.base import Kind
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.search.dealing import Dealer
    from fernwood.store.base import Store

__all__ = ["Examiner", "Shadows", "shadow_counts"]

_FEWEST_COLUMNS = 64
"""Fewer columns than this would leave lanes of the kernel empty."""
_RANKS_AT_ONCE = 2**18
"""Columns that are looked up together: arrays as long as the table is wide are what memory is short of."""
_EVEN_ENOUGH = 4  # as a power of two
_SHADOWS_A_KIND, _SHADOWS_OF_A_RARE_KIND, _SHADOWS_A_RARE_COLUMN = 1000, 300, 20
_SHADOWS_ALONE, _ALONE_A_COLUMN = 5000, 4
"""Shadows without context, which are cheap: the farther out they count, the less is modelled."""
_KINDS_APART = 4096  # more than all kinds that differ by components and spread
_MOST_SHADOWS, _COLUMNS_A_SHADOW = 20_000, 50
"""No more shadows than this, or than one for so many columns: a hundred of them say how the tail falls."""


class Shadows(NamedTuple):
    """Shadows of the columns of one kind.

    Attributes
    ----------
    number : of this kind
    kinds : array; the number of every column's kind, by rank
    models : int64 array; ranks of the columns that are permuted, a column perhaps more than once
    addresses : uint64 array; where the deals of these shadows are drawn
    n_always : how many of the shadows, the first ones, are examined in contexts; the others only without
    """

    number: int
    kinds: NDArray[np.unsignedinteger[Any]]
    models: NDArray[np.int64]
    addresses: NDArray[np.uint64]
    n_always: int

    def members(self) -> Iterator[NDArray[np.int64]]:
        """Ranks of the columns of this kind in increasing order, some at a time."""
        for first in range(0, len(self.kinds), _RANKS_AT_ONCE):
            yield first + np.flatnonzero(self.kinds[first : first + _RANKS_AT_ONCE] == self.number)


class Examiner:
    """Scores of a store's columns and of their shadows.

    Parameters
    ----------
    store
    ids : array of whole numbers
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
        ids: NDArray[np.signedinteger[Any]],
        rows: NDArray[np.int64] | None,
        weights: NDArray[np.float64],
        deal: Dealer,
        n_threads: int,
    ) -> None:
        self._store = store
        # Four bytes are enough for a position, and these two are kept for every column.
        self._ids = np.asarray(ids, np.int32)
        self._in_file = np.argsort(ids, kind="stable").astype(np.int32)
        self.rows = slice(None) if rows is None else rows
        self._components = Components(weights)
        self._kept = np.full(len(ids), -1, np.int16)
        self._deal = deal
        self._n_threads = n_threads
        self._width = block_width(store.n_rows)
        self.categories = store.kinds[self._ids] == Kind.CATEGORY

    @property
    def in_place(self) -> bool:
        """Whether all rows count, and shadows are dealt without regard to groups and covariates."""
        return isinstance(self.rows, slice) and not self._deal.in_pieces

    def codes(self, ranks: NDArray[np.signedinteger[Any]]) -> NDArray[np.uint8]:
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

        def look(ranks: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint64]]:
            codes = self.codes(ranks)
            amounts, categories = self._components.amounts(codes), self.categories[ranks]
            evenness = amounts.sum(axis=1) ** 2 / np.einsum("ij,ij->i", amounts, amounts)
            spread = np.minimum(np.rint(np.log2(evenness)), _EVEN_ENOUGH)
            kind = np.asarray(np.rint(4 * np.log2(pair_counts(amounts, categories))) * 16 + spread, np.int64)
            if self._deal.in_pieces:
                kind += _KINDS_APART * self._tied(codes, amounts, categories)
            return ranks, kind, self._components.marks(amounts, categories)

        blocks = one_ahead(self._sweep(np.ones(n, bool)), self._expect)
        for ranks, kind, mark in in_order(look, blocks, self._n_threads):
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
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """Give the scores of some columns to `use`, block by block: places in `ranks`, and the scores there.

        With `addresses`, those of their shadows that are dealt there.
        """

        def look(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
            return places, self._scores(ranks[places], contexts, None if addresses is None else addresses[places])

        for places, scores in in_order(look, self._blocks(ranks), self._n_threads):
            use(places, scores)

    def sweep(
        self,
        chosen: NDArray[np.bool_],
        contexts: Contexts,
        use: Callable[[NDArray[np.int32], NDArray[np.float32]], object],
    ) -> None:
        """Give the scores of chosen columns to `use`, block by block: their ranks, and the scores there.

        As `examine` does, but nothing is made that is as long as the table is wide.
        """

        def look(ranks: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
            return ranks, self._scores(ranks, contexts, None)

        for ranks, scores in in_order(look, one_ahead(self._sweep(chosen), self._expect), self._n_threads):
            use(ranks, scores)

    def _expect(self, ranks: NDArray[np.int32]) -> None:
        self._store.expect(self._ids[ranks])

    def _scores(
        self, ranks: NDArray[np.signedinteger[Any]], contexts: Contexts, addresses: NDArray[np.uint64] | None
    ) -> NDArray[np.float32]:
        """Scores of columns, or of their shadows that are dealt at addresses, in contexts."""
        codes = self.codes(ranks)
        if addresses is not None:
            codes = self._deal.at(codes, addresses)
        scores = np.zeros((len(codes), len(contexts.rows), 2), np.float32)
        self._components.add_scores(codes, self.categories[ranks], self._kept[ranks], contexts, scores)
        return scores

    def _blocks(self, ranks: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Places in `ranks` by the block, so that the store is read from front to back."""
        order = np.argsort(self._ids[ranks], kind="stable")
        width = self._fair_width(len(ranks))
        for first in range(0, len(ranks), width):
            yield order[first : first + width]

    def _sweep(self, chosen: NDArray[np.bool_]) -> Iterator[NDArray[np.int32]]:
        """Ranks of chosen columns by the block, so that the store is read from front to back."""
        width = self._fair_width(int(np.count_nonzero(chosen)))
        waiting = self._in_file[:0]
        for first in range(0, len(chosen), _RANKS_AT_ONCE):
            here = self._in_file[first : first + _RANKS_AT_ONCE]
            waiting = np.concatenate((waiting, here[chosen[here]]))
            whole = len(waiting) - len(waiting) % width
            for start in range(0, whole, width):
                yield waiting[start : start + width]
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def _fair_width(self, n_columns: int) -> int:
        """As many columns as a thread looks at together, but so few that there are blocks for all threads."""
        fair = -(-n_columns // (2 * self._n_threads))
        return min(self._width, max(fair, _FEWEST_COLUMNS))

    def shadows(self, kinds: NDArray[np.int64]) -> list[Shadows]:
        """Shadows for every kind of column: one for each of them, but at least some hundreds and not many more.

        Where columns are few, there are more for columns by themselves. Ranks are by content, so that taking the first
        columns of a kind is as good as drawing them.

        Parameters
        ----------
        kinds
            Of every column, from `survey`.
        """
        names = np.unique(kinds)
        numbers = np.empty(len(kinds), np.min_scalar_type(len(names)))
        for first in range(0, len(kinds), _RANKS_AT_ONCE):
            some = slice(first, first + _RANKS_AT_ONCE)
            numbers[some] = np.searchsorted(names, kinds[some])
        out = []
        for number in range(len(names)):
            members = np.flatnonzero(numbers == number)
            n_always, n_alone = shadow_counts(len(members), len(kinds))
            places = np.arange(n_alone)
            models = members[places % len(members)]
            copies = (places // len(members)).astype(np.uint64)
            addresses = self._deal.addresses(self._store.checksums[self._ids[models]], copies)
            out.append(Shadows(number, numbers, models, addresses, n_always))
        return out


def shadow_counts(n_members: int, n_columns: int) -> tuple[int, int]:
    """How many shadows columns of a kind have: in contexts, and without.

    Of very many columns the smallest p that are asked for are far beyond what twenty thousand shadows can tell.

    Examples
    --------
    >>> shadow_counts(500, 500), shadow_counts(10**6, 10**6), shadow_counts(10**7, 10**7)
    ((1000, 5000), (20000, 20000), (200000, 200000))
    """
    most = max(_MOST_SHADOWS, n_columns // _COLUMNS_A_SHADOW)
    rare = min(_SHADOWS_OF_A_RARE_KIND + _SHADOWS_A_RARE_COLUMN * n_members, _SHADOWS_A_KIND)
    n_always = min(max(n_members, rare), most)
    alone = min(max(_ALONE_A_COLUMN * n_columns, _SHADOWS_ALONE), most)
    return n_always, max(n_always, _SHADOWS_A_KIND, alone * n_members // n_columns)
