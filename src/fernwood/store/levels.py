"""Bands of levels on their way into a store: their codes are there already, and few grids serve all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.checksums import checksum_columns
from fernwood.sources.levels import levels_of
from fernwood.store.grid import Grids, pack_grids, to_keys
from fernwood.store.quantise import Quantised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.sources.levels import LevelBand

__all__ = ["level_checksums", "quantised_levels"]


def quantised_levels(band: LevelBand) -> Quantised:
    """What the quantiser makes of the values of the band, without them.

    Examples
    --------
    >>> from fernwood.sources.levels import LevelBand
    >>> band = LevelBand(np.zeros((1, 2), np.uint8), np.array([[0, 2, 0]]), np.array([0, 1], np.float32))
    >>> quantised_levels(band).n_codes
    array([1])
    """
    n_levels = len(band.levels)
    patterns = band.patterns
    members = [levels_of(pattern, n_levels) for pattern in range(2**n_levels)]
    lengths_of = np.array([len(levels) for levels in members])
    every = pack_grids(to_keys(band.levels[np.concatenate(members).astype(int)].astype(np.float64)), lengths_of)
    # Steps of every pattern in one row, so that those of all columns are found without a loop.
    steps_of = np.zeros((len(members), n_levels), np.uint64)
    for pattern in range(len(members)):
        steps = every.steps[every.offsets[pattern] : every.offsets[pattern + 1]]
        steps_of[pattern, : len(steps)] = steps
    lengths = lengths_of[patterns]
    offsets = np.zeros(len(patterns) + 1, np.int64)
    np.cumsum(np.maximum(lengths - 1, 0), out=offsets[1:])
    inner = np.arange(n_levels) < (lengths - 1)[:, None]
    grids = Grids(every.shift[patterns], every.origin[patterns], lengths, offsets, steps_of[patterns][inner])
    return Quantised(band.codes, lengths, band.counts[:, -1].copy(), np.ones(len(patterns), bool), grids)


def level_checksums(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The checksums of many columns, as `codes_checksum` gives them one by one."""
    out = np.empty(len(codes), np.uint64)
    checksum_columns(codes, out)
    return out
