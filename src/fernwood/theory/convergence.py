"""Convergence: how many random subspaces it takes until all relevant columns are found.

The state of a search is the number i of relevant columns found (of r). An iteration draws q of p columns. The memory
share α ∈ [0, 1] keeps m = min(⌊αq⌋, i) of the found ones in the draw, chosen at random, and fills the other q − m
places from the p − m columns left: α = 0 is the random subspace method (RS), α = 1 the sequential one (SRS).

    chaining    column j matters given the columns 1 … j − 1: an iteration finds the unbroken run it holds
    clique      columns matter given all r − 1 others: an iteration that holds all r finds one of them, any of the r
    marginal    every column matters by itself: an iteration finds all it holds

Trees are those of the paper's appendix: K = q, the same column at all nodes of a level, r ≤ q. All chances are products
of a few quotients (q − t) / (p − t), exact as fractions and accurate as logarithms up to any p.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import numpy as np

from fernwood.errors import ParameterError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Scenario = Literal["chaining", "clique", "marginal"]

__all__ = [
    "SCENARIOS",
    "Search",
    "blind_share",
    "expected_draws",
    "expected_found",
    "expected_iterations",
    "memory_size",
]

SCENARIOS = ("chaining", "clique", "marginal")
"""The kinds of dependence among relevant columns for which there are formulas."""


class Search(NamedTuple):
    """A scenario and its numbers, checked: p columns, q in a draw, r relevant ones, memory for `kept` of them."""

    scenario: str
    p: int
    q: int
    r: int
    kept: int


def memory_size(q: int, alpha: float | Fraction | str) -> int:
    """⌊αq⌋, the places of a draw that belong to columns already found.

    Examples
    --------
    >>> memory_size(25, "1/2"), memory_size(100, 0.29)
    (12, 29)
    """
    try:
        share = Fraction(alpha)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise ParameterError(
            f"alpha is {shown(alpha) if isinstance(alpha, str) else alpha}; "
            "the memory share lies in [0, 1]: 0 keeps nothing, 1 all that was found"
        )
    # 0.29 · 100 is 28.999… in floats; nobody means 28.
    return math.floor((share.limit_denominator(10**9) if isinstance(alpha, float) else share) * q)


@overload
def expected_iterations(
    scenario: Scenario, p: int, q: int, r: int, alpha: float | Fraction = ..., *, exact: Literal[False] = ...
) -> float: ...
@overload
def expected_iterations(
    scenario: Scenario, p: int, q: int, r: int, alpha: float | Fraction = ..., *, exact: Literal[True]
) -> Fraction: ...
def expected_iterations(
    scenario: Scenario, p: int, q: int, r: int, alpha: float | Fraction = 1, *, exact: bool = False
) -> float | Fraction:
    """Expected number of iterations until all r relevant columns are found.

    Parameters
    ----------
    scenario
        "chaining", "clique" or "marginal".
    p, q, r
        Columns in all, columns in a draw, relevant columns.
    alpha
        Share of the draw that is kept for columns already found.
    exact
        Return a fraction instead of a float.

    Examples
    --------
    >>> expected_iterations("chaining", 10_000, 100, 3, 0, exact=True)
    Fraction(50489900, 49)
    >>> round(expected_iterations("chaining", 10_000, 100, 3, 1), 3)
    301.02
    """
    search = checked(scenario, p, q, r, alpha)
    # First-step analysis from the end: what is left to wait in state i follows from the states beyond.
    wait: list[Fraction | float] = [0] * (r + 1)
    for i in range(r - 1, -1, -1):
        ahead = exact_chances(search, i) if exact else float_chances(search, i).tolist()
        leave = sum(ahead)
        if not leave:
            raise ParameterError(
                f"the chance to leave {i} of {r} columns found is too small for a float at p = {p}, q = {q}; "
                "ask for exact=True"
            )
        wait[i] = (1 + sum(chance * wait[i + 1 + k] for k, chance in enumerate(ahead))) / leave
    return Fraction(wait[0]) if exact else float(wait[0])


@overload
def expected_found(scenario: Scenario, p: int, q: int, r: int, alpha: float | Fraction, n_iter: int) -> float: ...
@overload
def expected_found(
    scenario: Scenario, p: int, q: int, r: int, alpha: float | Fraction, n_iter: Sequence[int] | NDArray[np.integer]
) -> NDArray[np.float64]: ...
def expected_found(
    scenario: Scenario,
    p: int,
    q: int,
    r: int,
    alpha: float | Fraction,
    n_iter: int | Sequence[int] | NDArray[np.integer],
) -> float | NDArray[np.float64]:
    """Expected number of relevant columns found after `n_iter` iterations, one number or an array of them.

    Examples
    --------
    >>> round(expected_found("marginal", 10_000, 100, 50, 0, 100), 3)
    31.698
    >>> expected_found("chaining", 1000, 100, 3, 1, [0, 10, 100]).round(3).tolist()
    [0.0, 1.061, 2.998]
    """
    search = checked(scenario, p, q, r, alpha)
    asked = [int(n) for n in np.atleast_1d(np.asarray(n_iter))]
    if min(asked, default=0) < 0:
        raise ParameterError(f"n_iter is {min(asked)}; a search makes no negative number of iterations: give 0 or more")
    # With P = I + G, squaring is G ← 2G + G², which keeps the small chances that 1 − chance would round away.
    generator = np.zeros((r + 1, r + 1))
    for i in range(r):
        ahead = float_chances(search, i)
        generator[i, i + 1 :] = ahead
        generator[i, i] = -math.fsum(ahead)
    states = np.zeros((len(asked), r + 1))
    states[:, 0] = 1.0
    for bit in range(max(asked, default=0).bit_length()):
        rows = [row for row, n in enumerate(asked) if n >> bit & 1]
        states[rows] += states[rows] @ generator
        generator = 2 * generator + generator @ generator
    mean = states @ np.arange(r + 1.0)
    return mean if np.ndim(n_iter) else float(mean[0])


def blind_share(p: int, q: int, r: int) -> float:
    """Share of the random subspaces that hold no relevant column.

    Examples
    --------
    >>> round(blind_share(10_000, 50, 10), 3)
    0.951
    """
    checked("marginal", p, q, r, 0)
    return math.exp(math.fsum(math.log1p(-q / (p - t)) for t in range(r))) if q <= p - r else 0.0


def expected_draws(p: int, q: int, degree: int) -> float:
    """Expected number of random subspaces until one holds a column and a given conditioning of size `degree`.

    Examples
    --------
    >>> round(expected_draws(10_000, 50, 1))
    40812
    """
    checked("chaining", p, q, degree + 1, 0)
    return 1 / math.prod((q - t) / (p - t) for t in range(degree + 1))


def checked(scenario: str, p: int, q: int, r: int, alpha: float | Fraction) -> Search:
    """The numbers of a search, refused where they make no sense."""
    if scenario not in SCENARIOS:
        raise ParameterError(f"scenario is {scenario!r}; give one of {', '.join(map(repr, SCENARIOS))}")
    check_sizes(p, q, r)
    kept = memory_size(q, alpha)
    if r > q and (scenario != "marginal" or kept == q):
        why = "all of them must fit into one draw" if scenario != "marginal" else "memory fills up before all are found"
        way = "raise q, or lower r" if scenario != "marginal" else "raise q, or lower alpha"
        raise ParameterError(f"r is {r} and q is {q}; {scenario} at alpha = {alpha} needs r ≤ q, since {why}: {way}")
    return Search(scenario, p, q, r, kept)


def check_sizes(p: int, q: int, r: int) -> None:
    """Refuse numbers of columns, of columns in a draw and of relevant columns that do not go together."""
    for name, value in (("p", p), ("q", q), ("r", r)):
        if not isinstance(value, int | np.integer):
            raise ParameterError(f"{name} is {value}; columns are counted: give a whole number, such as 10_000")
    if not 1 <= q <= p:
        raise ParameterError(f"q is {q} and p is {p}; a draw holds from 1 to p columns: give q between 1 and {p}")
    if not 1 <= r <= p:
        raise ParameterError(f"r is {r} and p is {p}; from 1 to p columns are relevant: give r between 1 and {p}")


def exact_chances(search: Search, i: int) -> list[Fraction]:
    """The chances that one iteration leads from i to i + 1, …, r columns found, as fractions."""
    scenario, p, q, r, kept = search
    m = min(kept, i)
    if scenario == "marginal":
        # The new ones are hypergeometric: r − i sought among p − m, of which q − m are drawn.
        draws = math.comb(p - m, q - m)
        ways = (
            math.comb(r - i, k) * math.comb(p - m - r + i, q - m - k) if k <= q - m else 0 for k in range(1, r - i + 1)
        )
        return [Fraction(way, draws) for way in ways]
    # The chance that the first j relevant columns are all in the draw, of which m are there anyway.
    held = Fraction(math.perm(q - m, i - m), math.perm(p - m, i - m))
    chances = []
    for j in range(i + 1, r + 1):
        held *= Fraction(q - j + 1, p - j + 1)
        # … and the next one is not.
        chances.append(held * Fraction(p - q, p - j) if j < r else held)
    return chances if scenario == "chaining" else [held * Fraction(r - i, r)] + [Fraction(0)] * (r - i - 1)


def float_chances(search: Search, i: int) -> NDArray[np.float64]:
    """`exact_chances` as floats, by sums of logarithms."""
    scenario, p, q, r, kept = search
    m = min(kept, i)
    if scenario == "marginal":
        sought = r - i
        drawn, left, every = (_log_falling(n, sought) for n in (q - m, p - q, p - m))
        k = np.arange(1, sought + 1)
        ways = np.array([math.lgamma(sought + 1) - math.lgamma(j + 1) - math.lgamma(sought - j + 1) for j in k])
        chances: NDArray[np.float64] = np.exp(ways + drawn[k] + left[sought - k] - every[sought])
        return chances
    t = np.arange(m, r)
    held: NDArray[np.float64] = np.exp(np.cumsum(np.log(q - t) - np.log(p - t)))[i - m :]
    if scenario == "clique":
        return np.concatenate([[held[-1] * (r - i) / r], np.zeros(r - i - 1)])
    held[:-1] *= (p - q) / (p - np.arange(i + 1, r))
    return held


def _log_falling(n: int, length: int) -> NDArray[np.float64]:
    """Logarithm of n (n − 1) … (n − k + 1) for k = 0 … length; −inf where a factor is zero."""
    factors = np.maximum(n - np.arange(length, dtype=np.float64), 0.0)
    logs = np.log(factors, out=np.full(length, -np.inf), where=factors > 0)
    return np.concatenate([[0.0], np.cumsum(logs)])
