"""Boruta's decisions (Kursa and Rudnicki 2010): hits against the best shadow, and binomial tests of how many there are.

In every iteration a column that is more important than the best shadow has a hit. Were it no better and no worse than
the best shadow, its hits would be those of a fair coin. Each side is tested at the level alpha: many hits confirm the
column, few reject it, and a rejected column takes no part in later iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fernwood.errors import ParameterError
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.relevance.shadows import false_discoveries

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BorutaRule"]


@dataclass(frozen=True, slots=True)
class BorutaRule:
    """Hits, and what they decide.

    Parameters
    ----------
    alpha
        The level of the tests, above 0 and below 1.
    perc
        Which percentile of the shadows' importances a column must be above for a hit: 100 is the best shadow.
    two_step
        How tests are corrected: as BorutaPy does, at a false discovery rate of alpha over the columns that take part
        in the iteration, and by Bonferroni over the iterations; or by Bonferroni over all columns, as Kursa and
        Rudnicki do.

    Examples
    --------
    >>> rule = BorutaRule()
    >>> rule.best(np.array([0.3, 0.1]))
    0.3
    >>> decision = np.full(2, Decision.TENTATIVE, np.uint8)
    >>> decided = rule.decide(np.array([0, 8]), 8, decision)
    >>> [Decision(d).word for d in decided]
    ['rejected', 'confirmed']
    """

    alpha: float = 0.05
    perc: float = 100
    two_step: bool = True

    def __post_init__(self) -> None:
        if not (_is_number(self.alpha) and 0 < self.alpha < 1):
            raise ParameterError(f"alpha is {self.alpha!r}; it is a level: give a number between 0 and 1, such as 0.05")
        if not (_is_number(self.perc) and 0 < self.perc <= 100):
            raise ParameterError(
                f"perc is {self.perc!r}; it is a percentile of the shadows: give a number above 0 and up to 100"
            )
        if not isinstance(self.two_step, (bool, np.bool_)):
            raise ParameterError(f"two_step is {self.two_step!r}; give True or False")

    def best(self, shadows: NDArray[np.float64]) -> float:
        """What an importance must be above in one iteration for a hit."""
        return float(np.percentile(shadows, self.perc))

    def decide(self, hits: NDArray[np.integer], n_iterations: int, decision: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Decisions after some iterations; what was confirmed or rejected before stays so.

        Parameters
        ----------
        hits : of every column, so far
        n_iterations : in which columns that are not rejected took part
        decision : of every column, before
        """
        counts = np.arange(n_iterations + 1)
        out = decision.copy()
        still_in = decision != Decision.REJECTED
        undecided = decision == Decision.TENTATIVE
        as_many = np.append(1.0, special.bdtrc(counts[:-1], n_iterations, 0.5))[hits]
        as_few = special.bdtr(counts, n_iterations, 0.5)[hits]
        out[undecided & self._significant(as_many, n_iterations, still_in)] = Decision.CONFIRMED
        out[undecided & self._significant(as_few, n_iterations, still_in)] = Decision.REJECTED
        return out

    def _significant(
        self, chances: NDArray[np.float64], n_iterations: int, still_in: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        if not self.two_step:
            return np.asarray(chances * len(chances) <= self.alpha)
        rates = np.ones(len(chances))
        rates[still_in] = false_discoveries(chances[still_in])
        return np.asarray((rates <= self.alpha) & (chances * n_iterations <= self.alpha))

    def verdicts(self, decision: NDArray[np.uint8]) -> Verdicts:
        """The decisions with their reasons."""
        than = "the best shadow" if self.perc == 100 else f"{self.perc:g} % of the shadows"
        reasons = (
            f"above {than} in more iterations than chance explains",
            f"above {than} neither more nor less often than chance explains",
            f"above {than} in fewer iterations than chance explains",
        )
        return Verdicts(decision, decision, reasons)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
