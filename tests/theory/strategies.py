"""Random distributions: any, strictly positive, deterministic, faithful to a graph."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from fernwood import seeds
from fernwood.theory import Distribution

if TYPE_CHECKING:
    import numpy as np

KINDS = ("any", "positive", "deterministic", "structured")


def normalised(weights: dict[tuple, int]) -> Distribution:
    total = sum(weights.values())
    return Distribution({outcome: Fraction(weight, total) for outcome, weight in weights.items()})


@st.composite
def distributions(
    draw: st.DrawFn, min_inputs: int = 2, max_inputs: int = 4, kinds: tuple[str, ...] = KINDS
) -> Distribution:
    """Small weights, so that coincidences (ties, independences, impossible cells) are common.

    any: every outcome may be impossible. positive: none is. deterministic: the output is a function of the inputs.
    structured: some inputs are coins without meaning, some copies of others, and the output is a noisy function.
    """
    p = draw(st.integers(min_inputs, max_inputs))
    kind = draw(st.sampled_from(kinds))
    sizes = [draw(st.integers(2, 3 if p < 4 else 2)) for _ in range(p)]
    # One seed instead of a hundred drawn numbers: Hypothesis explores kinds and sizes, the generator fills the table.
    rng = seeds.generator(draw(st.integers(0, 2**32)))
    if kind == "structured":
        return structured(rng, p)
    cells = list(product(*map(range, sizes)))
    if kind == "deterministic":
        weights = {(*cell, int(rng.integers(2))): int(weight) for cell in cells if (weight := rng.integers(0, 4))}
    else:
        low = int(kind == "positive")
        weights = {(*cell, y): int(weight) for cell in cells for y in (0, 1) if (weight := rng.integers(low, low + 3))}
    return normalised(weights or {(*cells[0], 0): 1})


def structured(rng: np.random.Generator, p: int) -> Distribution:
    """Coins, copies and a noisy function of some of them."""
    copied = [int(rng.integers(-2, i)) if i else -1 for i in range(p)]
    table = rng.integers(0, 2, 2**p)
    used = int(rng.integers(1, 2**p))
    noise = int(rng.integers(0, 2))
    weights: dict[tuple, int] = {}
    for coins in product((0, 1), repeat=p):
        values: list[int] = []
        for i, coin in enumerate(coins):
            values.append(values[copied[i]] if copied[i] >= 0 else coin)
        index = sum(value << i for i, value in enumerate(values) if used >> i & 1)
        for y in (0, 1):
            weight = 4 - noise if y == table[index] else noise
            if weight:
                weights[(*values, y)] = weights.get((*values, y), 0) + weight
    return normalised(weights)


@st.composite
def composed(draw: st.DrawFn) -> Distribution:
    """Columns and the output as a random graph with random chances: nearly all have composition and positive cells.

    The output comes first, so that columns are its children, and hidden coins link columns without being seen.
    """
    p = draw(st.integers(2, 4))
    rng = seeds.generator(draw(st.integers(0, 2**32)))
    # Nodes in order: output, hidden coins, columns; a column has parents among all that come before it.
    hidden = p - 1
    n = 1 + hidden + p
    parents: list[list[int]] = [[] for _ in range(n)]
    for i in range(p):
        node = 1 + hidden + i
        links = [0] if i == 0 else []
        links += [1 + j for j in range(hidden) if j in (i - 1, i) and rng.random() < 0.8]
        links += [1 + hidden + j for j in range(i) if rng.random() < 0.15]
        parents[node] = links
    chances = [rng.integers(1, 16, 2 ** len(links)) for links in parents]
    weights: dict[tuple, int] = {}
    for values in product((0, 1), repeat=n):
        weight = 1
        for node, links in enumerate(parents):
            heads = int(chances[node][sum(values[parent] << k for k, parent in enumerate(links))])
            weight *= heads if values[node] else 16 - heads
        outcome = (*values[1 + hidden :], values[0])
        weights[outcome] = weights.get(outcome, 0) + weight
    return normalised(weights)
