"""From all relevant columns to a few that suffice: columns leave while trees predict as well without them.

Of redundant columns each can be left out, but not all of them, so columns leave one after the other, and each time
trees grow anew on those that stay. Importances say which to try first; what decides is what the trees leave open of the
target on rows that they did not grow on, always compared with what they leave open with all columns, so that small
losses do not add up. In the end no single column can be left out any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.importance.out_of_bag import Left, OutOfBag
from fernwood.learner.many import in_order
from fernwood.learner.settings import one_of
from fernwood.learner.target import class_target, value_target
from fernwood.relations import Minimal
from fernwood.run.driving import SearchProgress
from fernwood.run.stopping import Stopped, stop_if_asked
from fernwood.search.selection import Selection
from fernwood.sources.base import Kind
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fernwood.learner.target import TreeTarget
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.store.base import Store

__all__ = ["Goal", "check_goal", "few_that_suffice", "reduced"]

Goal = Literal["all-relevant", "minimal"]

_REDUCING = 12  # the address below the seed
_ROWS, _TREES, _STANDING_IN = range(3)

_MOST_COLUMNS, _MOST_ROWS = 500, 10_000
"""Where the reduction begins: with the best of the confirmed columns, on so many rows."""
_N_TREES = 200
_ONE_BY_ONE = 24
"""From so few columns on, they leave one at a time."""
_SHARE_AT_ONCE = 4
_FREE = 0.25
"""Columns leave several at a time only where this costs next to nothing: a quarter of the slack."""
_WIDTH = 5
"""Of so many columns, those of least importance, the one leaves that is missed least."""
_ROWS_TOLD, _TREES_TOLD = 2000, 30
_TOLD, _PART, _MOST_STAND_INS = 0.1, 0.1, 3
"""A column has stand-ins where a tenth of it is told by kept ones: those with a tenth of that, three at most."""


def check_goal(goal: object, slack: object) -> None:
    """Refuse a goal that is not known, and a slack that is not a share.

    Examples
    --------
    >>> check_goal("minimal", 0.02)
    """
    one_of("goal", goal, get_args(Goal))
    if not (isinstance(slack, (int, float, np.number)) and 0 <= slack < 1):
        raise ParameterError(
            f"slack is {slack!r}; it is the share of the target that fewer columns may leave open beyond all: give a "
            "number from 0 to below 1, such as 0.02"
        )


def reduced(
    selection: Selection,
    store: Store,
    slack: float,
    seed: int,
    *,
    n_threads: int = 1,
    given: NDArray[np.int64] | None = None,
    progress: SearchProgressCallback | None = None,
) -> Selection:
    """A selection with the few of its confirmed columns that suffice; without them where it was or is stopped.

    Parameters
    ----------
    selection
    store
    slack
        The share of the target that fewer columns may leave open, beyond what all of them do.
    seed
    n_threads
        The answer does not depend on it.
    given
        Positions of covariates, which trees always have.
    progress
    """
    result, stopped_by = selection
    if stopped_by is not None or not len(result.confirmed):
        return selection
    best = result.order[: len(result.confirmed)]
    ground = _Ground(store, best, np.empty(0, np.int64) if given is None else given, seed, n_threads)
    try:
        few = few_that_suffice(ground.left, ground.n_candidates, slack, progress)
        stand_ins = ground.stand_ins(few.kept, progress)
    except (KeyboardInterrupt, Stopped) as stop:
        return Selection(result, stop)
    late: dict[int, list[int]] = {int(i): [] for i in best[ground.n_candidates :]}
    minimal = Minimal(
        best[few.kept].tolist(),
        {int(best[i]): best[others].tolist() for i, others in stand_ins.items()} | late,
        few.all.share,
        few.left.share,
        float(slack),
        few.n_fits,
    )
    return Selection(replace(result, minimal=minimal), None)


class Few(NamedTuple):
    """Columns that suffice, the most important first, and what they and all of them leave open."""

    kept: NDArray[np.int64]
    left: Left
    all: Left
    n_fits: int


def few_that_suffice(
    left: Callable[[NDArray[np.int64]], Left],
    n_columns: int,
    slack: float,
    progress: SearchProgressCallback | None = None,
) -> Few:
    """A subset of columns that leaves at most the slack more open than all, and of which none can be left out.

    Where rows are few, the slack is one standard error of the difference, if that is more. Where all columns together
    tell nothing, none leaves, for nothing could be seen.

    Parameters
    ----------
    left
        What the columns at some places leave open, with their importances in the same order.
    n_columns
    slack
    progress

    Examples
    --------
    >>> def left(places):  # the first or the third of five columns tells all
    ...     told = np.isin(places, (0, 2))
    ...     return Left(np.full(9, 0.1 if told.any() else 1.0), 0.1 if told.any() else 1.0, told / 2)
    >>> few_that_suffice(left, 5, 0.02).kept.tolist()
    [0]
    """
    n_fits = 0

    def fit(places: NDArray[np.int64]) -> Left:
        nonlocal n_fits
        stop_if_asked()
        n_fits += 1
        return left(places)

    kept = np.arange(n_columns)
    everything = now = fit(kept)

    def tell(done: bool = False) -> None:
        if progress is not None:
            gone, n = n_columns - len(kept), n_columns
            progress(SearchProgress("reducing", n - 1 if done else gone, max(n - 1, 1), "columns", len(kept), n, n))

    def allowed(candidate: Left, share: float = 1.0) -> bool:
        lost = candidate.rows - everything.rows
        error = float(lost.std()) / np.sqrt(len(lost))
        return bool(candidate.share - everything.share <= share * max(slack, error))

    if everything.share + everything.rows.std() / np.sqrt(len(everything.rows)) >= 1:
        return Few(_by_importance(kept, now), now, everything, n_fits)
    tell()
    # By the group, which shrinks when it is missed and grows when it is not; one that is missed alone is let be.
    at_once, missed = n_columns, np.empty(0, np.int64)
    while len(kept) > _ONE_BY_ONE and len(left_to_try := _without(_by_importance(kept, now), missed)):
        at_once = min(at_once, len(kept) // _SHARE_AT_ONCE)
        group = left_to_try[-at_once:]
        fewer = np.sort(_without(kept, group))
        candidate = fit(fewer)
        if allowed(candidate, _FREE):
            kept, now, at_once = fewer, candidate, 2 * at_once
            tell()
        elif len(group) == 1:
            missed, at_once = np.append(missed, group), 2
        else:
            at_once = len(group) // 2
    # One by one.
    while len(kept) > 1:
        weakest_first = _by_importance(kept, now)[::-1]
        for first in range(0, len(kept), _WIDTH):
            tried = [kept[kept != column] for column in weakest_first[first : first + _WIDTH]]
            candidates = [fit(fewer) for fewer in tried]
            best = int(np.argmin([candidate.share for candidate in candidates]))
            if allowed(candidates[best]):
                kept, now = tried[best], candidates[best]
                tell()
                break
        else:
            break
    tell(done=True)
    return Few(_by_importance(kept, now), now, everything, n_fits)


def _without(columns: NDArray[np.int64], some: NDArray[np.int64]) -> NDArray[np.int64]:
    return columns[~np.isin(columns, some)]


def _by_importance(kept: NDArray[np.int64], now: Left) -> NDArray[np.int64]:
    """The columns kept, the most important first; of equal ones the one that came first."""
    return kept[np.lexsort((kept, -now.importance))]


class _Ground:
    """The best of some columns, and covariates, on some rows, for trees to grow on; columns are places among them."""

    def __init__(
        self, store: Store, best: NDArray[np.int64], given: NDArray[np.int64], seed: int, n_threads: int
    ) -> None:
        candidates = best[:_MOST_COLUMNS]
        self.n_candidates = len(candidates)
        positions = np.concatenate([candidates, given])
        self._always = np.arange(len(candidates), len(positions))
        self._seed, self._n_threads = seed, n_threads
        weights = np.ones(store.n_rows) if store.weights is None else store.weights
        rows = np.flatnonzero(weights > 0)
        if len(rows) > _MOST_ROWS:
            rng = seeds.generator(seed, _REDUCING, _ROWS)
            rows = np.sort(rng.choice(rows, _MOST_ROWS, replace=False, shuffle=False))
        self._codes = np.empty((len(positions), len(rows)), np.uint8)
        for place, position in enumerate(positions.tolist()):
            self._codes[place] = store.read([position])[0, rows]
        self._kinds, self._checksums = store.kinds[positions], store.checksums[positions]
        self._groups: NDArray[np.int32] | None = None
        if store.groups is not None:
            self._groups = np.unique(store.groups[rows], return_inverse=True)[1].astype(np.int32)
        target = store.target
        assert target is not None  # noqa: S101  (there are confirmed columns)
        make = value_target if target.task == "regression" else class_target
        self._bag = self._out_of_bag(
            slice(None), slice(None), make(target.values[rows], weights[rows]), _N_TREES, n_threads, _TREES
        )

    def _out_of_bag(
        self, columns: Any, rows: slice, target: TreeTarget, n_trees: int, n_threads: int, *address: int
    ) -> OutOfBag:
        return OutOfBag(
            self._codes[columns, rows],
            self._kinds[columns],
            self._checksums[columns],
            target,
            groups=None if self._groups is None else self._groups[rows],
            n_trees=n_trees,
            seed=self._seed,
            address=(_REDUCING, *address),
            n_threads=n_threads,
        )

    def left(self, places: NDArray[np.int64]) -> Left:
        """What these columns, beside the covariates, leave open of the target."""
        left = self._bag(np.concatenate([places, self._always]))
        return left._replace(importance=left.importance[: len(places)])

    def stand_ins(
        self, kept: NDArray[np.int64], progress: SearchProgressCallback | None
    ) -> dict[int, NDArray[np.int64]]:
        """For every column left out, those kept that it can be told from, strongest first."""
        left_out = np.setdiff1d(np.arange(self.n_candidates), kept).tolist()
        found: dict[int, NDArray[np.int64]] = {}
        for place, others in zip(
            left_out, in_order(lambda place: self._standing_in(place, kept), left_out, self._n_threads), strict=True
        ):
            stop_if_asked()
            found[place] = others
            if progress is not None:
                n = len(left_out)
                progress(SearchProgress("relating", len(found), n, "columns", len(kept), len(found), n))
        return found

    def _standing_in(self, place: int, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = slice(_ROWS_TOLD)
        codes = self._codes[place, rows]
        known = (codes != MISSING).astype(float)
        if not known.any():
            return np.empty(0, np.int64)
        category = self._kinds[place] == Kind.CATEGORY
        target = class_target(codes, known) if category else value_target(codes.astype(float), known)
        left = self._out_of_bag(kept, rows, target, _TREES_TOLD, 1, _STANDING_IN)(np.arange(len(kept)))
        part = left.importance / max(left.importance.sum(), np.finfo(float).tiny)
        strongest = np.argsort(-part, kind="stable")[:_MOST_STAND_INS]
        return kept[strongest[part[strongest] >= _PART]] if 1 - left.share >= _TOLD else np.empty(0, np.int64)
