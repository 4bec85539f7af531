"""Where a snowball stands: the evidence of columns and shadows so far, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.relevance.shadows import combined

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SnowballState"]


class SnowballState(NamedTuple):
    """All that the next step needs; arrays are by rank, those of shadows kind after kind.

    Attributes
    ----------
    step : int64 array of 4; waves made, waves without a new column, rounds of confirmation made (−1: it has not begun;
        −2: nor were all rows looked at), contexts explored
    alone, alone_null : float64 arrays; 1/p without context, of columns and of shadows
    ledger, ledger_null : float64 arrays; the sum of 1/p over contexts
    contexts, contexts_null : int32 arrays; in how many contexts a column or a shadow was examined
    wave : int16 array; the wave in which a column was found, −1 where it is not
    chance : float64 array; p of the column, from the wave before it was found, or from the last confirmation
    """

    step: NDArray[np.int64]
    alone: NDArray[np.float64]
    alone_null: NDArray[np.float64]
    ledger: NDArray[np.float64]
    ledger_null: NDArray[np.float64]
    contexts: NDArray[np.int32]
    contexts_null: NDArray[np.int32]
    wave: NDArray[np.int16]
    chance: NDArray[np.float64]

    @property
    def found(self) -> NDArray[np.int64]:
        """Ranks of the columns found, in increasing order."""
        return np.flatnonzero(self.wave >= 0)

    def evidence(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of some columns."""
        return combined(self.alone[ranks], self.ledger[ranks], self.contexts[ranks])

    def evidence_null(self, place: slice) -> NDArray[np.float64]:
        """Of the shadows of a kind."""
        return combined(self.alone_null[place], self.ledger_null[place], self.contexts_null[place])

    def forgotten(self) -> SnowballState:
        """The state before any context."""
        emptied = {
            name: np.zeros_like(getattr(self, name)) for name in ("ledger", "ledger_null", "contexts", "contexts_null")
        }
        return self._replace(**emptied)
