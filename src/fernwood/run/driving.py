"""Driving a search: round after round, with checkpoints between them, until it is done or somebody stops it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from fernwood.errors import LearnerError
from fernwood.run.stopping import Stopped, stop_if_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from fernwood.run.directory import RunDirectory

__all__ = ["Loop", "Outcome", "SearchProgress", "SearchProgressCallback", "drive"]

State = TypeVar("State")

_LEAST_SECONDS = 2.0
_SHARE_FOR_CHECKPOINTS = 0.02


class SearchProgress(NamedTuple):
    """How far a search is: `done` of `total` draws, columns found, and columns examined at least once of all.

    `said` is for people, in place of what the numbers say.
    """

    stage: str
    done: int
    total: int
    unit: str
    found: int
    examined: int
    columns: int
    said: str = ""

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
    """The last state, and what stopped the search before its end, if anything did."""

    state: State
    stopped_by: BaseException | None


def drive(
    loop: Loop[State],
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
) -> Outcome[State]:
    """Run a search to its end, from its last checkpoint where there is one.

    Ctrl-C and termination signals end it after the last whole round, with a checkpoint; the outcome says so. How often
    checkpoints are written depends on what they cost, which changes nothing but what a crash makes us do again.
    """
    state = loop.start() if directory is None else directory.last_state(loop)
    kept = _Keeper(loop, directory)

    def tell(now: SearchProgress) -> None:
        if directory is not None:
            directory.events.progress(now)
        if progress is not None:
            progress(now)

    try:
        tell(now := loop.progress(state))
        while now.done < now.total:
            state = loop.step(state)
            kept.offer(state)
            tell(now := loop.progress(state))
            stop_if_asked()
    except (KeyboardInterrupt, Stopped) as stop:
        kept.keep(state)
        if directory is not None:
            directory.events.progress(loop.progress(state))
            directory.events.say("stopped", by=type(stop).__name__)
        return Outcome(state, stop)
    except LearnerError:
        kept.keep(state)  # what was done before is not lost
        raise
    kept.keep(state)
    return Outcome(state, None)


class _Keeper(Generic[State]):
    """Writes checkpoints: not more than a small share of the time goes into them."""

    def __init__(self, loop: Loop[State], directory: RunDirectory | None) -> None:
        self._loop = loop
        self._directory = directory
        self._next = time.monotonic()  # the first round is kept at once

    def offer(self, state: State) -> None:
        if self._directory is not None and time.monotonic() >= self._next:
            self.keep(state)

    def keep(self, state: State) -> None:
        if self._directory is None:
            return
        started = time.monotonic()
        self._directory.save_checkpoint(self._loop.pack(state))
        ended = time.monotonic()
        self._next = ended + max(_LEAST_SECONDS, (ended - started) / _SHARE_FOR_CHECKPOINTS)
