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
from typing import TYPE_CHECKING, Any, ClassVar

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

__all__ = ["MirrorRule", "ShadowRule", "check_fdr", "decoys_needed", "null_strata"]

_SHARE = 0.5
"""Of the false discovery rate, for finding and confirming columns: every round is one more look at the same rows."""
_FEWEST_TO_CARRY = 1
"""Columns drawn more often than this may be found and carried; whether they stay is decided anew after every round."""
_FEWEST_ALIKE = 100
"""Fewer importances than this make no null by themselves."""
_FEWEST_BELOW = 10
"""Fewer importances below zero than this make no null."""


def check_fdr(fdr: object) -> None:
    """Refuse what is no false discovery rate."""
    if not (isinstance(fdr, (int, float, np.number)) and 0 < fdr < 1):
        raise ParameterError(f"fdr is {fdr!r}; it is a rate: give a number between 0 and 1, such as 0.1")


def null_strata(
    categories: NDArray[np.bool_],
    n_codes: NDArray[np.integer],
    n_missing: NDArray[np.integer],
    n_uncommon: NDArray[np.floating],
) -> NDArray[np.uint16]:
    """A number for every column: those with the same one are about equally important by chance.

    What a column can gain by chance grows with the rows that set it apart, in steps of a factor of two, and then with
    its codes, with categories and with missing values, which offer trees more ways to split. The numbers are in this
    order.

    Parameters
    ----------
    categories, n_codes, n_missing
    n_uncommon
        How many rows do not have the most common value.

    Examples
    --------
    >>> strata = null_strata(np.zeros(4, bool), np.array([2, 2, 2, 200]), np.zeros(4, int), np.array([1, 40, 41, 99]))
    >>> strata.tolist()
    [0, 1, 1, 2]
    """
    key = _doublings(n_uncommon) * np.int16(9) + _doublings(n_codes)  # codes double at most eight times
    key = (key * np.int16(2) + categories) * np.int16(2) + (n_missing > 0)
    taken = np.zeros(int(key.max(initial=0)) + 1, bool)
    taken[key] = True
    return np.asarray((np.cumsum(taken) - 1).astype(np.uint16)[key])


def _doublings(count: NDArray[Any]) -> NDArray[np.int16]:
    """How often one doubles to a count, about."""
    return np.asarray(np.rint(np.log2(np.maximum(count, 1))), np.int16)


def decoys_needed(strata: NDArray[np.uint16], n_shadows: int) -> int:
    """How many decoys the highest stratum needs, above which there is none, for a null of its own.

    Examples
    --------
    >>> decoys_needed(np.repeat([0, 1], [300, 40]), n_shadows=1), decoys_needed(np.zeros(100, int), n_shadows=1)
    (30, 0)
    """
    n_highest = int(np.count_nonzero(strata == strata.max(initial=0)))
    return max(0, -(-(_FEWEST_ALIKE - n_highest * max(n_shadows, 1)) // (1 + n_shadows)))


@dataclass(frozen=True, slots=True, eq=False)
class _TestingRule(ABC):
    """What both rules share.

    Parameters
    ----------
    fdr
        The false discovery rate. Columns are found and confirmed at half of it, and tentative up to all of it.
    least_draws
        Columns drawn this often or less are not confirmed.
    strata : uint16 array, optional
        From `null_strata`: columns are compared with the null of their stratum, and where that is small, with those
        above it too, which are more important by chance if anything; by default all are of one.
    n_decoys
        So many of the columns, the last ones, are permuted copies that carry no information: they are part of the null
        and are not judged.
    straight
        Whether the tail of importances is modelled as it is. That of trees falls more slowly than an exponential; that
        of its cube root falls faster, so that the model errs on the safe side. Importances that chance makes as often
        negative as positive, those of ferns, have a lighter tail.
    """

    fdr: float = 0.1
    least_draws: int = 5
    strata: NDArray[np.uint16] | None = None
    n_decoys: int = 0
    straight: bool = False

    against: ClassVar[Against]
    _better: ClassVar[str]
    _advice: ClassVar[str] = "more rows, or a larger fdr, make weak columns visible"

    def __post_init__(self) -> None:
        check_fdr(self.fdr)

    @abstractmethod
    def null(self, evidence: Evidence, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mean importances of columns that carry no information, made from some columns that are alike."""

    @abstractmethod
    def _n_null(self, evidence: Evidence, columns: NDArray[np.int64]) -> int:
        """How many importances of a null some columns make, about."""

    def advice(self, _: Evidence) -> str:
        """What would make weak columns visible."""
        return self._advice

    def compared_with(self, evidence: Evidence) -> Null:
        """The null, of all strata together."""
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
        chances, out = self.chances(evidence), np.zeros(self._n_judged(evidence), bool)
        for columns, null in self._compared(evidence, self.least_draws):
            out[columns] = chances[columns] < smallest_counted(len(null))
        return out

    def judge(self, evidence: Evidence) -> Verdicts:
        """A decision about every column."""
        rates = false_discoveries(self.chances(evidence))
        ahead = np.zeros(len(rates), bool)
        ahead[self.found(evidence)] = True
        draws = evidence.draws[: len(rates)]
        often = draws > self.least_draws
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
            (draws > 0, Decision.UNEXAMINED, f"{few}, too rarely to tell"),
            (~often, Decision.UNEXAMINED, "never drawn"),
        )
        cases, decisions, reasons = zip(*verdicts, strict=True)
        return first_that_holds(cases[:-1], decisions, reasons)

    def _chances(self, evidence: Evidence, least: int) -> NDArray[np.float64]:
        out = np.ones(self._n_judged(evidence))
        for columns, null in self._compared(evidence, least):
            mean = evidence.mean_importance(columns)
            out[columns] = tail_chances(mean, null) if self.straight else tail_chances(np.cbrt(mean), np.cbrt(null))
        return out

    def _n_judged(self, evidence: Evidence) -> int:
        return len(evidence.draws) - self.n_decoys

    def _compared(self, evidence: Evidence, least: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Columns to judge that are drawn more than `least` times, stratum by stratum, and the null of each."""
        chosen, n_judged = evidence.draws > least, self._n_judged(evidence)
        for members, alike in self._alike(evidence, chosen):
            columns, null = members[members < n_judged], self.null(evidence, alike)
            if len(columns) and len(null):
                yield columns, null

    def _alike(
        self, evidence: Evidence, chosen: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The columns chosen, stratum by stratum, and those that make its null: itself, and as many above as needed."""
        if self.strata is None:
            columns = np.flatnonzero(chosen)
            yield columns, columns
            return
        ranks = np.flatnonzero(chosen)
        ranks = ranks[np.argsort(self.strata[ranks], kind="stable")]  # of 16 bits, which are sorted in one pass
        strata = np.split(ranks, np.flatnonzero(np.diff(self.strata[ranks])) + 1)
        sizes = [self._n_null(evidence, members) for members in strata]
        for first, members in enumerate(strata):
            together = np.cumsum(sizes[first:])
            last = first + int(np.searchsorted(together, _FEWEST_ALIKE)) + 1
            yield members, members if last == first + 1 else np.sort(np.concatenate(strata[first:last]))


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
        """The mean importances of their shadows, drawn as often as they, and those of the decoys among them."""
        shadows = np.asarray(evidence.shadow[:, columns] / evidence.draws[columns]).ravel()
        decoys = columns[columns >= self._n_judged(evidence)]
        return np.concatenate([shadows, evidence.mean_importance(decoys)])

    def _n_null(self, evidence: Evidence, columns: NDArray[np.int64]) -> int:
        n_decoys = int(np.count_nonzero(columns >= self._n_judged(evidence)))
        return len(evidence.shadow) * len(columns) + n_decoys


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

    def _n_null(self, evidence: Evidence, columns: NDArray[np.int64]) -> int:  # noqa: ARG002
        return len(columns)
