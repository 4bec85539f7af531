"""Where a snowball stands: the evidence of columns and shadows so far, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.learner.contexts import used_in
from fernwood.relevance.shadows import combined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.search.drawn import Drawn
    from fernwood.search.evidence import Awake, ContextEvidence

__all__ = ["SnowballState"]

_LEDGERS = ("ledger", "ledger_null", "contexts", "contexts_null")
_TYPES: dict[str, type[np.generic]] = {
    "step": np.int64,
    "contexts": np.int32,
    "contexts_null": np.int32,
    "wave": np.int16,
    "chance": np.float64,
}


class SnowballState(NamedTuple):
    """All that the next step needs; arrays are by rank, those of shadows kind after kind.

    Attributes
    ----------
    step : int64 array of 4; waves made, waves without a new column, rounds of confirmation made (−1: it has not begun;
        −2: nor were all rows looked at), contexts explored
    alone, alone_null : float32 arrays; 1/p without context, of columns and of shadows
    ledger, ledger_null : float32 arrays; the sum of 1/p over contexts
    contexts, contexts_null : int32 arrays; in how many contexts a column or a shadow was examined
    wave : int16 array; the wave in which a column was found, −1 where it is not
    chance : float64 array; p of the column, from the wave before it was found, or from the last confirmation
    """

    step: NDArray[np.int64]
    alone: NDArray[np.float32]
    alone_null: NDArray[np.float32]
    ledger: NDArray[np.float32]
    ledger_null: NDArray[np.float32]
    contexts: NDArray[np.int32]
    contexts_null: NDArray[np.int32]
    wave: NDArray[np.int16]
    chance: NDArray[np.float64]

    @property
    def found(self) -> NDArray[np.int64]:
        """Ranks of the columns found, in increasing order."""
        return np.flatnonzero(self.wave >= 0)

    def best(self, n_best: int) -> NDArray[np.int64]:
        """Ranks of the columns of the smallest chances, in increasing order; of equal ones the first."""
        n_best = min(n_best, len(self.chance))
        near = np.flatnonzero(self.chance <= np.partition(self.chance, n_best - 1)[n_best - 1])
        return np.sort(near[np.argsort(self.chance[near], kind="stable")[:n_best]])

    def evidence(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of some columns."""
        return combined(self.alone[ranks], self.ledger[ranks], self.contexts[ranks])

    def evidence_null(self, place: slice) -> NDArray[np.float64]:
        """Of the shadows of a kind."""
        return combined(self.alone_null[place], self.ledger_null[place], self.contexts_null[place])

    def forgotten(self) -> SnowballState:
        """The state before any context."""
        return self._replace(**{name: np.zeros_like(getattr(self, name)) for name in _LEDGERS})

    def hear(self, told: ContextEvidence, drawn: Drawn, awake: Awake) -> None:
        """Add to the ledgers, which must be `opened`, what contexts tell of those awake.

        Parameters
        ----------
        told : says what contexts tell
        drawn : the contexts
        awake : who is examined
        """
        used = used_in(drawn.uses, drawn.carried)
        told.add_sums(drawn, used, awake, self.ledger, self.ledger_null)
        n_contexts = len(drawn.uses)
        np.add(self.contexts, n_contexts, out=self.contexts, where=awake.columns)
        np.add(self.contexts_null, n_contexts, out=self.contexts_null, where=awake.shadows)
        for rank, contexts in used.items():
            if awake.columns[rank]:
                self.contexts[rank] -= len(contexts)

    def opened(self) -> SnowballState:
        """A state whose ledgers may be written to."""
        return self._replace(**{name: getattr(self, name).copy() for name in _LEDGERS})

    def check(self) -> None:
        """Refuse, with a ValueError, numbers that no search comes to."""
        lowest = {"alone": 0.5, "alone_null": 0.5, "wave": -1, "chance": np.finfo(np.float64).tiny}  # NaN is below all
        for name, array in self._asdict().items():
            if name != "step" and not (array.min() >= lowest.get(name, 0) and np.isfinite(array.max())):
                raise ValueError(f"the checkpoint's {name} cannot be")
        if self.chance.max() > 1:
            raise ValueError("the checkpoint's chances cannot be")

    @classmethod
    def type_of(cls, name: str) -> type[np.generic]:
        """Of the numbers in an array; single precision is what evidence is made of."""
        return _TYPES.get(name, np.float32)
