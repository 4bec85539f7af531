"""What a source is: a table that hands out bands of whole columns as floating-point rows, in a budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from fernwood.sources.names import Names

__all__ = ["Band", "Kind", "Progress", "ProgressCallback", "Reader", "Source", "SparseBand", "Workspace"]


class Kind(IntEnum):
    """What the values of a column are. All are ordered but categories; dates are seconds since 1970."""

    NUMBER = 0
    BOOLEAN = 1
    DATE = 2
    CATEGORY = 3


@dataclass(frozen=True, slots=True)
class Band:
    """Some columns of a table, each one contiguous.

    Attributes
    ----------
    values : float32 or float64 array, shape (columns, rows)
        NaN is missing. Of a categorical column: positions in its labels.
    kinds : uint8 array of `Kind`
    labels : dict from the place of a categorical column in the band to its labels, an Arrow array of strings
    """

    values: NDArray[np.floating]
    kinds: NDArray[np.uint8]
    labels: dict[int, pa.Array] = field(default_factory=dict)

    @classmethod
    def of_numbers(cls, values: NDArray[np.floating], kind: Kind = Kind.NUMBER) -> Band:
        """A band whose columns are all of one ordered kind."""
        return cls(values, np.full(len(values), kind, np.uint8))


@dataclass(frozen=True, slots=True)
class SparseBand:
    """Some columns of a table of which only some values are stored; all others are zero.

    Attributes
    ----------
    n_rows
    starts : int64 array; where each column begins, and where the last one ends
    rows : int32 array; the row of every stored value, in rising order in a column: each row once
    stored : float32 or float64 array; NaN is missing, and a zero may be stored
    kinds : uint8 array of `Kind`: numbers or booleans
    """

    n_rows: int
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    stored: NDArray[np.floating]
    kinds: NDArray[np.uint8]

    @property
    def labels(self) -> dict[int, pa.Array]:
        """None: words are not sparse."""
        return {}

    def dense(self, columns: NDArray[np.int64] | None = None) -> Band:
        """All columns, or those at some places, with their zeros.

        Examples
        --------
        >>> starts, rows, stored = np.array([0, 1, 1]), np.array([2], np.int32), np.array([7.0])
        >>> SparseBand(3, starts, rows, stored, np.zeros(2, np.uint8)).dense().values
        array([[0., 0., 7.],
               [0., 0., 0.]])
        """
        chosen = np.arange(len(self.kinds)) if columns is None else columns
        values = np.zeros((len(chosen), self.n_rows), self.stored.dtype)
        for i, column in enumerate(chosen.tolist()):
            part = slice(self.starts[column], self.starts[column + 1])
            values[i, self.rows[part]] = self.stored[part]
        return Band(values, self.kinds[chosen])


class Progress(NamedTuple):
    """How far a stage is: `done` of `total` bytes or columns."""

    stage: str
    done: int
    total: int
    unit: str


ProgressCallback: TypeAlias = "Callable[[Progress], None]"


class Workspace(NamedTuple):
    """What a reader may use: bytes of memory, a directory for scratch files, and somebody to tell how far it is."""

    memory: int
    scratch: Path
    progress: ProgressCallback


class Reader(ABC):
    """An open source, with its wanted columns in the order in which they were asked for."""

    n_rows: int

    keeps: int = 0
    """Bytes that stay in memory between bands, whatever the budget."""

    caches: int = 0
    """Bytes that stay in memory between bands because the budget allows it: up to half of the workspace."""

    would_cache: int = 0
    """Bytes that would stay in memory if the budget were larger."""

    @abstractmethod
    def overhead(self) -> int:
        """Bytes that reading a band takes for every column in it, beside the band itself."""

    @abstractmethod
    def band(self, start: int, stop: int) -> Band:
        """The wanted columns from `start` to before `stop`."""

    def stored(self) -> NDArray[np.int64] | None:
        """Of a sparse table, how many values every wanted column stores; None where bands are dense."""
        return None

    def sparse_band(self, start: int, stop: int) -> SparseBand:
        """The same as `band`, of a sparse table."""
        raise NotImplementedError

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        """The same as Arrow arrays, of the types that they have in the source as far as these are known."""
        from fernwood.sources.typed import typed_columns

        return typed_columns(self.band(start, stop))


class Source(ABC):
    """A table to read columns from."""

    names: Names

    title: str
    """What to call the table in a sentence."""

    n_bytes: int
    """Size of the source, for rates."""

    beside: Source | None = None
    """What describes the rows and is no column of the table, as a table of its own with the same rows in the same
    order: ``obs`` of AnnData, the people of a ``.fam`` file. Targets, weights, groups and covariates are looked for
    there first; none of it becomes a candidate."""

    row_ids: tuple[str, ...] = ()
    """Columns of `beside` that name the rows: a file that begins with the same columns is matched by them."""

    def mended(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Numbers of a file matched by `row_ids`, with what stands for missing ones in this format as NaN."""
        return values

    @abstractmethod
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> AbstractContextManager[Reader]:
        """Open the source to read the columns at these positions."""
