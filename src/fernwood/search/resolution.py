"""The smallest p that so many rows allow: one over the ways in which the target could have met the rows."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import FernwoodWarning, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.contexts import Ground

__all__ = ["check_rows_suffice", "rows_needed", "smallest_chance"]

_MOST_ROWS = 10**6


def smallest_chance(ground: Ground, groups: NDArray[np.int32] | None = None) -> float:
    """The smallest p that an exchange of rows can give, within strata, and of whole groups where rows have them.

    Groups count as one row each where the target is the same in all rows of a group; where it is not, the rows of a
    group can change places among themselves.

    Examples
    --------
    >>> from fernwood.learner.contexts import Ground
    >>> from fernwood.learner.target import class_target
    >>> round(smallest_chance(Ground.undivided(class_target([0, 0, 0, 1, 1, 1]))), 6)
    0.1
    """
    kernel = ground.target.kernel
    values = np.unique(kernel.labels if kernel.classes else kernel.values, return_inverse=True)[1]
    pieces = []
    for stratum in range(ground.n_strata):
        here = ground.strata == stratum
        pieces += _exchangeable(values[here], None if groups is None else groups[here])
    ways = sum(_arrangements(np.unique(piece, return_counts=True)[1]) for piece in pieces)
    if kernel.classes:
        n_classes = int(values.max()) + 1
        ways -= _renamings(np.stack([np.bincount(piece, minlength=n_classes) for piece in pieces]))
    return float(max(np.exp(-ways), np.finfo(np.float64).tiny))


def _exchangeable(values: NDArray[np.int64], groups: NDArray[np.int32] | None) -> list[NDArray[np.int64]]:
    """The values in lists within which they can change places."""
    if groups is None:
        return [values]
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    if (values == values[first][inverse]).all():
        return [values[first]]
    return np.split(values[np.argsort(inverse, kind="stable")], np.cumsum(np.bincount(inverse))[:-1])


def _arrangements(counts: NDArray[Any]) -> float:
    """The logarithm of how many ways there are to deal values that occur so often."""
    return lgamma(counts.sum() + 1) - _sum_of_factorials(counts)


def _renamings(counts: NDArray[Any]) -> float:
    """The logarithm of how many ways there are to exchange names of classes that have as many rows in every list.

    Of two classes with three rows each there are ten arrangements that differ, and not twenty, since a column that
    tells the classes apart does so either way round.
    """
    return _sum_of_factorials(np.unique(counts, axis=1, return_counts=True)[1])


def _sum_of_factorials(counts: NDArray[Any]) -> float:
    """The sum of the logarithms of their factorials; equal counts, of which there may be a million, are one term."""
    different, often = np.unique(counts, return_counts=True)
    return float(sum(n * lgamma(count + 1) for count, n in zip(different.tolist(), often.tolist(), strict=True)))


def check_rows_suffice(least: float, ground: Ground, n_columns: int, fdr: float, level: float) -> None:
    """Refuse a table whose rows cannot show anything at the rate asked; warn where one column alone cannot be found.

    Parameters
    ----------
    least
        From `smallest_chance`.
    ground
    n_columns
        That are examined.
    fdr, level
        The rate asked for, and the share of it at which columns are found.
    """
    n_rows = ground.target.n_rows
    if least * n_columns <= level:
        return
    enough = rows_needed(ground, n_columns, level)
    if least > level:
        raise ParameterError(
            f"with {n_rows} rows p cannot be below {least:.2g}, and fdr = {fdr:g} asks for {level:.2g} at most; "
            f"{enough:,} rows like these would do for one column of {n_columns:,}, or a larger fdr for many at once"
        )
    n_together = int(np.ceil(least * n_columns / level))
    warnings.warn(
        f"with {n_rows} rows p cannot be below {least:.2g}, so that of {n_columns:,} columns at least {n_together:,} "
        f"must tell as much as can be for any to be found at fdr = {fdr:g}; {enough:,} rows would do for one",
        FernwoodWarning,
        stacklevel=3,
    )


def rows_needed(ground: Ground, n_columns: int, level: float) -> int:
    """How many rows with the same shares of classes allow one column of so many to be found."""
    kernel = ground.target.kernel
    shares = np.bincount(kernel.labels) / len(kernel.labels) if kernel.classes else np.empty(0)
    asked = np.log(n_columns / level) if level > 0 else np.inf  # the share of a tiny rate may be none at all

    def suffice(n_rows: int) -> bool:
        counts = n_rows * shares
        ways = _arrangements(counts) - _renamings(counts[None]) if kernel.classes else lgamma(n_rows + 1)
        return bool(ways >= asked)

    more = range(ground.target.n_rows + 1, _MOST_ROWS)
    return more.start + bisect_left(more, True, key=suffice)
