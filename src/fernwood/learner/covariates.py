"""Covariates that are numbers: a smooth basis of them, and what they leave of the target.

::

    covariate z    ranks, then normal scores s = Φ⁻¹((rank − ½) / n)
    basis          s · products of two s · natural cubic splines of s, with ever more knots
    in a cell      r = y − least squares on [1 basis]      so that Σ w r g(z) = 0 for every g in the basis

Since r is orthogonal to the basis, what a column shares with the covariates cancels in Σ w r x, as far as the basis
holds what the covariates say of the column *or* of the target: what is left is the product of the two misfits.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.least_squares import fit_in_cells, leave_over
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.learner.target import TreeTarget

__all__ = ["ROWS_A_BASIS_TERM", "ROWS_A_CELL_TERM", "Covariates", "covariates_of", "terms_needed"]

_Term = tuple[tuple[int, ...], "NDArray[np.float64]"]
"""The covariates that a term is made of, and its values."""

ROWS_A_BASIS_TERM = 10
"""Rows for every term of the basis."""
ROWS_A_CELL_TERM = 3
"""Rows of a cell for every term that it fits."""
_MOST_CELL_TERMS = 16
"""Terms that the cells of a fern fit, or straight lines if those are more."""
_MOST_KNOTS = 7
_KNOTS = (1 / 2, 1 / 4, 3 / 4, 1 / 8, 7 / 8, 3 / 8, 5 / 8)
"""Where inner knots lie between the lowest normal score and the highest, in the order in which they come in."""
_FEW_VALUES = 8
"""A covariate of no more values has a term for each of them."""
_MOST_TERMS, _MOST_CELLS = 96, 2**26
_NOTHING = 1e-6
_LEAST_SPREAD, _LEAST_SHARE = 1e-3, 0.02
SMOOTH = 40


class Covariates(NamedTuple):
    """A basis of covariates, and what it leaves of the target.

    Attributes
    ----------
    basis : float32 array, shape (rows, terms); coarse terms first, in every stratum of mean zero, and orthonormal
    levels : int64 array; how many terms the nested levels of the basis have, from none to all
    left : float64 array, shape (rows, targets); what it leaves of a number, or of contrasts of classes
    weights : float64 array; of the rows
    spread : float64 array; squared weight times how much of the target is left, on average, where covariates are alike
    """

    basis: NDArray[np.float32]
    levels: NDArray[np.int64]
    left: NDArray[np.float64]
    weights: NDArray[np.float64]
    spread: NDArray[np.float64]

    @property
    def n_targets(self) -> int:
        """How many contrasts classes have; one for numbers."""
        return int(self.left.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """How many terms the basis has, and how many levels."""
        return self.basis.shape[1], len(self.levels)

    def in_cells(
        self, rows: NDArray[np.int64], start: NDArray[np.int64], *, fine: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """What is left in cells, see `fit_in_cells`: shape (targets, rows); and the shares of the levels.

        Fine terms are fitted on all rows, and again in cells only where that is asked for; elsewhere a cell that has no
        room for straight lines is left out.
        """
        left = np.empty((self.n_targets, len(rows)))
        shares = np.zeros(len(self.levels), np.float32)
        coarse = np.count_nonzero(self.levels <= max(_MOST_CELL_TERMS, self.levels[1]))
        levels = self.levels if fine else self.levels[:coarse]
        cells = levels, 0 if fine else 1, rows, start
        fit_in_cells(self.basis, *cells, self.weights, self.left, ROWS_A_CELL_TERM, left, shares)
        return left, shares

    def leftover(
        self,
        codes: NDArray[np.uint8],
        owner: NDArray[np.int64],
        table: NDArray[np.float32],
        strata: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        """What every level of the basis leaves of pairs of components: shape (pairs, levels, 3), see `leave_over`."""
        out = np.empty((len(owner), len(self.levels), 3))
        amounts = np.bincount(strata, self.weights)
        arrays = self.basis, self.levels, strata, amounts, self.weights, self.spread
        leave_over(codes, owner, table, *arrays, out)
        return out


def terms_needed(codes: NDArray[np.uint8]) -> int:
    """How many terms covariates need at least: one each, and one for those with missing values."""
    return len(codes) + int((codes == MISSING).any(axis=1).sum())


def covariates_of(
    codes: NDArray[np.uint8], target: TreeTarget, strata: NDArray[np.int32]
) -> tuple[Covariates, list[int]]:
    """A basis of covariates on the rows that count, and how many terms of it belong to each of them alone.

    Parameters
    ----------
    codes : uint8 array, shape (covariates, rows)
    target
    strata : int32 array; of every row
    """
    kernel = target.kernel
    weights = kernel.weights
    n_rows = codes.shape[1]
    most = max(terms_needed(codes), min(n_rows // ROWS_A_BASIS_TERM, _MOST_TERMS, _MOST_CELLS // n_rows))
    centre = _Centre(strata, weights)
    kept: list[NDArray[np.float64]] = []
    levels, own = [0], [0] * len(codes)
    for terms in _terms(codes, weights, most):
        for owners, term in terms:
            straight = _orthogonal(centre(term), kept, weights)
            if straight is None:
                continue
            kept.append(straight)
            if len(owners) == 1:
                own[owners[0]] += 1
        if len(kept) > levels[-1]:
            levels.append(len(kept))
    values = _values(target)
    # What the terms do not say of the target may follow from what they say of it: a curve bends where classes are sure.
    for k in range(values.shape[1]):
        centred = centre(values[:, k])
        for term in _bends_of(centred - _without(centred, kept, weights), weights)[: max(0, most - len(kept))]:
            straight = _orthogonal(centre(term), kept, weights)
            if straight is not None:
                kept.append(straight)
    levels[-1] = len(kept)
    basis = np.ascontiguousarray(np.array(kept).T, np.float32)
    left = np.empty_like(values)
    for k in range(values.shape[1]):
        left[:, k] = _without(centre(values[:, k]), kept, weights)
    smooth = (
        _smooth_classes(values - left, len(target.classes))
        if kernel.classes
        else _smooth_numbers(left[:, 0], kept, centre, weights)
    )
    spread = smooth / np.average(smooth, weights=weights)
    return Covariates(basis, np.array(levels), left, weights, weights**2 * spread), own


def _values(target: TreeTarget) -> NDArray[np.float64]:
    """Numbers; or of k classes, k − 1 contrasts whose squares add up to those of the k indicators (Helmert)."""
    kernel = target.kernel
    if not kernel.classes:
        return kernel.values[:, None].copy()
    return _contrasts(len(target.classes))[kernel.labels]


def _contrasts(n_classes: int) -> NDArray[np.float64]:
    """Orthonormal contrasts of each class with those before it.

    Examples
    --------
    >>> (_contrasts(3).T @ _contrasts(3)).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    out = np.zeros((n_classes, n_classes - 1))
    for k in range(1, n_classes):
        out[:k, k - 1] = 1 / np.sqrt(k * (k + 1))
        out[k, k - 1] = -k / np.sqrt(k * (k + 1))
    return out


class _Centre:
    """Takes the mean of every stratum away."""

    def __init__(self, strata: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        self._strata, self._weights = strata, weights
        self._amounts = np.bincount(strata, weights)

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values - self.mean(values)

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the stratum of every row."""
        return (np.bincount(self._strata, self._weights * values) / self._amounts)[self._strata]


def _without(
    values: NDArray[np.float64], kept: list[NDArray[np.float64]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What orthonormal terms leave of values, one term after the other (modified Gram and Schmidt), twice."""
    for _ in range(2):
        for term in kept:
            values = values - float((weights * values * term).sum()) * term  # no BLAS, whose sums depend on threads
    return values


def _orthogonal(
    term: NDArray[np.float64], kept: list[NDArray[np.float64]], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """A term made orthogonal to those before it, of length one; None where nothing is left of it."""
    before = float((weights * term**2).sum())
    term = _without(term, kept, weights)
    size = float((weights * term**2).sum())
    return term / np.sqrt(size) if size > _NOTHING * before and size > 0 else None


def _smooth_classes(said: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """How much classes spread where their contrasts are as said."""
    shares = np.clip(said @ _contrasts(n_classes).T + 1 / n_classes, _LEAST_SHARE, 1 - _LEAST_SHARE)
    return np.asarray((shares * (1 - shares)).sum(axis=1))


def _smooth_numbers(
    left: NDArray[np.float64], kept: list[NDArray[np.float64]], centre: _Centre, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much a number spreads, as terms of the basis tell it: logarithms, so that no outlier says it alone."""
    squares = left**2
    average = max(float(np.average(squares, weights=weights)), np.finfo(np.float64).tiny)
    logs = np.log(squares / average + _LEAST_SPREAD)
    around = centre(logs)
    smooth = around - _without(around, kept[:SMOOTH], weights)
    return np.asarray(np.exp(np.clip(smooth + logs - around, -4.0, 4.0)))


# The terms ---------------------------------------------------------------------------------------------------------


def _terms(codes: NDArray[np.uint8], weights: NDArray[np.float64], most: int) -> Iterator[list[_Term]]:
    """Levels of terms, from coarse to fine, and so many at most; each term with the covariates that it is made of.

    Straight lines and missing values; first bends; products of two lines; further bends. All products come in, or none.
    """
    scores = [_normal_scores(column, weights) for column in codes]
    finer = [_Bends(score, column) for column, score in zip(codes, scores, strict=True)]

    def bends(number: int) -> list[_Term]:
        terms = [(j, bend.term(number)) for j, bend in enumerate(finer)]
        return [((j,), term) for j, term in terms if term is not None]

    lines: list[_Term] = [((j,), score) for j, score in enumerate(scores)]
    lines += [((j,), (column == MISSING) * 1.0) for j, column in enumerate(codes) if (column == MISSING).any()]
    yield lines
    room, n = most - len(lines), len(scores)
    first = bends(0)
    if len(first) > room:
        return
    yield first
    room -= len(first)
    if n * (n - 1) // 2 <= room:
        yield [((k, j), scores[j] * scores[k]) for j in range(n) for k in range(j)]
        room -= n * (n - 1) // 2
    last: list[_Term] = []
    for number in range(1, _MOST_KNOTS):
        more = bends(number)
        if len(more) > room:
            break
        last += more
        room -= len(more)
    yield last


def _normal_scores(column: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The normal scores of ranks: a straight line for what is normal, and no outlier among them; 0 where missing."""
    amounts = np.bincount(column, weights, 256)[:MISSING]
    used = np.flatnonzero(amounts)
    total = amounts.sum()
    table = np.zeros(256)
    middle = (np.cumsum(amounts) - amounts / 2) / total
    table[used] = [NormalDist().inv_cdf(share) for share in middle[used].tolist()]
    return table[column]


def _bends_of(said: NDArray[np.float64], weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Bends of what is said of the target."""
    order = np.argsort(said, kind="stable")
    score = np.empty(len(said))
    total = weights.sum()
    middle = (np.cumsum(weights[order]) - weights[order] / 2) / total
    score[order] = [NormalDist().inv_cdf(share) for share in middle.tolist()]
    bends = _Bends(score)
    return [term for term in [score, *(bends.term(number) for number in range(3))] if term is not None]


class _Bends:
    """The finer terms of a covariate: natural cubic splines of its normal scores, or single values of few."""

    def __init__(self, score: NDArray[np.float64], column: NDArray[np.uint8] | None = None) -> None:
        self._score, self._column = score, column
        self._present = np.ones(len(score), bool) if column is None else column != MISSING
        self._few: NDArray[np.uint8] | None = None
        if column is not None:
            used, often = np.unique(column[self._present], return_counts=True)
            self._few = used[np.argsort(-often, kind="stable")] if len(used) <= _FEW_VALUES else None
        low, high = float(score[self._present].min()), float(score[self._present].max())
        self._knots = [low + share * (high - low) for share in (0.0, *_KNOTS, 1.0)]

    def term(self, number: int) -> NDArray[np.float64] | None:
        """One of them, from 0 on; None where there is none."""
        if self._few is not None:
            few = self._few
            return (self._column == few[number]).astype(np.float64) if number + 2 < len(few) else None
        low, *inner, high = self._knots
        knot = inner[number]
        if not low < knot < high:
            return None
        x = self._score

        def cube(at: float) -> NDArray[np.float64]:
            return np.asarray(np.maximum(x - at, 0.0) ** 3)

        # Beyond the outer knots the cubes and squares cancel: a natural spline is straight there.
        share = (high - knot) / (high - low)
        return np.where(self._present, cube(knot) - share * cube(low) - (1 - share) * cube(high), 0.0)
