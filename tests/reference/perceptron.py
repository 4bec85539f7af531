"""The thermal perceptron, slowly: one row after the other, as Frean's rule is written; rows are dealt as the kernel does."""

from __future__ import annotations

import math

import numpy as np

from fernwood.kernels.random import shuffle


def train(table, target, temperature: float, decay: float, coldest: float, rate: float, state) -> tuple:
    """The weights (threshold first), the epochs made, and whether the last had no error; no epoch is left out."""
    inputs = np.column_stack([np.ones(len(table)), table])
    weights = np.zeros(inputs.shape[1])
    order = np.arange(len(table))
    now, epochs, wrong = temperature, 0, 0
    while now >= coldest:
        shuffle(state, order, len(order))
        wrong = 0
        for i in order:
            field = float(weights @ inputs[i])
            output = 1 if field > 0 else -1
            if output != target[i] or field == 0:
                wrong += 1
                weights = weights + rate * now / temperature * math.exp(-abs(field) / now) * target[i] * inputs[i]
        epochs += 1
        now = now * decay
    return weights, epochs, wrong == 0
