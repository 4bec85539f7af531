"""The theory the slow way: trees grown one by one, informations by enumeration, chains by fractions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from fernwood.theory import Distribution

Rows = list[tuple[tuple, Fraction]]


def rows_of(distribution: Distribution) -> Rows:
    return [(outcome, Fraction(probability)) for outcome, probability in distribution.outcomes().items()]


def entropy(rows: Rows) -> float:
    """Entropy of the last value, in bits."""
    total = sum(weight for _, weight in rows)
    counts: Counter = Counter()
    for outcome, weight in rows:
        counts[outcome[-1]] += weight
    return -sum(float(c / total) * math.log2(c / total) for c in counts.values() if c)


def branches(rows: Rows, column: int) -> list[Rows]:
    return [[row for row in rows if row[0][column] == value] for value in sorted({row[0][column] for row in rows})]


def gain(rows: Rows, column: int) -> float:
    """Decrease of impurity, weighted by the probability of the node."""
    weight = sum(weight for _, weight in rows)
    after = sum(float(sum(w for _, w in part)) * entropy(part) for part in branches(rows, column))
    return float(weight) * entropy(rows) - after


def is_informative(rows: Rows, columns: tuple[int, ...]) -> bool:
    """Whether columns and the output depend in a node, by the definition."""
    total = sum(weight for _, weight in rows)
    xs: Counter = Counter()
    ys: Counter = Counter()
    both: Counter = Counter()
    for outcome, weight in rows:
        x = tuple(outcome[i] for i in columns)
        xs[x] += weight
        ys[outcome[-1]] += weight
        both[x, outcome[-1]] += weight
    return any(both[x, y] * total != xs[x] * ys[y] for x in xs for y in ys)


def tree_importances(rows: Rows, columns: tuple[int, ...], max_features: int, max_depth: int) -> Counter:
    """Expected importances of one random tree: all draws at all nodes, best split, ties shared."""
    result: Counter = Counter()
    if not columns or max_depth == 0:
        return result
    draws = list(combinations(columns, min(max_features, len(columns))))
    for draw in draws:
        gains = {i: gain(rows, i) for i in draw}
        best = [i for i in draw if gains[i] >= max(gains.values()) - 1e-11]
        for i in best:
            share = 1 / len(draws) / len(best)
            result[i] += share * gains[i]
            rest = tuple(j for j in columns if j != i)
            for part in branches(rows, i):
                for j, value in tree_importances(part, rest, max_features, max_depth - 1).items():
                    result[j] += share * value
    return result


def importances(distribution: Distribution, max_features: int, max_depth: int, subspace: int) -> list[float]:
    rows, p = rows_of(distribution), distribution.n_inputs
    draws = list(combinations(range(p), subspace))
    total: Counter = Counter()
    for columns in draws:
        for i, value in tree_importances(rows, columns, max_features, max_depth).items():
            total[i] += value / len(draws)
    return [total[i] for i in range(p)]


def shapley_importances(distribution: Distribution) -> list[float]:
    """Importances at K = 1 as the mean over all orders of the columns of the information each adds."""
    p = distribution.n_inputs
    totals = [0.0] * p
    orders = list(permutations(range(p)))
    for order in orders:
        known = 0.0
        for k, i in enumerate(order):
            now = distribution.mutual_information(order[: k + 1], distribution.output)
            totals[i] += (now - known) / len(orders)
            known = now
    return totals


def one_tree(distribution: Distribution, rng: np.random.Generator) -> set[int]:
    """The columns that a single tree with K = p finds, ties broken at random."""

    def grow(rows: Rows, columns: tuple[int, ...]) -> set[int]:
        if not columns:
            return set()
        gains = [gain(rows, i) for i in columns]
        best = [i for i, value in zip(columns, gains, strict=True) if value >= max(gains) - 1e-11]
        chosen = best[int(rng.integers(len(best)))]
        found = {chosen} if is_informative(rows, (chosen,)) else set()
        for part in branches(rows, chosen):
            found |= grow(part, tuple(i for i in columns if i != chosen))
        return found

    return grow(rows_of(distribution), tuple(range(distribution.n_inputs)))


def transition(scenario: str, p: int, q: int, r: int, kept: int) -> list[list[Fraction]]:
    """The Markov chain of a search by counting draws: columns 0 … r − 1 are relevant and found in that order.

    In a chain the found ones are the first i; in the other scenarios any i will do, by symmetry.
    """
    matrix = [[Fraction(0)] * (r + 1) for _ in range(r + 1)]
    for i in range(r + 1):
        memories = list(combinations(range(i), min(kept, i)))
        for memory in memories:
            rest = [column for column in range(p) if column not in memory]
            draws = list(combinations(rest, q - len(memory)))
            share = Fraction(1, len(memories) * len(draws))
            for draw in draws:
                held = {*memory, *draw}
                if scenario == "marginal":
                    matrix[i][len(held & set(range(r)) | set(range(i)))] += share
                elif scenario == "chaining":
                    run = next((j for j in range(r) if j not in held), r)
                    matrix[i][max(i, run)] += share
                elif held >= set(range(r)):
                    for last in range(r):
                        matrix[i][i + (last >= i)] += share / r
                else:
                    matrix[i][i] += share
    return matrix


def expected_iterations(matrix: list[list[Fraction]]) -> Fraction:
    wait = [Fraction(0)] * len(matrix)
    for i in range(len(matrix) - 2, -1, -1):
        ahead = sum(matrix[i][j] * wait[j] for j in range(i + 1, len(matrix)))
        wait[i] = (1 + ahead) / (1 - matrix[i][i])
    return wait[0]


def expected_found(matrix: list[list[Fraction]], n_iter: int) -> Fraction:
    state = [Fraction(1)] + [Fraction(0)] * (len(matrix) - 1)
    for _ in range(n_iter):
        state = [sum(state[i] * matrix[i][j] for i in range(len(matrix))) for j in range(len(matrix))]
    return sum(i * chance for i, chance in enumerate(state))


def level_tree(needs: list[list[bool]], noise: int, max_features: int) -> Counter:
    """Chances of the sets found by one tree that uses a column per level; all relevant columns and noise are drawn."""
    r = len(needs)
    chances: Counter = Counter()

    def grow(used: frozenset[int], found: frozenset[int], chance: Fraction) -> None:
        left = [i for i in range(r + noise) if i not in used]
        if not left:
            chances[found] += chance
            return
        draws = list(combinations(left, min(max_features, len(left))))
        for draw in draws:
            worth = [i for i in draw if i < r and all(j in used for j in range(r) if needs[i][j])]
            for i in worth or draw:
                share = chance / len(draws) / len(worth or draw)
                grow(used | {i}, found | {i} if worth else found, share)

    grow(frozenset(), frozenset(), Fraction(1))
    return chances


def elimination(n: int, r: int, price) -> tuple[dict[int, float], dict[int, int]]:
    """The paper's table, as it is written there."""
    cost, best = {r: 0.0}, {}
    for i in range(r + 1, n + 1):
        cost[i] = math.inf
        for k in range(1, i - r + 1):
            success = math.prod(Fraction(i - r - j, i - j) for j in range(k))
            here = float(price(i - k) / success) + cost[i - k]
            if here < cost[i] * (1 - 1e-12):
                cost[i], best[i] = here, k
    return cost, best
