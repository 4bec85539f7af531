"""Driving a search: round after round, with checkpoints between them, until it is done or somebody stops it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from fernwood.run.recording import Recorded, Recording
from fernwood.run.stopping import Stopped, finishing_first, heard, stop_if_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fernwood.insight import History
    from fernwood.run.directory import RunDirectory

__all__ = ["Loop", "Outcome", "SearchProgress", "SearchProgressCallback", "drive"]

State = TypeVar("State")

_LEAST_SECONDS, _MOST_SECONDS = 2.0, 30.0
"""Between two checkpoints, where they are cheap enough and steps are no longer."""
_SHARE_FOR_CHECKPOINTS = 0.02
"""Never more of the time than this goes into them; half of it, where they are rarer than every thirty seconds."""


class SearchProgress(NamedTuple):
    """How far a search is: `done` of `total` draws, columns found, and columns examined at least once of all.

    `said` is for people, in place of what the numbers say; `leading` are the names of a few columns found, the newest
    or the best.
    """

    stage: str
    done: int
    total: int
    unit: str
    found: int
    examined: int
    columns: int
    said: str = ""
    leading: tuple[str, ...] = ()

    @property
    def detail(self) -> str:
        """What is found, for people."""
        return self.said or f"{self.found:,} found, {self.examined:,} of {self.columns:,} columns examined"


SearchProgressCallback: TypeAlias = "Callable[[SearchProgress], None]"


class Loop(Protocol[State]):
    """A search as a run sees it. A state never changes; a round makes a new one."""

    def start(self) -> State:
        """The state before the first round."""

    def step(self, state: State) -> State:
        """The state after one more round."""

    def progress(self, state: State) -> SearchProgress:
        """How far it is; done when `done` reaches `total`."""

    def pack(self, state: State) -> Mapping[str, NDArray[np.generic]]:
        """The state as named arrays, for a checkpoint."""

    def unpack(self, arrays: Mapping[str, NDArray[np.generic]]) -> State:
        """The state from a checkpoint; raises ValueError or KeyError where it cannot be one of this search."""


class Outcome(NamedTuple, Generic[State]):
    """The last state, what stopped the search before its end, if anything did, and how it came along."""

    state: State
    stopped_by: BaseException | None
    history: History


def drive(
    loop: Loop[State],
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    part: str = "checkpoint",
    leading: Callable[[State], Sequence[str]] | None = None,
) -> Outcome[State]:
    """Run a search to its end, from its last checkpoint where there is one.

    Termination signals end it after the step in hand, and Ctrl-C in the library after the last whole one, with a
    checkpoint; the outcome says so. Whatever else ends it does not cost that step, and goes on to the caller. How often
    checkpoints are written depends on what they cost, which changes nothing but what a crash makes us do again. A run
    whose search has several loops names the checkpoints of each by `part`. `leading` names a few of the columns found;
    it is asked when their number changes.
    """
    kept = _Keeper(Recording(loop), directory, part)
    state = kept.first()
    named: tuple[int, tuple[str, ...]] = (0, ())

    def tell(now: SearchProgress) -> None:
        nonlocal named
        if leading is not None and now.found != named[0]:
            named = now.found, tuple(leading(state.state))
        now = now._replace(leading=named[1])
        if directory is not None:
            directory.events.progress(now)
        if progress is not None:
            progress(now)

    try:
        tell(now := state.progress)
        while now.done < now.total:
            kept.step_begins()
            with finishing_first():
                state = kept.loop.step(state)
            kept.offer(state)
            tell(now := state.progress)
            stop_if_asked()
    except (KeyboardInterrupt, Stopped) as stop:
        heard()
        kept.keep(state)
        if directory is not None:
            directory.events.progress(state.progress._replace(leading=named[1]), at_once=True)
            directory.events.say("stopped", by=type(stop).__name__)
        return Outcome(state.state, stop, state.history)
    except BaseException:
        with suppress(Exception):  # what is told is what ended the search, not that it could not be kept
            kept.keep(state)
        raise
    kept.keep(state)
    return Outcome(state.state, None, state.history)


class _Keeper(Generic[State]):
    """Writes checkpoints: often enough for a crash to cost little, and never more than a small share of the time.

    All times are of the monotonic clock, which no one sets back.
    """

    def __init__(self, loop: Recording[State], directory: RunDirectory | None, part: str) -> None:
        self.loop = loop
        self._directory = directory
        self._part = part
        self._kept: Recorded[State] | None = None
        self._soonest = self._due = self._step_began = time.monotonic()  # the first round is kept at once

    def first(self) -> Recorded[State]:
        """The state to begin with: the last one kept, or a new one, which is kept where it took long to make."""
        if self._directory is None:
            return self.loop.start()
        if self._directory.has_checkpoint(self._part):
            self._kept = self._directory.last_state(self.loop, self._part)
            return self._kept
        began = time.monotonic()
        state = self.loop.start()
        if time.monotonic() - began >= _LEAST_SECONDS:
            self.keep(state)
        return state

    def step_begins(self) -> None:
        self._step_began = time.monotonic()

    def offer(self, state: Recorded[State]) -> None:
        """Keep a state if it is time to, or would be before another step like the last one is over."""
        now = time.monotonic()
        if now >= self._soonest and now + (now - self._step_began) >= self._due:
            self.keep(state)

    def keep(self, state: Recorded[State]) -> None:
        if self._directory is None or state is self._kept:
            return
        started = time.monotonic()
        n_bytes = self._directory.save_checkpoint(self.loop.pack(state), self._part)
        ended = time.monotonic()
        took = ended - started
        self._kept = state
        self._soonest = ended + took / _SHARE_FOR_CHECKPOINTS
        self._due = ended + min(max(_LEAST_SECONDS, 2 * took / _SHARE_FOR_CHECKPOINTS), _MOST_SECONDS)
        self._directory.events.checkpoint(
            seconds=round(took, 4), bytes=n_bytes, next_after=round(max(self._soonest, self._due) - ended, 1)
        )
