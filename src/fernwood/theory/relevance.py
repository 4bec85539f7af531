"""Relevance: which inputs tell something about the output, given what, and which sets say it all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import ParameterError, shown
from fernwood.theory.subsets import all_dependences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fernwood.theory.distribution import Distribution
    from fernwood.theory.table import Column

__all__ = [
    "degree",
    "dependences",
    "has_composition",
    "markov_boundaries",
    "minimal_conditionings",
    "relevance",
]

_LARGEST_COMPOSITION = 9  # columns: 3⁹ pairs of sets are examined


def relevance(distribution: Distribution) -> dict[str, str]:
    """'strong', 'weak' or 'irrelevant' for every input (Kohavi and John, 1997).

    Strong: it tells something about the output that all others together do not. Weak: not strong, but there are others
    given which it tells something. Irrelevant: given no set of others does it tell anything.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.relevance(theory.strong_versus_weak())
    {'X1': 'strong', 'X2': 'strong', 'X3': 'weak'}
    """
    everything = (1 << distribution.n_inputs) - 1
    labels = {}
    for i, name in enumerate(distribution.inputs):
        dependent = distribution.dependent_given[i]
        labels[name] = "strong" if dependent[everything & ~(1 << i)] else "weak" if dependent.any() else "irrelevant"
    return labels


def degree(distribution: Distribution, column: Column) -> int | None:
    """Size of the smallest set of inputs given which an input depends on the output; None if it is irrelevant.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.degree(theory.xor(3), "X1"), theory.degree(theory.xor(2).with_irrelevant(), "N1")
    (2, None)
    """
    given = np.flatnonzero(distribution.dependent_given[_input(distribution, column)])
    return int(np.bitwise_count(given).min()) if len(given) else None


def minimal_conditionings(distribution: Distribution, column: Column) -> list[tuple[str, ...]]:
    """All sets given which an input depends on the output, and given no part of which it does; smallest first.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.minimal_conditionings(theory.noisy_copies(), "X2")
    [('X1',), ('X1.1',)]
    """
    dependent = distribution.dependent_given[_input(distribution, column)]
    return [distribution.names(mask) for mask in _minimal(dependent)]


def markov_boundaries(distribution: Distribution) -> list[tuple[str, ...]]:
    """All minimal sets of inputs given which the output is independent of the other inputs; smallest first.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.markov_boundaries(theory.noisy_copies())
    [('X1', 'X2'), ('X2', 'X1.1')]
    """
    dependent = distribution.dependent_given
    suffices = np.ones(1 << distribution.n_inputs, dtype=np.bool_)
    for mask in range(len(suffices) - 2, -1, -1):
        # The others tell nothing if one of them does not, and the rest of them do not beside it (contraction).
        other = ~mask & (mask + 1)
        suffices[mask] = suffices[mask | other] and not dependent[other.bit_length() - 1][mask]
    return [distribution.names(mask) for mask in _minimal(suffices)]


def has_composition(distribution: Distribution, *, output_only: bool = False) -> bool:
    """Whether S ⊥ T | R and S ⊥ U | R imply S ⊥ T ∪ U | R for all disjoint sets of columns, the output among them.

    Parameters
    ----------
    distribution
        At most nine columns, unless `output_only`.
    output_only
        Ask it only where S is the output and R, T, U are sets of inputs: that is what the snowball needs.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.has_composition(theory.chain(3)), theory.has_composition(theory.xor(2))
    (True, False)
    """
    if output_only:
        return _output_composes(distribution.dependent_given)
    width = len(distribution.columns)
    distribution.check_subsets(distribution.n_inputs)
    if width > _LARGEST_COMPOSITION:
        raise ParameterError(
            f"composition of {width} columns means {3**width:,} pairs of sets, more than the "
            f"{3**_LARGEST_COMPOSITION:,} that are enumerated; keep fewer inputs (keep) or ask for output_only=True"
        )
    everything = (1 << width) - 1
    for chosen in range(1, everything + 1):
        outside = everything & ~chosen
        for given in _subsets(outside):
            singles = [
                1 << i
                for i in range(width)
                if outside & ~given & 1 << i and distribution.independent_masks(chosen, 1 << i, given)
            ]
            # Sets independent of S are made of such single columns (decomposition), so the largest one decides.
            if len(singles) > 1 and not distribution.independent_masks(chosen, sum(singles), given):
                return False
    return True


def dependences(distribution: Distribution) -> tuple[NDArray[np.bool_], ...]:
    """For every input i an array over sets B of inputs, as bits: whether i and the output depend given B.

    Sets that contain i itself are False.
    """
    distribution.check_subsets(distribution.n_inputs)
    return tuple(all_dependences(distribution))


def _output_composes(dependent: Sequence[NDArray[np.bool_]]) -> bool:
    """Whether inputs that each tell nothing about the output given a set tell nothing together, for all sets."""
    for given in range(len(dependent[0])):
        silent = [i for i, tells in enumerate(dependent) if not given >> i & 1 and not tells[given]]
        beside = given
        for i in silent:  # together: each of them beside those before it (contraction)
            if dependent[i][beside]:
                return False
            beside |= 1 << i
    return True


def _minimal(holds: NDArray[np.bool_]) -> list[int]:
    """The sets, as bits, for which something holds and for no part of which it does; by size, then by order."""
    reached = holds.copy()  # it holds for the set or for some part of it
    below = np.zeros_like(holds)  # … for some proper part
    pairs = [(-1, 2, 1 << i) for i in range(len(holds).bit_length() - 1)]  # sets without input i, and with it
    for shape in pairs:
        reached.reshape(shape)[:, 1] |= reached.reshape(shape)[:, 0]
    for shape in pairs:
        below.reshape(shape)[:, 1] |= reached.reshape(shape)[:, 0]
    found = [int(mask) for mask in np.flatnonzero(holds & ~below)]
    return sorted(found, key=lambda mask: (mask.bit_count(), [i for i in range(mask.bit_length()) if mask >> i & 1]))


def _subsets(mask: int) -> list[int]:
    """All parts of a set given as bits."""
    parts, part = [0], 0
    while part != mask:
        part = (part - mask) & mask
        parts.append(part)
    return parts


def _input(distribution: Distribution, column: Column) -> int:
    place = distribution.position(column)
    if place == distribution.n_inputs:
        raise ParameterError(f"{shown(column)} is the output; name one of the inputs {', '.join(distribution.inputs)}")
    return place
