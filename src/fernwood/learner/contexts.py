"""Contexts in which columns are examined: ferns of columns found before, each cut at a random place.

The target takes no part in how a fern divides the rows, so that every row both conditions and scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.examining import Contexts
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.target import TreeTarget

__all__ = ["Ferns", "divided", "draw_ferns", "without_context"]

_LOWEST_CUT, _HIGHEST_CUT = 0.2, 0.8
"""A fern cuts a column at a random quantile between these."""
_DEEPEST = 4
_ROWS_A_CELL = 6
"""A fern has no more columns than leave so many rows a cell, on average."""
_MOST_CELLS = 4096


class Ferns(NamedTuple):
    """Contexts, and the columns that each of them uses, as places among those it was drawn from."""

    contexts: Contexts
    uses: list[NDArray[np.int64]]


def divided(target: TreeTarget, cells: NDArray[np.int64]) -> Contexts:
    """Contexts that divide the rows as said, with the target inside.

    Parameters
    ----------
    target
        Of the rows that count: none has weight zero.
    cells : int64 array, shape (contexts, rows)
        The cell of every row.
    """
    kernel = target.kernel
    n_classes = len(target.classes) if kernel.classes else 1
    n_cells = (int(cells.max()) + 1) * n_classes
    inside = cells * n_classes + (kernel.labels if kernel.classes else 0)
    rows = np.argsort(inside, axis=1, kind="stable").astype(np.uint32)
    start = np.zeros((len(cells), n_cells + 1), np.uint32)
    start[:, 1:] = np.cumsum([np.bincount(c, minlength=n_cells) for c in inside], axis=1)
    size = np.stack([np.bincount(c, kernel.weights, n_cells) for c in inside])
    weight = np.broadcast_to(kernel.weights, inside.shape)
    if not kernel.classes:
        sums = np.stack([np.bincount(c, kernel.weights * kernel.values, n_cells) for c in inside])
        means = sums / np.maximum(size, np.finfo(np.float64).tiny)
        weight = kernel.weights * (kernel.values - np.take_along_axis(means, inside, axis=1))
    ordered = np.take_along_axis(weight, rows.astype(np.int64), axis=1).astype(np.float32)
    return Contexts(rows, start, size.astype(np.float32), ordered, n_classes)


def without_context(target: TreeTarget) -> Contexts:
    """The one context that does not divide the rows: a column by itself."""
    return divided(target, np.zeros((1, target.n_rows), np.int64))


def draw_ferns(
    rng: np.random.Generator, codes: NDArray[np.uint8], categories: NDArray[np.bool_], target: TreeTarget, n_ferns: int
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
    target
    n_ferns
    """
    n_columns, n_rows = codes.shape
    n_classes = max(len(target.classes), 1)
    deepest = min(_DEEPEST, n_columns, int(math.log2(max(n_rows / _ROWS_A_CELL, 2))))
    deepest = max(1, min(deepest, int(math.log2(max(_MOST_CELLS / n_classes, 2)))))
    cells = np.zeros((n_ferns, n_rows), np.int64)
    uses = []
    for cell in cells:
        chosen = rng.choice(n_columns, int(rng.integers(1, deepest + 1)), replace=False)
        for column in chosen.tolist():
            cell *= 2
            cell += _above_a_cut(rng, codes[column], bool(categories[column]))
        uses.append(np.sort(chosen))
    return Ferns(divided(target, cells), uses)


def _above_a_cut(rng: np.random.Generator, codes: NDArray[np.uint8], category: bool) -> NDArray[np.bool_]:
    """Which rows are on the second side of a random cut; missing values are on it too, being the highest code."""
    if category:
        used = np.unique(codes)
        chosen = rng.permutation(used)[: max(1, len(used) // 2)]
        return np.isin(codes, chosen)
    present = codes[codes != MISSING]
    if not len(present):
        return np.zeros(len(codes), bool)
    place = min(int(len(present) * rng.uniform(_LOWEST_CUT, _HIGHEST_CUT)), len(present) - 1)
    return np.asarray(codes >= np.partition(present, place)[place])
