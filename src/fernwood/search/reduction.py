"""The reduction to a few columns that suffice, as a run sees it: one fit at a time, and what stands in at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.importance.out_of_bag import Left
from fernwood.learner.many import in_order
from fernwood.run.driving import SearchProgress
from fernwood.search.checkpoints import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["MOST_STAND_INS", "Few", "Reduction", "ReductionState"]

MOST_STAND_INS = 3
_ONE_BY_ONE = 24
"""From so few columns on, they leave one at a time."""
_SHARE_AT_ONCE = 4
_FREE = 0.25
"""Columns leave several at a time only where this costs next to nothing: a quarter of the slack."""
_WIDTH = 5
"""Of so many columns, those of least importance, the one leaves that is missed least."""
_RELATED_AT_ONCE = 16
_ALL_TOGETHER, _BY_GROUP, _ONE_AT_A_TIME, _RELATING = range(4)
_NONE = -1
_NO_COLUMNS = np.empty(0, np.int64)
_NOTHING = Left(np.empty(0), 0.0, np.empty(0))


class Few(NamedTuple):
    """Columns that suffice, and what is known of them.

    Attributes
    ----------
    kept : int64 array; the most important first
    left, all : what these and all columns leave open
    n_fits : so far
    blind : whether all columns together leave not clearly less open than none would
    """

    kept: NDArray[np.int64]
    left: Left
    all: Left
    n_fits: int
    blind: bool


class ReductionState(NamedTuple):
    """All that the next fit needs.

    Attributes
    ----------
    stage : all columns together, by the group, one at a time, or relating those left out to those kept
    n_fits : so far
    at_once : the size of the next group
    n_tried : columns tried one at a time since the last one left
    best : the one of them that is missed least, of those tried together
    kept : columns that stay, ascending
    missed : columns of which it is known that their group cannot leave
    now, all, without_best : what is left open by those kept, by all, and without the best one
    stand_ins : of every column left out, so far
    """

    stage: int
    n_fits: int
    at_once: int
    n_tried: int
    best: int
    kept: NDArray[np.int64]
    missed: NDArray[np.int64]
    now: Left
    all: Left
    without_best: Left
    stand_ins: tuple[NDArray[np.int64], ...]


class Reduction:
    """A subset of columns that leaves at most the slack more open than all, and of which none can be left out.

    A `Loop` whose step is one fit. Where rows are few, the slack is one standard error of the difference, if that is
    more. Where all columns together tell nothing, none leaves, for nothing could be seen.

    Parameters
    ----------
    left
        What the columns at some places leave open, with their importances in the same order.
    n_columns
    slack
    stands_in
        The columns kept, at most three, that one left out can be told from; None where nobody asks.
    n_threads
        For this; the answer does not depend on it.

    Examples
    --------
    >>> from fernwood.run.driving import drive
    >>> def left(places):  # the first or the third of five columns tells all
    ...     told = np.isin(places, (0, 2))
    ...     return Left(np.full(9, 0.1 if told.any() else 1.0), 0.1 if told.any() else 1.0, told / 2)
    >>> loop = Reduction(left, 5, 0.02)
    >>> loop.few(drive(loop).state).kept.tolist()
    [0]
    """

    def __init__(
        self,
        left: Callable[[NDArray[np.int64]], Left],
        n_columns: int,
        slack: float,
        stands_in: Callable[[int, NDArray[np.int64]], NDArray[np.int64]] | None = None,
        n_threads: int = 1,
    ) -> None:
        self._left = left
        self._n_columns = n_columns
        self._slack = slack
        self._stands_in = stands_in
        self._n_threads = n_threads

    def start(self) -> ReductionState:
        """Before the first fit."""
        kept = np.arange(self._n_columns)
        return ReductionState(
            _ALL_TOGETHER, 0, self._n_columns, 0, _NONE, kept, _NO_COLUMNS, _NOTHING, _NOTHING, _NOTHING, ()
        )

    def step(self, state: ReductionState) -> ReductionState:
        """One more fit, and what follows from it; or stand-ins of some columns more."""
        if state.stage == _RELATING:
            return self._related(state)
        counted = state._replace(n_fits=state.n_fits + 1)
        taken = (self._all_together, self._group_less, self._one_less)[state.stage](counted)
        if taken.stage == _BY_GROUP and not (len(taken.kept) > _ONE_BY_ONE and len(_left_to_try(taken))):
            taken = taken._replace(stage=_ONE_AT_A_TIME)
        if taken.stage == _ONE_AT_A_TIME and (len(taken.kept) == 1 or taken.n_tried == len(taken.kept)):
            taken = taken._replace(stage=_RELATING)
        return taken

    def _all_together(self, state: ReductionState) -> ReductionState:
        everything = self._left(state.kept)
        # Where all columns together tell nothing, none leaves, for nothing could be seen.
        stage = _RELATING if _is_blind(everything) else _BY_GROUP
        return state._replace(stage=stage, now=everything, all=everything)

    def _group_less(self, state: ReductionState) -> ReductionState:
        """A group leaves, which shrinks when it is missed and grows when it is not; one missed alone is let be."""
        at_once = min(state.at_once, len(state.kept) // _SHARE_AT_ONCE)
        group = _left_to_try(state)[-at_once:]
        fewer = _without(state.kept, group)
        candidate = self._left(fewer)
        if self._allows(state, candidate, _FREE):
            return state._replace(kept=fewer, now=candidate, at_once=2 * at_once)
        if len(group) == 1:
            return state._replace(missed=np.append(state.missed, group), at_once=2)
        return state._replace(at_once=len(group) // 2)

    def _one_less(self, state: ReductionState) -> ReductionState:
        """One of a few columns leaves, the one that is missed least, once each of them was tried."""
        column = int(_by_importance(state.kept, state.now)[::-1][state.n_tried])
        candidate = self._left(state.kept[state.kept != column])
        state = state._replace(n_tried=state.n_tried + 1)
        if state.best == _NONE or candidate.share < state.without_best.share:
            state = state._replace(best=column, without_best=candidate)
        if state.n_tried % _WIDTH and state.n_tried < len(state.kept):
            return state
        if self._allows(state, state.without_best):
            fewer = state.kept[state.kept != state.best]
            state = state._replace(kept=fewer, now=state.without_best, n_tried=0)
        return state._replace(best=_NONE, without_best=_NOTHING)

    def _allows(self, state: ReductionState, candidate: Left, share: float = 1.0) -> bool:
        lost = candidate.rows - state.all.rows
        error = float(lost.std()) / np.sqrt(len(lost))
        return bool(candidate.share - state.all.share <= share * max(self._slack, error))

    def _related(self, state: ReductionState) -> ReductionState:
        assert self._stands_in is not None  # noqa: S101  (else there is nothing to do)
        stands_in, kept = self._stands_in, self.few(state).kept
        done = len(state.stand_ins)
        places = self.left_out(state)[done : done + _RELATED_AT_ONCE].tolist()
        more = in_order(lambda place: stands_in(place, kept), places, self._n_threads)
        return state._replace(stand_ins=(*state.stand_ins, *more))

    def left_out(self, state: ReductionState) -> NDArray[np.int64]:
        """The columns that left, ascending."""
        return np.setdiff1d(np.arange(self._n_columns), state.kept)

    def few(self, state: ReductionState) -> Few:
        """The columns that suffice, as far as it is known."""
        return Few(_by_importance(state.kept, state.now), state.now, state.all, state.n_fits, _is_blind(state.all))

    def leading(self, state: ReductionState, most: int) -> NDArray[np.int64]:
        """A few of the columns that are left, the most important first; none before the first fit."""
        return self.few(state).kept[:most] if state.stage > _ALL_TOGETHER else _NO_COLUMNS

    def progress(self, state: ReductionState) -> SearchProgress:
        """How far it is: columns that left, then columns that were related."""
        n, n_kept = self._n_columns, len(state.kept)
        if state.stage < _RELATING:
            total = max(n - 1, 1)
            said = f"{n_kept:,} of {n:,} columns left, {state.n_fits:,} fits"
            return SearchProgress("reducing", min(n - n_kept, total - 1), total, "columns", n_kept, n, n, said)
        n_out = 0 if self._stands_in is None else n - n_kept
        done = len(state.stand_ins)
        return SearchProgress("relating", done, n_out, "columns", n_kept, n, n, f"{n_kept:,} of {n:,} columns suffice")

    def pack(self, state: ReductionState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays."""
        stand_ins = np.full((len(state.stand_ins), MOST_STAND_INS), _NONE)
        for row, others in zip(stand_ins, state.stand_ins, strict=True):
            row[: len(others)] = others
        lefts = {
            f"{name}_{field}": np.asarray(value)
            for name in ("now", "all", "without_best")
            for field, value in getattr(state, name)._asdict().items()
        }
        return {
            "counts": np.array(state[:5], np.int64),
            "kept": state.kept,
            "missed": state.missed,
            "stand_ins": stand_ins,
            **lefts,
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> ReductionState:
        """The state from a checkpoint."""
        n = self._n_columns
        kept, missed, stand_ins = (_columns(arrays[name], n) for name in ("kept", "missed", "stand_ins"))
        lefts = {name: _left_of(arrays, name) for name in ("now", "all", "without_best")}
        counts = arrays["counts"]
        if counts.shape != (5,) or not (len(kept) and (np.diff(kept) > 0).all() and kept[0] >= 0):
            raise ValueError("the checkpoint's columns cannot be what is left")
        stage, best = whole_number(counts[0], _RELATING), int(counts[4])
        begun = stage > _ALL_TOGETHER
        if begun and (len(lefts["now"].importance) != len(kept) or len(lefts["now"].rows) != len(lefts["all"].rows)):
            raise ValueError("the checkpoint's columns and what they tell do not fit")
        if best != _NONE and (best not in kept or len(lefts["without_best"].importance) != len(kept) - 1):
            raise ValueError("the checkpoint's best column cannot be")
        if stand_ins.shape[1:] != (MOST_STAND_INS,) or len(stand_ins) > n - len(kept):
            raise ValueError("the checkpoint's stand-ins cannot be")
        return ReductionState(
            stage,
            whole_number(counts[1], np.iinfo(np.int64).max),
            whole_number(counts[2], 2 * n),
            whole_number(counts[3], len(kept)),
            best,
            kept,
            missed,
            **lefts,
            stand_ins=tuple(row[row != _NONE] for row in stand_ins),
        )


def _is_blind(everything: Left) -> bool:
    """Whether what all columns leave open is not clearly less than all there is."""
    if not len(everything.rows):  # before the first fit
        return False
    return bool(everything.share + everything.rows.std() / np.sqrt(len(everything.rows)) >= 1)


def _left_to_try(state: ReductionState) -> NDArray[np.int64]:
    return _without(_by_importance(state.kept, state.now), state.missed)


def _without(columns: NDArray[np.int64], some: NDArray[np.int64]) -> NDArray[np.int64]:
    return columns[~np.isin(columns, some)]


def _by_importance(kept: NDArray[np.int64], now: Left) -> NDArray[np.int64]:
    """The columns kept, the most important first; of equal ones the one that came first."""
    return kept[np.lexsort((kept, -now.importance))]


def _columns(places: NDArray[Any], n_columns: int) -> NDArray[np.int64]:
    if places.dtype != np.int64 or (places.size and not (places.min() >= _NONE and places.max() < n_columns)):
        raise ValueError("the checkpoint's columns are none of this table")
    return places


def _left_of(arrays: Mapping[str, NDArray[Any]], name: str) -> Left:
    rows, share, importance = (arrays[f"{name}_{field}"] for field in Left._fields)
    shaped = rows.ndim == 1 and share.shape == () and importance.ndim == 1
    if not (shaped and all(part.dtype == np.float64 and np.isfinite(part).all() for part in (rows, share, importance))):
        raise ValueError("the checkpoint's losses cannot be")
    return Left(rows, float(share), importance)
