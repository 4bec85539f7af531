"""Simulated searches where columns of all kinds mix, for what has no formula; compiled when first called.

A tree on a draw is one order of its columns (the same column at all nodes of a level, as in the convergence analysis).
At every level K of the columns not yet used are drawn. A relevant column is worth a split when its conditioning has
been used above; one that is worth it is taken, any of them, else any of those drawn is used up for nothing:

    conditionings   A: none     B: {A}     C: {A, B}          draw {A, B, C, and noise}
    levels          noise, A ✓, C ✗, noise, B ✓               A and B are found, C came before B and is not

With K = q and the right conditionings these are the three scenarios of the convergence analysis, and the tests hold
both to each other. The mixed setting of the slides draws degrees and conditionings at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.kernels.jit import njit
from fernwood.theory.convergence import checked

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["Simulation", "conditionings", "simulate"]

_STAGE_CONDITIONINGS, _STAGE_DRAWS = 0, 1


class Simulation(NamedTuple):
    """The course of simulated searches.

    Attributes
    ----------
    mean
        Array (n_iter + 1,): mean number of relevant columns found after 0, 1, … iterations.
    standard_error
        Array (n_iter + 1,): its standard error.
    iterations
        Array (repetitions,): iterations until all were found, −1 where `n_iter` did not suffice.

    Examples
    --------
    >>> simulate("clique", p=4, q=4, r=1, n_iter=3, repetitions=2, random_state=0).iterations
    array([1, 1])
    """

    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    iterations: NDArray[np.int64]


def simulate(
    scenario: Literal["mixed", "chaining", "clique", "marginal"] = "mixed",
    p: int = 500,
    q: int = 25,
    r: int = 20,
    alpha: float | Fraction = 1,
    *,
    max_features: int | None = None,
    n_iter: int = 500,
    repetitions: int = 1000,
    max_degree: int = 5,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> Simulation:
    """Simulate searches by random subspaces, with or without memory.

    Parameters
    ----------
    scenario
        "mixed" draws new degrees and conditionings for every repetition; the others are those of the analysis.
    p, q, r
        Columns in all, columns in a draw, relevant columns.
    alpha
        Share of the draw that is kept for columns already found.
    max_features
        K, the number of columns drawn at every level of a tree; by default q.
    n_iter, repetitions
        Length and number of the searches.
    max_degree
        The largest degree in the mixed scenario.
    random_state
        Seed; repetition i draws the same numbers whatever the number of repetitions.

    Examples
    --------
    >>> course = simulate("marginal", p=10, q=5, r=2, alpha=0, n_iter=40, repetitions=50, random_state=0)
    >>> course.mean[0], course.mean[-1]
    (np.float64(0.0), np.float64(2.0))
    """
    if scenario == "mixed" and r > q:
        raise ParameterError(f"r is {r} and q is {q}; a mixed setting needs r ≤ q: raise q, or lower r")
    search = checked("marginal" if scenario == "mixed" else scenario, p, q, r, alpha)
    k = q if max_features is None else max_features
    if not 1 <= k <= q:
        raise ParameterError(f"max_features is {k}; give a whole number from 1 to q = {q}")
    for name, value, least in (("max_degree", max_degree, 0), ("repetitions", repetitions, 2), ("n_iter", n_iter, 0)):
        if value < least:
            raise ParameterError(f"{name} is {value}; give a whole number of at least {least}")
    seed = seeds.entropy(random_state)
    found = np.empty((repetitions, n_iter + 1), dtype=np.int32)
    fixed = None if scenario == "mixed" else conditionings(scenario, r)
    for repetition in range(repetitions):
        needs = fixed if fixed is not None else conditionings("mixed", r, max_degree, seed, repetition)
        state = seeds.generator(seed, _STAGE_DRAWS, repetition).integers(1, 2**64, 1, dtype=np.uint64)
        _search(needs, p, q, search.kept, k, state, found[repetition])
    done = found == r
    return Simulation(
        found.mean(axis=0),
        found.std(axis=0, ddof=1) / np.sqrt(repetitions),
        np.where(done[:, -1], done.argmax(axis=1), -1).astype(np.int64),
    )


def conditionings(scenario: str, r: int, max_degree: int = 5, seed: int = 0, repetition: int = 0) -> NDArray[np.bool_]:
    """The conditionings of r relevant columns as a square: row i marks what column i needs above it.

    In the mixed setting degrees are uniform on 0 … `max_degree`; the i-th smallest is capped at i − 1, and a
    conditioning is drawn among the columns of no larger degree, as Proposition 2 asks.

    Examples
    --------
    >>> conditionings("chaining", 3).astype(int).tolist()
    [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    >>> conditionings("mixed", 20).sum(axis=1).max()
    np.int64(5)
    """
    if scenario != "mixed":
        kinds = {"chaining": np.tri(r, r, -1), "clique": 1 - np.eye(r), "marginal": np.zeros((r, r))}
        return kinds[scenario].astype(np.bool_)
    rng = seeds.generator(seed, _STAGE_CONDITIONINGS, repetition)
    degrees = np.minimum(np.sort(rng.integers(0, max_degree + 1, r)), np.arange(r))
    needs = np.zeros((r, r), dtype=np.bool_)
    for i, degree in enumerate(degrees):
        allowed = np.flatnonzero(degrees <= degree)
        needs[i, rng.choice(allowed[allowed != i], degree, replace=False)] = True
    return needs


@njit
def _search(needs, p, q, kept, max_features, state, found):  # type: ignore[no-untyped-def]
    """Run one search; `found` (int32, n_iter + 1) receives the number of columns found after every iteration.

    `needs` is a bool array (r, r), `state` a uint64 array (1,) that is not zero.
    """
    r = needs.shape[0]
    is_found = np.zeros(r, dtype=np.bool_)
    drawn = np.zeros(r, dtype=np.bool_)
    order = np.arange(r)
    n_found = 0
    found[0] = 0
    for iteration in range(1, len(found)):
        if n_found < r:
            others = _draw(is_found, n_found, p, q, kept, state, order, drawn)
            n_found += _tree(needs, drawn, others, max_features, state, is_found)
        found[iteration] = n_found


@njit
def _draw(is_found, n_found, p, q, kept, state, order, drawn):  # type: ignore[no-untyped-def]
    """Mark the relevant columns of a draw in `drawn`; returns the number of irrelevant ones with them."""
    r = len(drawn)
    drawn[:] = False
    memory = min(kept, n_found)
    # Memory: the first of a shuffle of what was found.
    n = 0
    for i in range(r):
        if is_found[i]:
            order[n] = i
            n += 1
    for i in range(memory):
        j = i + _below(n - i, state)
        order[i], order[j] = order[j], order[i]
        drawn[order[i]] = True
    # The rest: one relevant column after the other is in with the share of the places that are left.
    places, left = q - memory, p - memory
    for i in range(r):
        if not drawn[i]:
            if _below(left, state) < places:
                drawn[i] = True
                places -= 1
            left -= 1
    return places


@njit
def _tree(needs, drawn, others, max_features, state, is_found):  # type: ignore[no-untyped-def]
    """Use up the columns of a draw level by level; marks what is found and returns how many of it are new."""
    r = len(drawn)
    used = np.zeros(r, dtype=np.bool_)
    waiting = 0
    for i in range(r):
        waiting += drawn[i]
    new = 0
    while waiting > 0:
        worth = 0
        for i in range(r):
            if drawn[i] and not used[i] and _ready(needs, used, i):
                worth += 1
        # Whether one that is worth a split is among the K drawn of those left.
        hit = False
        left, sought = waiting + others, worth
        for _ in range(min(max_features, left) if worth > 0 else 0):
            if _below(left, state) < sought:
                hit = True
                break
            left -= 1
        if hit:
            pick = _below(worth, state)
        else:
            pick = _below(waiting - worth + others, state)
            if pick >= waiting - worth:
                others -= 1
                continue
        for i in range(r):
            if drawn[i] and not used[i] and _ready(needs, used, i) == hit:
                if pick == 0:
                    used[i] = True
                    waiting -= 1
                    if hit and not is_found[i]:
                        is_found[i] = True
                        new += 1
                    break
                pick -= 1
    return new


@njit
def _ready(needs, used, i):  # type: ignore[no-untyped-def]
    """Whether all that column i needs has been used."""
    for j in range(len(used)):  # noqa: SIM110  (compiled)
        if needs[i, j] and not used[j]:
            return False
    return True


@njit
def _below(n, state):  # type: ignore[no-untyped-def]
    """A whole number from 0 to n − 1, all alike: bits of a 64-bit xorshift, drawn again while they say n or more."""
    bits = 0
    while (n - 1) >> bits > 0:
        bits += 1
    if bits == 0:
        return 0
    while True:
        x = state[0]
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        state[0] = x
        value = np.int64(x >> np.uint64(64 - bits))
        if value < n:
            return value
