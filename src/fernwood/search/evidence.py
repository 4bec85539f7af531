"""What contexts tell of columns and of shadows: 1/p in each context, and the sums of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.relevance.shadows import by_chance, inverse_chances, summed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.kernels.telling import Chances
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
    """Scores of the first shadows of a kind, and what chance does in every context by them."""

    scores: NDArray[np.float32]
    chances: Chances


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

        # The sum over one context is what that one tells.
        self._examiner.sweep(kind.kinds == kind.number, contexts, reference.chances, own.__setitem__, {})
        self._sums_of_shadows(kind, np.arange(len(null)), contexts, reference, null.__setitem__)
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

        def adding_to(
            ledger: NDArray[np.float32],
        ) -> Callable[[NDArray[np.signedinteger[Any]], NDArray[np.float64]], None]:
            def add(at: NDArray[np.signedinteger[Any]], sums: NDArray[np.float64]) -> None:
                ledger[at] += sums

            return add

        contexts = drawn.contexts
        for kind, place in self.kinds:
            reference = self._reference(kind, contexts)
            heard = np.flatnonzero(awake.shadows[place])
            self._sums_of_shadows(kind, heard, contexts, reference, adding_to(null[place]))
            chosen = awake.columns & (kind.kinds == kind.number)
            self._examiner.sweep(chosen, contexts, reference.chances, adding_to(own), used)

    def each(
        self, kind: Shadows, ranks: NDArray[np.int64], drawn: Drawn, n_shadows: int = 0
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """1/p of some columns of a kind in every context, and of the first of its shadows: as many as asked for."""
        contexts = drawn.contexts
        reference = self._reference(kind, contexts, n_shadows)
        own = np.empty((len(ranks), len(contexts.rows)), np.float32)
        null = np.empty((n_shadows, len(contexts.rows)), np.float32)

        self._examiner.tell(ranks, contexts, reference.chances, own.__setitem__)
        n_known = min(n_shadows, len(reference.scores))
        null[:n_known] = inverse_chances(reference.scores[:n_known], reference.chances)
        others, addresses = kind.models[n_known:n_shadows], kind.addresses[n_known:n_shadows]
        self._examiner.tell(others, contexts, reference.chances, null[n_known:].__setitem__, addresses)
        return own, null

    def _reference(self, kind: Shadows, contexts: Contexts, n_shadows: int = 0) -> _Reference:
        """The first shadows of a kind: their scores, and what chance does in every context by them."""
        places = np.arange(n_referred(kind, n_shadows))
        scores = np.empty((len(places), len(contexts.rows), 2), np.float32)

        self._examiner.scores(kind.models[places], contexts, scores.__setitem__, kind.addresses[places])
        mean, spread = scores.mean(axis=0, dtype=np.float64), scores.std(axis=0, dtype=np.float64)
        return _Reference(scores, by_chance(mean, spread))

    def _sums_of_shadows(
        self,
        kind: Shadows,
        places: NDArray[np.int64],
        contexts: Contexts,
        reference: _Reference,
        use: Callable[[NDArray[np.int64], NDArray[np.float64]], object],
    ) -> None:
        """Give sums of 1/p over contexts to `use`: places of some shadows, in increasing order, and what they tell.

        Never the scores of all shadows at once: in many contexts they take more than anything else does.
        """
        known = places[places < len(reference.scores)]
        use(known, summed(inverse_chances(reference.scores[known], reference.chances)))
        others = places[len(known) :]

        def take(at: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
            use(others[at], sums)

        self._examiner.sums(kind.models[others], contexts, reference.chances, take, kind.addresses[others])


class Look(NamedTuple):
    """Some of the rows, or all, as columns are examined on them."""

    examiner: Examiner
    ground: Ground
    told: ContextEvidence
