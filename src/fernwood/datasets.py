"""Tables with a known answer, of any width: for trying things out, for tests and for benchmarks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import ParameterError
from fernwood.seeds import entropy, generator
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.names import NumberedNames
from fernwood.store.ingest import ingest

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["Planted", "make_madelon", "make_pair"]

_FLIPPED = 0.01
_COPY_NOISE = 0.1
_BLOCK = 256
_FEWEST_ROWS = 4
_BLOCK_CELLS = 2**26
"""Of very many rows, a block of noise has fewer columns than that."""
_ROWS_AT_ONCE = 2**16

# Addresses of the random streams below the seed.
_CORNERS, _POINTS, _ORDER, _NOISE = range(4)


class Planted(NamedTuple):
    """A generated table: `data` is an array or a store, `target` the classes, `relevant` the columns that matter."""

    data: NDArray[np.float32] | Store
    target: NDArray[np.int32]
    relevant: NDArray[np.int64]


def make_madelon(
    n_rows: int,
    n_columns: int,
    *,
    n_informative: int = 5,
    n_linear: int = 5,
    n_copies: int = 10,
    class_sep: float = 1.0,
    shuffle: bool = False,
    random_state: int | None = None,
    out: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
) -> Planted:
    """A table in the manner of Madelon, the artificial problem of the NIPS 2003 feature selection challenge.

    Every corner of a hypercube with half-width `class_sep` in the informative columns is the centre of a cluster with
    its own mixing of unit normals. Half of the corners, drawn at random, make one class, so that no column alone tells
    much. Linear combinations of the informative columns and noisy copies of both follow; all other columns are noise.
    One label in a hundred is flipped.

    Parameters
    ----------
    n_rows, n_columns
        Shape of the table.
    n_informative, n_linear, n_copies
        Relevant columns of each sort.
    class_sep
        Half-width of the hypercube; 2 is easy, 1 is hard.
    shuffle
        Whether relevant columns are spread over the table instead of being its first ones.
    random_state
        The seed.
    out
        A store to write, block by block, so that the table may be far larger than memory.
    memory
        What writing the store may take; see `fernwood.ingest`.

    Returns
    -------
    Planted

    Examples
    --------
    >>> table = make_madelon(100, 30, random_state=0)
    >>> table.data.shape, table.relevant[:3].tolist(), sorted(set(table.target.tolist()))
    ((100, 30), [0, 1, 2], [0, 1])
    """
    n_relevant = n_informative + n_linear + n_copies
    if not 1 <= n_informative <= 12:
        raise ParameterError(f"n_informative is {n_informative}; give 1 to 12, since the clusters are its 2**n corners")
    _check_shape(n_rows, n_columns, n_relevant)
    seed = entropy(random_state)
    values, target = _relevant(n_rows, n_informative, n_linear, n_copies, class_sep, seed)
    return _planted(values, target, n_columns, seed, shuffle=shuffle, out=out, memory=memory)


def make_pair(
    n_rows: int,
    n_columns: int,
    *,
    n_strong: int = 5,
    effect: float = 1.5,
    shuffle: bool = False,
    random_state: int | None = None,
    out: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
) -> Planted:
    """A table with strong columns and a pair of which the second matters only beside the first.

    Two classes of the same size. Strong columns are unit normals that differ by `effect` between the classes, and so is
    the first of the pair. The second rises by half of `effect` where the first one is high in the second class or low
    in the first, and falls by it elsewhere: by itself it has the same distribution in both classes. All other columns
    are noise. Relevant columns are the strong ones, then the pair.

    Parameters
    ----------
    n_rows, n_columns
        Shape of the table.
    n_strong
        How many columns tell the classes apart by themselves, beside the first of the pair.
    effect
        In standard deviations.
    shuffle, random_state, out, memory
        See `make_madelon`.

    Examples
    --------
    >>> table = make_pair(4000, 10, random_state=0)
    >>> first, second = table.data[:, 5], table.data[:, 6]
    >>> high = table.target == 1
    >>> bool(abs(second[high].mean() - second[~high].mean()) < 0.1)
    True
    >>> beside = first > np.median(first)
    >>> bool(second[high & beside].mean() - second[~high & beside].mean() > 1)
    True
    """
    _check_shape(n_rows, n_columns, n_strong + 2)
    seed = entropy(random_state)
    points = generator(seed, _POINTS)
    target = points.permutation(np.arange(n_rows) % 2).astype(np.int32)
    side = target - 0.5
    values = points.standard_normal((n_strong + 2, n_rows))
    values[:-1] += effect * side
    values[-1] += effect * side * np.sign(values[-2])
    return _planted(values.astype(np.float32), target, n_columns, seed, shuffle=shuffle, out=out, memory=memory)


def _check_shape(n_rows: int, n_columns: int, n_relevant: int) -> None:
    if n_columns < n_relevant:
        raise ParameterError(f"n_columns is {n_columns}; the {n_relevant} relevant columns alone need that many")
    if n_rows < _FEWEST_ROWS:
        raise ParameterError(f"n_rows is {n_rows}; give at least {_FEWEST_ROWS}")


def _planted(
    values: NDArray[np.float32],
    target: NDArray[np.int32],
    n_columns: int,
    seed: int,
    *,
    shuffle: bool,
    out: str | os.PathLike[str] | None,
    memory: int | str | None,
) -> Planted:
    """Relevant columns, shape (columns, rows), among noise."""
    place_of = generator(seed, _ORDER).permutation(n_columns) if shuffle else np.arange(n_columns)
    relevant = np.sort(place_of[: len(values)])
    source = _PlantedSource(values, n_columns, np.argsort(place_of), seed)
    if out is not None:
        return Planted(ingest(source, out, target=target, memory=memory), target, relevant)
    return Planted(source.columns(np.arange(n_columns)).T.copy(), target, relevant)


def _relevant(
    n_rows: int, n_informative: int, n_linear: int, n_copies: int, class_sep: float, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """The relevant columns, shape (columns, rows), and the classes."""
    corners = generator(seed, _CORNERS)
    n_corners = 2**n_informative
    centres = class_sep * (2.0 * ((np.arange(n_corners)[:, None] >> np.arange(n_informative)) & 1) - 1)
    class_of = np.zeros(n_corners, np.int32)
    class_of[corners.permutation(n_corners)[: n_corners // 2]] = 1
    mixing = corners.uniform(-1, 1, (n_corners, n_informative, n_informative))

    points = generator(seed, _POINTS)
    corner = points.permutation(np.arange(n_rows) % n_corners)
    normals = points.standard_normal((n_rows, n_informative))
    informative = centres[corner]
    for first in range(0, n_rows, _ROWS_AT_ONCE):  # each row has a mixing of its own
        some = slice(first, first + _ROWS_AT_ONCE)
        informative[some] += np.einsum("ri,rij->rj", normals[some], mixing[corner[some]])
    linear = informative @ points.uniform(-1, 1, (n_informative, n_linear))
    originals = np.concatenate((informative, linear), axis=1)
    picks = np.resize(points.permutation(originals.shape[1]), n_copies)
    copies = originals[:, picks] + _COPY_NOISE * points.standard_normal((n_rows, n_copies))
    target = class_of[corner]
    flipped = points.random(n_rows) < _FLIPPED
    values = np.concatenate((originals, copies), axis=1).T
    return values.astype(np.float32), np.where(flipped, 1 - target, target).astype(np.int32)


class _PlantedSource(Source):
    """The table as a source: noise is drawn block by block, each block from its own address."""

    title = "the generated table"

    def __init__(self, relevant: NDArray[np.float32], n_columns: int, original: NDArray[np.int64], seed: int) -> None:
        self._relevant = relevant
        self._original = original
        self._seed = seed
        self._block: tuple[int, NDArray[np.float32]] = (-1, relevant)
        self.block_width = max(1, min(_BLOCK, _BLOCK_CELLS // relevant.shape[1]))
        self.names = NumberedNames(n_columns)
        self.n_bytes = n_columns * relevant.shape[1] * 4

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the table to read some columns."""
        yield _PlantedReader(self, columns, self._relevant.shape[1])

    def columns(self, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some columns, shape (columns, rows)."""
        n_relevant, n_rows = self._relevant.shape
        out = np.empty((len(positions), n_rows), np.float32)
        originals = self._original[positions]
        of_answer = originals < n_relevant
        out[of_answer] = self._relevant[originals[of_answer]]
        # Noise belongs to the place in the table, so that neighbours come from one block.
        width = self.block_width
        for block in np.unique(positions[~of_answer] // width).tolist():
            members = np.flatnonzero(~of_answer & (positions // width == block))
            out[members] = self._noise(block)[positions[members] % width]
        return out

    def _noise(self, block: int) -> NDArray[np.float32]:
        if self._block[0] != block:
            shape = (self.block_width, self._relevant.shape[1])
            self._block = (block, generator(self._seed, _NOISE, block).standard_normal(shape, np.float32))
        return self._block[1]


class _PlantedReader(Reader):
    def __init__(self, source: _PlantedSource, columns: NDArray[np.int64], n_rows: int) -> None:
        self._source = source
        self._columns = columns
        self.n_rows = n_rows
        self.keeps = source.block_width * n_rows * 4

    def overhead(self) -> int:
        return self.n_rows * 4

    def band(self, start: int, stop: int) -> Band:
        return Band.of_numbers(self._source.columns(self._columns[start:stop]))
