"""Passes over a store: every column, and every shadow, examined in all contexts of a wave, a block at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from fernwood.learner.many import in_order, one_ahead
from fernwood.relevance.shadows import inverse_chances, summed
from fernwood.run.plan import block_width
from fernwood.search.components import frequent
from fernwood.search.scoring import Columns
from fernwood.sources.base import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.kernels.telling import Chances
    from fernwood.search.scoring import Scorer

__all__ = ["Examiner", "Shadows", "shadow_counts"]

_Told = TypeVar("_Told")

_FEWEST_COLUMNS = 64
"""Fewer columns than this would leave lanes of the kernel empty."""
_RANKS_AT_ONCE = 2**18
"""Columns that are looked up together: arrays as long as the table is wide are what memory is short of."""
_SHADOWS_A_KIND, _SHADOWS_OF_A_RARE_KIND, _SHADOWS_A_RARE_COLUMN = 1000, 300, 20
_SHADOWS_ALONE, _ALONE_A_COLUMN = 5000, 4
"""Shadows without context, which are cheap: the farther out they count, the less is modelled."""
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

    def members(self, at_once: int = _RANKS_AT_ONCE) -> Iterator[NDArray[np.int64]]:
        """Ranks of the columns of this kind in increasing order, those among so many at a time."""
        for first in range(0, len(self.kinds), at_once):
            yield first + np.flatnonzero(self.kinds[first : first + at_once] == self.number)


class Examiner:
    """Scores of a store's columns and of their shadows.

    Parameters
    ----------
    scorer
        Scores columns that are given by position.
    ids : array of whole numbers
        Positions of the columns that are examined; everything else is said in ranks in this order.
    n_threads

    Attributes
    ----------
    scorer, n_threads
    ids : int32 array
    categories : bool array; which columns hold categories, by rank
    kept : int16 array; where components of a column are kept, by rank
    firsts : int64 array; ranks of the columns whose components are kept
    room_bytes : of a card that may be taken; None without one
    """

    room_bytes: int | None = None

    def __init__(self, scorer: Scorer, ids: NDArray[np.signedinteger[Any]], n_threads: int) -> None:
        self.scorer = scorer
        # Four bytes are enough for a position, and these two are kept for every column.
        self.ids = np.asarray(ids, np.int32)
        self._in_file = np.argsort(ids, kind="stable").astype(np.int32)
        self.kept = np.full(len(ids), -1, np.int16)
        self.firsts = np.empty(0, np.int64)
        self.n_threads = n_threads
        self._width = block_width(scorer.store.n_rows)
        self.categories = scorer.store.kinds[self.ids] == Kind.CATEGORY

    def codes(self, ranks: NDArray[np.signedinteger[Any]]) -> NDArray[np.uint8]:
        """The codes of some columns, for the rows that count."""
        return self.scorer.codes(self.ids[ranks])

    def columns(self, ranks: NDArray[np.signedinteger[Any]]) -> Columns:
        """Some columns, as a scorer takes them."""
        return Columns(self.ids[ranks], self.categories[ranks], self.kept[ranks])

    def survey(self) -> NDArray[np.int64]:
        """Look at every column once, and say for each of which kind it is; see `Scorer.survey`.

        The most frequent components are kept for all passes to come.
        """
        n = len(self.ids)
        kinds, marks = np.empty(n, np.int64), np.empty(n, np.uint64)

        def look(ranks: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint64]]:
            return ranks, *self.scorer.surveyed(self._read_once(self.ids[ranks]), self.categories[ranks])

        blocks = one_ahead(self.blocks(np.ones(n, bool)), self._expect)
        for ranks, kind, mark in in_order(look, blocks, self.n_threads):
            kinds[ranks], marks[ranks] = kind, mark
        self.keep(marks)
        return kinds

    def _read_once(self, positions: NDArray[np.signedinteger[Any]]) -> NDArray[np.uint8]:
        """The codes of some columns, when all are looked at for the first time."""
        return self.scorer.codes(positions)

    def keep(self, marks: NDArray[np.uint64]) -> None:
        """Keep the components of columns with the most frequent marks."""
        self.firsts, self.kept = frequent(marks)
        self.scorer.keep(self.ids[self.firsts], self.categories[self.firsts], self._width)

    def scores(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """Give scores of some columns to `use`, block by block: places in `ranks`, and scores in all contexts.

        With `addresses`, scores of their shadows that are dealt there.
        """
        self._in_blocks(ranks, contexts, addresses, np.copy, use)

    def tell(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        chances: Chances,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """As `scores`, but 1/p in all contexts."""
        self._in_blocks(ranks, contexts, addresses, lambda scores: inverse_chances(scores, chances), use)

    def sums(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        chances: Chances,
        use: Callable[[NDArray[np.int64], NDArray[np.float64]], object],
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """As `scores`, but the sum of 1/p over contexts."""
        self._in_blocks(ranks, contexts, addresses, lambda scores: summed(inverse_chances(scores, chances)), use)

    def sweep(
        self,
        chosen: NDArray[np.bool_],
        contexts: Contexts,
        chances: Chances,
        use: Callable[[NDArray[np.int32], NDArray[np.float64]], object],
        used: Mapping[int, list[int]],
    ) -> None:
        """As `sums` for the chosen columns, with their ranks; nothing is made that is as long as the table is wide.

        `used` are the contexts that use a column, by its rank: it is not examined in those.
        """
        in_use = np.array(sorted(used), np.int64)

        def look(ranks: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
            told = inverse_chances(self.scorer.scores(self.columns(ranks), contexts), chances)
            for row in np.flatnonzero(np.isin(ranks, in_use)).tolist():
                told[row, used[int(ranks[row])]] = 0.0
            return ranks, summed(told)

        for ranks, told in in_order(look, one_ahead(self.blocks(chosen), self._expect), self.n_threads):
            use(ranks, told)

    def _in_blocks(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        addresses: NDArray[np.uint64] | None,
        make: Callable[[NDArray[np.float32]], _Told],
        use: Callable[[NDArray[np.int64], _Told], object],
    ) -> None:
        """Give what is made of scores to `use`; it has to be something new, since scores are in a buffer."""

        def look(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], _Told]:
            dealt = None if addresses is None else addresses[places]
            return places, make(self.scorer.scores(self.columns(ranks[places]), contexts, dealt))

        for places, told in in_order(look, self._blocks(ranks), self.n_threads):
            use(places, told)

    def _expect(self, ranks: NDArray[np.int32]) -> None:
        self.scorer.store.expect(self.ids[ranks])

    def _blocks(self, ranks: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Places in `ranks` by the block, so that the store is read from front to back."""
        order = np.argsort(self.ids[ranks], kind="stable")
        width = self._fair_width(len(ranks))
        for first in range(0, len(ranks), width):
            yield order[first : first + width]

    def blocks(self, chosen: NDArray[np.bool_], width: int | None = None) -> Iterator[NDArray[np.int32]]:
        """Ranks of chosen columns by the block, of so many or what suits, so that the store is read front to back."""
        width = width or self._fair_width(int(np.count_nonzero(chosen)))
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
        fair = -(-n_columns // (2 * self.n_threads))
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
            addresses = self.scorer.deal.addresses(self.scorer.store.checksums[self.ids[models]], copies)
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
