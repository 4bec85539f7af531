"""How a search comes along, recorded step by step and kept in its checkpoints, so that a pause leaves no gap in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from fernwood.insight import History

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.run.driving import Loop, SearchProgress

__all__ = ["Recorded", "Recording"]

State = TypeVar("State")

_NAME = "history"
"""Of the array in a checkpoint."""
_MOST_POINTS = 512


class Recorded(NamedTuple, Generic[State]):
    """A state, how far the search is with it, and how it came there.

    Attributes
    ----------
    state, progress
    points : int64 array, shape (points, 4); steps made, and what `progress` said then: done, found, examined
    """

    state: State
    progress: SearchProgress
    points: NDArray[np.int64]

    @property
    def history(self) -> History:
        """The points, of which those of the same `done` are one: the last."""
        done = self.points[:, 1]
        last = np.append(done[1:] != done[:-1], True)
        return History(*self.points[last, 1:].T.tolist())


class Recording(Generic[State]):
    """A loop whose states carry their history; a `Loop` of `Recorded` states.

    Which points stay depends on the number of steps alone: all of them up to about five hundred, then every second, and
    so on, and always the last.

    Examples
    --------
    >>> from fernwood.run.driving import SearchProgress
    >>> class Counting:
    ...     def start(self): return 0
    ...     def step(self, state): return state + 1
    ...     def progress(self, state): return SearchProgress("counting", 10 * state, 30, "draws", state // 2, state, 9)
    >>> loop = Recording(Counting())
    >>> loop.step(loop.step(loop.start())).history
    History(done=[0, 10, 20], found=[0, 0, 1], examined=[0, 1, 2])
    """

    def __init__(self, loop: Loop[State]) -> None:
        self._loop = loop

    def start(self) -> Recorded[State]:
        """The state before the first round."""
        return self._with(self._loop.start(), np.empty((0, 4), np.int64))

    def step(self, state: Recorded[State]) -> Recorded[State]:
        """The state after one more round."""
        return self._with(self._loop.step(state.state), state.points)

    def _with(self, state: State, points: NDArray[np.int64]) -> Recorded[State]:
        progress = self._loop.progress(state)
        number = int(points[-1, 0]) + 1 if len(points) else 0
        every = _every(number)
        now = np.array([[number, progress.done, progress.found, progress.examined]])
        return Recorded(state, progress, np.concatenate([points[points[:, 0] % every == 0], now]))

    def progress(self, state: Recorded[State]) -> SearchProgress:
        """How far it is."""
        return state.progress

    def pack(self, state: Recorded[State]) -> Mapping[str, NDArray[Any]]:
        """The state and its history as named arrays."""
        return {**self._loop.pack(state.state), _NAME: state.points}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Recorded[State]:
        """The state from a checkpoint; the first ones had no history."""
        state, points = self._loop.unpack(arrays), arrays.get(_NAME)
        if points is None:
            return self._with(state, np.empty((0, 4), np.int64))
        if points.ndim != 2 or points.shape[1] != 4 or points.dtype != np.int64 or not len(points):
            raise ValueError("the checkpoint's history is of another shape or type")
        if (np.diff(points[:, 0]) <= 0).any() or points.min() < 0:
            raise ValueError("the checkpoint's history cannot be")
        return Recorded(state, self._loop.progress(state), points)


def _every(number: int) -> int:
    """Of the steps up to this one, which stay: those that this divides."""
    every = 1
    while number // every >= _MOST_POINTS:
        every *= 2
    return every
