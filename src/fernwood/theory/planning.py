"""Planning: how long a search should run so that it finds what there is to find, by the convergence model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fernwood.errors import ParameterError
from fernwood.theory.convergence import check_sizes, memory_size

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["how_many_iterations"]


def how_many_iterations(
    p: int,
    q: int,
    r: int,
    degree: int = 0,
    alpha: float | Fraction = 1,
    confidence: float = 0.95,
    *,
    chains: bool = True,
) -> int:
    """Iterations after which all relevant columns of degree up to `degree` are found, with probability `confidence`.

    A bound under the tree model of the convergence analysis. Where conditionings are chains, a column of degree d is
    found at the latest by one draw that holds it and its conditioning, whatever memory holds, or by d + 1 draws in turn
    that each hold the next member and those before it: the cheaper of the two counts. In a clique the draw must hold
    all, and the tree must use the column last, which it does once in d + 1 times. Chances are taken at the worst moment
    of the search, and the chances to miss one of the r columns are added up: it is rather too long than too short.

    Parameters
    ----------
    p, q, r
        Columns in all, columns in a draw, relevant columns (an upper bound does).
    degree
        The largest degree of a column that should be found; 0 for columns that matter by themselves.
    alpha
        Share of the draw that is kept for columns already found.
    confidence
        Probability that none of them is missed.
    chains
        Whether conditionings can be found member by member, as they can with composition (Theorem 3). Where columns
        may form cliques, say False: memory is little help then.

    Examples
    --------
    >>> how_many_iterations(10_000, 100, 10)
    580
    >>> how_many_iterations(10_000, 100, 10, degree=2), how_many_iterations(10_000, 100, 10, degree=2, alpha=0)
    (1015, 5459417)
    """
    kept = _checked(p, q, r, degree, alpha, confidence)
    miss = (1 - confidence) / r
    # With nothing of the conditioning in memory, at the moment when memory takes most of the room.
    room = min(kept, r - 1)
    direct = math.prod(max(0, q - room - t) / (p - room - t) for t in range(degree + 1)) / (1 if chains else degree + 1)
    # With i members of the chain among the f columns found so far.
    moments = [(f, i) for i in range(degree + 1) for f in range(i, r)] if chains else []
    stepwise = min((_stage_chance(p, q, min(kept, f), f, i) for f, i in moments), default=0.0)
    counts = [_waits(chance, stages, miss) for chance, stages in ((direct, 1), (stepwise, degree + 1)) if chance > 0]
    if not counts:
        raise ParameterError(
            f"memory holds {kept} of q = {q} columns and leaves no room for a conditioning of degree {degree} among "
            f"r = {r} columns; lower alpha or raise q"
        )
    return min(counts)


def _stage_chance(p: int, q: int, m: int, f: int, i: int) -> float:
    """The chance that a draw holds a column and i found ones, where memory keeps m of the f found at random."""
    total = 0.0
    for held in range(max(0, m - f + i), min(i, m) + 1):
        in_memory = math.comb(i, held) * math.comb(f - i, m - held) / math.comb(f, m)
        missing = i - held + 1
        total += in_memory * math.prod(max(0, q - m - t) / (p - m - t) for t in range(missing))
    return total


def _waits(chance: float, stages: int, miss: float) -> int:
    """The smallest number of draws after which fewer than `stages` successes are at most `miss` likely."""
    if chance >= 1:
        return stages
    low, high = stages - 1, stages
    while _log_fewer(high, chance, stages) > math.log(miss):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _log_fewer(middle, chance, stages) <= math.log(miss) else (middle, high)
    return high


def _log_fewer(n: int, chance: float, stages: int) -> float:
    """Logarithm of P(fewer than `stages` successes in n draws), n ≥ stages."""
    logs = [math.log(math.comb(n, k)) + k * math.log(chance) + (n - k) * math.log1p(-chance) for k in range(stages)]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(value - top) for value in logs))


def _checked(p: int, q: int, r: int, degree: int, alpha: float | Fraction, confidence: float) -> int:
    check_sizes(p, q, r)
    if not 0 <= degree < r:
        raise ParameterError(
            f"degree is {degree} and r is {r}; conditionings are made of other relevant columns (Proposition 1): "
            f"give a degree from 0 to {r - 1}"
        )
    if degree >= q:
        raise ParameterError(f"degree is {degree} and q is {q}; column and conditioning must fit a draw: raise q")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence}; no search is certain: give a number between 0 and 1")
    kept = memory_size(q, alpha)
    if r > q and kept == q:
        raise ParameterError(
            f"r is {r} and q is {q}; at alpha = {alpha} memory fills up before all are found: needs r ≤ q, "
            "so raise q, or lower alpha"
        )
    return kept
