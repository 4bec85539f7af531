"""Shadows of groups, by the definition: group after group, with lists of rows; the random numbers are the kernels'."""

from __future__ import annotations

import numpy as np

from fernwood.kernels.dealing import shuffle_whole
from fernwood.kernels.random import next_bounded, next_unit

__all__ = ["dealt", "likeness"]

_ONES = 2**64 - 1
_LIKELY = 0.2


def dealt(
    codes: np.ndarray, strata: np.ndarray, groups: np.ndarray, blocks: list[list[int]], address: int
) -> np.ndarray:
    """One column's shadow; `blocks` are lists of groups that exchange places."""
    state, out = spread(address), codes.copy()
    uneven = any(
        len({np.count_nonzero((groups == g) & (strata == s)) for g in block} - {0}) > 1
        for block in blocks
        for s in np.unique(strata)
    )
    alike = likeness(codes, strata, groups) if uneven else 0.0
    for block in blocks:
        places = {s: [g for g in block if ((groups == g) & (strata == s)).any()] for s in np.unique(strata)}
        every = {s: [row for g in places[s] for row in rows_of(groups, strata, g, s)] for s in places}
        taken = dict.fromkeys(places, 0)
        for source in shuffled(state, block):
            for s in sorted(s for s in places if source in places[s]):
                taker = places[s][taken[s]]
                taken[s] += 1
                values = shuffled(state, rows_of(groups, strata, source, s))
                takers = rows_of(groups, strata, taker, s)
                n, wanted = len(values), len(takers)
                if wanted > n:
                    again = n_again(state, n, wanted, alike)
                    values = [values[i % n] for i in range(n + again)]
                    values += [every[s][next_bounded(state, len(every[s]))] for _ in range(wanted - len(values))]
                    values = shuffled(state, values)
                out[takers] = codes[values[:wanted]]
    return out


def rows_of(groups: np.ndarray, strata: np.ndarray, group: int, stratum: int) -> list[int]:
    return np.flatnonzero((groups == group) & (strata == stratum)).tolist()


def n_again(state: np.ndarray, n: int, wanted: int, alike: float) -> int:
    """How many values come again: as many as bring the variance of the sum to where it should be, by chance up or down."""

    def variance(times: list[int]) -> float:
        """Of a sum in which rows of the group come so many times, and the rest of `wanted` from elsewhere."""
        return alike * sum(times) ** 2 + (1 - alike) * sum(t * t for t in times) + wanted - sum(times)

    aim = variance([1] * wanted)
    of = [variance([len(range(i, n + again, n)) for i in range(n)]) for again in range(wanted - n + 1)]
    if of[-1] <= aim:
        return wanted - n
    low = max(again for again, value in enumerate(of) if value <= aim)
    return low + (of[low] + next_unit(state) * (of[low + 1] - of[low]) < aim)


def likeness(codes: np.ndarray, strata: np.ndarray, groups: np.ndarray) -> float:
    """What pairs of rows of a group in a stratum have in common, over the variance; see the kernel."""
    values = codes.astype(float)
    pieces = [(g, s) for g in np.unique(groups) for s in np.unique(strata) if rows_of(groups, strata, g, s)]
    inside = {piece: values[rows_of(groups, strata, *piece)] for piece in pieces}
    weight = {piece: 1 / (_LIKELY + (1 - _LIKELY) / len(x)) for piece, x in inside.items()}
    told = {s: sum(weight[p] for p in pieces if p[1] == s) for s in np.unique(strata)}
    mean = {s: sum(weight[p] * inside[p].mean() for p in pieces if p[1] == s) / told[s] for s in told}
    common = whole = unknown = weights = 0.0
    for piece, x in inside.items():
        if len(x) > 1:
            away, w = x - mean[piece[1]], weight[piece] ** 2
            pairs = np.outer(away, away)[~np.eye(len(x), dtype=bool)]
            common, whole = common + w * pairs.mean(), whole + w * (away**2).mean()
            unknown, weights = unknown + w / told[piece[1]], weights + w
    if whole <= 0:
        return 0.0
    share, lost = common / whole, unknown / weights
    return min(max(share + lost * (1 - share), 0.0), 1.0)


def spread(address: int) -> np.ndarray:
    """Four words of one (splitmix64)."""
    state, word = np.empty(4, np.uint64), address
    for k in range(4):
        word = (word + 0x9E3779B97F4A7C15) & _ONES
        mixed = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _ONES
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _ONES
        state[k] = mixed ^ (mixed >> 31)
    return state


def shuffled(state: np.ndarray, values: list[int]) -> list[int]:
    out = np.array(values, np.int64)
    shuffle_whole(state, out)
    return out.tolist()
