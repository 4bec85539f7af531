"""Search in the limit: which columns a sequential random subspace search ends up with, and in which order.

Data and patience are infinite here, so a column is found as soon as one tree that can be grown gives it a positive
importance. What remains is a walk over sets F of found columns, small enough to be followed exactly:

    F ──→ F ∪ S      S is what one tree can find on a draw Q that holds min(⌊αq⌋, |F|) columns of F

Sets that no tree can enlarge are where searches end. There may be several: with r > q and α near 1, the first columns
found leave no room for the conditionings of others.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import ParameterError
from fernwood.theory.convergence import memory_size
from fernwood.theory.importance import choice_chances
from fernwood.theory.information import local_information
from fernwood.theory.relevance import minimal_conditionings

if TYPE_CHECKING:
    from collections.abc import Callable

    from fernwood.theory.distribution import Distribution
    from fernwood.theory.table import Column, Probability

__all__ = ["ConditioningChain", "Found", "conditioning_chain", "found", "one_tree_suffices", "tree_outcomes"]

_LARGEST_SUBSPACE = 6
_MOST_NODES = 2**15


class Found(NamedTuple):
    """Where searches end.

    Attributes
    ----------
    surely
        The columns that every search finds.
    possibly
        The columns that some search finds.
    ends
        The sets that searches end with.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.noisy_copies().found(max_features=1, alpha=1, q=2).ends
    (('X1', 'X2'), ('X2', 'X1.1'))
    """

    surely: tuple[str, ...]
    possibly: tuple[str, ...]
    ends: tuple[tuple[str, ...], ...]


class ConditioningChain(NamedTuple):
    """A smallest conditioning of a column, in the order in which a snowball can find it.

    Attributes
    ----------
    column
        The column.
    members
        The conditioning; each member depends on the output given some of those before it, as far as that is possible.
    degrees
        The degrees of the members.
    is_snowball
        Whether that is possible for all members: then none of them waits for one found later.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.chain(4).conditioning_chain("X4").degrees
    (0, 1, 2)
    """

    column: str
    members: tuple[str, ...]
    degrees: tuple[int, ...]
    is_snowball: bool


def found(distribution: Distribution, max_features: int, alpha: Probability, q: int) -> Found:
    """Which inputs a sequential random subspace search finds, with infinite data and after infinitely many trees.

    Parameters
    ----------
    distribution
        A few inputs and an output.
    max_features
        K, the number of columns drawn at every node of a tree.
    alpha
        Share of the q places that is kept for columns already found.
    q
        The number of columns a tree sees.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.found(theory.masking(), max_features=2, alpha=1, q=2)
    Found(surely=('X1',), possibly=('X1',), ends=(('X1',),))
    >>> theory.found(theory.xor(3), max_features=1, alpha=0, q=2).possibly
    ()
    """
    p = distribution.n_inputs
    if not 1 <= q <= p:
        raise ParameterError(f"q is {q} and p is {p}; a draw holds from 1 to p columns: give q between 1 and {p}")
    if not 1 <= max_features <= q:
        raise ParameterError(f"max_features is {max_features}; give a whole number from 1 to q = {q}")
    kept = memory_size(q, alpha)
    cells = sorted(distribution.shape[:-1], reverse=True)[:q]
    nodes = math.comb(p, q) * math.prod(size + 1 for size in cells)
    if q > _LARGEST_SUBSPACE or nodes > _MOST_NODES:
        raise ParameterError(
            f"trees on {q} of {p} inputs have up to {nodes:,} different nodes; at most q = {_LARGEST_SUBSPACE} and "
            f"{_MOST_NODES:,} nodes are enumerated: keep fewer inputs (keep), or lower q"
        )
    draws = {
        sum(1 << i for i in columns): tree_outcomes(distribution, columns, max_features)
        for columns in combinations(range(p), q)
    }
    ends, seen, pending = set(), {0}, [0]
    while pending:
        state = pending.pop()
        memory = min(kept, state.bit_count())
        allowed = [finds for draw, finds in draws.items() if (draw & state).bit_count() >= memory]
        reached = {state | new for finds in allowed for new in finds}
        if reached <= {state}:
            ends.add(state)
        pending.extend(reached - seen)
        seen |= reached
    surely, possibly = (1 << p) - 1, 0
    for state in ends:
        surely, possibly = surely & state, possibly | state
    names = distribution.names
    return Found(names(surely), names(possibly), tuple(names(state) for state in sorted(ends)))


def tree_outcomes(distribution: Distribution, columns: tuple[int, ...], max_features: int) -> set[int]:
    """All sets of columns (as bits) that a single tree on some columns can find, ties and draws falling as they may.

    Examples
    --------
    >>> from fernwood import theory
    >>> sorted(theory.tree_outcomes(theory.xor(2), (0, 1), max_features=2))
    [1, 2]
    """
    known: dict[tuple[int, ...], frozenset[int]] = {}
    value = _gains(distribution)

    def below(cell: tuple[int, ...]) -> frozenset[int]:
        """What the part of a tree below a node can find; a cell has one value per input, −1 where it is free."""
        if cell in known:
            return known[cell]
        used = sum(1 << i for i, at in enumerate(cell) if at >= 0)
        free = [i for i in columns if not used >> i & 1]
        if not free:
            return frozenset({0})
        gains = np.array([value(used, i, cell) for i in free])
        chances = choice_chances(gains[:, None], max_features).ravel()
        families: set[int] = set()
        for i, gain, chance in zip(free, gains, chances, strict=True):
            if chance > 0:
                family = {1 << i if gain > 0 else 0}
                for at in range(distribution.shape[i]):
                    child = (*cell[:i], at, *cell[i + 1 :])
                    where = tuple(max(a, 0) for a in child)
                    if distribution.marginal(used | 1 << i)[(*where, 0)] > 0:
                        family = {a | b for a in family for b in below(child)}
                families |= family
        known[cell] = frozenset(families)
        return known[cell]

    return set(below((-1,) * distribution.n_inputs))


def one_tree_suffices(distribution: Distribution) -> bool:
    """Whether a single tree with K = p finds all strongly relevant inputs, by the slides' condition.

    At every node B = b, two inputs that tell nothing about the output one by one must tell nothing together.

    Examples
    --------
    >>> from fernwood import theory
    >>> one_tree_suffices(theory.seven_segment()), one_tree_suffices(theory.xor(2))
    (True, False)
    """
    p, target = distribution.n_inputs, 1 << distribution.n_inputs
    distribution.check_subsets(p)
    for given in range(target):
        free = [i for i in range(p) if not given >> i & 1]
        silent = {i: local_information(distribution, 1 << i, target, given) == 0 for i in free}
        for i, j in combinations(free, 2):
            both = silent[i] & silent[j]
            if np.any(local_information(distribution, 1 << i | 1 << j, target, given)[both] > 0):
                return False
    return True


def conditioning_chain(distribution: Distribution, column: Column) -> ConditioningChain:
    """A smallest conditioning of a relevant input, ordered so that a search that accumulates can find it step by step.

    With composition such an order always exists (slides; Theorem 3 of the paper bounds the degrees): the i-th member
    then has a degree below i. In a clique it does not, and the search has to draw all members at once.

    Examples
    --------
    >>> from fernwood import theory
    >>> theory.conditioning_chain(theory.chain(3), "X3")
    ConditioningChain(column='X3', members=('X1', 'X2'), degrees=(0, 1), is_snowball=True)
    >>> theory.conditioning_chain(theory.xor(3), "X3").is_snowball
    False
    """
    name = distribution.columns[distribution.position(column)]
    smallest = minimal_conditionings(distribution, column)
    if not smallest:
        raise ParameterError(
            f"{name} is irrelevant, so no conditioning makes it relevant; ask for an input that relevance() lists"
        )
    return min((_ordered(distribution, name, members) for members in smallest), key=_preference)


def _preference(chain: ConditioningChain) -> tuple[int, bool]:
    return len(chain.members), not chain.is_snowball


def _ordered(distribution: Distribution, column: str, members: tuple[str, ...]) -> ConditioningChain:
    """Members in an order in which each is found given some of its predecessors; stragglers follow by degree."""
    placed, waiting, found_so_far = [], [distribution.position(member) for member in members], 0
    while waiting:
        ready = [i for i in waiting if _speaks(distribution, i, found_so_far)]
        if not ready:
            break
        placed.append(ready[0])
        waiting.remove(ready[0])
        found_so_far |= 1 << ready[0]
    degrees = {i: distribution.degree(i) or 0 for i in (*placed, *waiting)}
    order = [*placed, *sorted(waiting, key=lambda i: (degrees[i], i))]
    return ConditioningChain(
        column, tuple(distribution.columns[i] for i in order), tuple(degrees[i] for i in order), not waiting
    )


def _speaks(distribution: Distribution, i: int, given: int) -> bool:
    """Whether input i depends on the output given some part of a set."""
    sets = np.arange(1 << distribution.n_inputs)
    return bool(np.any(distribution.dependent_given[i][(sets & ~given) == 0]))


def _gains(distribution: Distribution) -> Callable[[int, int, tuple[int, ...]], float]:
    """The information of input i about the output at a node; tables are computed once per set of used columns."""
    tables: dict[tuple[int, int], np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}
    target = 1 << distribution.n_inputs

    def gain(used: int, i: int, cell: tuple[int, ...]) -> float:
        if (used, i) not in tables:
            tables[used, i] = local_information(distribution, 1 << i, target, used)
        where = (*(max(at, 0) for at in cell), 0)
        return float(tables[used, i][where] / distribution.chances(distribution.marginal(used)[where]))

    return gain
