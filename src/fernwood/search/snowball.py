"""The snowball: columns already found become the context in which every column is examined, wave after wave.

A wave draws contexts from the columns found so far, examines every column and its shadows in them, adds what they tell
to the ledger, and finds columns anew. Columns that matter only together with others come in once those others are
found. When waves bring nothing new, the columns found are judged once more, in fresh contexts of the other ones, and
those that fail leave.

Of very many rows, waves look at a sample. All rows are looked at by every column alone, by the columns and shadows that
are ahead when waves bring nothing new, and when columns are judged once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood import seeds
from fernwood.learner.contexts import in_parts, n_beside, used_in
from fernwood.learner.many import in_order
from fernwood.relevance.shadows import combined, found_at, tail_chances
from fernwood.run.driving import SearchProgress
from fernwood.search.drawn import Drawn
from fernwood.search.exploration import Exploration
from fernwood.search.ledger import SnowballState
from fernwood.search.selection import LEADING
from fernwood.search.snowball_settings import RACING, ROUNDS, SnowballSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.search.evidence import Awake, Look
    from fernwood.search.examining import Shadows

__all__ = ["Snowball"]

_NOT_FOUND = -1
_WAVES, _CONFIRMING, _EXPLORING, _ON_ALL_ROWS = 5, 6, 7, 13  # addresses below the seed
_CARRIED = 30
"""While nothing is found, contexts are made of so many of the best columns."""
_CARRIED_SHARE = 0.03
"""The share of the false discovery rate at which columns are found in contexts that were chosen by the target."""
_WAITING = 8
"""Waves without any column found that end the search."""
_FEW = 3
"""With fewer columns found than this, the search looks for others in contexts of random columns."""
_EXPLORED_TIMES, _MOST_EXPLORED = 3, 2048
"""How often every column is in a context of random columns, and the most such contexts, where that is not said."""
_MOST_CONFIRMING = 20_000
_MEMBERS_AT_ONCE = 2**16
"""Columns that a thread judges together: what is worked out for them takes some hundred bytes each."""
_WHOLE_SHARE = 0.25
"""The share of contexts that there are on all rows, where waves look at a sample."""
_BEGUN, _ROWS_LEFT = -1, -2
"""Rounds of confirmation made, before there is any: nothing stands before it, or a look at all rows."""


def simply(work: Callable[[], Any]) -> Any:
    """What work comes to."""
    return work()


class Snowball:
    """The search as a run sees it; a `Loop`.

    Parameters
    ----------
    part
        The rows that waves look at.
    settings
    seed
    least
        The smallest p that the rows allow.
    whole
        All rows, where the others are a sample.
    surviving
        Does work, and does it again where a device is lost on the way: no state is changed by it.

    Attributes
    ----------
    examiner, ground, told : of the rows that waves look at
    whole : Look; at all rows
    sampled : whether there are more rows than those that waves look at
    least, surviving
    """

    def __init__(
        self,
        part: Look,
        settings: SnowballSettings,
        seed: int,
        least: float = 0.0,
        whole: Look | None = None,
        surviving: Callable[[Callable[[], Any]], Any] = simply,
    ) -> None:
        self._part = part
        self.examiner, self.ground, self.told = part
        self.sampled = whole is not None
        self.whole = part if whole is None else whole
        self.least = least
        self.surviving = surviving
        self._settings = settings
        self._seed = seed
        self._n_columns = self.told.n_columns

    def start(self) -> SnowballState:
        """Every column by itself."""
        state: SnowballState = self.surviving(self._alone)
        return state

    def step(self, state: SnowballState) -> SnowballState:
        """One more wave, contexts of random columns or of all rows where those are due, or a round of confirmation."""
        further: SnowballState = self.surviving(lambda: self._further(state))
        return further

    def _alone(self) -> SnowballState:
        n, n_shadows = self._n_columns, self.told.n_shadows
        alone, alone_null, chance = np.empty(n, np.float32), np.empty(n_shadows, np.float32), np.empty(n)
        for kind, place in self.told.kinds:
            null = self.whole.told.alone(kind, Drawn.nothing(self.whole.ground), alone)
            alone_null[place] = null[: kind.n_always]
            null_evidence = np.log(null, dtype=np.float64)

            def judge(ranks: NDArray[np.int64], null: NDArray[np.float64] = null_evidence) -> None:
                chance[ranks] = tail_chances(np.log(alone[ranks], dtype=np.float64), null)

            self._for_members(kind, judge)
        state = SnowballState(
            np.array([0, 0, _ROWS_LEFT if self.sampled else _BEGUN, 0]),
            alone,
            alone_null,
            np.zeros(n, np.float32),
            np.zeros(n_shadows, np.float32),
            np.zeros(n, np.int32),
            np.zeros(n_shadows, np.int32),
            np.full(n, _NOT_FOUND, np.int16),
            np.maximum(chance, self.least, out=chance),
        )
        return self._with_found(state)

    def _further(self, state: SnowballState) -> SnowballState:
        n_waves, n_idle, n_rounds, n_explored = state.step.tolist()
        patience = self._settings.n_idle if len(state.found) else _WAITING
        if n_rounds < 0 and n_waves < self._settings.max_waves and n_idle < patience:
            return self._with_found(self._with_wave(state))
        if n_rounds < 0 and n_explored < self._n_exploring(state):
            return self._with_found(self._explored(state))
        if n_rounds == _ROWS_LEFT:
            return self._with_found(self._on_all_rows(state))
        return self._confirmed(state)

    @property
    def n_confirming(self) -> int:
        """Contexts of a round of confirmation."""
        return _some_of(self._settings.n_confirming) if self.sampled else self._settings.n_confirming

    @property
    def n_on_all_rows(self) -> int:
        """Contexts of all rows, where waves look at a sample."""
        return _some_of(self._settings.n_contexts) if self.sampled else 0

    def exploration(self, state: SnowballState) -> Exploration:
        """How far contexts of random columns came."""
        n_found, depth = len(state.found), self._exploring_depth
        return Exploration(int(state.step[3]), depth - n_beside(depth, n_found), self._n_columns - n_found)

    def progress(self, state: SnowballState) -> SearchProgress:
        """How far it is, in waves: those that are not needed are skipped at the end."""
        waves = self._settings.max_waves
        a_wave = self._settings.n_contexts
        exploring = max(self._n_exploring(state), int(state.step[3]))
        total = waves + -(-exploring // a_wave) + 1
        explored = int(state.step[3])
        done = int(state.step[0]) if not explored else waves + explored // a_wave
        done = total if self._is_done(state) else min(done, total - 1)
        n_found = int(np.count_nonzero(state.wave >= 0))
        return SearchProgress("searching", done, total, "waves", n_found, self._n_columns, self._n_columns)

    def leading(self, state: SnowballState) -> NDArray[np.int64]:
        """Ranks of a few columns found: the newest, and of those the best."""
        found = state.found
        return found[np.lexsort((state.chance[found], -state.wave[found]))[:LEADING]]

    def chances_of_shadows(self, state: SnowballState) -> NDArray[np.float64]:
        """The p of every shadow that is examined in contexts, judged by the others of its kind, as columns are."""
        nulls = (state.evidence_null(place) for _, place in self.told.kinds)
        return np.concatenate([np.maximum(tail_chances(null, null), self.least) for null in nulls])

    def pack(self, state: SnowballState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays."""
        return state._asdict()

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> SnowballState:
        """The state from a checkpoint."""
        state = SnowballState(**{name: arrays[name] for name in SnowballState._fields})
        for name, array in state._asdict().items():
            length = self.told.n_shadows if name.endswith("_null") else self._n_columns
            if array.shape != (4 if name == "step" else length,) or array.dtype != SnowballState.type_of(name):
                raise ValueError(f"the checkpoint's {name} has another shape or type")
        state.check()
        most = (self._settings.max_waves, np.iinfo(np.int32).max, ROUNDS, self.most_exploring(self._n_columns))
        if (state.step < (0, 0, _ROWS_LEFT, 0)).any() or (state.step > most).any():
            raise ValueError("the checkpoint's steps cannot be")
        return state

    # Waves -----------------------------------------------------------------------------------------------------------

    def _with_wave(self, state: SnowballState) -> SnowballState:
        """Columns and shadows examined in contexts of the columns found; while none is, of the best ones.

        All are awake for a first part of the contexts where columns were found since, and those that race for the rest.
        """
        carried = state.found
        if not len(carried):
            carried = state.best(_CARRIED)
        rng = seeds.generator(self._seed, _WAVES, int(state.step[0]))
        n_first = self._settings.first_leg
        awake = self._racing(state) if state.step[1] else self.told.everyone()
        state = state.opened()
        for leg, n_contexts in enumerate((n_first, self._settings.n_contexts - n_first)):
            if leg:
                awake = self._racing(state)
            for drawn in self._ferns(rng, carried, n_contexts, self._part):
                state.hear(self._part.told, drawn, awake)
                del drawn  # before the next are laid out
        return self._judged(state._replace(step=state.step + np.array([1, 0, 0, 0])))

    def _racing(self, state: SnowballState) -> Awake:
        """Columns and shadows whose evidence is above that of most shadows."""
        awake = self.told.everyone()
        for kind, place in self.told.kinds:
            null = state.evidence_null(place)
            least = np.quantile(null, RACING)

            def wake(ranks: NDArray[np.int64], least: float = least) -> None:
                awake.columns[ranks] = state.evidence(ranks) >= least

            self._for_members(kind, wake)
            awake.shadows[place] = null >= least
        return awake

    def _ferns(self, rng: np.random.Generator, carried: NDArray[np.int64], n_ferns: int, look: Look) -> Iterator[Drawn]:
        """Ferns of some columns, as many at a time as are laid out together.

        Of all rows beside a sample, no more columns are read than the ferns of the time can hold.
        """
        if not n_ferns:
            return
        some, codes = carried, None
        for n in in_parts(look.ground.n_places, n_ferns):
            if look is not self._part:
                size = min(n * look.ground.depth(), len(carried))
                some, codes = np.sort(rng.choice(carried, size, replace=False)), None
            codes = look.examiner.codes(some) if codes is None else codes
            yield Drawn.ferns(rng, look.examiner, some, look.ground, n, codes=codes)

    def _judged(self, state: SnowballState) -> SnowballState:
        """The state with p of the columns that are not found yet."""
        chance = state.chance.copy()
        for kind, place in self.told.kinds:
            shadows = state.evidence_null(place)

            def judge(ranks: NDArray[np.int64], null: NDArray[np.float64] = shadows) -> None:
                out = ranks[state.wave[ranks] < 0]
                chance[out] = np.maximum(tail_chances(state.evidence(out), null), self.least)

            self._for_members(kind, judge)
        return state._replace(chance=chance)

    def _for_members(self, kind: Shadows, work: Callable[[NDArray[np.int64]], None]) -> None:
        """Do work for all columns of a kind, some at a time, on all threads."""
        for _ in in_order(work, kind.members(_MEMBERS_AT_ONCE), self.examiner.n_threads):
            pass

    def _with_found(self, state: SnowballState) -> SnowballState:
        """Columns whose false discovery rate is low enough join those found, and stay."""
        # Contexts of the best columns were chosen by looking at the target; random ones were not.
        provisional = state.step[0] > 0 and state.step[3] == 0 and not len(state.found)
        level = _CARRIED_SHARE * self._settings.fdr if provisional else self._settings.level
        passed = found_at(level, state.chance)
        fresh = passed & (state.wave < 0)
        now = state.step[0] + (state.step[3] > 0)  # what exploring found was not found alone
        wave = np.where(fresh, np.int16(now), state.wave)
        idle = 0 if fresh.any() else state.step[1] + 1
        step = state.step.copy()
        step[1] = idle if state.step[0] else 0
        return state._replace(wave=wave, step=step)

    # Exploring -------------------------------------------------------------------------------------------------------

    def _n_exploring(self, state: SnowballState) -> int:
        """How many contexts of random columns there are to be, as things stand."""
        enough = self._settings.max_contexts == "auto" and len(state.found) >= _FEW
        return 0 if enough else self.most_exploring(self._n_columns)

    def most_exploring(self, n_columns: int) -> int:
        """How many contexts of random columns there are where hardly any of so many columns is found."""
        if self._settings.max_contexts != "auto":
            return int(self._settings.max_contexts)
        return min(_EXPLORED_TIMES * -(-n_columns // self._exploring_depth), _MOST_EXPLORED)

    @property
    def _exploring_depth(self) -> int:
        return min(self.ground.depth(exploring=True), self._n_columns)

    def _explored(self, state: SnowballState) -> SnowballState:
        """Every column examined in contexts of random columns beside those found; a ledger of its own while none is."""
        n_explored = int(state.step[3])
        n_contexts = min(self._settings.n_contexts, self._n_exploring(state) - n_explored)
        rng = seeds.generator(self._seed, _EXPLORING, n_explored)
        # What the best columns told of each other was chosen by the target, and has no place beside this.
        state = state.forgotten() if n_explored == 0 and not len(state.found) else state.opened()
        for drawn in self._exploring_ferns(rng, state, n_contexts, self._part):
            state.hear(self._part.told, drawn, self.told.everyone())
            del drawn
        return self._judged(state._replace(step=state.step + np.array([0, 0, 0, n_contexts])))

    def _exploring_ferns(
        self, rng: np.random.Generator, state: SnowballState, n_ferns: int, look: Look
    ) -> Iterator[Drawn]:
        """Ferns of random columns beside those found."""
        found = state.found
        n_others = self._n_columns - len(found)
        for n in in_parts(look.ground.n_places, n_ferns):
            size = min(n * self._exploring_depth, n_others)
            others = np.sort(rng.choice(n_others, size, replace=False))
            # From places among those not found to ranks: each found column before one moves it on.
            others += np.searchsorted(found - np.arange(len(found)), others, side="right")
            carried = np.concatenate((found, others))
            yield Drawn.ferns(rng, look.examiner, carried, look.ground, n, n_found=len(found))

    def _on_all_rows(self, state: SnowballState) -> SnowballState:
        """Columns and shadows that are ahead, examined in contexts of all rows: of columns found, or of random ones."""
        rng = seeds.generator(self._seed, _ON_ALL_ROWS)
        n_contexts, awake = self.n_on_all_rows, self._racing(state)
        state = state.opened()
        if len(state.found):
            lots = self._ferns(rng, state.found, n_contexts, self.whole)
        else:
            lots = self._exploring_ferns(rng, state, n_contexts, self.whole)
        for drawn in lots:
            state.hear(self.whole.told, drawn, awake)
            del drawn
        step = state.step.copy()
        step[2] = _BEGUN
        return self._judged(state._replace(step=step))

    # Confirmation -----------------------------------------------------------------------------------------------------

    def _is_done(self, state: SnowballState) -> bool:
        return bool(state.step[2] >= ROUNDS)

    def _confirmed(self, state: SnowballState) -> SnowballState:
        """The columns found, each judged in fresh contexts that the others make; those that fail leave.

        Columns that were found by themselves keep their p, since no other column helped them. A round that loses none
        is the last.
        """
        found, number = state.found, int(max(state.step[2], 0))
        step = state.step.copy()
        if not len(found):
            step[2] = ROUNDS
            return state._replace(step=step)
        late = state.wave[found] > 0
        judged = state.chance[found]
        if late.any():
            judged[late] = self._fresh_chances(state, found, found[late], number)
        kept = found_at(self._settings.level, judged, self._n_columns)
        chance, wave = state.chance.copy(), state.wave.copy()
        chance[found] = judged
        wave[found[~kept]] = _NOT_FOUND
        step[2] = ROUNDS if kept.all() else number + 1
        return state._replace(step=step, wave=wave, chance=chance)

    def _fresh_chances(
        self, state: SnowballState, found: NDArray[np.int64], late: NDArray[np.int64], number: int
    ) -> NDArray[np.float64]:
        """The chances of some columns found, from contexts of a round of confirmation that do not use them."""
        n_contexts = self.n_confirming

        def lots() -> Iterator[Drawn]:
            return self._ferns(seeds.generator(self._seed, _CONFIRMING, number), found, n_contexts, self.whole)

        # Contexts that are laid out together are kept for all kinds; the others are drawn anew for each.
        kept = list(lots()) if len(in_parts(self.whole.ground.n_places, n_contexts)) == 1 else None
        out = np.empty(len(late))
        for kind, place in self.told.kinds:
            places = np.flatnonzero(kind.kinds[late] == kind.number)
            mine = late[places]
            if not len(mine):
                continue
            # What every shadow tells in every context is kept here, so that these are no more than some thousands.
            n_shadows = min(kind.n_always, _MOST_CONFIRMING)
            alone_null = state.alone_null[place][:n_shadows]
            told, n_told = [], 0
            used: dict[int, list[int]] = {}
            for drawn in kept or lots():
                told.append(self.whole.told.each(kind, mine, drawn, n_shadows))
                for rank, contexts in used_in(drawn.uses, drawn.carried, n_told).items():
                    used.setdefault(rank, []).extend(contexts)
                n_told += len(drawn.uses)
                del drawn
            own, null = told[0] if len(told) == 1 else (np.concatenate(p, axis=1) for p in zip(*told, strict=True))
            everywhere = null.sum(axis=1, dtype=np.float64)
            for row, rank in enumerate(mine.tolist()):
                using = used.get(rank, [])
                beside = np.array([own.shape[1] - len(using)])
                evidence = combined(state.alone[[rank]], np.delete(own[row], using).sum(dtype=np.float64), beside)
                theirs = everywhere - null[:, using].sum(axis=1, dtype=np.float64)
                out[places[row]] = tail_chances(evidence, combined(alone_null, theirs, beside))[0]
        return np.maximum(out, self.least)


def _some_of(n_contexts: int) -> int:
    return max(1, round(_WHOLE_SHARE * n_contexts))
