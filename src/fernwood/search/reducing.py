"""From all relevant columns to a few that suffice: columns leave while trees predict as well without them.

Of redundant columns each can be left out, but not all of them, so columns leave one after the other, and each time
trees grow anew on those that stay. Importances say which to try first; what decides is what the trees leave open of the
target on rows that they did not grow on, always compared with what they leave open with all columns, so that small
losses do not add up. In the end no single column can be left out any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood import seeds
from fernwood.importance.out_of_bag import OutOfBag
from fernwood.learner.target import class_target, value_target
from fernwood.relations import Minimal
from fernwood.run.driving import drive
from fernwood.search.reduction import MOST_STAND_INS, Reduction
from fernwood.search.selection import LEADING, Selection, namer
from fernwood.sources.base import Kind
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.importance.out_of_bag import Left
    from fernwood.learner.target import TreeTarget
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.store.base import Store

__all__ = ["reduced"]

_REDUCING = 12  # the address below the seed
_ROWS, _TREES, _STANDING_IN, _ROWS_RELATED = range(4)

_MOST_COLUMNS, _MOST_ROWS = 500, 10_000
"""Where the reduction begins: with the best of the confirmed columns, on so many rows."""
_N_TREES = 200
_ROWS_TOLD, _TREES_TOLD = 2000, 30
_FEWEST_UNLIKE = 100
"""Rows that differ from the most frequent value: a column that has fewer among so many rows is related on all."""
_TOLD, _PART = 0.1, 0.1
"""A column has stand-ins where a tenth of it is told by kept ones: those with a tenth of that, three at most."""


def reduced(
    selection: Selection,
    store: Store,
    slack: float,
    seed: int,
    *,
    n_threads: int = 1,
    given: NDArray[np.int64] | None = None,
    directory: RunDirectory | None = None,
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
    directory
        Where checkpoints go, beside those of the search.
    progress
    """
    result, stopped_by = selection
    if stopped_by is not None or not len(result.confirmed):
        return selection
    best = result.order[: len(result.confirmed)]
    ground = _Ground(store, best, np.empty(0, np.int64) if given is None else given, seed, n_threads)
    loop = Reduction(ground.left, ground.n_candidates, slack, ground.standing_in, n_threads)
    leading = namer(store, best, lambda state: loop.leading(state, LEADING))
    state, stopped_by, _ = drive(loop, directory, progress, part="reducing", leading=leading)
    if stopped_by is not None:
        return Selection(replace(result, facts=replace(result.facts, unreduced=True)), stopped_by)
    few, stand_ins = loop.few(state), zip(loop.left_out(state).tolist(), state.stand_ins, strict=True)
    late: dict[int, list[int]] = {int(i): [] for i in best[ground.n_candidates :]}
    minimal = Minimal(
        best[few.kept].tolist(),
        {int(best[i]): best[others].tolist() for i, others in stand_ins} | late,
        few.all.share,
        few.left.share,
        float(slack),
        few.n_fits,
        few.blind,
        len(late),
    )
    return Selection(replace(result, minimal=minimal), None)


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
            self._groups = store.groups[rows]
        self._some = np.arange(len(rows))
        if len(rows) > _ROWS_TOLD:
            rng = seeds.generator(seed, _REDUCING, _ROWS_RELATED)
            self._some = np.sort(rng.choice(len(rows), _ROWS_TOLD, replace=False, shuffle=False))
        target = store.target
        assert target is not None  # noqa: S101  (there are confirmed columns)
        make = value_target if target.task == "regression" else class_target
        self._bag = self._out_of_bag(
            slice(None), slice(None), make(target.values[rows], weights[rows]), _N_TREES, n_threads, _TREES
        )

    def _out_of_bag(
        self, columns: Any, rows: Any, target: TreeTarget, n_trees: int, n_threads: int, *address: int
    ) -> OutOfBag:
        groups = self._groups
        if groups is not None:  # numbered anew: a group without a row must not be drawn
            groups = np.unique(groups[rows], return_inverse=True)[1].astype(np.int32)
        return OutOfBag(
            self._codes[columns][:, rows],
            self._kinds[columns],
            self._checksums[columns],
            target,
            groups=groups,
            n_trees=n_trees,
            seed=self._seed,
            address=(_REDUCING, *address),
            n_threads=n_threads,
        )

    def left(self, places: NDArray[np.int64]) -> Left:
        """What these columns, beside the covariates, leave open of the target."""
        left = self._bag(np.concatenate([places, self._always]))
        return left._replace(importance=left.importance[: len(places)])

    def standing_in(self, place: int, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns kept that one left out can be told from, strongest first."""
        rows = self._some
        if np.bincount(self._codes[place, rows]).max() > len(rows) - _FEWEST_UNLIKE:
            rows = np.arange(self._codes.shape[1])
        codes = self._codes[place, rows]
        known = (codes != MISSING).astype(float)
        if len(np.unique(codes[known > 0])) < 2:
            return np.empty(0, np.int64)
        category = self._kinds[place] == Kind.CATEGORY
        target = class_target(codes, known) if category else value_target(codes.astype(float), known)
        left = self._out_of_bag(kept, rows, target, _TREES_TOLD, 1, _STANDING_IN)(np.arange(len(kept)))
        part = left.importance / max(left.importance.sum(), np.finfo(float).tiny)
        strongest = np.argsort(-part, kind="stable")[:MOST_STAND_INS]
        return kept[strongest[part[strongest] >= _PART]] if 1 - left.share >= _TOLD else np.empty(0, np.int64)
