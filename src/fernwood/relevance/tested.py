"""Rules that test: columns against their shadows, or against the columns that chance put below zero.

The statistic of a column is its mean importance over its draws. The null is the same of columns that say nothing: the
shadows that took part in the same draws (Kursa and Rudnicki 2010), or the importances below zero and their mirror image
(Janitza, Celik and Boulesteix 2018). The latter takes an importance that chance makes as often negative as positive,
and as far: the loss after permuting a column, of trees that grew on one half of the rows, on the other half. With rows
drawn anew for every tree, all trees share what chance put into the table, and the mirror image is too small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fernwood.errors import ParameterError
from fernwood.relevance.decision import Decision, first_that_holds
from fernwood.relevance.paper import Null, some_columns
from fernwood.relevance.shadows import false_discoveries, found_at, smallest_counted, tail_chances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.relevance.decision import Verdicts
    from fernwood.relevance.paper import Against, Evidence

__all__ = ["MirrorRule", "ShadowRule", "check_fdr", "comparable"]

_SHARE = 0.5
"""Of the false discovery rate, for finding and confirming columns: every round is one more look at the same rows."""
_FEWEST_TO_CARRY = 1
"""Columns drawn more often than this may be found and carried; whether they stay is decided anew after every round."""
_FEWEST_ALIKE = 100
"""Fewer columns of a kind than this make no null by themselves."""
_FEWEST_BELOW = 10
"""Fewer importances below zero than this make no null."""


def check_fdr(fdr: object) -> None:
    """Refuse what is no false discovery rate."""
    if not (isinstance(fdr, (int, float, np.number)) and 0 < fdr < 1):
        raise ParameterError(f"fdr is {fdr!r}; it is a rate: give a number between 0 and 1, such as 0.1")


def comparable(
    categories: NDArray[np.bool_], n_codes: NDArray[np.integer], n_missing: NDArray[np.integer]
) -> NDArray[np.int64]:
    """A number for every column: those with the same one are about equally important by chance.

    Columns of more codes, of categories and with missing values offer trees more ways to split. Kinds of fewer than a
    hundred columns join the next kind in this order, whose shadows are more important if anything, and the last ones
    the kind before them.

    Examples
    --------
    >>> n_codes = np.repeat([2, 3, 200], [150, 20, 150])
    >>> np.unique(comparable(np.zeros(320, bool), n_codes, np.zeros(320, int)), return_counts=True)[1].tolist()
    [150, 170]
    """
    codes = np.minimum(np.rint(np.log2(np.maximum(n_codes, 1))), 4 + 4 * categories)
    kind = (18 * categories + 9 * (n_missing > 0) + codes).astype(np.int64)  # codes go from 0 to 8
    kinds, place, counts = np.unique(kind, return_inverse=True, return_counts=True)
    joined = np.zeros(len(kinds), np.int64)
    group = gathered = 0
    for i in range(len(kinds)):
        joined[i] = group
        gathered += counts[i]
        if gathered >= _FEWEST_ALIKE and counts[i + 1 :].sum() >= _FEWEST_ALIKE:
            group, gathered = group + 1, 0
    return joined[place]


@dataclass(frozen=True, slots=True, eq=False)
class _TestingRule(ABC):
    """What both rules share.

    Parameters
    ----------
    fdr
        The false discovery rate. Columns are found and confirmed at half of it, and tentative up to all of it.
    least_draws
        Columns drawn this often or less are not confirmed.
    kinds : int64 array, optional
        From `comparable`: columns are compared with the null of their kind; by default all are of one kind.
    straight
        Whether the tail of importances is modelled as it is. That of trees falls more slowly than an exponential; that
        of its cube root falls faster, so that the model errs on the safe side. Importances that chance makes as often
        negative as positive, those of ferns, have a lighter tail.
    """

    fdr: float = 0.1
    least_draws: int = 5
    kinds: NDArray[np.int64] | None = None
    straight: bool = False

    against: ClassVar[Against]
    _better: ClassVar[str]
    _advice: ClassVar[str] = "more rows, or a larger fdr, make weak columns visible"

    def __post_init__(self) -> None:
        check_fdr(self.fdr)

    @abstractmethod
    def null(self, evidence: Evidence, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mean importances of columns that say nothing, made from some columns that are alike."""

    def advice(self, _: Evidence) -> str:
        """What would make weak columns visible."""
        return self._advice

    def compared_with(self, evidence: Evidence) -> Null:
        """The null, of all kinds together."""
        often = evidence.draws > self.least_draws
        some = some_columns(often)
        scores = self.null(evidence, some)
        return Null(scores, round(len(scores) * int(np.count_nonzero(often)) / max(len(some), 1)))

    def found(self, evidence: Evidence) -> NDArray[np.int64]:
        """F, in increasing order."""
        return np.flatnonzero(found_at(_SHARE * self.fdr, self._chances(evidence, _FEWEST_TO_CARRY)))

    def chances(self, evidence: Evidence) -> NDArray[np.float64]:
        """The p of every column: 1 for those drawn too rarely, and where there is too little to compare with."""
        return self._chances(evidence, self.least_draws)

    def modelled(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Whose p is too small to be counted, and comes from a model of the tail."""
        chances, out = self.chances(evidence), np.zeros(len(evidence.draws), bool)
        for columns in self._alike(evidence.draws > self.least_draws):
            n_null = len(self.null(evidence, columns))
            out[columns] = (chances[columns] <= smallest_counted(n_null)) if n_null else False
        return out

    def judge(self, evidence: Evidence) -> Verdicts:
        """A decision about every column."""
        rates = false_discoveries(self.chances(evidence))
        ahead = np.zeros(len(rates), bool)
        ahead[self.found(evidence)] = True
        often = evidence.draws > self.least_draws
        rate = f"at a false discovery rate of {self.fdr:g}"
        few = f"drawn {self.least_draws} times or fewer"
        verdicts = (
            (often & (rates <= _SHARE * self.fdr), Decision.CONFIRMED, f"{self._better}, {rate}"),
            (
                often & (rates <= self.fdr),
                Decision.TENTATIVE,
                f"{self._better}, but barely: {rate} without its halving",
            ),
            (often, Decision.REJECTED, f"not {self._better}, {rate}"),
            (ahead, Decision.TENTATIVE, f"{self._better} so far, but {few}"),
            (evidence.draws > 0, Decision.UNEXAMINED, f"{few}, too rarely to tell"),
            (~often, Decision.UNEXAMINED, "never drawn"),
        )
        cases, decisions, reasons = zip(*verdicts, strict=True)
        return first_that_holds(cases[:-1], decisions, reasons)

    def _chances(self, evidence: Evidence, least: int) -> NDArray[np.float64]:
        out = np.ones(len(evidence.draws))
        for columns in self._alike(evidence.draws > least):
            null = self.null(evidence, columns)
            if len(null):
                mean = evidence.mean_importance(columns)
                out[columns] = tail_chances(mean, null) if self.straight else tail_chances(np.cbrt(mean), np.cbrt(null))
        return out

    def _alike(self, chosen: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
        """The columns chosen, kind by kind."""
        if self.kinds is None:
            yield np.flatnonzero(chosen)
            return
        for kind in range(int(self.kinds.max(initial=0)) + 1):
            yield np.flatnonzero(chosen & (self.kinds == kind))


@dataclass(frozen=True, slots=True, eq=False)
class ShadowRule(_TestingRule):
    """Columns that are more important than shadows, at a false discovery rate.

    Examples
    --------
    >>> from fernwood.relevance.paper import Evidence
    >>> draws, shadow = np.full(400, 10, np.int32), np.linspace(0, 10, 400)[None]
    >>> importance = shadow[0].copy()
    >>> importance[3] = 900.0
    >>> ShadowRule(0.1).found(Evidence(draws, importance, np.zeros(400, np.int32), shadow))
    array([3])
    """

    against: ClassVar[Against] = "shadows"
    _better: ClassVar[str] = "more important than shadows"

    def null(self, evidence: Evidence, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The mean importances of their shadows, drawn as often as they."""
        return np.asarray(evidence.shadow[:, columns] / evidence.draws[columns]).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class MirrorRule(_TestingRule):
    """Columns whose importance is farther above zero than chance puts others below it, at a false discovery rate.

    Examples
    --------
    >>> from fernwood.relevance.paper import Evidence
    >>> importance = np.linspace(-10, 10, 400)
    >>> importance[3] = 900.0
    >>> draws = np.full(400, 10, np.int32)
    >>> MirrorRule(0.1).found(Evidence(draws, importance, np.zeros(400, np.int32)))
    array([3])
    """

    against: ClassVar[Against] = "mirror"
    _better: ClassVar[str] = "more important than chance makes others harmful"

    def advice(self, evidence: Evidence) -> str:
        """What would make weak columns visible."""
        if np.count_nonzero(evidence.importance < 0) < _FEWEST_BELOW:
            return f"fewer than {_FEWEST_BELOW} columns are below zero, too few to mirror: use the rule 'shadow'"
        return self._advice

    def null(self, evidence: Evidence, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The mean importances that are not above zero, and the mirror image of those below it."""
        mean = evidence.mean_importance(columns)
        below = mean[mean < 0]
        return np.concatenate([mean[mean <= 0], -below]) if len(below) >= _FEWEST_BELOW else below[:0]
