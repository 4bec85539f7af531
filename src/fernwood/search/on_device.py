"""Passes over a store on a card: the scores of `search.examining`, to the same bits.

Codes stay on the card where they fit, and are brought there part after part, one ahead, where they do not. What codes
stand for is worked out by the host, and so are shadows that are dealt in groups or strata, or on more rows than a block
of the card holds together; everything that is done for every row, column and context is done by the card.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.device import saying_device_troubles
from fernwood.errors import DeviceError
from fernwood.kernels.cuda.examining import Pairs, gains_of, lay_out, packed, scores_of, sums_of, tile_height
from fernwood.learner.many import in_order
from fernwood.relevance.shadows import inverse_chances, summed
from fernwood.run.plan import padded, plan_card
from fernwood.search.components import leading_of
from fernwood.search.examining import Examiner
from fernwood.search.leftover import divide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.cuda.card import Card
    from fernwood.kernels.cuda.examining import CardContexts
    from fernwood.kernels.examining import Contexts
    from fernwood.kernels.telling import Chances
    from fernwood.search.components import Tables
    from fernwood.search.scoring import Columns, Scorer

__all__ = ["HOST_BYTES", "CardExaminer", "Room"]

_MOST_COLUMNS = 2**20
"""Columns that are examined together where only the card works."""
_SENT_BYTES = 2**26
HOST_BYTES = 3 * _SENT_BYTES
"""Codes that are sent together where they do not stay, and what is on the way at most: read, waiting, and arriving."""
_OTHERS_AT_ONCE, _OTHERS_A_THREAD = 4224, 264
"""Columns whose components are not kept: so many together, so many in a thread that works those out."""


class Room(NamedTuple):
    """A card, and how much of its memory may be taken, in bytes."""

    card: Card
    n_bytes: int


class _Block(NamedTuple):
    """Columns that are examined together.

    Attributes
    ----------
    ranks : int array; in the order of the file
    places : int array; what `use` is told of them: their places among those asked for, or their ranks
    addresses : uint64 array or None; where their shadows are dealt
    """

    ranks: NDArray[np.signedinteger[Any]]
    places: NDArray[np.signedinteger[Any]]
    addresses: NDArray[np.uint64] | None

    def part(self, chosen: NDArray[np.bool_] | slice) -> _Block:
        """Some of them."""
        addresses = None if self.addresses is None else self.addresses[chosen]
        return _Block(self.ranks[chosen], self.places[chosen], addresses)


class _Part(NamedTuple):
    """Columns on their way through the card.

    Attributes
    ----------
    places : as of the block
    pairs : what the card needs to examine them
    sent : what the card may still be reading from: it must not be let go before it is done
    """

    places: NDArray[np.signedinteger[Any]]
    pairs: Pairs
    sent: NDArray[np.uint8] | None


class _Known(NamedTuple):
    """Tables on the card: as integers of two steps, or as numbers; and the lengths of steps."""

    tables: Any
    unit: Any


class CardExaminer(Examiner):
    """An `Examiner` whose scores come from a card.

    Parameters
    ----------
    scorer, ids, n_threads
        As for `Examiner`.
    room
        The card.
    counts
        Whether rows are counted, and not weighed.
    """

    def __init__(
        self, scorer: Scorer, ids: NDArray[np.signedinteger[Any]], n_threads: int, room: Room, *, counts: bool
    ) -> None:
        super().__init__(scorer, ids, n_threads)
        self._card, n_bytes = room
        self._counts = counts
        self.room_bytes = n_bytes
        self._pitch = padded(scorer.n_rows)
        plan = plan_card(scorer.n_rows, scorer.store.n_columns, n_bytes)
        self._work_bytes = plan.work
        self._pool = self._card.cupy.cuda.MemoryPool()
        self._pool.set_limit(size=n_bytes)
        self._table: Any = None
        if plan.stays:
            with self._working():
                self._table = self._card.cupy.empty((scorer.store.n_columns, self._pitch), np.uint8)
        self._known: _Known | None = None
        self._last: tuple[Contexts, list[CardContexts]] | None = None
        self._gone = False
        height = tile_height(self._card, scorer.n_rows, counts=counts)
        if not height:
            raise DeviceError(
                f"{scorer.n_rows:,} rows that are weighed, or have numbers to explain, do not fit into shared memory "
                f"of the card, {self._card.shared_bytes:,} bytes a block; search with device='cpu' (--device cpu)"
            )
        self._deals_on_card = not scorer.deal.in_pieces and scorer.n_rows <= height

    def give_up(self) -> None:
        """Let the card go: everything that follows is done by the host."""
        self._gone, self._table, self._known, self._last = True, None, None, None
        with suppress(DeviceError), saying_device_troubles():
            self._pool.free_all_blocks()

    @property
    def keeps_table(self) -> bool:
        """Whether all codes stay on the card."""
        return self._table is not None

    def _read_once(self, positions: NDArray[np.signedinteger[Any]]) -> NDArray[np.uint8]:
        """As `Examiner._read_once`; codes that are to stay on the card go there on the way."""
        codes = super()._read_once(positions)
        if self._table is not None:
            self._bring(positions, codes)
        return codes

    def keep(self, marks: NDArray[np.uint64]) -> None:
        """As `Examiner.keep`, on the card too."""
        super().keep(marks)
        if self._gone:
            return
        with self._working():
            self._known = self._brought(self.scorer.components_of.kept)

    def scores(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """As `Examiner.scores`."""
        if self._gone:
            super().scores(ranks, contexts, use, addresses)
            return
        blocks = self._cut(ranks, addresses, len(contexts.rows))
        self._examine(blocks, contexts, self._scored, self._divided(ranks, addresses, contexts, use))

    def _scored(self, pairs: Pairs, gains: Any) -> Any:
        return scores_of(self._card, pairs, gains)

    def _divided(
        self,
        ranks: NDArray[np.signedinteger[Any]] | None,
        addresses: NDArray[np.uint64] | None,
        contexts: Contexts,
        use: Callable[[NDArray[Any], NDArray[np.float32]], object],
    ) -> Callable[[NDArray[Any], NDArray[np.float32]], object]:
        """What takes scores at places in `ranks`, or at ranks, and gives them to `use` over what covariates leave."""
        if self.scorer.leftover is None:
            return use

        def divided(at: NDArray[Any], scores: NDArray[np.float32]) -> None:
            columns = self.columns(at if ranks is None else ranks[at])
            left = self.scorer.left_of(columns, None if addresses is None else addresses[at])
            use(at, divide(scores, left, contexts))

        return divided

    def tell(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        chances: Chances,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """As `Examiner.tell`."""
        self.scores(ranks, contexts, lambda at, scores: use(at, inverse_chances(scores, chances)), addresses)

    def sums(
        self,
        ranks: NDArray[np.int64],
        contexts: Contexts,
        chances: Chances,
        use: Callable[[NDArray[np.int64], NDArray[np.float64]], object],
        addresses: NDArray[np.uint64] | None = None,
    ) -> None:
        """As `Examiner.sums`."""
        if self._gone:
            super().sums(ranks, contexts, chances, use, addresses)
            return
        if self.scorer.leftover is not None:
            self.scores(ranks, contexts, lambda at, some: use(at, summed(inverse_chances(some, chances))), addresses)
            return
        blocks = self._cut(ranks, addresses, len(contexts.rows))
        self._examine(blocks, contexts, lambda pairs, gains: sums_of(self._card, pairs, gains, chances), use)

    def sweep(
        self,
        chosen: NDArray[np.bool_],
        contexts: Contexts,
        chances: Chances,
        use: Callable[[NDArray[np.int32], NDArray[np.float64]], object],
        used: Mapping[int, list[int]],
    ) -> None:
        """As `Examiner.sweep`; columns in use, which are few, are told of by the host."""
        if self._gone:
            super().sweep(chosen, contexts, chances, use, used)
            return
        others = chosen.copy()
        in_use = np.array([rank for rank in sorted(used) if chosen[rank]], np.int64)
        others[in_use] = False
        width = self._columns_at_once(len(contexts.rows), stays=self._stays(None))
        blocks = (_Block(ranks, ranks, None) for ranks in self.blocks(others, width))
        if self.scorer.leftover is None:
            self._examine(blocks, contexts, lambda pairs, gains: sums_of(self._card, pairs, gains, chances), use)
        else:  # the host divides scores, and says what they tell
            take = self._divided(None, None, contexts, lambda at, some: use(at, summed(inverse_chances(some, chances))))
            self._examine(blocks, contexts, self._scored, take)

        def tell_without(at: NDArray[np.int64], told: NDArray[np.float32]) -> None:
            for row, rank in enumerate(in_use[at].tolist()):
                told[row, used[rank]] = 0.0
            use(in_use[at].astype(np.int32), summed(told))

        if len(in_use):
            self.tell(in_use, contexts, chances, tell_without)

    # What the card does --------------------------------------------------------------------------------------------

    def _examine(
        self,
        blocks: Iterable[_Block],
        contexts: Contexts,
        finish: Callable[[Pairs, Any], Any],
        use: Callable[[NDArray[Any], NDArray[Any]], object],
    ) -> None:
        """Give what is made of gains to `use`, block by block, each when the card is at work on the next already."""
        waiting: tuple[_Part, Any] | None = None
        with self._working():
            laid = self._laid_out(contexts)
            for part in self._parts(blocks):
                gains = [gains_of(self._card, part.pairs, some) for some in laid]
                made = finish(part.pairs, gains[0] if len(gains) == 1 else self._card.cupy.concatenate(gains))
                if waiting is not None:
                    use(waiting[0].places, waiting[1].get())
                waiting = part, made
            if waiting is not None:
                use(waiting[0].places, waiting[1].get())

    def _laid_out(self, contexts: Contexts) -> list[CardContexts]:
        """Contexts on the card; those of the last call stay there, since columns and shadows of all kinds meet them."""
        if self._last is None or self._last[0] is not contexts:
            self._last = None  # before the next are laid out
            self._last = contexts, list(lay_out(self._card, contexts))
        return self._last[1]

    @contextmanager
    def _working(self) -> Iterator[None]:
        """The card's memory comes from the pool that has the limit; what goes wrong there is one sentence."""
        with saying_device_troubles(), self._card.cupy.cuda.using_allocator(self._pool.malloc):
            yield

    # What the card is brought --------------------------------------------------------------------------------------

    def _columns_at_once(self, n_contexts: int, *, stays: bool) -> int:
        """How many columns are examined together, where their codes stay on the card or come for them."""
        a_column, most = 16 * n_contexts + 64, _MOST_COLUMNS
        if not stays:
            a_column += 2 * self._pitch
            most = max(1, _SENT_BYTES // self.scorer.n_rows)
        return int(max(1, min(most, self._work_bytes // 2 // a_column)))

    def _stays(self, addresses: NDArray[np.uint64] | None) -> bool:
        """Whether the codes of columns, or of shadows, are on the card, or can be made there."""
        return self._table is not None and (addresses is None or self._deals_on_card)

    def _cut(self, ranks: NDArray[np.int64], addresses: NDArray[np.uint64] | None, n_contexts: int) -> Iterator[_Block]:
        """Columns by the block, in the order of the file."""
        places = np.argsort(self.ids[ranks], kind="stable")
        width = self._columns_at_once(n_contexts, stays=self._stays(addresses))
        for first in range(0, len(places), width):
            at = places[first : first + width]
            yield _Block(ranks[at], at, None if addresses is None else addresses[at])

    def _parts(self, blocks: Iterable[_Block]) -> Iterator[_Part]:
        """Blocks as the card takes them: columns whose components are kept, and others, apart."""

        def apart() -> Iterator[_Block]:
            for block in blocks:
                known = self.kept[block.ranks] >= 0
                if known.any():
                    yield block if known.all() else block.part(known)
                others = block.part(~known)
                for first in range(0, len(others.ranks), _OTHERS_AT_ONCE):
                    yield others.part(slice(first, first + _OTHERS_AT_ONCE))

        for block, codes, sent in self._with_codes(apart()):
            columns = self.columns(block.ranks)
            place = columns.positions.astype(np.int64) if sent is None else np.arange(len(block.ranks))
            dealt = block.addresses if self._deals_on_card else None
            if columns.kept[0] >= 0:
                pairs = self._known_pairs(columns, codes, place, dealt)
            else:
                pairs = self._other_pairs(columns, block.addresses, codes, place, dealt)
            yield _Part(block.places, pairs, sent)

    def _with_codes(self, blocks: Iterable[_Block]) -> Iterator[tuple[_Block, Any, NDArray[np.uint8] | None]]:
        """Blocks, each with an array on the card that has its codes: all of the table, or its own, which were sent.

        The codes of a block that are sent are read while the card is at work on the one before.
        """
        with ThreadPoolExecutor(1) as reader:
            coming: list[tuple[_Block, Future[NDArray[np.uint8]]]] = []
            for block in blocks:
                if self._stays(block.addresses):
                    yield block, self._table, None
                    continue
                coming.append((block, reader.submit(self._read, block)))
                if len(coming) > 1:
                    yield self._arrived(*coming.pop(0))
            for late in coming:
                yield self._arrived(*late)

    def _arrived(
        self, block: _Block, coming: Future[NDArray[np.uint8]]
    ) -> tuple[_Block, Any, NDArray[np.uint8] | None]:
        """A block whose codes are on the card, every column padded."""
        codes = coming.result()
        padded = self._card.cupy.empty((len(codes), self._pitch), np.uint8)
        padded[:, : codes.shape[1]] = self._card.cupy.asarray(codes)
        return block, padded, codes

    def _read(self, block: _Block) -> NDArray[np.uint8]:
        """Codes of columns, or of shadows that the host deals, in memory that a card reads from by itself."""
        positions, n = self.ids[block.ranks], len(block.ranks)
        dealt = None if self._deals_on_card else block.addresses
        pinned = self._card.cupy.cuda.alloc_pinned_memory(n * self.scorer.n_rows)
        codes = np.frombuffer(pinned, np.uint8, n * self.scorer.n_rows).reshape(n, self.scorer.n_rows)

        def fill(some: slice) -> None:
            self.scorer.read_into(positions[some], codes[some])
            if dealt is not None:
                codes[some] = self.scorer.deal.at(codes[some], dealt[some])

        blocks = (slice(first, first + self._width) for first in range(0, n, self._width))
        for _ in in_order(fill, blocks, self.n_threads):
            pass
        return codes

    def _bring(self, positions: NDArray[np.signedinteger[Any]], codes: NDArray[np.uint8]) -> None:
        """Put the codes of columns, in the order of the file, where they stay."""
        with self._working():
            cp = self._card.cupy
            first, last = int(positions[0]), int(positions[-1])
            together = last - first == len(positions) - 1
            rows = slice(first, last + 1) if together else cp.asarray(positions)
            self._table[rows, : codes.shape[1]] = cp.asarray(codes)

    def _brought(self, tables: Tables) -> _Known:
        cp = self._card.cupy
        return _Known(cp.asarray(packed(tables.steps) if self._counts else tables.table), cp.asarray(tables.unit))

    def _known_pairs(
        self, columns: Columns, codes: Any, place: NDArray[np.int64], addresses: NDArray[np.uint64] | None
    ) -> Pairs:
        """Of columns whose components are kept: a pair each."""
        assert self._known is not None  # noqa: S101  (every search surveys first)
        cp = self._card.cupy
        return Pairs(
            codes,
            cp.asarray(place),
            cp.asarray(columns.kept.astype(np.int32)),
            None if addresses is None else cp.asarray(addresses),
            *self._known,
            cp.arange(len(place) + 1),
            cp.asarray(leading_of(columns.categories).astype(np.uint8)),
        )

    def _other_pairs(
        self,
        columns: Columns,
        shadows: NDArray[np.uint64] | None,
        codes: Any,
        place: NDArray[np.int64],
        addresses: NDArray[np.uint64] | None,
    ) -> Pairs:
        """Of other columns: what their codes stand for is worked out on many threads, and brought as it comes.

        `shadows` are addresses of shadows, whoever deals them; `addresses` of those that the card deals.
        """
        cp = self._card.cupy
        owners, leading, tables = [], [], []

        def work_out(first: int) -> tuple[int, list[Any]]:
            part = slice(first, first + _OTHERS_A_THREAD)
            some, dealt = columns.part(part), None if shadows is None else shadows[part]
            weighed = self.scorer.weighed(some.positions, dealt)
            return first, list(self.scorer.components_of.others(weighed, some.categories))

        for first, pieces in in_order(work_out, range(0, len(place), _OTHERS_A_THREAD), self.n_threads):
            for piece in pieces:
                owners.append(first + piece.owner)
                leading.append(piece.leading)
                tables.append(self._brought(piece.tables))
        owner = np.concatenate(owners)
        return Pairs(
            codes,
            cp.asarray(place[owner]),
            cp.arange(len(owner), dtype=np.int32),
            None if addresses is None else cp.asarray(addresses[owner]),
            cp.concatenate([some.tables for some in tables]),
            cp.concatenate([some.unit for some in tables]),
            cp.asarray(np.searchsorted(owner, np.arange(len(place) + 1))),
            cp.asarray(np.concatenate(leading).astype(np.uint8)),
        )
