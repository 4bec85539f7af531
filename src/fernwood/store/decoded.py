"""A store as a table to read from: its codes as values in the units of the source, and how far off these can be.

A column of at most 255 distinct values, and every column of categories, comes back as it was. Of others the store knows
the bin of a value, and the middle of the bin comes back.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import shown
from fernwood.sources.base import Band, Kind, Reader, Source, Workspace
from fernwood.store.encode import Coding
from fernwood.store.grid import unpack_grids
from fernwood.store.quantise import representatives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["Rounding", "StoreSource", "rounding"]

_BLOCK_BYTES = 2**22


class StoreSource(Source):
    """The columns of a store as a source.

    Examples
    --------
    >>> import fernwood
    >>> from pathlib import Path
    >>> source = StoreSource(fernwood.ingest(np.array([[1.5, 0.0], [2.5, 1.0]])), "the store")
    >>> with source.reading(np.array([0]), Workspace(10**6, Path(), print)) as reader:
    ...     reader.band(0, 1).values
    array([[1.5, 2.5]])
    """

    def __init__(self, store: Store, title: str) -> None:
        self.store = store
        self.names = store.names
        self.title = title
        self.n_bytes = store.n_bytes

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the store to read some columns."""
        yield _StoreReader(self.store, columns)


class _StoreReader(Reader):
    def __init__(self, store: Store, columns: NDArray[np.int64]) -> None:
        self._store = store
        self._columns = columns
        self._coding = Coding.of(store, columns)
        self._grids = unpack_grids(self._coding.grids)
        self.n_rows = store.n_rows
        self.keeps = sum(grid.nbytes for grid in self._grids) + int(self._coding.grids.steps.nbytes)

    def overhead(self) -> int:
        return self.n_rows

    def band(self, start: int, stop: int) -> Band:
        codes = self._store.read(self._columns[start:stop])
        values = np.empty(codes.shape)
        labels = {}
        for place in range(start, stop):
            known = np.full(256, np.nan)
            if place in self._coding.labels:
                labels[place - start] = self._coding.labels[place]
                known[: len(self._coding.labels[place])] = np.arange(len(self._coding.labels[place]))
            else:
                centres = representatives(self._grids[place], bool(self._coding.exact[place]))
                known[: len(centres)] = centres
            np.take(known, codes[place - start], out=values[place - start])
        return Band(values, self._coding.kinds[start:stop], labels)


class Rounding(NamedTuple):
    """How far values that a store gives back can be from those that it was made from.

    Attributes
    ----------
    n_columns : columns with more distinct values than a store keeps; all others are exact
    typical : half the width of the bin that a value is in, as a share of its column's range, on average over all values
    worst : the largest such share
    column : the name of the column that has it
    """

    n_columns: int
    typical: float
    worst: float
    column: str

    @property
    def said(self) -> str:
        """A sentence about it; empty where all is exact."""
        if not self.n_columns:
            return ""
        one = self.n_columns == 1
        whose = f"{self.n_columns:,} column{'' if one else 's'}"
        return (
            f"{whose} had more values than a store keeps and {'comes' if one else 'come'} as the middles of bins: "
            f"within {100 * self.typical:.2g} % of the range on average, {100 * self.worst:.2g} % at most "
            f"({shown(self.column)})"
        )


def rounding(store: Store, ids: NDArray[np.int64]) -> Rounding:
    """How exact some columns of a store are; their codes are read once, a few at a time.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.column_stack([np.arange(1000.0) * 7 % 1000, np.arange(1000) % 7]))
    >>> rounding(store, np.array([1])).said
    ''
    >>> round(rounding(store, np.array([0, 1])).typical, 3)
    0.012
    """
    coding = Coding.of(store, ids)
    grids = unpack_grids(coding.grids)
    binned = np.flatnonzero(~coding.exact & (coding.kinds != Kind.CATEGORY))
    step = max(1, _BLOCK_BYTES // max(store.n_rows, 1))
    shares, worst, column = [], 0.0, ""
    for first in range(0, len(binned), step):
        some = binned[first : first + step]
        for place, codes in zip(some.tolist(), store.read(ids[some]), strict=True):
            grid = grids[place]
            rows = np.bincount(codes, minlength=256)[: len(grid) - 1]
            halves = np.diff(grid) / (2 * (grid[-1] - grid[0]))
            shares.append(float(rows @ halves) / max(int(rows.sum()), 1))
            if (widest := float(halves[rows > 0].max(initial=0.0))) > worst:
                worst, column = widest, str(coding.names[place])
    return Rounding(len(binned), float(np.mean(shares)) if shares else 0.0, worst, column)
