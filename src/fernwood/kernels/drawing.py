"""Drawing columns without replacement, in time and memory that follow from the size of the draw alone."""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit
from fernwood.kernels.random import next_bounded, next_unit

__all__ = ["deal_probe", "draw_beside", "draw_places", "draw_weighted"]

_FREE = -1


@njit
def draw_places(state, bound, size):
    """Different integers below `bound`, as many as said, in increasing order; every set is as likely (Floyd 1987).

    Of the last `size` integers, each in turn brings in a random one up to itself, or itself where that one is in.
    """
    n_slots = 4
    while n_slots < 2 * size:
        n_slots *= 2
    slots = np.full(n_slots, _FREE, np.int64)
    out = np.empty(size, np.int64)
    for i in range(size):
        last = bound - size + i
        value = next_bounded(state, last + 1)
        if not _add(slots, value):
            value = last
            _add(slots, value)
        out[i] = value
    return np.sort(out)


@njit
def _add(slots, value):
    """Put a value into a table of slots; False where it is in already."""
    mask = slots.shape[0] - 1
    at = (value * 0x9E3779B1) & mask
    while slots[at] != _FREE:
        if slots[at] == value:
            return False
        at = (at + 1) & mask
    slots[at] = value
    return True


@njit
def draw_beside(state, n_columns, carried, q):
    """The carried columns (in increasing order) and others drawn among the rest, q in all, in increasing order."""
    n_carried = carried.shape[0]
    ranks = draw_places(state, n_columns - n_carried, q - n_carried)
    out = np.empty(q, np.int64)
    passed = 0  # carried columns passed: a rank among the rest is that many places further on
    for i in range(ranks.shape[0]):
        while passed < n_carried and carried[passed] <= ranks[i] + passed:
            out[i + passed] = carried[passed]
            passed += 1
        out[i + passed] = ranks[i] + passed
    for j in range(passed, n_carried):
        out[ranks.shape[0] + j] = carried[j]
    return out


@njit
def draw_weighted(state, weights, size):
    """Different places drawn one after the other in proportion to their weights, in increasing order.

    The places with the smallest waiting times −log(u)/w have the distribution of such draws (Efraimidis and Spirakis
    2006). At least `size` weights must be above zero.
    """
    waits = np.empty(weights.shape[0])
    for i in range(weights.shape[0]):
        unit = 1.0 - next_unit(state)
        waits[i] = -np.log(unit) / weights[i] if weights[i] > 0 else np.inf
    return np.sort(np.argsort(waits)[:size])


@njit
def deal_probe(state, codes, counted):
    """Make the last column of `codes` a random probe: one of the others, its values dealt anew to the rows that count.

    Returns the place of that other column.
    """
    model = next_bounded(state, codes.shape[0] - 1)
    probe = codes[-1]
    probe[:] = codes[model]
    for i in range(counted.shape[0]):
        j = i + next_bounded(state, counted.shape[0] - i)
        a, b = counted[i], counted[j]
        probe[a], probe[b] = probe[b], probe[a]
    return model
