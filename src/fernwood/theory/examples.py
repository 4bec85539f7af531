"""Distributions with a name: the examples on which the papers explain relevance, importance and masking."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

from fernwood.errors import ParameterError, printable, shown_value
from fernwood.theory.distribution import Distribution
from fernwood.theory.table import as_probability

if TYPE_CHECKING:
    from collections.abc import Hashable

    from fernwood.theory.table import Probability

__all__ = ["chain", "clique", "masking", "noisy_copies", "seven_segment", "strong_versus_weak", "xor"]

_MOST_COINS = 16
"""Coins that are tossed in every way for an example: seconds, whatever is asked of it."""

# Which of the seven segments are lit, digit by digit; X1 is the top bar, X4 the middle one, X7 the bottom one.
_DIGITS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")


def seven_segment() -> Distribution:
    """Ten equally likely digits and the seven segments of the display that shows them (Breiman et al., 1984).

    Examples
    --------
    >>> round(seven_segment().importances()["X5"], 3)
    0.657
    """
    return Distribution({(*map(int, lit), digit): Fraction(1, 10) for digit, lit in enumerate(_DIGITS)})


def xor(k: int = 2) -> Distribution:
    """The parity of k fair coins: no k − 1 of them tell anything about it.

    Examples
    --------
    >>> xor(3).degree("X1")
    2
    """
    _check_size("k", k, _MOST_COINS)
    coin: dict[Hashable, Probability] = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    return Distribution.from_function(lambda *bits: sum(bits) % 2, {f"X{i + 1}": coin for i in range(k)})


def clique(r: int) -> Distribution:
    """The clique of the convergence analysis: each column matters given all r − 1 others, and given nothing less.

    Examples
    --------
    >>> clique(3).minimal_conditionings("X2")
    [('X1', 'X3')]
    """
    return xor(r)


def strong_versus_weak(eps: Probability = "0.05") -> Distribution:
    """A weakly relevant column that is more important than two strongly relevant ones (slides).

    Y is 1 when the coins X1 and X2 agree; X3 is the opposite of Y, wrong with probability `eps`.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in strong_versus_weak().importances().items()}
    {'X1': 0.262, 'X2': 0.262, 'X3': 0.476}
    """
    wrong = _noise("eps", eps)
    outcomes: dict[tuple[Hashable, ...], Fraction | float] = {}
    for a, b, c in product((0, 1), repeat=3):
        y = int(a == b)
        outcomes[a, b, c, y] = (wrong if c == y else 1 - wrong) / 4
    return Distribution(outcomes)


def masking(eps: Probability = "0.05") -> Distribution:
    """X1 is the output itself, X2 the output with probability 1 − `eps`: with K = 2, X1 hides X2 (slides).

    Examples
    --------
    >>> masking().importances(max_features=2)
    {'X1': 1.0, 'X2': 0.0}
    """
    wrong = _noise("eps", eps)
    return Distribution({(y, z, y): (1 - wrong if y == z else wrong) / 2 for y, z in product((0, 1), repeat=2)})


def chain(r: int, noise: Probability = "1/8") -> Distribution:
    """The chain of the convergence analysis: column i matters given exactly the columns before it.

    Hidden fair coins H2 … Hr link neighbours, and the output is the first coin, H1 = Y. Column i shows whether Hi and
    H(i+1) are both heads (the last one shows Hr), and is wrong with probability `noise`:

        Y = H1 ─→ X1 ←─ H2 ─→ X2 ←─ H3 ─→ X3        X3 speaks of Y once X1 and X2 are known, and not before

    With noise the distribution is strictly positive and has composition: the class for which the snowball is proven.

    Examples
    --------
    >>> [chain(3).degree(i) for i in range(3)]
    [0, 1, 2]
    """
    _check_size("r", r, _MOST_COINS // 2)  # as many flips as coins
    wrong = _noise("noise", noise)
    shares = [wrong**n * (1 - wrong) ** (r - n) / 2**r for n in range(r + 1)]  # of so many that are wrong
    outcomes: dict[tuple[Hashable, ...], Fraction | float] = {}
    for coins in product((0, 1), repeat=r):
        clean = [*(a & b for a, b in pairwise(coins)), coins[-1]]
        for flips in product((0, 1), repeat=r):
            share = shares[sum(flips)]
            outcome = (*(x ^ flip for x, flip in zip(clean, flips, strict=True)), coins[0])
            outcomes[outcome] = outcomes.get(outcome, 0) + share
    return Distribution(outcomes)


def noisy_copies(copies: int = 1, noise: Probability = 0) -> Distribution:
    """The parity of two coins with copies of the first, each wrong with probability `noise`.

    Copies share the importance of their original and raise that of the column it interacts with (slides).

    Examples
    --------
    >>> {name: round(value, 3) for name, value in noisy_copies().importances().items()}
    {'X1': 0.167, 'X2': 0.667, 'X1.1': 0.167}
    """
    _check_most("copies", copies, _MOST_COINS - 2)
    return xor(2).with_copies("X1", copies, _noise("noise", noise))


def _check_size(name: str, value: int, most: int) -> None:
    if value < 1:
        raise ParameterError(
            f"{name} is {shown_value(value)}; an example needs at least one input: give {name} = 1 or more"
        )
    _check_most(name, value, most)


def _check_most(name: str, value: int, most: int) -> None:
    if value > most:
        raise ParameterError(
            f"{name} is {shown_value(value)}; all outcomes are gone through, twice as many with every input more: give "
            f"{name} = {most} or less"
        )


def _noise(name: str, value: Probability) -> Fraction | float:
    kept = as_probability(value)
    if kept > 1:
        raise ParameterError(f"{name} is {printable(str(value))}; it is a probability: give a number from 0 to 1")
    return kept
