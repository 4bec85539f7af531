"""Information in bits: exact entropies and mutual informations, and what a finite sample makes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fernwood.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from fernwood.theory.distribution import Distribution
    from fernwood.theory.table import Column, Table

__all__ = [
    "entropy",
    "entropy_estimate",
    "information_bias",
    "information_estimate",
    "local_information",
    "mutual_information",
    "pointwise_information",
]


def entropy(
    distribution: Distribution, columns: Column | Iterable[Column], given: Column | Iterable[Column] = ()
) -> float:
    """Entropy of columns, in bits, given others.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.entropy(theory.xor(2), "Y"), theory.entropy(theory.xor(2), "Y", given=["X1", "X2"])
    (1.0, 0.0)
    """
    condition = distribution.mask(given)
    return _entropy(distribution, distribution.mask(columns) | condition) - _entropy(distribution, condition)


def mutual_information(
    distribution: Distribution,
    a: Column | Iterable[Column],
    b: Column | Iterable[Column],
    given: Column | Iterable[Column] = (),
) -> float:
    """Mutual information of two sets of columns, in bits, given a third; exactly 0.0 where they are independent.

    Examples
    --------
    >>> from fernwood import theory
    >>> digits = theory.seven_segment()
    >>> round(theory.mutual_information(digits, digits.inputs, "Y"), 6)
    3.321928
    >>> theory.mutual_information(theory.xor(2), "X1", "Y"), theory.mutual_information(theory.xor(2), "X1", "Y", "X2")
    (0.0, 1.0)
    """
    masks = distribution.mask(a), distribution.mask(b), distribution.mask(given)
    return max(0.0, float(np.sum(local_information(distribution, *masks))))


def local_information(distribution: Distribution, a: int, b: int, given: int) -> NDArray[np.float64]:
    """P(g) · I(a; b | g) for every value g of a condition; columns are given as bits, axes as in `marginal`.

    Every term is P(a, b, g) log [P(a, b, g) P(g) / P(a, g) P(b, g)]: where a and b are independent given g the
    quotient is one whole number over itself, so the result is 0.0 and not a rounding error.
    """
    marginal = distribution.marginal
    summed = tuple(i for i in range(len(distribution.columns)) if (a | b) >> i & 1 and not given >> i & 1)
    return pointwise_information(
        marginal(a | b | given),
        marginal(given),
        marginal(a | given),
        marginal(b | given),
        axes=summed,
        table=distribution,
    )


def pointwise_information(
    joint: NDArray[Any],
    given: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    *,
    axes: tuple[int, ...],
    table: Table,
) -> NDArray[np.float64]:
    """As `local_information`, from weights of both, of the condition alone, and of each beside it; `axes` are both's.

    The weights are those of a table, laid out so that they multiply by broadcasting.
    """
    above, below = joint * given, first * second
    possible = joint > 0
    quotients = np.ones(joint.shape, dtype=object if joint.dtype == object else np.float64)
    ratio = np.divide(above, below, out=quotients, where=possible).astype(np.float64)
    terms = np.sum(table.chances(joint) * np.log2(ratio), axis=axes, keepdims=True)
    if not table.exact:
        # Floats are never quite independent: what is equal to rounding in all cells of a condition counts as such.
        same = np.abs(np.where(np.broadcast_to(below > 0, joint.shape) & ~possible, 0.0, ratio) - 1) <= 1e-9
        terms[np.all(same, axis=axes, keepdims=True)] = 0.0
    return np.asarray(np.maximum(terms, 0.0), dtype=np.float64)


def information_bias(x_values: int, y_values: int, n: int) -> float:
    """Expected mutual information, in bits, that a sample shows between two columns that are independent (slides).

    Parameters
    ----------
    x_values, y_values
        Numbers of values of the two columns.
    n
        Rows of the sample.

    Examples
    --------
    >>> round(information_bias(2, 2, 100), 5)
    0.00721
    """
    for name, value in (("x_values", x_values), ("y_values", y_values), ("n", n)):
        if value < 1:
            raise ParameterError(f"{name} is {value}; give a whole number of at least 1")
    return (x_values - 1) * (y_values - 1) / (2 * n * math.log(2))


def entropy_estimate(counts: ArrayLike, correction: Literal["miller-madow"] | None = "miller-madow") -> float:
    """Entropy, in bits, estimated from counts.

    Parameters
    ----------
    counts
        How often each value was seen.
    correction
        "miller-madow" adds (m − 1) / (2 N ln 2) for m values seen; None leaves the entropy of the frequencies.

    Examples
    --------
    >>> entropy_estimate([5, 5], correction=None), round(entropy_estimate([5, 5]), 4)
    (1.0, 1.0721)
    """
    seen = _counts(counts).ravel()
    seen = seen[seen > 0]
    n = float(np.sum(seen))
    plain = -float(np.sum(seen / n * np.log2(seen / n))) + 0.0
    return plain + _correction(correction) * (len(seen) - 1) / (2 * n * math.log(2))


def information_estimate(table: ArrayLike, correction: Literal["miller-madow"] | None = "miller-madow") -> float:
    """Mutual information, in bits, of the two columns of a contingency table.

    Corrected, it is the sum of corrected entropies H(X) + H(Y) − H(X, Y): nearly unbiased, and so negative at times.

    Examples
    --------
    >>> information_estimate([[5, 0], [0, 5]], correction=None), round(information_estimate([[5, 0], [0, 5]]), 4)
    (1.0, 1.0721)
    """
    seen = _counts(table)
    if seen.ndim != 2:
        raise ParameterError(f"the table has {seen.ndim} dimension(s); give counts with a row per X and a column per Y")
    marginals = entropy_estimate(seen.sum(axis=1), correction) + entropy_estimate(seen.sum(axis=0), correction)
    return marginals - entropy_estimate(seen, correction)


def _entropy(distribution: Distribution, mask: int) -> float:
    weights: NDArray[Any] = distribution.marginal(mask)
    share = distribution.chances(weights[weights > 0])
    return -float(np.sum(share * np.log2(share))) + 0.0


def _counts(counts: ArrayLike) -> NDArray[np.float64]:
    seen = np.asarray(counts, dtype=np.float64)
    if not np.all(seen >= 0) or not np.sum(seen) > 0:
        raise ParameterError(
            "counts must be non-negative with at least one above zero; give how often values were seen"
        )
    return seen


def _correction(correction: str | None) -> int:
    if correction not in ("miller-madow", None):
        raise ParameterError(f"correction is {correction!r}; give 'miller-madow' or None")
    return int(correction is not None)
