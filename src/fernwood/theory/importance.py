"""Importances of an infinite forest on infinite data: mean decrease of impurity, computed rather than estimated.

Splits are multiway, one branch per value, and impurity is Shannon entropy in bits (Louppe et al., 2013). At a node that
has used the columns B on its way from the root, K of the p − |B| others are drawn and the one with the largest
information about the output is split on; equals share the choice evenly. Two ways lead to the same numbers:

    closed form      K = 1 only: Imp(X) = Σ_B I(X; Y | B) / (C(p, k) (p − k)), k = |B|, over sets B without X
    node recursion   any K: the chance that a tree has a node "B = b" follows from that of its parents, B by B

The closed form is that of the slides; formula (2) of the paper on random subspaces lacks the factor 1 / (p − k).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import ParameterError
from fernwood.theory.information import local_information
from fernwood.theory.subsets import all_information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.theory.distribution import Distribution

__all__ = ["Decomposition", "Term", "by_nodes", "choice_chances", "decomposition", "importances"]

_TIE = 1e-10
"""Informations, in bits, that differ by less are equal: two splits of the same worth computed in another order."""


class Term(NamedTuple):
    """One summand of the closed form: `weight` × `information` of a column given a conditioning.

    Examples
    --------
    >>> term = Term("X1", given=("X2",), weight=0.5, information=1.0)
    >>> term.weight * term.information
    0.5
    """

    column: str
    given: tuple[str, ...]
    weight: float
    information: float


class Decomposition(NamedTuple):
    """What all inputs tell about the output, taken apart in three levels (K = 1).

    Attributes
    ----------
    inputs
        The names of the p inputs.
    by_degree
        Array (p, p): the part of an input's importance (row) that comes from conditionings of size k (column).
    terms
        The summands themselves, in the order of inputs and of growing conditionings.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.xor(2).decomposition().by_column
    {'X1': 0.5, 'X2': 0.5}
    """

    inputs: tuple[str, ...]
    by_degree: NDArray[np.float64]
    terms: tuple[Term, ...]

    @property
    def by_column(self) -> dict[str, float]:
        """The importances: sums over degrees."""
        return {name: math.fsum(row) for name, row in zip(self.inputs, self.by_degree.tolist(), strict=True)}

    @property
    def total(self) -> float:
        """The sum of all importances: I(X1, …, Xp; Y) unless trees were pruned."""
        return math.fsum(self.by_degree.ravel().tolist())


def importances(
    distribution: Distribution, max_features: int = 1, max_depth: int | None = None, subspace: int | None = None
) -> dict[str, float]:
    """Exact mean decrease of impurity of every input, in bits.

    Parameters
    ----------
    distribution
        Inputs and output.
    max_features
        K, the number of columns drawn at every node; 1 is a totally randomised tree.
    max_depth
        D, the largest number of splits on a path; by default all columns.
    subspace
        q, the number of columns drawn for every tree; by default all p.

    Examples
    --------
    >>> from fernwood import theory
    >>> {name: round(value, 3) for name, value in theory.importances(theory.xor(2).with_irrelevant()).items()}
    {'X1': 0.5, 'X2': 0.5, 'N1': 0.0}
    """
    p = distribution.n_inputs
    q = _between("subspace", subspace, p, "the number of inputs")
    depth = min(_between("max_depth", max_depth, p, "the number of inputs"), q)
    drawn = _between("max_features", max_features, q, "the number of columns a tree sees")
    if drawn == 1:
        # A totally randomised tree on q random columns conditions on random sets of up to q − 1: it is one of depth q.
        return decomposition(distribution, depth).by_column
    return by_nodes(distribution, drawn, depth, q)


def decomposition(distribution: Distribution, max_depth: int | None = None) -> Decomposition:
    """Importances of totally randomised trees by input, by size of conditioning and by conditioning.

    Parameters
    ----------
    distribution
        Inputs and output.
    max_depth
        Keep conditionings smaller than this: the trees are pruned to that depth.

    Examples
    --------
    >>> from fernwood import theory
    >>> parts = theory.decomposition(theory.xor(2))
    >>> parts.by_degree.tolist(), parts.total
    ([[0.0, 0.5], [0.0, 0.5]], 1.0)
    >>> parts.terms[1]
    Term(column='X1', given=('X2',), weight=0.5, information=1.0)
    """
    p, names = distribution.n_inputs, distribution.inputs
    depth = _between("max_depth", max_depth, p, "the number of inputs")
    distribution.check_subsets(depth)
    told = all_information(distribution) if distribution.is_enumerable(p) else None
    by_degree = np.zeros((p, p))
    terms = []
    for i, name in enumerate(names):
        others = [j for j in range(p) if j != i]
        for k in range(depth):
            weight = 1 / (math.comb(p, k) * (p - k))
            found = []
            for given in combinations(others, k):
                mask = sum(1 << j for j in given)
                information = float(
                    np.sum(local_information(distribution, 1 << i, 1 << p, mask)) if told is None else told[i, mask]
                )
                terms.append(Term(name, tuple(names[j] for j in given), weight, information))
                found.append(information)
            by_degree[i, k] = weight * math.fsum(found)
    return Decomposition(names, by_degree, tuple(terms))


def by_nodes(distribution: Distribution, max_features: int, max_depth: int, subspace: int) -> dict[str, float]:
    """Importances by recursion over the nodes that trees can have, for any K, averaged over all subspaces.

    Nodes that condition on the same set B are handled together, as arrays over the values b. What a split is worth does
    not depend on the subspace, so it is computed once.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.by_nodes(theory.masking(), max_features=2, max_depth=2, subspace=2)
    {'X1': 1.0, 'X2': 0.0}
    """
    p = distribution.n_inputs
    distribution.check_subsets(max_depth)
    gains: dict[tuple[int, int], NDArray[np.float64]] = {}
    total = np.zeros(p)
    subspaces = list(combinations(range(p), subspace))
    for columns in subspaces:
        _grow(distribution, columns, max_features, max_depth, gains, total)
    return dict(zip(distribution.inputs, (total / len(subspaces)).tolist(), strict=True))


def choice_chances(gains: NDArray[np.float64], max_features: int) -> NDArray[np.float64]:
    """The chance of every candidate (row) to be split on, for every node (column), when K of them are drawn.

    A candidate is chosen when none better is drawn and the lot falls on it among its equals; with a better and g equal
    ones of m, that is [C(m − a, K) − C(m − a − g, K)] / (g C(m, K)).

    Examples
    --------
    >>> choice_chances(np.array([[0.5], [0.2], [0.2]]), 2).ravel().round(3).tolist()
    [0.667, 0.167, 0.167]
    """
    m = len(gains)
    drawn = min(max_features, m)
    order = np.argsort(-gains, axis=0, kind="stable")
    ranked = np.take_along_axis(gains, order, axis=0)
    # Runs of equals in the ranking: where each begins and ends.
    place = np.arange(m)[:, None]
    fresh = np.ones(gains.shape, dtype=np.bool_)
    fresh[1:] = ranked[:-1] - ranked[1:] > _TIE
    begin = np.maximum.accumulate(np.where(fresh, place, 0), axis=0)
    last = np.ones(gains.shape, dtype=np.bool_)
    last[:-1] = fresh[1:]
    end = np.minimum.accumulate(np.where(last, place + 1, m)[::-1], axis=0)[::-1]
    below = np.array([math.comb(m - a, drawn) / math.comb(m, drawn) for a in range(m + 1)])
    chances = np.empty(gains.shape)
    np.put_along_axis(chances, order, (below[begin] - below[end]) / (end - begin), axis=0)
    return chances


def _grow(
    distribution: Distribution,
    columns: tuple[int, ...],
    max_features: int,
    max_depth: int,
    gains: dict[tuple[int, int], NDArray[np.float64]],
    total: NDArray[np.float64],
) -> None:
    """Add the importances of trees on some columns to `total`; `gains` remembers what splits are worth."""
    target = 1 << distribution.n_inputs
    # The chance that a tree has the node B = b, over b; every path of the root's children is a path to B.
    reached = {0: np.ones((1,) * len(distribution.columns))}
    for depth in range(min(max_depth, len(columns))):
        nodes, reached = reached, {}
        for used, chance in nodes.items():
            free = [i for i in columns if not used >> i & 1]
            for i in free:
                if (used, i) not in gains:
                    gains[used, i] = local_information(distribution, 1 << i, target, used)
            worth = np.array([gains[used, i].ravel() for i in free])
            weight = distribution.chances(distribution.marginal(used)).ravel()
            chances = choice_chances(np.divide(worth, weight, out=np.zeros_like(worth), where=weight > 0), max_features)
            total[free] += (chances * worth) @ chance.ravel()
            if depth + 1 < max_depth:
                for i, chosen in zip(free, chances, strict=True):
                    child = used | 1 << i
                    if child not in reached:
                        reached[child] = np.zeros(distribution.marginal(child).shape)
                    reached[child] += chance * chosen.reshape(chance.shape)


def _between(name: str, value: int | None, largest: int, what: str) -> int:
    if value is None:
        return largest
    if not 1 <= value <= largest:
        raise ParameterError(f"{name} is {value}; give a whole number from 1 to {largest}, {what}")
    return value
