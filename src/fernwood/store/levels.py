"""Bands of levels on their way into a store: their codes are there already, and few grids serve all columns."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fernwood.sources.levels import levels_of
from fernwood.store.grid import Grids, pack_grids, to_keys
from fernwood.store.quantise import Quantised

if TYPE_CHECKING:
    from fernwood.sources.levels import LevelBand

__all__ = ["quantised_levels"]


def quantised_levels(band: LevelBand) -> Quantised:
    """What the quantiser makes of the values of the band, without them.

    Examples
    --------
    >>> from fernwood.sources.levels import LevelBand
    >>> band = LevelBand(np.zeros((1, 2), np.uint8), np.array([[0, 2, 0]]), np.array([0, 1], np.float32))
    >>> quantised_levels(band).n_codes
    array([1])
    """
    every = _pattern_grids(tuple(band.levels.tolist()))
    patterns = band.patterns
    lengths = every.lengths[patterns]
    offsets = np.zeros(len(patterns) + 1, np.int64)
    np.cumsum(np.maximum(lengths - 1, 0), out=offsets[1:])
    inner = np.arange(every.steps.shape[1]) < (lengths - 1)[:, None]
    grids = Grids(every.shift[patterns], every.origin[patterns], lengths, offsets, every.steps[patterns][inner])
    return Quantised(band.codes, lengths, band.counts[:, -1].copy(), np.ones(len(patterns), bool), grids)


@cache
def _pattern_grids(levels: tuple[float, ...]) -> Grids:
    """The grids of all sets of levels, by pattern; the steps of each in a row of its own."""
    members = [levels_of(pattern, len(levels)) for pattern in range(2 ** len(levels))]
    lengths = np.array([len(member) for member in members])
    values = np.array([levels[level] for member in members for level in member])
    packed = pack_grids(to_keys(values), lengths)
    steps = np.zeros((len(members), len(levels)), np.uint64)
    for pattern in range(len(members)):
        own = packed.steps[packed.offsets[pattern] : packed.offsets[pattern + 1]]
        steps[pattern, : len(own)] = own
    return packed._replace(steps=steps)
