"""Grids: sorted doubles kept as small whole steps, so that a column's bin edges cost a byte or two each.

A double and a 64-bit integer, its *key*, stand in the same order, so a sorted list of doubles is a sorted list of
integers. Keys that share `shift` trailing zero bits are kept as positions, key / 2**shift: the first one as `origin`,
the others as steps from their predecessor. Nothing is rounded on the way back:

    values     0.0, 1.0, 2.0, 4.0         a column of small counts
    keys       0, 0x3ff0…, 0x4000…, 0x4010…
    shift      52                          the trailing zeros they share
    origin     0
    steps      1023, 1, 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Grids", "bit_length", "from_keys", "join_grids", "pack_grids", "to_keys", "unpack_grids"]

_LOWEST = np.iinfo(np.int64).min


class Grids(NamedTuple):
    """The packed grids of several columns; `steps` of column i are ``steps[offsets[i]:offsets[i + 1]]``.

    A grid of m values has m − 1 steps; `lengths` tells an empty grid from one of a single value.
    """

    shift: NDArray[np.uint8]
    origin: NDArray[np.int64]
    lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]
    steps: NDArray[np.uint64]


def to_keys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the doubles; −0.0 and 0.0 are one key."""
    bits = np.ascontiguousarray(values).view(np.int64)
    return np.where(bits >= 0, bits, _LOWEST - bits)


def from_keys(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """The doubles of keys."""
    return np.where(keys >= 0, keys, _LOWEST - keys).view(np.float64)


def bit_length(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of the highest set bit, counted from one, of 64-bit patterns; 0 for 0."""
    smeared = x.view(np.uint64).copy()
    for step in (1, 2, 4, 8, 16, 32):
        smeared |= smeared >> np.uint64(step)
    return np.bitwise_count(smeared).astype(np.int64)


def pack_grids(keys: NDArray[np.int64], lengths: NDArray[np.int64]) -> Grids:
    """Pack the keys of several grids, one after the other in `keys`, `lengths[i]` of them in grid i."""
    ends = np.cumsum(lengths)
    filled = lengths > 0
    first = (ends - lengths)[filled]
    shift = np.zeros(len(lengths), np.int64)
    origin = np.zeros(len(lengths), np.int64)
    if len(first):
        together = np.bitwise_or.reduceat(keys, first)
        # Trailing zeros of the bitwise or; an or of zero is the grid {0.0}, for which any shift does.
        shift[filled] = np.where(together == 0, 0, bit_length(np.bitwise_and(together, -together)) - 1)
    positions = keys >> np.repeat(shift, lengths)
    origin[filled] = positions[first]
    steps = positions.view(np.uint64).copy()
    steps[1:] -= steps[:-1].copy()
    inner = np.ones(len(keys), bool)
    inner[first] = False
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.maximum(lengths - 1, 0), out=offsets[1:])
    return Grids(shift.astype(np.uint8), origin, lengths, offsets, steps[inner])


def join_grids(parts: list[Grids]) -> Grids:
    """The grids of several groups of columns as one."""
    shift, origin, lengths = (
        np.concatenate([part[i] for part in parts]) if parts else np.empty(0, dtype)
        for i, dtype in enumerate((np.uint8, np.int64, np.int64))
    )
    steps = np.concatenate([part.steps for part in parts]) if parts else np.empty(0, np.uint64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.maximum(lengths - 1, 0), out=offsets[1:])
    return Grids(shift, origin, lengths, offsets, steps)


def unpack_grids(grids: Grids) -> list[NDArray[np.float64]]:
    """The doubles of every grid."""
    out = []
    for i, length in enumerate(grids.lengths.tolist()):
        positions = np.empty(length, np.uint64)
        positions[:1] = grids.origin[i : i + 1].view(np.uint64)
        positions[1:] = grids.steps[grids.offsets[i] : grids.offsets[i + 1]]
        keys = np.cumsum(positions).view(np.int64) << np.int64(grids.shift[i])
        out.append(from_keys(keys))
    return out
