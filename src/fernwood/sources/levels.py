"""Bands of columns that hold a few levels, such as genotypes: codes already, so that no numbers have to be sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.sources.base import Band, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_LEVELS", "NO_LEVEL", "LevelBand"]

NO_LEVEL = 255
"""The code of a missing value."""

MOST_LEVELS = 7
"""The most levels of such a band; what has more is numbers."""


class LevelBand(Band):
    """Some columns of a table whose values are all among a few levels.

    Attributes
    ----------
    codes : uint8 array, shape (columns, rows), C order
        The place of a value among the levels that stand in its column, or `NO_LEVEL`.
    counts : int64 array, shape (columns, levels + 1)
        How often every level stands in a column; last, how many values are missing.
    levels : float32 array, increasing, at most `MOST_LEVELS`

    Examples
    --------
    >>> codes, counts = np.array([[0, 1, 255]], np.uint8), np.array([[1, 0, 1, 1]])
    >>> LevelBand(codes, counts, np.array([0, 1, 2], np.float32)).values
    array([[ 0.,  2., nan]], dtype=float32)
    """

    __slots__ = ("codes", "counts", "levels")

    codes: NDArray[np.uint8]
    counts: NDArray[np.int64]
    levels: NDArray[np.float32]

    def __init__(self, codes: NDArray[np.uint8], counts: NDArray[np.int64], levels: NDArray[np.float32]) -> None:
        if len(levels) > MOST_LEVELS or counts.shape != (len(codes), len(levels) + 1):
            raise ValueError(f"{len(levels)} levels with counts of shape {counts.shape} are no band of levels")
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "kinds", np.full(len(codes), Kind.NUMBER, np.uint8))
        object.__setattr__(self, "labels", {})

    @property
    def patterns(self) -> NDArray[np.int64]:
        """Which levels stand in every column, a bit each."""
        present = self.counts[:, :-1] > 0
        return present @ (1 << np.arange(len(self.levels)))

    @property
    def values(self) -> NDArray[np.float32]:
        """The values themselves, made anew: four bytes each."""
        out = np.empty(self.codes.shape, np.float32)
        patterns = self.patterns
        for pattern in np.unique(patterns).tolist():
            value_of = np.full(NO_LEVEL + 1, np.nan, np.float32)
            here = self.levels[levels_of(pattern, len(self.levels))]
            value_of[: len(here)] = here
            columns = np.flatnonzero(patterns == pattern)
            out[columns] = value_of[self.codes[columns]]
        return out


def levels_of(pattern: int, n_levels: int) -> list[int]:
    """The levels of a pattern, in order.

    Examples
    --------
    >>> levels_of(0b101, 3)
    [0, 2]
    """
    return [level for level in range(n_levels) if pattern >> level & 1]
