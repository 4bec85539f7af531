"""The snowball: columns already found become the context in which every column is examined, wave after wave.

A wave draws contexts from the columns found so far, examines every column and its shadows in them, adds what they tell
to the ledger, and finds columns anew. Columns that matter only together with others come in once those others are
found. When waves bring nothing new, the columns found are judged once more, in fresh contexts of the other ones, and
those that fail leave.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.learner.contexts import draw_exploring_ferns, draw_ferns, fern_depth, without_context
from fernwood.relevance.shadows import combined, false_discoveries, inverse_chances, tail_chances
from fernwood.relevance.tested import check_fdr
from fernwood.run.driving import SearchProgress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.learner.target import TreeTarget
    from fernwood.search.examining import Examiner, Shadows

__all__ = ["Snowball", "SnowballSettings", "SnowballState"]

_NOT_FOUND = -1
_WAVES, _CONFIRMING, _EXPLORING = range(5, 8)  # addresses below the seed
_CARRIED = 30
"""While nothing is found, contexts are made of so many of the best columns."""
_WAVE_SHARE, _CARRIED_SHARE = 0.5, 0.03
"""Shares of the false discovery rate at which columns are found: far less in contexts chosen by the target."""
_WAITING = 8
"""Waves without any column found that end the search."""
_FEW = 3
"""With fewer columns found than this, the search looks for others in contexts of random columns."""
_EXPLORED_TIMES, _MOST_EXPLORED = 3, 2048
"""How often every column is in a context of random columns, and the most such contexts, where that is not said."""
_ROUNDS = 5
"""The most rounds of confirmation."""


@dataclass(frozen=True, slots=True)
class SnowballSettings:
    """What the answer of a snowball depends on, beside the data and the seed.

    Parameters
    ----------
    fdr
        The false discovery rate: the share of false columns among those confirmed, on average, at most.
    n_contexts
        Contexts of a wave.
    max_waves
        The most waves there are.
    n_idle
        Waves without a new column that end the search.
    n_confirming
        Contexts of a round of confirmation; there are at most five.
    max_contexts
        Contexts of random columns, to meet columns that tell nothing but together (an exclusive or). None explores only
        while fewer than three are found, in three contexts for every column that fits into one, 2048 at most.
    """

    method: ClassVar[str] = "snowball"

    fdr: float = 0.1
    n_contexts: int = 128
    max_waves: int = 12
    n_idle: int = 2
    n_confirming: int = 256
    max_contexts: int | None = None

    def __post_init__(self) -> None:
        check_fdr(self.fdr)
        for name in ("n_contexts", "max_waves", "n_idle", "n_confirming"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ParameterError(f"{name} is {value!r}; it must be an integer from 1 on")
        most: object = self.max_contexts
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0):
            raise ParameterError(f"max_contexts is {most!r}; it must be an integer from 0 on, or None")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {k: v.item() if isinstance(v, np.generic) else v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> SnowballSettings:
        """The settings that `to_json` wrote."""
        return cls(**entries)


class SnowballState(NamedTuple):
    """All that the next step needs; arrays are by rank, those of shadows kind after kind.

    Attributes
    ----------
    step : int64 array of 4; waves made, waves without a new column, rounds of confirmation made (−1: it has not begun),
        contexts explored
    alone, alone_null : float64 arrays; 1/p without context, of columns and of shadows
    ledger, ledger_null : float64 arrays; the sum of 1/p over contexts
    contexts : int32 array; in how many contexts a column was examined
    n_null : int64 array of 1; in how many every shadow was
    wave : int16 array; the wave in which a column was found, −1 where it is not
    chance : float64 array; p of the column, from the wave before it was found, or from the last confirmation
    """

    step: NDArray[np.int64]
    alone: NDArray[np.float64]
    alone_null: NDArray[np.float64]
    ledger: NDArray[np.float64]
    ledger_null: NDArray[np.float64]
    contexts: NDArray[np.int32]
    n_null: NDArray[np.int64]
    wave: NDArray[np.int16]
    chance: NDArray[np.float64]

    @property
    def found(self) -> NDArray[np.int64]:
        """Ranks of the columns found, in increasing order."""
        return np.flatnonzero(self.wave >= 0)


class Snowball:
    """The search as a run sees it; a `Loop`.

    Parameters
    ----------
    examiner
        Scores columns and shadows.
    target
        Of the rows that count.
    shadows
        Of every kind of column; together their members are all columns.
    settings
    seed
    """

    def __init__(
        self, examiner: Examiner, target: TreeTarget, shadows: list[Shadows], settings: SnowballSettings, seed: int
    ) -> None:
        self._examiner = examiner
        self._target = target
        self._shadows = shadows
        self._settings = settings
        self._seed = seed
        self._n_columns = sum(len(kind.members) for kind in shadows)
        ends = np.cumsum([0, *(len(kind.models) for kind in shadows)])
        self._places = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self._n_shadows = int(ends[-1])

    def start(self) -> SnowballState:
        """Every column by itself."""
        n = self._n_columns
        alone, alone_null = np.empty(n), np.empty(self._n_shadows)
        chance = np.empty(n)
        for kind, place in zip(self._shadows, self._places, strict=True):
            own, null = self._inverse_chances(kind, kind.members, without_context(self._target))
            alone[kind.members], alone_null[place] = own[:, 0], null[:, 0]
            chance[kind.members] = tail_chances(np.log(alone[kind.members]), np.log(alone_null[place]))
        state = SnowballState(
            np.array([0, 0, -1, 0]),
            alone,
            alone_null,
            np.zeros(n),
            np.zeros(self._n_shadows),
            np.zeros(n, np.int32),
            np.zeros(1, np.int64),
            np.full(n, _NOT_FOUND, np.int16),
            chance,
        )
        return self._with_found(state)

    def step(self, state: SnowballState) -> SnowballState:
        """One more wave, contexts of random columns where those are due, or one more round of confirmation."""
        n_waves, n_idle, n_rounds, n_explored = state.step.tolist()
        patience = self._settings.n_idle if len(state.found) else _WAITING
        if n_rounds < 0 and n_waves < self._settings.max_waves and n_idle < patience:
            return self._with_found(self._with_wave(state))
        if n_rounds < 0 and n_explored < self._n_exploring(state):
            return self._with_found(self._explored(state))
        return self._confirmed(state)

    def progress(self, state: SnowballState) -> SearchProgress:
        """How far it is, in waves: those that are not needed are skipped at the end."""
        total = self._settings.max_waves + 1
        done = total if self._is_done(state) else min(int(state.step[0]), total - 1)
        n_found = int(np.count_nonzero(state.wave >= 0))
        return SearchProgress("searching", done, total, "waves", n_found, self._n_columns, self._n_columns)

    def pack(self, state: SnowballState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays."""
        return state._asdict()

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> SnowballState:
        """The state from a checkpoint."""
        state = SnowballState(**{name: arrays[name] for name in SnowballState._fields})
        shapes = {"step": 4, "n_null": 1, "alone_null": self._n_shadows, "ledger_null": self._n_shadows}
        for name, array in state._asdict().items():
            if array.shape != (shapes.get(name, self._n_columns),):
                raise ValueError(f"the checkpoint's {name} has another shape")
        return state

    # Exploring -------------------------------------------------------------------------------------------------------

    def _n_exploring(self, state: SnowballState) -> int:
        """How many contexts of random columns there are to be, as things stand."""
        if self._settings.max_contexts is not None:
            return self._settings.max_contexts
        if len(state.found) >= _FEW:
            return 0
        return min(_EXPLORED_TIMES * -(-self._n_columns // self._exploring_depth), _MOST_EXPLORED)

    @property
    def _exploring_depth(self) -> int:
        n_classes = max(len(self._target.classes), 1)
        return min(fern_depth(self._target.n_rows, n_classes, exploring=True), self._n_columns)

    def _explored(self, state: SnowballState) -> SnowballState:
        """Every column examined in contexts of random columns beside those found; a ledger of its own while none is."""
        n_explored = int(state.step[3])
        n_contexts = min(self._settings.n_contexts, self._n_exploring(state) - n_explored)
        rng = seeds.generator(self._seed, _EXPLORING, n_explored)
        others = np.flatnonzero(state.wave < 0)
        size = min(n_contexts * self._exploring_depth, len(others))
        carried = np.concatenate((state.found, np.sort(rng.choice(others, size, replace=False))))
        ferns = draw_exploring_ferns(
            rng,
            self._examiner.codes(carried),
            self._examiner.categories[carried],
            self._target,
            n_contexts,
            len(state.found),
        )
        begun = state
        if n_explored == 0 and not len(state.found):
            # What the best columns told of each other was chosen by the target, and has no place beside this.
            begun = state._replace(
                ledger=np.zeros_like(state.ledger),
                ledger_null=np.zeros_like(state.ledger_null),
                contexts=np.zeros_like(state.contexts),
                n_null=np.zeros_like(state.n_null),
            )
        step = begun.step + np.array([0, 0, 0, n_contexts])
        return self._examined(begun._replace(step=step), ferns.contexts, carried, ferns.uses)

    # Waves -----------------------------------------------------------------------------------------------------------

    def _with_wave(self, state: SnowballState) -> SnowballState:
        """Every column and shadow examined in contexts of the columns found; while none is, of the best ones."""
        carried = state.found
        if not len(carried):
            carried = np.sort(np.argsort(state.chance, kind="stable")[:_CARRIED])
        number = int(state.step[0])
        contexts, uses = self._ferns(carried, self._settings.n_contexts, _WAVES, number)
        step = state.step + np.array([1, 0, 0, 0])
        return self._examined(state._replace(step=step), contexts, carried, uses)

    def _examined(
        self, state: SnowballState, contexts: Contexts, carried: NDArray[np.int64], uses: list[NDArray[np.int64]]
    ) -> SnowballState:
        """The state with what contexts tell added to the ledger, and p of columns that are not found yet."""
        ledger, ledger_null = state.ledger.copy(), state.ledger_null.copy()
        for kind, place in zip(self._shadows, self._places, strict=True):
            sums, null = self._sums(kind, contexts, carried, uses)
            ledger[kind.members] += sums
            ledger_null[place] += null
        used = np.bincount(np.concatenate([carried[use] for use in uses]), minlength=self._n_columns)
        counts = state.contexts + np.int32(len(uses)) - used.astype(np.int32)
        n_null = state.n_null + len(uses)
        chance = state.chance.copy()
        for kind, place in zip(self._shadows, self._places, strict=True):
            out = kind.members[state.wave[kind.members] < 0]
            evidence = combined(state.alone[out], ledger[out], counts[out])
            null = combined(state.alone_null[place], ledger_null[place], int(n_null[0]))
            chance[out] = tail_chances(evidence, null)
        return state._replace(ledger=ledger, ledger_null=ledger_null, contexts=counts, n_null=n_null, chance=chance)

    def _with_found(self, state: SnowballState) -> SnowballState:
        """Columns whose false discovery rate is low enough join those found, and stay."""
        # Contexts of the best columns were chosen by looking at the target; random ones were not.
        provisional = state.step[0] > 0 and state.step[3] == 0 and not len(state.found)
        level = (_CARRIED_SHARE if provisional else _WAVE_SHARE) * self._settings.fdr
        passed = false_discoveries(state.chance) <= level
        fresh = passed & (state.wave < 0)
        now = state.step[0] + (state.step[3] > 0)  # what exploring found was not found alone
        wave = np.where(fresh, np.int16(now), state.wave)
        idle = 0 if fresh.any() else state.step[1] + 1
        step = state.step.copy()
        step[1] = idle if state.step[0] else 0
        return state._replace(wave=wave, step=step)

    def _sums(
        self, kind: Shadows, contexts: Contexts, carried: NDArray[np.int64], uses: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The sums of 1/p over all contexts, for a column over those that do not use it."""
        using: dict[int, list[int]] = {}  # contexts by the place of a column among the members
        for number, use in enumerate(uses):
            ranks = np.intersect1d(carried[use], kind.members)
            for place in np.searchsorted(kind.members, ranks).tolist():
                using.setdefault(place, []).append(number)
        sums = np.zeros(len(kind.members))
        null = self._null(kind, contexts)
        mean, spread = null.mean(axis=0, dtype=np.float64), null.std(axis=0, dtype=np.float64)

        def add(places: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
            told = inverse_chances(scores, mean, spread)
            for place in using.keys() & set(range(int(places[0]), int(places[-1]) + 1)):
                told[place - places[0], using[place]] = 0.0
            sums[places] = told.sum(axis=1, dtype=np.float64)

        self._examiner.examine(kind.members, contexts, add)
        return sums, inverse_chances(null, mean, spread).sum(axis=1, dtype=np.float64)

    def _null(self, kind: Shadows, contexts: Contexts) -> NDArray[np.float32]:
        """Scores of the shadows of a kind in every context."""
        null = np.empty((len(kind.models), len(contexts.rows)), np.float32)

        def keep(places: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
            null[places] = scores

        self._examiner.examine(kind.models, contexts, keep, kind.copies)
        return null

    def _inverse_chances(
        self, kind: Shadows, ranks: NDArray[np.int64], contexts: Contexts
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """1/p of some columns of a kind, and of its shadows, in every context."""
        null = self._null(kind, contexts)
        mean, spread = null.mean(axis=0, dtype=np.float64), null.std(axis=0, dtype=np.float64)
        own = np.empty((len(ranks), null.shape[1]), np.float32)

        def keep(places: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
            own[places] = inverse_chances(scores, mean, spread)

        self._examiner.examine(ranks, contexts, keep)
        return own, inverse_chances(null, mean, spread)

    def _ferns(
        self, carried: NDArray[np.int64], n_ferns: int, *address: int
    ) -> tuple[Contexts, list[NDArray[np.int64]]]:
        rng = seeds.generator(self._seed, *address)
        categories = self._examiner.categories[carried]
        ferns = draw_ferns(rng, self._examiner.codes(carried), categories, self._target, n_ferns)
        return ferns.contexts, ferns.uses

    # Confirmation -----------------------------------------------------------------------------------------------------

    def _is_done(self, state: SnowballState) -> bool:
        return bool(state.step[2] >= _ROUNDS)

    def _confirmed(self, state: SnowballState) -> SnowballState:
        """The columns found, each judged in fresh contexts that the others make; those that fail leave.

        Columns that were found by themselves keep their p, since no other column helped them. A round that loses none
        is the last.
        """
        found, number = state.found, int(max(state.step[2], 0))
        step = state.step.copy()
        if not len(found):
            step[2] = _ROUNDS
            return state._replace(step=step)
        contexts, uses = self._ferns(found, self._settings.n_confirming, _CONFIRMING, number)
        chance = state.chance.copy()
        by_itself = state.wave == 0
        judged = np.where(by_itself, state.chance, 1.0)
        using = {rank: np.ones(len(uses), bool) for rank in found.tolist()}
        for context, use in enumerate(uses):
            for rank in found[use].tolist():
                using[rank][context] = False
        for kind, place in zip(self._shadows, self._places, strict=True):
            mine = np.intersect1d(kind.members, found[~by_itself[found]])
            if not len(mine):
                continue
            own, null = self._inverse_chances(kind, mine, contexts)
            alone_null = state.alone_null[place]
            for row, rank in enumerate(mine.tolist()):
                beside = using[rank]
                n_beside = int(np.count_nonzero(beside))
                evidence = combined(state.alone[[rank]], own[[row]][:, beside].sum(axis=1, dtype=np.float64), n_beside)
                theirs = combined(alone_null, null[:, beside].sum(axis=1, dtype=np.float64), n_beside)
                judged[rank] = tail_chances(evidence, theirs)[0]
        kept = false_discoveries(judged) <= _WAVE_SHARE * self._settings.fdr
        chance[found] = judged[found]
        wave = np.where(kept, state.wave, np.int16(_NOT_FOUND))
        lost = np.count_nonzero(wave >= 0) < len(found)
        step[2] = number + 1 if lost else _ROUNDS
        return state._replace(step=step, wave=wave, chance=chance)
