"""Columns that are asked for more than once: read once, given out as often as they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.sources.base import Band, Reader

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["RepeatingReader", "distinct", "runs_of"]


def distinct(columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns each once, in the order in which they first come, and where each wanted one is among them.

    Examples
    --------
    >>> distinct(np.array([7, 2, 7]))
    (array([7, 2]), array([0, 1, 0]))
    """
    if (np.diff(columns) > 0).all():  # the usual case
        return columns, np.arange(len(columns))
    values, firsts, places = np.unique(columns, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return values[order], rank[places]


def runs_of(positions: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Positions cut where the next one is not the neighbour.

    Examples
    --------
    >>> [run.tolist() for run in runs_of(np.array([3, 4, 9]))]
    [[3, 4], [9]]
    """
    return np.split(positions, np.flatnonzero(np.diff(positions) != 1) + 1)


class RepeatingReader(Reader):
    """A reader of distinct columns, seen as one of columns that repeat."""

    def __init__(self, inner: Reader, places: NDArray[np.int64]) -> None:
        self._inner = inner
        self._places = places
        self.n_rows = inner.n_rows
        self.keeps, self.caches = inner.keeps, inner.caches

    def overhead(self) -> int:
        """As the reader behind it, and each column once more."""
        return self._inner.overhead() + 8 * self.n_rows

    def _runs(self, start: int, stop: int) -> list[tuple[int, int]]:
        return [(int(run[0]), int(run[-1]) + 1) for run in runs_of(self._places[start:stop]) if len(run)]

    def band(self, start: int, stop: int) -> Band:
        """The wanted columns from `start` to before `stop`."""
        bands = [self._inner.band(*run) for run in self._runs(start, stop)]
        labels: dict[int, pa.Array] = {}
        first = 0
        for band in bands:
            labels |= {first + i: words for i, words in band.labels.items()}
            first += len(band.kinds)
        values = np.concatenate([band.values for band in bands])
        return Band(values, np.concatenate([band.kinds for band in bands]), labels)

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        """The same as Arrow arrays."""
        return [column for run in self._runs(start, stop) for column in self._inner.columns(*run)]
