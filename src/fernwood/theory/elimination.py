"""Elimination schedules: how many columns to remove at a time when r of n are relevant and removal is blind.

A step removes k of n columns at random and trains the learner on the rest, again and again until none of the k was
relevant (Stracuzzi and Utgoff, 2004):

    p⁺(n, r, k)   = C(n − k, r) / C(n, r)                    the chance that a removal harms nothing
    E⁻(n, r, k)   = (1 − p⁺) / p⁺                            failures to expect before it succeeds
    I(n, r, k)    = M(n − k) (E⁻ + 1)                        the cost of the step, M(n) that of training on n columns
    I_sum(n, r)   = min over k of I(n, r, k) + I_sum(n − k, r),   I_sum(r, r) = 0
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Cost = str | Callable[[int], float]

__all__ = ["EliminationSchedule", "elimination_schedule", "success_chance"]

_LARGEST_TABLE = 20_000
_COSTS: dict[str, Callable[[int], float]] = {
    "constant": lambda n: 1.0,  # noqa: ARG005  (the cost of a constant does not ask)
    "linear": lambda n: float(n),
    "quadratic": lambda n: float(n) ** 2,
}


class EliminationSchedule(NamedTuple):
    """What to remove when, and what it will cost.

    Attributes
    ----------
    steps
        Pairs (n, k): with n columns left, remove k.
    expected_cost
        The sum of I(n, r, k) over the steps, in the unit of the cost function.
    expected_calls
        The number of trainings to expect, failures included.

    Examples
    --------
    >>> elimination_schedule(4, 1, "constant").steps
    [(4, 2), (2, 1)]
    """

    steps: list[tuple[int, int]]
    expected_cost: float
    expected_calls: float


def elimination_schedule(n: int, r: int, cost: Cost = "linear", *, step: int | None = None) -> EliminationSchedule:
    """The cheapest schedule to remove n − r irrelevant columns from n, in expectation.

    Optimal for up to 20 000 columns, by dynamic programming; beyond that k = n / r, which the paper shows to do well at
    no cost.

    Parameters
    ----------
    n, r
        Columns at the start, and relevant ones among them.
    cost
        M(n), the cost of training on n columns: "constant", "linear", "quadratic" or a function.
    step
        Remove this many at a time instead of the optimal number.

    Examples
    --------
    >>> schedule = elimination_schedule(100, 10, lambda n: 1_897_000 * (n + 1))
    >>> schedule.steps[:3], f"{schedule.expected_cost:.4g}", round(schedule.expected_calls, 1)
    ([(100, 9), (91, 8), (83, 8)], '5.512e+09', 89.5)
    """
    if not all(isinstance(value, int | np.integer) for value in (n, r)):
        raise ParameterError(f"n is {n} and r is {r}; columns are counted: give whole numbers")
    if not 0 <= r <= n or n < 1:
        raise ParameterError(
            f"r is {r} and n is {n}; from 0 to n columns are relevant: give r between 0 and {max(n, 1)}"
        )
    if step is not None and step < 1:
        raise ParameterError(
            f"step is {step}; a step removes at least one column: give 1 or more, or None for the best"
        )
    if isinstance(cost, str) and cost not in _COSTS:
        raise ParameterError(f"cost is {cost!r}; give {', '.join(map(repr, _COSTS))} or a function of the columns left")
    price = _COSTS[cost] if isinstance(cost, str) else cost
    if step is not None:
        sizes = _sizes(n, r, lambda left: step)  # noqa: ARG005
    elif n > _LARGEST_TABLE:
        sizes = _sizes(n, r, lambda left: left // max(r, 1))
    else:
        best = _best_sizes(n, r, _prices(n, r, price))
        sizes = _sizes(n, r, lambda left: int(best[left]))
    waits = [1 / success_chance(left, r, k) for left, k in sizes]
    spent = [price(left - k) * wait for (left, k), wait in zip(sizes, waits, strict=True)]
    return EliminationSchedule(sizes, math.fsum(spent), math.fsum(waits))


def success_chance(n: int, r: int, k: int) -> float:
    """p⁺(n, r, k), the chance that k of n columns removed at random are all irrelevant.

    Examples
    --------
    >>> success_chance(4, 2, 1), round(success_chance(4, 2, 2), 4)
    (0.5, 0.1667)
    """
    # The smaller of the two products that both give C(n − k, r) / C(n, r).
    small, other = min(r, k), max(r, k)
    return math.exp(math.fsum(math.log1p(-other / (n - t)) for t in range(small))) if n - k >= r else 0.0


def _sizes(n: int, r: int, rule: Callable[[int], int]) -> list[tuple[int, int]]:
    steps = []
    while n > r:
        k = min(max(rule(n), 1), n - r)
        steps.append((n, k))
        n -= k
    return steps


def _prices(n: int, r: int, price: Callable[[int], float]) -> NDArray[np.float64]:
    prices = np.full(n + 1, np.nan)
    prices[r:] = [price(left) for left in range(r, n + 1)]
    if not np.all(prices[r:] >= 0) or np.any(np.isinf(prices[r:])):
        raise ParameterError(
            "cost returned a negative or infinite number; M(n) is a cost: give a non-negative function"
        )
    return prices


def _best_sizes(n: int, r: int, prices: NDArray[np.float64]) -> NDArray[np.int64]:
    """k_opt(i, r) for i up to n: the paper's table, a row of candidates at a time."""
    # log C(i, r), up to a constant that cancels in p⁺.
    ways = np.zeros(n + 1)
    ways[r + 1 :] = np.cumsum(np.log(np.arange(r + 1, n + 1)) - np.log(np.arange(1, n - r + 1)))
    total, best = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    for i in range(r + 1, n + 1):
        # Candidates from the smallest k on, so that among equals (to rounding) the smallest wins, on every machine.
        left = slice(i - 1, r - 1 if r else None, -1)
        with np.errstate(over="ignore", invalid="ignore"):
            costs = prices[left] * np.exp(ways[i] - ways[left]) + total[left]
        k = int(np.argmax(costs <= np.nanmin(costs) * (1 + 1e-12)))
        total[i], best[i] = costs[k], k + 1
    return best
