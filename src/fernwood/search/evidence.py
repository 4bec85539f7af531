"""What contexts tell of columns and of shadows: 1/p in each context, and the sums of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.relevance.shadows import inverse_chances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.learner.contexts import Ground
    from fernwood.search.drawn import Drawn
    from fernwood.search.examining import Examiner, Shadows

__all__ = ["Awake", "ContextEvidence", "Look", "n_referred"]

_REFERENCE = 500
"""Shadows of a kind, the first ones, whose scores say what chance does in a context."""


class Awake(NamedTuple):
    """Which columns, by rank, and which shadows, kind after kind, are examined; bool arrays."""

    columns: NDArray[np.bool_]
    shadows: NDArray[np.bool_]


class _Reference(NamedTuple):
    """Scores of the first shadows of a kind, and their mean and standard deviation in every context."""

    scores: NDArray[np.float32]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    def tell(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """1/p of columns or shadows that score so."""
        return inverse_chances(scores, self.mean, self.spread)


def n_referred(kind: Shadows, n_shadows: int = 0) -> int:
    """How many shadows of a kind say what chance does; more where more of them are asked for than are always there."""
    return min(_REFERENCE, max(kind.n_always, n_shadows))


class ContextEvidence:
    """Examines columns and shadows in contexts, and says how unlikely each score is by chance.

    Parameters
    ----------
    examiner
        Scores columns and shadows.
    shadows
        Of every kind of column; together their members are all columns.
    """

    def __init__(self, examiner: Examiner, shadows: list[Shadows]) -> None:
        self._examiner = examiner
        ends = np.cumsum([0, *(kind.n_always for kind in shadows)])
        self.kinds = list(zip(shadows, [slice(a, b) for a, b in pairwise(ends.tolist())], strict=True))
        self.n_columns = len(shadows[0].kinds)
        self.n_shadows = int(ends[-1])
        self.n_alone = sum(len(kind.models) for kind in shadows)

    def everyone(self) -> Awake:
        """All columns and shadows."""
        return Awake(np.ones(self.n_columns, bool), np.ones(self.n_shadows, bool))

    def alone(self, kind: Shadows, drawn: Drawn, own: NDArray[np.float32]) -> NDArray[np.float32]:
        """1/p of all shadows of a kind in the one context there is; that of its columns goes to its place in `own`."""
        contexts = drawn.contexts
        reference = self._reference(kind, contexts, len(kind.models))
        null = np.empty(len(kind.models), np.float32)

        def keep(ranks: NDArray[np.int32], told: NDArray[np.float32]) -> None:
            own[ranks] = told[:, 0]

        def keep_null(at: NDArray[np.int64], told: NDArray[np.float32]) -> None:
            null[at] = told[:, 0]

        self._examiner.sweep(kind.kinds == kind.number, contexts, reference.tell, keep)
        self._each_shadow(kind, np.arange(len(null)), contexts, reference, keep_null)
        return null

    def add_sums(
        self,
        drawn: Drawn,
        used: Mapping[int, list[int]],
        awake: Awake,
        own: NDArray[np.float32],
        null: NDArray[np.float32],
    ) -> None:
        """Add the sums of 1/p over contexts, by column and by shadow, for those awake.

        Parameters
        ----------
        drawn
            The contexts.
        used
            Those of them that use a column, by its rank: it is not examined in those.
        awake
        own, null
            To which the sums are added.
        """
        contexts, in_use = drawn.contexts, np.array(sorted(used), np.int64)
        for kind, place in self.kinds:
            heard = np.flatnonzero(awake.shadows[place])
            reference = self._reference(kind, contexts)
            null_here = null[place]

            def add_null(
                at: NDArray[np.int64], told: NDArray[np.float32], null: NDArray[np.float32] = null_here
            ) -> None:
                null[at] += told.sum(axis=1, dtype=np.float64)

            self._each_shadow(kind, heard, contexts, reference, add_null)

            def add(ranks: NDArray[np.int32], told: NDArray[np.float32]) -> None:
                for row in np.flatnonzero(np.isin(ranks, in_use)).tolist():
                    told[row, used[int(ranks[row])]] = 0.0
                own[ranks] += told.sum(axis=1, dtype=np.float64)

            self._examiner.sweep(awake.columns & (kind.kinds == kind.number), contexts, reference.tell, add)

    def each(
        self, kind: Shadows, ranks: NDArray[np.int64], drawn: Drawn, n_shadows: int = 0
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """1/p of some columns of a kind in every context, and of the first of its shadows: as many as asked for."""
        contexts = drawn.contexts
        reference = self._reference(kind, contexts, n_shadows)
        own = np.empty((len(ranks), len(contexts.rows)), np.float32)
        null = np.empty((n_shadows, len(contexts.rows)), np.float32)

        self._examiner.examine(ranks, contexts, reference.tell, own.__setitem__)
        self._each_shadow(kind, np.arange(n_shadows), contexts, reference, null.__setitem__)
        return own, null

    def _reference(self, kind: Shadows, contexts: Contexts, n_shadows: int = 0) -> _Reference:
        """The first shadows of a kind: their scores, and what chance does in every context by them."""
        places = np.arange(n_referred(kind, n_shadows))
        scores = np.empty((len(places), len(contexts.rows), 2), np.float32)

        self._examiner.examine(kind.models[places], contexts, np.copy, scores.__setitem__, kind.addresses[places])
        return _Reference(scores, scores.mean(axis=0, dtype=np.float64), scores.std(axis=0, dtype=np.float64))

    def _each_shadow(
        self,
        kind: Shadows,
        places: NDArray[np.int64],
        contexts: Contexts,
        reference: _Reference,
        use: Callable[[NDArray[np.int64], NDArray[np.float32]], object],
    ) -> None:
        """Give 1/p of some shadows, in increasing order, to `use`, a block at a time: their places, and 1/p there.

        Never the scores of all shadows at once: in many contexts they take more than anything else does.
        """
        known = places[places < len(reference.scores)]
        use(known, reference.tell(reference.scores[known]))
        others = places[len(known) :]

        def keep(at: NDArray[np.int64], told: NDArray[np.float32]) -> None:
            use(others[at], told)

        self._examiner.examine(kind.models[others], contexts, reference.tell, keep, kind.addresses[others])


class Look(NamedTuple):
    """Some of the rows, or all, as columns are examined on them."""

    examiner: Examiner
    ground: Ground
    told: ContextEvidence
