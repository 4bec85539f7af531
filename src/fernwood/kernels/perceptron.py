"""Training a thermal perceptron (Frean 1992): errors far from the threshold move the weights less, and less when cold.

An instance x with target t = ±1 is wrong where t·φ ≤ 0, φ = w·x. It then moves the weights by

    rate · T / T₀ · exp(−|φ| / T) · t · x

while the temperature T falls from T₀ by a factor an epoch. An instance that no hypothesis gets right soon moves
nothing, so that the weights settle whether or not the classes can be separated.
"""

from __future__ import annotations

import math

from fernwood.kernels.jit import njit, njit_no_refcount
from fernwood.kernels.random import shuffle

__all__ = ["train_perceptron"]


@njit(error_model="numpy", fastmath={"reassoc"})
def _field(weights, table, i):
    """w·x of one row, added up in whatever order suits the processor: several times as fast as one after another."""
    total = 0.0
    for j in range(weights.shape[0]):
        total += weights[j] * table[i, j]
    return total


@njit_no_refcount
def train_perceptron(table, target, schedule, n_epochs, order, state, weights):
    """Train from the weights given; the number of epochs that were needed.

    An epoch without an error ends it: those that would follow change nothing.

    Parameters
    ----------
    table : float64 array, shape (rows, columns)
    target : float64 array; 1 or −1 a row
    schedule : tuple of floats; the temperature at first, its factor an epoch, and the rate of learning at first
    n_epochs : int
    order : int64 array; all row numbers, dealt anew for every epoch
    state : uint64 array of four; moves on
    weights : float64 array; changed
    """
    first, factor, rate = schedule
    temperature = first
    for epoch in range(n_epochs):
        shuffle(state, order, order.shape[0])
        wrong = 0
        for i in order:
            field = _field(weights, table, i)
            if field * target[i] > 0.0:
                continue
            wrong += 1
            step = rate * (temperature / first) * math.exp(-abs(field) / temperature) * target[i]
            for j in range(weights.shape[0]):
                weights[j] += step * table[i, j]
        if wrong == 0:
            return epoch + 1
        temperature *= factor
    return n_epochs
