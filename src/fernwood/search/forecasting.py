"""What a search will take, before it begins: its plan of the memory, and time and reads by a short trial on the store.

The trial is the search itself, on a few thousand of the columns or for one round, so that what it costs here and today
is measured and not assumed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.device import card_if_any
from fernwood.run.plan import plan_card
from fernwood.search.devices import pays
from fernwood.search.examining import shadow_counts
from fernwood.search.methods import prepare
from fernwood.search.rolling import planned
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store.view import ColumnView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.run.plan import CardPlan, SearchPlan
    from fernwood.search.methods import Settings
    from fernwood.search.snowball import Snowball
    from fernwood.store.base import Store

__all__ = ["Forecast", "forecast"]

_RUN_COLUMNS, _RUNS = 512, 64
"""A trial of the snowball reads so many neighbours at a time, as a sweep does, from so many places at most."""
_USUAL_WAVES = 3
"""Waves that bring columns in a usual search; those that bring none follow."""


class Forecast(NamedTuple):
    """What a search will take.

    Attributes
    ----------
    plan : of the memory
    seconds, bytes_read : what a usual search takes
    most_seconds, most_bytes_read : what the longest one takes that the settings allow
    trial_seconds : what finding this out took
    rounds : what a usual and what the longest search does, in words
    card : of the memory of a card; None without one
    """

    plan: SearchPlan
    seconds: float
    bytes_read: float
    most_seconds: float
    most_bytes_read: float
    trial_seconds: float
    rounds: str
    card: CardPlan | None = None

    @property
    def reading_rate(self) -> float:
        """Bytes a second that the search asks of the disk; it is limited by one that gives fewer."""
        return self.bytes_read / max(self.seconds, 1e-9)


class _Trial(NamedTuple):
    """What a piece of work took."""

    seconds: float
    bytes_read: int


class _Watch:
    """Times pieces of work on a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._started = time.perf_counter()
        self.lap()

    def lap(self) -> _Trial:
        """What was done since the last call."""
        now, read = time.perf_counter(), getattr(self._store, "bytes_read", 0)
        done = _Trial(now - getattr(self, "_now", now), read - getattr(self, "_read", read))
        self._now, self._read = now, read
        return done

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._started


def forecast(
    store: Store,
    settings: Settings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    **how: Any,
) -> Forecast:
    """What a search of a store will take; see `select_by_subspaces` for the parameters.

    `how` goes to the search that is tried, such as the device that it is to use.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.random.default_rng(0).standard_normal((200, 300)), target=np.arange(200) % 2)
    >>> told = forecast(store, SnowballSettings(), seed=0)
    >>> told.plan.n_threads, 0 < told.seconds < told.most_seconds
    (1, True)
    """
    if isinstance(settings, SnowballSettings):
        return _of_snowball(store, settings, seed, n_threads, memory, held, **how)
    watch = _Watch(store)
    ready = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held, **how)
    state = ready.loop.start()
    before, ahead = ready.loop.progress(state), watch.lap()
    now = ready.loop.progress(ready.loop.step(state))
    a_round = watch.lap()
    n_rounds = (now.total - before.done) / max(now.done - before.done, 1)
    seconds, n_bytes = (a + n_rounds * b for a, b in zip(ahead, a_round, strict=True))
    rounds = f"{now.total:,} {now.unit} at most, {_shown_seconds(a_round.seconds)} for {now.done - before.done:,}"
    return Forecast(ready.plan, seconds, n_bytes, seconds, n_bytes, watch.seconds, rounds)


def _of_snowball(
    store: Store, settings: SnowballSettings, seed: int, n_threads: int, memory: int | None, held: int, **how: Any
) -> Forecast:
    """The snowball on some of the columns, for one wave, and what that makes for all.

    Twice, on few columns and on more: what a wave takes however few the columns are does not grow with them.
    """
    started = time.perf_counter()
    if how.get("device") == "auto":  # by the size of the whole table, not of what is tried
        how["device"] = "auto" if not pays(store.n_rows * store.n_columns) or card_if_any() is None else "cuda"
    few, more = (_tried(store, settings, seed, n_threads, n_runs, **how) for n_runs in (1, _RUNS))
    examiner, ground, _ = more.loop.whole
    room: dict[str, Any] = {"n_threads": n_threads, "memory": memory, "held": held}
    in_place = examiner.scorer.in_place
    plan = planned(store.n_columns, settings, ground, more.n_sampled, in_place=in_place, **room)
    n = store.n_columns
    told = more.loop.told
    n_shadows, n_alone = np.maximum(shadow_counts(n, n), (told.n_shadows, told.n_alone)).tolist()
    whole = np.array([n, n + n_alone, n + n_shadows])
    grows = (more.took - few.took) / np.maximum(more.work - few.work, 1)
    survey, alone, a_wave = (more.took + np.maximum(grows, 0) * (whole - more.work)).T
    work = settings.effort
    idle = a_wave * work.idle / work.wave
    # Confirming looks at shadows, and at the columns found, which are few; of very many rows, at all of them.
    confirming = a_wave * more.loop.n_confirming / work.wave * n_shadows / (n + n_shadows) * more.times_rows
    on_all_rows = a_wave * more.loop.n_on_all_rows * work.idle / settings.n_contexts / work.wave * more.times_rows
    begun = survey + alone + on_all_rows
    usual = begun + _USUAL_WAVES * a_wave + settings.n_idle * idle + confirming
    exploring = a_wave * more.loop.most_exploring(n) / work.wave
    most = begun + settings.max_waves * a_wave + exploring + work.rounds * confirming
    if settings.max_contexts != "auto":
        usual += exploring
    rounds = (
        f"a wave {_shown_seconds(a_wave[0])}; usually {_USUAL_WAVES} of them bring columns and {settings.n_idle} none, "
        f"{settings.max_waves} at most"
    )
    (seconds, n_bytes), (most_seconds, most_bytes) = usual.tolist(), most.tolist()
    took = time.perf_counter() - started
    on_card = more.loop.examiner.room_bytes
    card = None if on_card is None else plan_card(more.loop.ground.target.n_rows, n, on_card)
    return Forecast(plan, seconds, n_bytes, most_seconds, most_bytes, took, rounds, card)


class _Tried(NamedTuple):
    """A trial of the snowball.

    Attributes
    ----------
    took : array, shape (2, 3); seconds and bytes read of the survey, of columns alone, and of a wave
    work : array of 3; the columns and shadows that each of these examined
    loop : the search that was tried
    """

    took: NDArray[np.float64]
    work: NDArray[np.int64]
    loop: Snowball

    @property
    def n_sampled(self) -> int | None:
        """How many rows waves look at; None for all."""
        return self.loop.ground.target.n_rows if self.loop.sampled else None

    @property
    def times_rows(self) -> float:
        """How many times as many rows there are."""
        return self.loop.whole.ground.target.n_rows / self.loop.ground.target.n_rows


def _tried(store: Store, settings: SnowballSettings, seed: int, n_threads: int, n_runs: int, **how: Any) -> _Tried:
    some = ColumnView(store, _sample(store.n_columns, n_runs))
    _ = some.usable, some.kinds, some.checksums  # records that lie far apart are slow to read, and not what is timed
    watch = _Watch(store)
    loop: Snowball = prepare(some, settings, seed, n_threads=n_threads, **how).loop
    survey = watch.lap()
    state = loop.start()
    alone = watch.lap()
    loop.step(state)
    took = np.array([survey, alone, watch.lap()]).T
    return _Tried(took, some.n_columns + np.array([0, loop.told.n_alone, loop.told.n_shadows]), loop)


def _sample(n_columns: int, n_runs: int) -> NDArray[np.int64]:
    """Columns of a trial: runs of neighbours, evenly spread; all where there are few."""
    if n_columns <= _RUN_COLUMNS * n_runs:
        return np.arange(n_columns)
    firsts = np.linspace(0, n_columns - _RUN_COLUMNS, n_runs).astype(np.int64)
    return np.unique(firsts[:, None] + np.arange(_RUN_COLUMNS))


def _shown_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"
