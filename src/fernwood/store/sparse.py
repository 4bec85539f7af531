"""Quantising columns of which only some values are stored: the codes and grids that `quantise` gives of all values.

Nothing is ever dense but the codes themselves: sorting and coding take time and memory by what is stored, and filling
in zero's code takes a byte a cell.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.sparse_coding import code_columns, pack_pairs, unpack_pairs
from fernwood.store.quantise import MAX_CODES, Block, Cuts, Quantised, join_blocks, pack_cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.sources.base import SparseBand

__all__ = ["quantise_sparse"]

_VALUES_AT_A_TIME = 2**17  # as the dense quantiser
_COLUMNS_AT_A_TIME = 512  # room for the cuts of so many: three megabytes


def quantise_sparse(band: SparseBand, bins: int) -> Quantised:
    """Codes and grids of sparse columns; the same as `quantise` gives of ``band.dense().values``.

    Examples
    --------
    >>> import numpy as np
    >>> from fernwood.sources.base import SparseBand
    >>> column = SparseBand(4, np.array([0, 1]), np.array([2], np.int32), np.array([7.0]), np.zeros(1, np.uint8))
    >>> quantise_sparse(column, 24).codes
    array([[0, 0, 1, 0]], dtype=uint8)
    """
    n_columns = len(band.kinds)
    codes = np.empty((n_columns, band.n_rows), np.uint8)
    parts = []
    first = 0
    while first < n_columns:
        fits = int(np.searchsorted(band.starts, band.starts[first] + _VALUES_AT_A_TIME, side="right")) - 1
        stop = min(max(fits, first + 1), first + _COLUMNS_AT_A_TIME, n_columns)
        parts.append(_quantise_block(band, first, stop, bins, codes[first:stop]))
        first = stop
    return join_blocks(codes, parts)


def _quantise_block(band: SparseBand, first: int, stop: int, bins: int, codes: NDArray[np.uint8]) -> Block:
    part = slice(band.starts[first], band.starts[stop])
    starts = band.starts[first : stop + 1] - band.starts[first]
    ordered, rows = _sort(band.stored[part], band.rows[part], starts)
    n = stop - first
    n_missing, n_distinct, n_cuts = np.empty((3, n), np.int64)
    rank = np.empty((n, MAX_CODES), np.int64)
    above, below = np.empty((2, n, MAX_CODES))
    last = np.empty(n)
    code_columns(starts, ordered, rows, bins, codes, n_missing, n_distinct, n_cuts, rank, above, below, last)
    used = np.arange(MAX_CODES) < n_cuts[:, None]
    cuts = Cuts(np.repeat(np.arange(n), n_cuts), rank[used], above[used], below[used])
    exact = n_distinct <= MAX_CODES
    return Block(pack_cuts(cuts, n_cuts, last, exact), n_missing, exact)


def _sort(
    stored: NDArray[np.floating], rows: NDArray[np.int32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.floating], NDArray[np.int32]]:
    """The stored values of every column in order, NaN last, and their rows."""
    ends = starts.tolist()
    if stored.dtype == np.float32:
        # As in the dense quantiser: (value, row) sorted as one integer.
        pairs = np.empty(len(rows), np.int64)
        pack_pairs(stored.view(np.int32), rows, pairs)
        for begin, end in pairwise(ends):
            pairs[begin:end].sort()
        ordered, rows = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
        unpack_pairs(pairs, ordered, rows)
        return ordered.view(np.float32), rows
    order = np.empty(len(rows), np.int64)
    for begin, end in pairwise(ends):
        order[begin:end] = np.argsort(stored[begin:end])
        order[begin:end] += begin
    return stored[order], rows[order]
