"""Contexts in which columns are examined: ferns of columns found before, each cut at a random place.

The target takes no part in how a fern divides the rows, so that every row both conditions and scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.kernels.examining import MOST_COUNTED, Contexts
from fernwood.learner.covariates import ROWS_A_CELL_TERM
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fernwood.learner.covariates import Covariates
    from fernwood.learner.target import TreeTarget

__all__ = [
    "Ferns",
    "Ground",
    "are_counted",
    "divided",
    "draw_exploring_ferns",
    "draw_ferns",
    "fern_depth",
    "in_parts",
    "n_beside",
    "n_laid_out",
    "scoring_kernels",
    "used_in",
    "without_context",
]

_LOWEST_CUT, _HIGHEST_CUT = 0.2, 0.8
"""A fern cuts a column at a random quantile between these."""
_DEEPEST = 4
_EXPLORING_DEPTH = 6
_BESIDE = 2
"""Columns found that an exploring fern holds beside random ones."""
_ROWS_A_CELL = 6
"""A fern has no more columns than leave so many rows a cell, on average."""
_MOST_CELLS = 4096
_CELLS_AT_ONCE, _MOST_CELLS_AT_ONCE, _MANY_ROWS = 2**23, 2**24, 65_536
"""Rows times contexts that are laid out together: tables of very many rows are passed over more often. Shadows are
dealt anew in every pass, which takes longest there, so that more is laid out together than of fewer rows."""


class Ground(NamedTuple):
    """What every context begins with.

    Attributes
    ----------
    target : of the rows that count: none has weight zero
    strata : int32 array; the stratum of every row, from 0 on: no cell of a context reaches over two of them
    n_strata : how many there are
    covariates : those that are numbers; None without any
    """

    target: TreeTarget
    strata: NDArray[np.int32]
    n_strata: int
    covariates: Covariates | None = None

    @classmethod
    def undivided(cls, target: TreeTarget) -> Ground:
        """One stratum of all rows."""
        return cls(target, np.zeros(target.n_rows, np.int32), 1)

    def squares(self) -> NDArray[np.float64]:
        """How much every row adds to the variance of a score: squared weight times squared departure of the target.

        The target departs from its mean in the stratum; of classes, the squares of all add up. Weights are shares
        of the largest.

        Examples
        --------
        >>> from fernwood.learner.target import class_target
        >>> Ground.undivided(class_target([0, 0, 1], np.array([1.0, 1.0, 2.0]))).squares().tolist()
        [0.125, 0.125, 0.5]
        """
        kernel, strata, n = self.target.kernel, self.strata, self.n_strata
        size = np.bincount(strata, kernel.weights, n)
        if kernel.classes:
            n_classes = len(self.target.classes)
            inside = np.bincount(strata * n_classes + kernel.labels, kernel.weights, n * n_classes)
            share = inside.reshape(n, n_classes) / size[:, None]
            departure = 1 - 2 * share[strata, kernel.labels] + (share**2).sum(axis=1)[strata]
        else:
            mean = np.bincount(strata, kernel.weights * kernel.values, n) / size
            departure = (kernel.values - mean[strata]) ** 2
        return np.asarray(kernel.weights**2 * departure)

    def depth(self, *, exploring: bool = False) -> int:
        """The most columns of a fern."""
        n_classes = max(len(self.target.classes), 1)
        n_rows, n_parts = self.target.n_rows // self.n_strata, n_classes * self.n_strata
        if self.covariates is None:
            return fern_depth(n_rows, n_parts, exploring=exploring)
        # A cell has room for a constant and a straight line in each covariate.
        rows_a_cell = max(_ROWS_A_CELL, ROWS_A_CELL_TERM * (1 + int(self.covariates.levels[1])))
        return fern_depth(n_rows, n_parts, exploring=exploring, rows_a_cell=rows_a_cell)

    @property
    def counts(self) -> bool:
        """Whether rows are counted, and not weighed."""
        return self.covariates is None and are_counted(self.target)

    @property
    def n_places(self) -> int:
        """Places that the rows take in a context: with covariates, one for what they leave of each class."""
        return self.target.n_rows * (1 if self.covariates is None else self.covariates.n_targets)


class Ferns(NamedTuple):
    """Contexts, and the columns that each of them uses, as places among those it was drawn from."""

    contexts: Contexts
    uses: list[NDArray[np.int64]]


def divided(
    target: TreeTarget,
    cells: Iterable[NDArray[np.integer[Any]]],
    shape: tuple[int, int] | None = None,
    covariates: Covariates | None = None,
    *,
    fine: bool = False,
) -> Contexts:
    """Contexts that divide the rows as said, with the target inside.

    Parameters
    ----------
    target
        Of the rows that count: none has weight zero.
    cells : integer array, shape (contexts, rows)
        The cell of every row; or such rows of an array one at a time, with `shape`.
    shape
        How many contexts there are, and how many cells each has at most.
    covariates
        What they leave of the target is inside then, and nothing else.
    fine
        Whether cells fit all terms of the covariates that they have room for.
    """
    if shape is None:
        every = np.asarray(cells)
        cells, shape = every, (len(every), int(every.max()) + 1)
    if covariates is not None:
        return _left_in(cells, shape, covariates, fine=fine)
    kernel = target.kernel
    n_classes = len(target.classes) if kernel.classes else 1
    n_contexts, n_rows = shape[0], target.n_rows
    n_parts = shape[1] * n_classes
    counts = are_counted(target)
    rows = np.empty((n_contexts, n_rows), np.uint32)
    start = np.zeros((n_contexts, n_parts + 1), np.uint32)
    size = np.empty((n_contexts, n_parts), np.float32)
    weight = np.empty((n_contexts, 0 if counts else n_rows), np.float32)
    small = np.min_scalar_type(n_parts)  # sorting is faster by far in 8 and 16 bits
    for c, cell in enumerate(cells):
        part = (cell * n_classes + (kernel.labels if kernel.classes else 0)).astype(small)
        rows[c] = np.argsort(part, kind="stable")
        number = np.bincount(part, minlength=n_parts)
        start[c, 1:] = np.cumsum(number)
        size[c] = number if counts else np.bincount(part, kernel.weights, n_parts)
        if counts:
            continue
        heavy = kernel.weights
        if not kernel.classes:
            sums = np.bincount(part, kernel.weights * kernel.values, n_parts)
            heavy = heavy * (kernel.values - (sums / np.maximum(size[c], np.finfo(np.float32).tiny))[part])
        weight[c] = heavy[rows[c]]
    return Contexts(rows, start, size, weight, n_classes)


def _left_in(
    cells: Iterable[NDArray[np.integer[Any]]], shape: tuple[int, int], covariates: Covariates, *, fine: bool
) -> Contexts:
    """Contexts with what covariates leave of the target inside: of several classes, a part of every cell for each.

    Such a part has all rows of its cell.
    """
    n_contexts, n_cells = shape
    n_rows, n_targets = covariates.left.shape
    rows = np.empty((n_contexts, n_rows * n_targets), np.uint32)
    start = np.zeros((n_contexts, n_cells * n_targets + 1), np.uint32)
    size = np.empty((n_contexts, n_cells * n_targets), np.float32)
    weight = np.empty((n_contexts, n_rows * n_targets), np.float32)
    shares = np.empty((n_contexts, len(covariates.levels)), np.float32)
    small = np.min_scalar_type(n_cells)
    for c, cell in enumerate(cells):
        order = np.argsort(cell.astype(small), kind="stable")
        number = np.bincount(cell, minlength=n_cells)
        first = np.append(0, np.cumsum(number))
        left, shares[c] = covariates.in_cells(order, first, fine=fine)
        at = np.arange(n_rows) + (n_targets - 1) * np.repeat(first[:-1], number)
        for k in range(n_targets):
            place = at + k * np.repeat(number, number)
            rows[c, place] = order
            weight[c, place] = covariates.weights[order] * left[k]
        start[c, 1:] = np.cumsum(np.repeat(number, n_targets))
        size[c] = np.repeat(np.bincount(cell, covariates.weights, n_cells), n_targets)
    return Contexts(rows, start, size, weight, 1, n_targets, shares)


def are_counted(target: TreeTarget) -> bool:
    """Whether rows are counted, and not weighed: those of classes that all weigh one, if they are not too many."""
    kernel = target.kernel
    return bool(kernel.classes and target.n_rows <= MOST_COUNTED and (kernel.weights == 1).all())


def scoring_kernels(target: TreeTarget, covariates: Covariates | None = None) -> str:
    """The family of kernels that scores columns for a target, or for what covariates leave of it."""
    return "counts" if covariates is None and are_counted(target) else "numbers"


def without_context(ground: Ground) -> Contexts:
    """The one context that divides the rows no further: a column by itself."""
    return divided(ground.target, ground.strata[None], covariates=ground.covariates, fine=True)


def fern_depth(n_rows: int, n_classes: int, *, exploring: bool = False, rows_a_cell: int = _ROWS_A_CELL) -> int:
    """The most columns of a fern on so many rows; more where it explores, since what is not in it cannot be met.

    Examples
    --------
    >>> fern_depth(1000, 2), fern_depth(1000, 2, exploring=True), fern_depth(30, 2)
    (4, 6, 2)
    """
    by_rows = int(math.log2(max(n_rows / rows_a_cell, 2)))
    by_classes = int(math.log2(max(_MOST_CELLS / n_classes, 2)))
    return max(1, min(_EXPLORING_DEPTH if exploring else _DEEPEST, by_rows, by_classes))


def n_beside(depth: int, n_found: int) -> int:
    """How many columns of an exploring fern of so many are columns found.

    Examples
    --------
    >>> n_beside(6, 0), n_beside(6, 9), n_beside(1, 9)
    (0, 2, 0)
    """
    return min(_BESIDE, n_found, depth - 1)


def n_laid_out(n_rows: int, n_contexts: int) -> int:
    """How many contexts divide so many rows at a time.

    Examples
    --------
    >>> n_laid_out(1000, 256), n_laid_out(1_000_000, 256)
    (256, 16)
    """
    most = _CELLS_AT_ONCE if n_rows <= _MANY_ROWS else _MOST_CELLS_AT_ONCE
    return max(1, min(n_contexts, most // n_rows))


def in_parts(n_rows: int, n_contexts: int) -> list[int]:
    """How many contexts divide so many rows, time after time.

    Examples
    --------
    >>> in_parts(1000, 256), in_parts(1_000_000, 40)
    ([256], [16, 16, 8])
    """
    at_once = n_laid_out(n_rows, n_contexts)
    return [min(at_once, n_contexts - first) for first in range(0, n_contexts, at_once)]


def used_in(uses: list[NDArray[np.int64]], carried: NDArray[np.int64], first: int = 0) -> dict[int, list[int]]:
    """The contexts that use a column, by its rank; numbered from `first` on.

    Examples
    --------
    >>> used_in([np.array([0]), np.array([0, 1])], np.array([7, 9]))
    {7: [0, 1], 9: [1]}
    """
    used: dict[int, list[int]] = {}
    for number, use in enumerate(uses, first):
        for rank in carried[use].tolist():
            used.setdefault(rank, []).append(number)
    return used


def draw_ferns(
    rng: np.random.Generator,
    codes: NDArray[np.uint8],
    categories: NDArray[np.bool_],
    ground: Ground,
    n_ferns: int,
) -> Ferns:
    """Ferns of some columns, one to four of them in each.

    Parameters
    ----------
    rng
        At the address of the ferns.
    codes : uint8 array, shape (columns, rows)
        Of the columns to draw from.
    categories : bool array
        Which of them hold categories: those are cut by a random half of the categories in use.
    ground
    n_ferns
    """
    deepest = min(ground.depth(), len(codes))
    chosen = [rng.choice(len(codes), int(rng.integers(1, deepest + 1)), replace=False) for _ in range(n_ferns)]
    return _grown(rng, codes, categories, ground, chosen)


def draw_exploring_ferns(
    rng: np.random.Generator,
    codes: NDArray[np.uint8],
    categories: NDArray[np.bool_],
    ground: Ground,
    n_ferns: int,
    n_found: int,
) -> Ferns:
    """Ferns as deep as they can be: up to two of the columns found, and the other columns shared out among the ferns.

    Parameters
    ----------
    rng, codes, categories, ground, n_ferns
        As for `draw_ferns`.
    n_found
        How many of the columns, the first ones, are found already.
    """
    n_others = len(codes) - n_found
    deepest = min(ground.depth(exploring=True), len(codes))
    beside = n_beside(deepest, n_found)
    shared_out = n_found + rng.permutation(n_others)
    size = min(deepest - beside, n_others)
    chosen = []
    for number in range(n_ferns):
        others = np.take(shared_out, np.arange(number * size, (number + 1) * size), mode="wrap")
        chosen.append(np.concatenate((rng.choice(n_found, beside, replace=False), others)).astype(np.int64))
    return _grown(rng, codes, categories, ground, chosen)


def _grown(
    rng: np.random.Generator,
    codes: NDArray[np.uint8],
    categories: NDArray[np.bool_],
    ground: Ground,
    chosen: list[NDArray[np.int64]],
) -> Ferns:
    """Ferns of the columns chosen for each, cut at random."""
    up_to = {int(j): np.cumsum(np.bincount(codes[j], minlength=256)) for j in np.unique(np.concatenate(chosen))}

    def cells() -> Iterator[NDArray[np.int32]]:
        for columns in chosen:
            cell = ground.strata.copy()
            for column in columns.tolist():
                cell *= 2
                cell += _above_a_cut(rng, codes[column], up_to[column], bool(categories[column]))
            yield cell

    n_cells = ground.n_strata * 2 ** max(map(len, chosen))
    contexts = divided(ground.target, cells(), (len(chosen), n_cells), ground.covariates)
    return Ferns(contexts, [np.sort(columns) for columns in chosen])


def _above_a_cut(
    rng: np.random.Generator, codes: NDArray[np.uint8], up_to: NDArray[np.int64], category: bool
) -> NDArray[np.bool_]:
    """Which rows are on the second side of a random cut; missing values are on it too, being the highest code.

    `up_to` is how many rows have each code or a lower one.
    """
    if category:
        used = np.flatnonzero(np.diff(up_to, prepend=0))
        second = np.zeros(256, bool)
        second[rng.permutation(used)[: max(1, len(used) // 2)]] = True
        return second[codes]
    n_present = int(up_to[MISSING - 1])
    if not n_present:
        return np.zeros(len(codes), bool)
    place = min(int(n_present * rng.uniform(_LOWEST_CUT, _HIGHEST_CUT)), n_present - 1)
    return np.asarray(codes >= np.searchsorted(up_to, place, side="right"))
