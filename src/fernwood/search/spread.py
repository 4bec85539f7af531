"""The snowball on workers of other processes: what contexts tell is asked for by position, and summed up by workers.

The coordinator draws contexts and says by which recipe; a worker draws the same ones, reads the columns it is asked
about, and sends back one number for each: what went to it and comes back is far less than the codes in between.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.contexts import scoring_kernels, used_in
from fernwood.relevance.shadows import by_chance, inverse_chances, summed
from fernwood.run.plan import block_width
from fernwood.search.conditions import given_positions
from fernwood.search.drawn import Drawn
from fernwood.search.evidence import ContextEvidence, n_referred
from fernwood.search.sampling import sampled_rows
from fernwood.search.scoring import Columns
from fernwood.search.sight import sight
from fernwood.work.packing import ITEMS_A_WORKER, PackedNumbers, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.kernels.telling import Chances
    from fernwood.search.drawn import Recipe
    from fernwood.search.evidence import Awake
    from fernwood.search.examining import Examiner, Shadows
    from fernwood.search.scoring import Scorer
    from fernwood.search.sight import Sight
    from fernwood.search.snowball_settings import SnowballSettings
    from fernwood.search.working import Crew
    from fernwood.store.base import Store

__all__ = ["SnowballBench", "SpreadEvidence", "survey_by"]

_FEWEST_COLUMNS, _MOST_COLUMNS = 256, 2**17
"""Columns of an item: more than what asking costs, and few enough that little is lost with a worker."""


class _Group(NamedTuple):
    """Some columns, or their shadows where there are addresses, packed to be sent.

    Attributes
    ----------
    positions
    categories : bits, empty where no column holds categories
    kept : where components of a column are kept; see `Columns`
    addresses : bytes of where shadows are dealt, or None for the columns themselves
    """

    positions: PackedNumbers
    categories: bytes
    kept: PackedNumbers
    addresses: bytes | None

    @classmethod
    def of(cls, columns: Columns, addresses: NDArray[np.uint64] | None = None) -> _Group:
        some = np.packbits(columns.categories).tobytes() if columns.categories.any() else b""
        dealt = None if addresses is None else addresses.tobytes()
        return cls(pack(columns.positions), some, pack(columns.kept), dealt)

    def columns(self) -> Columns:
        n = self.positions.n
        categories = np.zeros(n, bool)
        if self.categories:
            categories = np.unpackbits(np.frombuffer(self.categories, np.uint8), count=n).astype(bool)
        return Columns(self.positions.unpack(), categories, self.kept.unpack().astype(np.int16))

    def dealt(self) -> NDArray[np.uint64] | None:
        return None if self.addresses is None else np.frombuffer(self.addresses, np.uint64)


class _Examination(NamedTuple):
    """What a worker is asked of some columns and shadows.

    Attributes
    ----------
    whole : whether all rows are looked at, or the sample
    recipe : of the contexts; None for the one of all rows
    firsts : columns whose components are kept
    references : by the number of a kind, the shadows that say what chance does
    groups : columns or shadows, each with the number of its kind
    each : whether every context is told of; the sum over contexts otherwise
    """

    whole: bool
    recipe: Recipe | None
    firsts: _Group
    references: dict[int, _Group]
    groups: list[tuple[int, _Group]]
    each: bool


class _Ask(NamedTuple):
    """Columns, or shadows, of one kind that are to be examined, and who takes what is told of them, some at a time."""

    kind: Shadows
    columns: Columns
    addresses: NDArray[np.uint64] | None
    take: Callable[[slice, NDArray[Any]], None]


def _cut(sizes: list[int], n_workers: int) -> Iterator[list[tuple[int, slice]]]:
    """Work of these sizes cut into items of about equal size: which of it an item has, and what part.

    Examples
    --------
    >>> list(_cut([300, 724], 1))
    [[(0, slice(0, 300, None)), (1, slice(0, 212, None))], [(1, slice(212, 724, None))]]
    """
    total = sum(sizes)
    fair = -(-total // (ITEMS_A_WORKER * n_workers))
    size = min(max(fair, _FEWEST_COLUMNS), _MOST_COLUMNS)
    item: list[tuple[int, slice]] = []
    room = size
    for which, length in enumerate(sizes):
        done = 0
        while done < length:
            n = min(room, length - done)
            item.append((which, slice(done, done + n)))
            done, room = done + n, room - n
            if not room:
                yield item
                item, room = [], size
    if item:
        yield item


def survey_by(crew: Crew, examiner: Examiner, *, whole: bool) -> NDArray[np.int64]:
    """What `Examiner.survey` says, from workers."""
    ranks = np.concatenate(list(examiner.blocks(np.ones(len(examiner.ids), bool))))
    kinds, marks = np.empty(len(ranks), np.int64), np.empty(len(ranks), np.uint64)
    cut = [parts[0][1] for parts in _cut([len(ranks)], crew.n_workers)]
    asked = ((whole, _Group.of(examiner.columns(ranks[part]))) for part in cut)
    for part, (kind, mark) in zip(cut, crew.ask("survey", asked), strict=True):
        kinds[ranks[part]], marks[ranks[part]] = kind, mark
    examiner.keep(marks)
    return kinds


class SpreadEvidence(ContextEvidence):
    """What contexts tell, from workers.

    Parameters
    ----------
    examiner, shadows
        As for `ContextEvidence`.
    crew
    whole
        Whether all rows are looked at, or the sample.
    """

    def __init__(self, examiner: Examiner, shadows: list[Shadows], crew: Crew, whole: bool) -> None:
        super().__init__(examiner, shadows)
        self._crew = crew
        self._whole = whole
        self._firsts = _Group.of(examiner.columns(examiner.firsts))

    def alone(self, kind: Shadows, drawn: Drawn, own: NDArray[np.float32]) -> NDArray[np.float32]:
        """1/p of all shadows of a kind in the one context there is; that of its columns goes to its place in `own`."""
        null = np.empty(len(kind.models), np.float32)
        ranks = self._in_file(kind.kinds == kind.number)

        def keep(part: slice, told: NDArray[np.float32]) -> None:
            own[ranks[part]] = told[:, 0]

        def keep_null(part: slice, told: NDArray[np.float32]) -> None:
            null[part] = told[:, 0]

        asks = [self._of_shadows(kind, np.arange(len(null)), keep_null), self._of_columns(kind, ranks, keep)]
        self._asked(asks, drawn, {kind.number: n_referred(kind, len(null))}, each=True)
        return null

    def add_sums(
        self,
        drawn: Drawn,
        used: Mapping[int, list[int]],  # noqa: ARG002  (a worker sees by the recipe which contexts use a column)
        awake: Awake,
        own: NDArray[np.float32],
        null: NDArray[np.float32],
    ) -> None:
        """Add the sums of 1/p over contexts, by column and by shadow, for those awake; all kinds in one round."""
        asks = []
        for kind, place in self.kinds:
            heard = np.flatnonzero(awake.shadows[place])
            ranks = self._in_file(awake.columns & (kind.kinds == kind.number))

            def add_null(
                part: slice,
                told: NDArray[np.float64],
                heard: NDArray[np.int64] = heard,
                null: NDArray[np.float32] = null[place],
            ) -> None:
                null[heard[part]] += told

            def add(part: slice, told: NDArray[np.float64], ranks: NDArray[np.int32] = ranks) -> None:
                own[ranks[part]] += told

            asks += [self._of_shadows(kind, heard, add_null), self._of_columns(kind, ranks, add)]
        self._asked(asks, drawn, {kind.number: n_referred(kind) for kind, _ in self.kinds}, each=False)

    def each(
        self, kind: Shadows, ranks: NDArray[np.int64], drawn: Drawn, n_shadows: int = 0
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """1/p of some columns of a kind in every context, and of the first of its shadows: as many as asked for."""
        own = np.empty((len(ranks), len(drawn.uses)), np.float32)
        null = np.empty((n_shadows, len(drawn.uses)), np.float32)
        asks = [
            self._of_shadows(kind, np.arange(n_shadows), null.__setitem__),
            self._of_columns(kind, ranks, own.__setitem__),
        ]
        self._asked(asks, drawn, {kind.number: n_referred(kind, n_shadows)}, each=True)
        return own, null

    def _in_file(self, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Ranks of chosen columns, in the order of the store."""
        blocks = list(self._examiner.blocks(chosen))
        return np.concatenate(blocks) if blocks else np.empty(0, np.int32)

    def _of_columns(
        self, kind: Shadows, ranks: NDArray[np.signedinteger[Any]], take: Callable[[slice, NDArray[Any]], None]
    ) -> _Ask:
        return _Ask(kind, self._examiner.columns(ranks), None, take)

    def _of_shadows(
        self, kind: Shadows, places: NDArray[np.int64], take: Callable[[slice, NDArray[Any]], None]
    ) -> _Ask:
        return _Ask(kind, self._examiner.columns(kind.models[places]), kind.addresses[places], take)

    def _asked(self, asks: list[_Ask], drawn: Drawn, referred: dict[int, int], *, each: bool) -> None:
        """Have workers examine columns and shadows, and hand what they tell to those who take it."""
        kinds = {ask.kind.number: ask.kind for ask in asks}
        references = {
            number: _Group.of(
                self._examiner.columns(kind.models[: referred[number]]), kind.addresses[: referred[number]]
            )
            for number, kind in kinds.items()
        }
        cut = list(_cut([len(ask.columns.positions) for ask in asks], self._crew.n_workers))

        def items() -> Iterator[_Examination]:
            for parts in cut:
                groups = [(asks[which].kind.number, _part(asks[which], part)) for which, part in parts]
                needed = {number: references[number] for number, _ in groups}
                yield _Examination(self._whole, drawn.recipe, self._firsts, needed, groups, each)

        for parts, results in zip(cut, self._crew.ask("examine", items()), strict=True):
            for (which, part), told in zip(parts, results, strict=True):
                asks[which].take(part, told)


def _part(ask: _Ask, part: slice) -> _Group:
    columns = ask.columns.part(part)
    return _Group.of(columns, None if ask.addresses is None else ask.addresses[part])


class _Standing(NamedTuple):
    """What the items of a round have in common, kept by a worker.

    Attributes
    ----------
    drawn : the contexts; ranks in it are positions
    used : the contexts that use a column, by its position
    references : by what a group of shadows is, what chance does in every context
    """

    drawn: Drawn
    used: dict[int, list[int]]
    references: dict[_Group, Chances]


class SnowballBench:
    """What a worker has ready for a snowball; a `Bench`.

    Parameters
    ----------
    store, settings, seed
    """

    def __init__(self, store: Store, settings: SnowballSettings, seed: int) -> None:
        given = given_positions(store, settings.given)
        sample = sampled_rows(store, settings.max_rows, seed)
        self._whole = sight(store, given, seed)
        ensure_compiled(*settings.kernels, scoring_kernels(self._whole.ground.target, self._whole.ground.covariates))
        self._part = self._whole if sample is None else sight(store.rows(sample), given, seed)
        self._width = block_width(store.n_rows)
        self._lock = threading.Lock()
        self._kept: dict[int, _Group] = {}
        self._standing: tuple[object, _Standing] | None = None
        store.forget()

    def perform(self, what: str, told: Any) -> Any:
        """Survey columns, or examine them in contexts."""
        return self._surveyed(*told) if what == "survey" else self._examined(told)

    def _sight(self, whole: bool) -> Sight:
        return self._whole if whole else self._part

    def _surveyed(self, whole: bool, group: _Group) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        columns, scorer = group.columns(), self._sight(whole).scorer
        told = [scorer.survey(columns.positions[part], columns.categories[part]) for part in self._parts(columns)]
        kinds, marks = zip(*told, strict=True)
        return np.concatenate(kinds), np.concatenate(marks)

    def _examined(self, asked: _Examination) -> list[NDArray[Any]]:
        scorer, standing = self._sight(asked.whole).scorer, self._stand(asked)
        return [
            np.concatenate(list(self._told(scorer, standing, group, asked.references[number], each=asked.each)))
            for number, group in asked.groups
        ]

    def _told(
        self, scorer: Scorer, standing: _Standing, group: _Group, reference: _Group, *, each: bool
    ) -> Iterator[NDArray[Any]]:
        """1/p of columns or shadows by the block, in every context or summed over them."""
        chances = self._reference(scorer, standing, reference)
        in_use = np.array(sorted(standing.used), np.int64)
        for positions, scores in self._scored(scorer, group, standing.drawn.contexts):
            told = inverse_chances(scores, chances)
            if each:
                yield told
                continue
            if group.addresses is None:
                for row in np.flatnonzero(np.isin(positions, in_use)).tolist():
                    told[row, standing.used[int(positions[row])]] = 0.0
            yield summed(told)

    def _scored(
        self, scorer: Scorer, group: _Group, contexts: Contexts
    ) -> Iterator[tuple[NDArray[np.signedinteger[Any]], NDArray[np.float32]]]:
        """Positions of columns, and scores of these or of their shadows, by the block."""
        columns, dealt = group.columns(), group.dealt()
        for part in self._parts(columns):
            some = columns.part(part)
            yield some.positions, scorer.scores(some, contexts, None if dealt is None else dealt[part])

    def _stand(self, asked: _Examination) -> _Standing:
        """Contexts of a recipe, drawn by the first item that asks for them; kept components too."""
        scorer, ground = self._sight(asked.whole)
        with self._lock:
            if self._kept.get(id(scorer)) != asked.firsts:
                first = asked.firsts.columns()
                scorer.keep(first.positions, first.categories, self._width)
                self._kept[id(scorer)] = asked.firsts
            recipe = asked.recipe
            key = (asked.whole, None if recipe is None else recipe.key)
            if self._standing is None or self._standing[0] != key:
                self._standing = None  # before the next are laid out
                drawn = Drawn.nothing(ground)
                if recipe is not None:
                    ferns = recipe.grown(scorer.codes(recipe.columns), ground)
                    drawn = Drawn(*ferns, recipe.columns.astype(np.int64), recipe)
                self._standing = (key, _Standing(drawn, used_in(drawn.uses, drawn.carried), {}))
            return self._standing[1]

    def _reference(self, scorer: Scorer, standing: _Standing, reference: _Group) -> Chances:
        """What chance does in every context, by the first shadows of a kind."""
        with self._lock:
            if reference not in standing.references:
                blocks = self._scored(scorer, reference, standing.drawn.contexts)
                scores = np.concatenate([some.copy() for _, some in blocks])  # the next block is in the same buffer
                mean, spread = scores.mean(axis=0, dtype=np.float64), scores.std(axis=0, dtype=np.float64)
                standing.references[reference] = by_chance(mean, spread)
            return standing.references[reference]

    def _parts(self, columns: Columns) -> list[slice]:
        """Columns a block at a time."""
        return [slice(first, first + self._width) for first in range(0, len(columns.positions), self._width)]
