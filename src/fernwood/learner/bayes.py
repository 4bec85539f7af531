"""Naive Bayes on subsets of columns without fitting again: what every column says is added up.

A naive Bayes scores a class by its prior and one term a column, and a term does not depend on the other columns. So the
learner is fitted once a split, on all columns, and a subset's scores are those of the last subset that was asked for,
with the terms of columns that came in added and of those that went out taken away. Terms lie on a grid, of the row or
of all, on which sums are exact: scores are the same whatever was asked for before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.learner.subsets import Evaluation, Split, SubsetErrors

__all__ = ["fast_errors"]

_CELLS = 2**22
"""Terms that are made at a time."""
_REMEMBERED = 8
_EXACT = 51
"""Bits of the largest sum: whole numbers up to 2⁵³ are exact."""


def fast_errors(evaluation: Evaluation) -> SubsetErrors | None:
    """Errors of subsets from terms that are made once, or None for an estimator without such a way.

    Scikit-learn's `GaussianNB`, `BernoulliNB` and `CategoricalNB` have it, on dense tables, judged by their accuracy.
    Predictions are those of fitting on the subset, but that classes whose scores differ by a rounding are equal here,
    and the first is then taken.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fernwood.learner.subsets import evaluation_of
    >>> x = np.random.default_rng(0).standard_normal((60, 4))
    >>> errors = fast_errors(evaluation_of(GaussianNB(), x, x[:, 2] > 0, cv=3, scoring=None))
    >>> errors(np.array([2])) < 0.2 < errors(np.array([0, 1]))
    True
    """
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
    from sklearn.utils import check_array

    kinds: dict[type, type[_Terms]] = {GaussianNB: _Normal, BernoulliNB: _Bits, CategoricalNB: _Categories}
    kind = kinds.get(type(evaluation.estimator))
    if kind is None or not evaluation.by_accuracy or hasattr(evaluation.table, "tocsc"):
        return None
    try:
        table = check_array(evaluation.table, dtype="numeric")
        sides = [_side(kind, evaluation, table, split) for split in evaluation.splits]
    except (ValueError, TypeError):
        return None  # the plain way says what is wrong
    every = np.arange(evaluation.n_columns)
    known = all(np.isfinite(side.terms.largest(side.terms.shared(every))).all() for side in sides)
    return _SummedErrors(evaluation, sides) if known else None


class _Terms(Protocol):
    """What the columns say about the rows of one split, by a fitted naive Bayes."""

    fitted_with: ClassVar[Mapping[str, Any]]
    """What the learner is fitted with in place of its own parameters."""
    never: float
    """Minus this stands for minus infinity: no sum of other terms is as low. Infinite where no term is infinite."""

    def __init__(self, model: Any, given: Any, train: NDArray[Any], test: NDArray[Any]) -> None:
        """From a fitted model, and the learner with its own parameters."""

    def prior(self) -> NDArray[np.float64]:
        """The term of every class that is there without columns."""

    def largest(self, shared: float) -> NDArray[np.float64]:
        """No sum of terms of subsets that have this in common is farther from zero; infinite where terms may be.

        One number, or one for every row, shape (rows, 1): one row that is far from all others is no matter to them.
        """

    def shared(self, columns: NDArray[np.int64]) -> float:
        """What the terms of a subset have in common: terms are the same as long as it is."""

    def __call__(self, columns: NDArray[np.int64], shared: float) -> NDArray[np.float64]:
        """The terms of some columns, shape (columns, rows, classes)."""


class _Normal:
    """Terms of `GaussianNB`, whose variances grow by a share of the largest among the columns of a subset.

    It is fitted without that share: taken away afterwards, one of a column that spreads widely would leave nothing of
    the others' variances. Terms are doubles also of a table of singles, as those of stores are: sums of singles would
    depend on what was added before.
    """

    fitted_with: ClassVar[Mapping[str, Any]] = {"var_smoothing": 0.0}
    never = np.inf

    def __init__(self, model: Any, given: Any, train: NDArray[Any], test: NDArray[Any]) -> None:
        if not given.var_smoothing >= 0:
            raise ValueError("a share below zero, which fitting refuses")
        self._prior = np.log(model.class_prior_, dtype=np.float64)
        self._means = model.theta_.T[:, None, :].astype(np.float64)
        self._variances = model.var_.T[:, None, :].astype(np.float64)
        self._spread = given.var_smoothing * np.var(train, axis=0, dtype=np.float64)
        self._test = test.T[:, :, None]
        self._largest: dict[float, NDArray[np.float64]] = {}

    def prior(self) -> NDArray[np.float64]:
        return np.asarray(self._prior)

    def largest(self, shared: float) -> NDArray[np.float64]:
        known = self._largest.get(shared)
        if known is not None:
            return known
        out = np.zeros((self._test.shape[1], 1))
        for j in np.flatnonzero(self._spread <= shared).tolist():  # a column of more would have made it more
            variances = self._variances[j] + shared
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.abs(np.log(2 * np.pi * variances)) + (self._test[j] - self._means[j]) ** 2 / variances
            out += np.nan_to_num(terms, nan=np.inf).max(axis=1, keepdims=True)
        self._largest = {**dict(list(self._largest.items())[-_REMEMBERED:]), shared: out}
        return out

    def shared(self, columns: NDArray[np.int64]) -> float:
        return float(self._spread[columns].max())

    def __call__(self, columns: NDArray[np.int64], shared: float) -> NDArray[np.float64]:
        variances = self._variances[columns] + shared
        away = (self._test[columns] - self._means[columns]) ** 2
        return np.asarray(-0.5 * (np.log(2 * np.pi * variances) + away / variances))


class _Bits:
    """Terms of `BernoulliNB`."""

    fitted_with: ClassVar[Mapping[str, Any]] = {}
    never = np.inf

    def __init__(self, model: Any, given: Any, train: NDArray[Any], test: NDArray[Any]) -> None:  # noqa: ARG002
        self._prior = model.class_log_prior_.astype(np.float64)
        self._set = model.feature_log_prob_.T[:, None, :].astype(np.float64)
        with np.errstate(divide="ignore"):
            self._clear = np.log1p(-np.exp(self._set))
        self._bits = (test if model.binarize is None else test > model.binarize).T[:, :, None] != 0
        self._largest = np.maximum(np.abs(self._set), np.abs(self._clear)).max(axis=(1, 2)).sum()

    def prior(self) -> NDArray[np.float64]:
        return np.asarray(self._prior)

    def largest(self, shared: float) -> NDArray[np.float64]:  # noqa: ARG002
        return np.asarray(self._largest)

    def shared(self, columns: NDArray[np.int64]) -> float:  # noqa: ARG002
        return 0.0

    def __call__(self, columns: NDArray[np.int64], shared: float) -> NDArray[np.float64]:  # noqa: ARG002
        return np.asarray(np.where(self._bits[columns], self._set[columns], self._clear[columns]))


class _Categories:
    """Terms of `CategoricalNB`; without smoothing a class is impossible where it never had a value."""

    fitted_with: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, model: Any, given: Any, train: NDArray[Any], test: NDArray[Any]) -> None:  # noqa: ARG002
        codes = test.T.astype(np.int64)
        if (codes < 0).any() or (codes.max(axis=1) >= model.n_categories_).any():
            raise ValueError("a category of the rows that are scored is none of those that were fitted")
        self._prior = model.class_log_prior_.astype(np.float64)
        logs = [np.ascontiguousarray(said.T, np.float64) for said in model.feature_log_prob_]
        if any(np.isnan(said).any() for said in logs):
            raise ValueError("a class has no rows")
        lowest = sum(float(-said.min(initial=0, where=np.isfinite(said))) for said in logs)
        self.never = 2.0 ** np.ceil(np.log2(lowest + 1))  # a power of two is on every grid
        self._said = [np.maximum(said, -self.never) for said in logs]
        self._codes = codes
        self._largest = np.sum([np.abs(said).max() for said in self._said])

    def prior(self) -> NDArray[np.float64]:
        return np.asarray(self._prior)

    def largest(self, shared: float) -> NDArray[np.float64]:  # noqa: ARG002
        return np.asarray(self._largest)

    def shared(self, columns: NDArray[np.int64]) -> float:  # noqa: ARG002
        return 0.0

    def __call__(self, columns: NDArray[np.int64], shared: float) -> NDArray[np.float64]:  # noqa: ARG002
        return np.stack([self._said[j][self._codes[j]] for j in columns])


class _Side(NamedTuple):
    """A split: its terms, the place of every row's class among those that were fitted (−1: none), and how they fit."""

    terms: _Terms
    labels: NDArray[np.int64]
    block: int


def _side(kind: type[_Terms], evaluation: Evaluation, table: NDArray[Any], split: Split) -> _Side:
    from sklearn.base import clone

    given = {
        name: np.asarray(value)[split.train] if len(np.shape(value)) == 1 else value
        for name, value in evaluation.params.fit.items()
    }
    model = clone(evaluation.estimator).set_params(**kind.fitted_with)
    model.fit(table[split.train], evaluation.y[split.train], **given)
    truth = evaluation.y[split.test]
    places = np.minimum(np.searchsorted(model.classes_, truth), len(model.classes_) - 1)
    labels = np.where(model.classes_[places] == truth, places, -1)
    block = max(1, _CELLS // max(1, len(split.test) * len(model.classes_)))
    return _Side(kind(model, evaluation.estimator, table[split.train], table[split.test]), labels, block)


class _Sums(NamedTuple):
    """Scores on a split by the terms of a subset, without the prior, in steps of a grid: `fine` of them are one."""

    shared: float
    fine: NDArray[np.float64]
    scores: NDArray[np.float64]


class _SummedErrors:
    """The errors of subsets by summing; a `SubsetErrors`. The last subset is kept, with its scores."""

    def __init__(self, evaluation: Evaluation, sides: list[_Side]) -> None:
        self.n_columns = evaluation.n_columns
        self._evaluation = evaluation
        self._sides = sides
        self._last: tuple[NDArray[np.bool_], list[_Sums]] | None = None

    def __call__(self, columns: NDArray[np.int64]) -> float:
        """The error on columns given by position."""
        if not all(np.isfinite(side.terms.largest(side.terms.shared(columns))).all() for side in self._sides):
            from fernwood.learner.subsets import CrossValidated

            return CrossValidated(self._evaluation)(columns)  # of columns that are all constant, say
        wanted = np.zeros(self.n_columns, bool)
        wanted[columns] = True
        last = self._last  # read once: calls may come from several threads
        sums = [
            self._sums(side, wanted, None if last is None else (last[0], last[1][k]))
            for k, side in enumerate(self._sides)
        ]
        self._last = wanted, sums
        return self._evaluation.error(
            np.mean(_predicted(side.terms, said) == side.labels) for side, said in zip(self._sides, sums, strict=True)
        )

    def _sums(self, side: _Side, wanted: NDArray[np.bool_], last: tuple[NDArray[np.bool_], _Sums] | None) -> _Sums:
        shared = side.terms.shared(np.flatnonzero(wanted))
        if last is None or last[1].shared != shared:
            empty = np.zeros((len(side.labels), len(side.terms.prior())))
            had, sums = np.zeros_like(wanted), _Sums(shared, _fineness(side.terms, shared), empty)
        else:
            had, sums = last
            if np.count_nonzero(had != wanted) > np.count_nonzero(wanted):
                had, sums = np.zeros_like(wanted), sums._replace(scores=np.zeros_like(sums.scores))
        scores = sums.scores.copy()
        for sign, changed in ((1, wanted & ~had), (-1, had & ~wanted)):
            places = np.flatnonzero(changed)
            for first in range(0, len(places), side.block):
                terms = side.terms(places[first : first + side.block], shared)
                scores += sign * np.rint(terms * sums.fine).sum(axis=0)
        return sums._replace(scores=scores)


def _predicted(terms: _Terms, sums: _Sums) -> NDArray[np.int64]:
    """The place of the best class of every row; of equal ones, all being impossible for instance, the first."""
    scores = sums.scores + np.rint(terms.prior() * sums.fine)
    return np.asarray(np.where(sums.scores <= -terms.never * sums.fine, -np.inf, scores).argmax(axis=1))


def _fineness(terms: _Terms, shared: float) -> NDArray[np.float64]:
    """One over the step of the finest grid on which all terms add up exactly, of every row or of all."""
    largest = terms.largest(shared) + float(np.abs(terms.prior()).max())
    return np.asarray(2.0 ** (_EXACT - np.ceil(np.log2(np.maximum(largest, 1.0)))))
