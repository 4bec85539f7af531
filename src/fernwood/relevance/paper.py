"""The rules of the papers: any importance at all, the random probe, and the most important shadow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from fernwood.errors import ParameterError
from fernwood.relevance.decision import Decision, first_that_holds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fernwood.relevance.decision import Verdicts

__all__ = [
    "NOTHING",
    "NO_SHADOWS",
    "Against",
    "Evidence",
    "ImportanceRule",
    "MaxShadowRule",
    "Null",
    "ProbeRule",
    "Rule",
    "some_columns",
]


Against = Literal["", "probe", "shadows", "mirror"]
"""What columns are compared with."""

_ADVICE = "more rows, more trees a draw or a smaller q make weak columns visible"

NO_SHADOWS: NDArray[np.float64] = np.empty((0, 0))


_MOST_COMPARED = 200_000
"""Columns whose shadows stand for all, where there are more: for a picture, and not for a decision."""


class Null(NamedTuple):
    """Mean importances of what columns are compared with, or of some of it where there is much; for a picture.

    Attributes
    ----------
    scores
    n : how many there are
    threshold : what importances must be above, where that is known
    """

    scores: NDArray[np.float64]
    n: int
    threshold: float | None = None


NOTHING = Null(np.empty(0), 0)
"""Where there is nothing to compare with on the scale of importances."""


def some_columns(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Of columns chosen, evenly spaced ones where there are many: arrays as long as the table is wide are avoided.

    Examples
    --------
    >>> some_columns(np.array([True, False, True]))
    array([0, 2])
    """
    step = -(-int(np.count_nonzero(chosen)) // _MOST_COMPARED)
    return np.flatnonzero(chosen)[:: max(step, 1)]


class Evidence(NamedTuple):
    """What the draws so far say of every column.

    Attributes
    ----------
    draws : int32 array; how often the column was drawn
    importance : float64 array; the sum of its importances over those draws
    wins : int32 array; in how many of them it was more important than the random probe
    shadow : float64 array, shape (shadows of a column, columns); the sums of their importances over the same draws
    """

    draws: NDArray[np.int32]
    importance: NDArray[np.float64]
    wins: NDArray[np.int32]
    shadow: NDArray[np.float64] = NO_SHADOWS

    @classmethod
    def none(cls, n_columns: int, n_shadows: int = 0) -> Evidence:
        """Before the first draw, with so many shadows of every column."""
        ints = np.int32
        return cls(
            np.zeros(n_columns, ints), np.zeros(n_columns), np.zeros(n_columns, ints), np.zeros((n_shadows, n_columns))
        )

    def with_draws(self, draws: Iterable[tuple[NDArray[np.int64], NDArray[np.float64], float]]) -> Evidence:
        """The evidence with some draws added, in their order: the columns of each, their importances, the probe's."""
        counts, importance, wins = self.draws.copy(), self.importance.copy(), self.wins.copy()
        for columns, scores, probe in draws:
            counts[columns] += 1
            importance[columns] += scores
            wins[columns] += scores > probe
        return Evidence(counts, importance, wins, self.shadow)

    def with_shadows(self, draws: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> Evidence:
        """The evidence with the shadows of some draws added: the columns of each, and their shadows' importances."""
        shadow = self.shadow.copy()
        for columns, scores in draws:
            shadow[:, columns] += scores
        return self._replace(shadow=shadow)

    def of_first(self, n_columns: int) -> Evidence:
        """The evidence about the first so many columns."""
        draws, importance, wins, shadow = self
        return Evidence(draws[:n_columns], importance[:n_columns], wins[:n_columns], shadow[:, :n_columns])

    def mean_importance(self, columns: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float64]:
        """The mean importance of columns over the draws they were in; 0 where there was none."""
        return np.asarray(self.importance[columns] / np.maximum(self.draws[columns], 1))


class Rule(Protocol):
    """Decides from the evidence of draws."""

    against: ClassVar[Against]
    """What columns are compared with; a probe, or shadows, take part in every draw."""

    def found(self, evidence: Evidence) -> NDArray[np.int64]:
        """F: the columns that later draws carry, in increasing order."""

    def chances(self, evidence: Evidence) -> NDArray[np.float64] | None:
        """The p of every column, of a rule that tests."""

    def modelled(self, evidence: Evidence) -> NDArray[np.bool_] | None:
        """Whose p comes from a model of the tail, of a rule that tests."""

    def judge(self, evidence: Evidence) -> Verdicts:
        """A decision about every column."""

    def advice(self, evidence: Evidence) -> str:
        """What would make weak columns visible."""

    def compared_with(self, evidence: Evidence) -> Null:
        """What importances are held against."""


@dataclass(frozen=True, slots=True)
class ImportanceRule:
    """Columns that ever had an importance above zero: step 2(c) of Algorithm 1, sound with infinitely many rows only.

    Examples
    --------
    >>> ImportanceRule().found(Evidence(np.array([2, 2, 0]), np.array([0.5, 0.0, 0.0]), np.zeros(3, int)))
    array([0])
    """

    against: ClassVar[Against] = ""

    def found(self, evidence: Evidence) -> NDArray[np.int64]:
        """F, in increasing order."""
        return np.flatnonzero(evidence.importance > 0)

    def chances(self, _: Evidence) -> None:
        """None: columns are not tested."""

    def modelled(self, _: Evidence) -> None:
        """None: columns are not tested."""

    def advice(self, _: Evidence) -> str:
        """What would make weak columns visible."""
        return _ADVICE

    def compared_with(self, _: Evidence) -> Null:
        """Nothing."""
        return NOTHING

    def judge(self, evidence: Evidence) -> Verdicts:
        """A decision about every column."""
        found = evidence.importance > 0
        cases = [found, evidence.draws > 0]
        reasons = ("its importance is above zero", "its importance is zero", "never drawn")
        return first_that_holds(cases, [Decision.CONFIRMED, Decision.REJECTED, Decision.UNEXAMINED], reasons)


@dataclass(frozen=True, slots=True)
class ProbeRule:
    """Columns drawn more than `least_draws` times that beat the random probe in at least `share` of them (the slides).

    Examples
    --------
    >>> ProbeRule().found(Evidence(np.array([40, 40, 3]), np.zeros(3), np.array([38, 37, 3])))
    array([0])
    """

    least_draws: int = 5
    share: float = 0.95

    against: ClassVar[Against] = "probe"

    def __post_init__(self) -> None:
        if not self.least_draws >= 0:
            raise ParameterError(f"min_draws is {self.least_draws!r}; it must be an integer from 0 on")
        if not 0 < self.share <= 1:
            raise ParameterError(f"min_share is {self.share!r}; it is a share: give a number above 0 and up to 1")

    def found(self, evidence: Evidence) -> NDArray[np.int64]:
        """F, in increasing order."""
        return np.flatnonzero((evidence.draws > self.least_draws) & self._ahead(evidence))

    def chances(self, _: Evidence) -> None:
        """None: columns are not tested."""

    def modelled(self, _: Evidence) -> None:
        """None: columns are not tested."""

    def advice(self, _: Evidence) -> str:
        """What would make weak columns visible."""
        return _ADVICE

    def compared_with(self, _: Evidence) -> Null:
        """Nothing: how often a column is above the probe counts, and by how much is not kept."""
        return NOTHING

    def judge(self, evidence: Evidence) -> Verdicts:
        """A decision about every column; one that is ahead after too few draws is tentative."""
        ahead = self._ahead(evidence)
        drawn = evidence.draws > 0
        cases = [ahead & (evidence.draws > self.least_draws), ahead & drawn, drawn]
        share = f"{100 * self.share:g} % of its draws"
        reasons = (
            f"above the probe in at least {share}",
            f"above the probe in at least {share}, but drawn {self.least_draws} times or fewer",
            f"above the probe in fewer than {share}",
            "never drawn",
        )
        return first_that_holds(cases, list(Decision), reasons)

    def _ahead(self, evidence: Evidence) -> NDArray[np.bool_]:
        # A quotient and not a product: eleven wins in twenty are 0.55, while 0.55 * 20 is above eleven in doubles.
        return np.asarray(evidence.wins / np.maximum(evidence.draws, 1) >= self.share)


@dataclass(frozen=True, slots=True)
class MaxShadowRule:
    """Columns more important than the most important shadow: formula (8) of Kursa (2017).

    Columns, and shadows, that were drawn `least_draws` times or fewer take no part.

    Examples
    --------
    >>> draws, shadow = np.array([9, 9, 9, 2]), np.array([[1.0, 4.0, 0.0, 99.0]])
    >>> MaxShadowRule().found(Evidence(draws, np.array([4.5, 3.0, 0.0, 200.0]), np.zeros(4, int), shadow))
    array([0])
    """

    least_draws: int = 5

    against: ClassVar[Against] = ""

    def found(self, evidence: Evidence) -> NDArray[np.int64]:
        """F, in increasing order."""
        return np.flatnonzero(self._above(evidence))

    def chances(self, _: Evidence) -> None:
        """None: columns are not tested."""

    def modelled(self, _: Evidence) -> None:
        """None: columns are not tested."""

    def advice(self, _: Evidence) -> str:
        """What would make weak columns visible."""
        return "more rows or more scans make weak columns visible"

    def compared_with(self, evidence: Evidence) -> Null:
        """The shadows, of which the highest is the threshold."""
        often = evidence.draws > self.least_draws
        some = some_columns(often)
        if not len(some):
            return NOTHING
        scores = np.asarray(evidence.shadow[:, some] / evidence.draws[some]).ravel()
        return Null(scores, int(np.count_nonzero(often)) * len(evidence.shadow), self._highest(evidence))

    def judge(self, evidence: Evidence) -> Verdicts:
        """A decision about every column."""
        often = evidence.draws > self.least_draws
        few = f"drawn {self.least_draws} times or fewer, too rarely to tell"
        reasons = ("more important than every shadow", "not more important than every shadow", few, "never drawn")
        decisions = [Decision.CONFIRMED, Decision.REJECTED, Decision.UNEXAMINED, Decision.UNEXAMINED]
        return first_that_holds([self._above(evidence), often, evidence.draws > 0], decisions, reasons)

    def _above(self, evidence: Evidence) -> NDArray[np.bool_]:
        often = evidence.draws > self.least_draws
        return np.asarray(often & (evidence.mean_importance() > self._highest(evidence)))

    def _highest(self, evidence: Evidence) -> float:
        often = evidence.draws > self.least_draws
        return float(np.max(evidence.shadow[:, often] / evidence.draws[often], initial=-np.inf))
