"""Quantising: a block of ordered columns becomes codes, a byte a cell, and the grids that lead back to source units.

A column with at most 255 distinct values keeps them: its grid is those values, and a code is a place among them.
A column with more is cut at quantiles. Its grid is then the thresholds, with a lower and an upper bound around them,
and a code counts the thresholds below the value:

    grid        lower    t₁      t₂      t₃    upper
    code          |   0   |   1   |   2   |  3  |            a value equal to a threshold belongs below it

Where a column is cut depends on the order of its values and on nothing else, so a strictly increasing transform of a
column leaves its codes as they are. A value that fills a whole bin by itself gets one of its own. Inside the gap where
a cut falls, the threshold is the number nearest to the middle that needs few digits (`grid.py`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.store.grid import Grids, bit_length, join_grids, pack_grids, to_keys, unpack_grids

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_CODES",
    "MISSING",
    "Block",
    "Cuts",
    "Quantised",
    "bin_count",
    "encode",
    "join_blocks",
    "pack_cuts",
    "quantise",
    "representatives",
    "thresholds",
]

MISSING = 255
"""The code of a missing value, in every column."""

MAX_CODES = 255
"""How many codes a column can have beside the one for missing values."""

_ROWS_A_BIN = 24
_FEWEST_BINS = 24
_CELLS_AT_A_TIME = 2**17  # a megabyte of sort keys: stays in a core's cache
_LAST_KEY = int(to_keys(np.array([np.finfo(np.float64).max]))[0])
_COARSEST_SHIFT = 42  # ten bits after the leading one: the bounds of a column are within 0.1 % of its extremes


class Quantised(NamedTuple):
    """What becomes of a block of columns.

    Attributes
    ----------
    codes : uint8 array, shape (columns, rows)
    n_codes : int64 array; codes in use run from 0 to n_codes − 1, and `MISSING`
    n_missing : int64 array
    exact : bool array; whether the grid holds the distinct values rather than thresholds between two bounds
    grids : Grids
    """

    codes: NDArray[np.uint8]
    n_codes: NDArray[np.int64]
    n_missing: NDArray[np.int64]
    exact: NDArray[np.bool_]
    grids: Grids


def bin_count(n_rows: int) -> int:
    """How many quantile bins a column of more than 255 distinct values is cut into: one for every 24 rows, 24 to 255.

    An edge costs about 1.7 bytes on disk, so one for 24 rows adds 0.07 bytes a cell; see decision 0003.

    Examples
    --------
    >>> bin_count(300), bin_count(1000), bin_count(1_000_000)
    (24, 41, 255)
    """
    return min(MAX_CODES, max(_FEWEST_BINS, n_rows // _ROWS_A_BIN))


def quantise(values: NDArray[np.floating], bins: int) -> Quantised:
    """Codes and grids of ordered columns.

    Parameters
    ----------
    values : float32 or float64 array, shape (columns, rows), C order
        NaN is missing; no infinities.
    bins
        The number of quantile bins of columns with more than 255 distinct values.

    Notes
    -----
    Peak memory: the codes, and some 30 bytes a cell of `_CELLS_AT_A_TIME` cells or of one column, whichever is more.
    """
    n_columns, n_rows = values.shape
    codes = np.empty((n_columns, n_rows), np.uint8)
    step = max(1, _CELLS_AT_A_TIME // max(n_rows, 1))
    parts = [_quantise_block(values[i : i + step], bins, codes[i : i + step]) for i in range(0, n_columns, step)]
    return join_blocks(codes, parts)


def join_blocks(codes: NDArray[np.uint8], parts: list[Block]) -> Quantised:
    """What was found of some columns at a time, as one."""
    grids = join_grids([part.grids for part in parts])
    n_missing = np.concatenate([part.n_missing for part in parts] or [grids.lengths])
    exact = np.concatenate([part.exact for part in parts] or [grids.lengths == 0])
    return Quantised(codes, np.where(exact, grids.lengths, grids.lengths - 1), n_missing, exact, grids)


def encode(values: NDArray[np.floating], grids: Grids, exact: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Codes of other values, shape (columns, rows), in bins made before; beyond the bounds are the end bins."""
    codes = np.empty(values.shape, np.uint8)
    for i, grid in enumerate(unpack_grids(grids)):
        codes[i] = np.searchsorted(thresholds(grid, bool(exact[i])), values[i])
        codes[i, np.isnan(values[i])] = MISSING
    return codes


def thresholds(grid: NDArray[np.float64], exact: bool) -> NDArray[np.float64]:
    """The numbers between the codes of a column, in source units: code c holds what is above c of them."""
    if not exact:
        return grid[1:-1]
    lower, upper = grid[:-1], grid[1:]
    middle = 0.5 * lower + 0.5 * upper
    # Between neighbouring doubles there is no middle: the lower one is the threshold then.
    return np.where((lower <= middle) & (middle < upper), middle, lower)


def representatives(grid: NDArray[np.float64], exact: bool) -> NDArray[np.float64]:
    """One value for every code, in source units: the value itself, or the middle of its bin."""
    return grid if exact else 0.5 * grid[:-1] + 0.5 * grid[1:]


class Block(NamedTuple):
    """Of some columns, what `Quantised` has beside the codes."""

    grids: Grids
    n_missing: NDArray[np.int64]
    exact: NDArray[np.bool_]


def _quantise_block(values: NDArray[np.floating], bins: int, codes: NDArray[np.uint8]) -> Block:
    """Fill the codes of a few columns by rank, and find their grids."""
    n_columns, n_rows = values.shape
    ordered, rows = _sort(values)
    # NaN sorts last, so a column has missing values exactly when its last one is.
    n_missing = np.zeros(n_columns, np.int64)
    holed = np.flatnonzero(np.isnan(ordered[:, -1])) if n_rows else np.empty(0, np.int64)
    n_missing[holed] = np.count_nonzero(np.isnan(ordered[holed]), axis=1)
    n_present = n_rows - n_missing

    begins = np.empty((n_columns, n_rows), bool)  # ranks at which a new value begins
    begins[:, :1] = n_present[:, None] > 0
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=begins[:, 1:])
    for i in holed:
        begins[i, n_present[i] :] = False
    n_distinct = np.count_nonzero(begins, axis=1)
    exact = n_distinct <= MAX_CODES
    cuts = begins if exact.all() else _cuts(ordered, begins, n_present, exact, bins)

    cut = np.flatnonzero(cuts)
    column, rank = np.divmod(cut, n_rows)
    lengths = np.count_nonzero(cuts, axis=1)
    first_cut = np.cumsum(lengths) - lengths
    code_of_rank = np.full((n_columns, n_rows), MISSING, np.uint8)
    if len(cut):
        code_of_cut = (np.arange(len(cut)) - first_cut[column]).astype(np.uint8)
        # A code lasts to the next cut, or beyond it the missing values at the end of a column.
        code_of_rank.reshape(-1)[cut[0] :] = np.repeat(code_of_cut, np.diff(cut, append=cuts.size))
    for i in holed:
        code_of_rank[i, n_present[i] :] = MISSING
    cell = np.add(rows, np.arange(n_columns)[:, None] * n_rows, dtype=np.int64)
    codes.reshape(-1)[cell.reshape(-1)] = code_of_rank.reshape(-1)

    above = ordered[column, rank].astype(np.float64)
    if exact.all():
        return Block(pack_grids(to_keys(above), lengths), n_missing, exact)
    below = ordered[column, np.maximum(rank - 1, 0)].astype(np.float64)
    last = ordered[np.arange(n_columns), np.maximum(n_present - 1, 0)].astype(np.float64)
    return Block(pack_cuts(Cuts(column, rank, above, below), lengths, last, exact), n_missing, exact)


class Cuts(NamedTuple):
    """Where the codes of some columns begin, one column after the other: the rank, the value there, the one before."""

    column: NDArray[np.int64]
    rank: NDArray[np.int64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]


def pack_cuts(cuts: Cuts, lengths: NDArray[np.int64], last: NDArray[np.float64], exact: NDArray[np.bool_]) -> Grids:
    """The grids of columns, from their cuts (`lengths[i]` of column i) and their largest values."""
    if exact.all():
        return pack_grids(to_keys(cuts.above), lengths)
    binned = ~exact[cuts.column]
    keys = np.where(binned, 0, to_keys(cuts.above))
    keys[binned], upper = _threshold_keys(
        cuts.below[binned], cuts.above[binned], cuts.rank[binned], lengths[~exact], last[~exact]
    )
    ends = np.cumsum(lengths)[~exact]
    return pack_grids(np.insert(keys, ends, upper), lengths + ~exact)


def _sort(values: NDArray[np.floating]) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
    """Every column in order, and the row that each rank came from."""
    if values.dtype == np.float64 or values.shape[1] >= 2**31 or sys.byteorder == "big":
        rows = np.argsort(values, axis=1)
        return np.take_along_axis(values, rows, axis=1), rows
    if np.isnan(values).any():
        values = np.where(np.isnan(values), np.float32(np.nan), values)  # NaN has many bit patterns, some negative
    # Sorting (value, row) as one integer is faster than an indirect sort: the value's key above, the row below.
    pairs = np.empty((*values.shape, 2), np.int32)
    row, key = pairs[..., 0], pairs[..., 1]
    row[:] = np.arange(values.shape[1], dtype=np.int32)
    _flip_negatives(values.view(np.int32), out=key)
    pairs.view(np.int64).reshape(values.shape).sort(axis=1)
    return _flip_negatives(key, out=np.empty(values.shape, np.int32)).view(np.float32), row


def _flip_negatives(bits: NDArray[np.int32], out: NDArray[np.int32]) -> NDArray[np.int32]:
    """Integers in the order of the floats that have these bits; applied again, the bits."""
    np.right_shift(bits, 31, out=out)
    out &= np.int32(0x7FFFFFFF)
    out ^= bits
    return out


def _cuts(
    ordered: NDArray[np.floating],
    begins: NDArray[np.bool_],
    n_present: NDArray[np.int64],
    exact: NDArray[np.bool_],
    bins: int,
) -> NDArray[np.bool_]:
    """Ranks at which a new code begins, shape (columns, rows): new values of exact columns, quantiles of others."""
    cuts = begins & exact[:, None]
    cuts[~exact, 0] = True
    for present in np.unique(n_present[~exact]).tolist():
        members = np.flatnonzero(~exact & (n_present == present))
        # A run of equal values that would fill a bin by itself shows as equal values that far apart.
        fill = -(-present // bins)
        heavy = (ordered[members, fill - 1 : present] == ordered[members, : present - fill + 1]).any(axis=1)
        wanted = (np.arange(1, bins) * present + bins // 2) // bins
        untied = begins[members, :present].all(axis=1)
        cuts[members[untied, None], wanted] = True
        tied = members[~untied & ~heavy]
        if len(tied):
            cuts[tied[:, None], _nearest_begins(begins[tied, :present], wanted)] = True
        for i in members[heavy].tolist():
            cuts[i, _cuts_around_runs(np.flatnonzero(begins[i])[1:], present, bins)] = True
    return cuts


def _nearest_begins(begins: NDArray[np.bool_], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every column the ranks nearest to the wanted ones at which a new value begins; of two, the later."""
    ranks = np.arange(begins.shape[1], dtype=np.int32)
    before = np.maximum.accumulate(np.where(begins, ranks, 0), axis=1)[:, wanted]
    after = np.minimum.accumulate(np.where(begins, ranks, len(ranks))[:, ::-1], axis=1)[:, ::-1][:, wanted]
    take_after = (after - wanted <= wanted - before) & (after < len(ranks))
    return np.where(take_after, after, before)


def _cuts_around_runs(starts: NDArray[np.int64], n_present: int, bins: int) -> NDArray[np.int64]:
    """Ranks at which a column with long runs is cut; `starts` are those at which a new value begins, but the first.

    Values that would fill a bin alone (at most half as many as there are bins) are set apart; what remains is cut
    evenly, at the nearest rank where a new value begins.
    """
    runs = np.concatenate(([0], starts, [n_present]))
    sizes = np.diff(runs)
    heavy = np.flatnonzero(sizes * bins >= n_present)
    heaviest = heavy[np.argsort(-sizes[heavy], kind="stable")[: (bins - 1) // 2]]
    apart = np.unique(np.concatenate((runs[heaviest], runs[heaviest + 1])))
    apart = apart[(apart > 0) & (apart < n_present)]
    light = sizes.copy()
    light[heaviest] = 0
    below = np.concatenate(([0], np.cumsum(light)))  # light rows below each run
    spare = bins - 1 - len(apart)
    wanted = below[-1] * np.arange(1, spare + 1) / (spare + 1)
    place = np.clip(np.searchsorted(below, wanted), 1, len(below) - 1)
    place -= wanted - below[place - 1] < below[place] - wanted
    cuts = np.concatenate((apart, runs[place]))
    return cuts[(cuts > 0) & (cuts < n_present)]


def _threshold_keys(
    below: NDArray[np.float64],
    above: NDArray[np.float64],
    rank: NDArray[np.int64],
    lengths: NDArray[np.int64],
    last: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys of the lower bound and the thresholds of binned columns, one column after the other, and of upper bounds.

    A column has `lengths[i]` cuts, at `rank` between the values `below` and `above`; the first is at rank 0 and stands
    for the lower bound.
    """
    low, high = to_keys(below), to_keys(above)
    inner = rank > 0
    # The gap [low, high) holds a multiple of 2**s exactly when low − 1 and high − 1 differ at bit s or above.
    room = np.where(inner, bit_length((low - 1) ^ (high - 1)) - 1, _COARSEST_SHIFT)
    first = np.cumsum(lengths) - lengths
    shift_of = np.minimum(np.minimum.reduceat(room, first), _COARSEST_SHIFT)
    shift = np.repeat(shift_of, lengths)
    middle = to_keys(0.5 * below + 0.5 * above)
    nearest = (middle + ((np.int64(1) << shift) >> 1)) >> shift
    thresholds_ = np.clip(nearest, -((-low) >> shift), (high - 1) >> shift)
    positions = np.where(inner, thresholds_, high >> shift)
    upper = -((-to_keys(last)) >> shift_of)
    clip = (-_LAST_KEY, _LAST_KEY)  # a bound is not rounded to infinity
    return np.clip(positions << shift, *clip), np.clip(upper << shift_of, *clip)
