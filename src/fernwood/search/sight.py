"""The rows of a store that count, as columns are examined on them: the same wherever the store is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.learner.contexts import Ground
from fernwood.learner.target import class_target, value_target
from fernwood.search.conditions import conditions_of
from fernwood.search.dealing import Dealer
from fernwood.search.leftover import Leftover
from fernwood.search.scoring import Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.search.conditions import Said
    from fernwood.store.base import Store

__all__ = ["Counted", "Sight", "counted", "sight"]


class Counted(NamedTuple):
    """The rows of a store that count.

    Attributes
    ----------
    rows : int64 array, or None for all
    weights : float64 array; of these rows
    ground : their target and strata
    groups : int32 array; of these rows, or None
    said : what was done with every covariate
    """

    rows: NDArray[np.int64] | None
    weights: NDArray[np.float64]
    ground: Ground
    groups: NDArray[np.int32] | None
    said: list[Said]


class Sight(NamedTuple):
    """What scores columns, and the target and strata that they are scored against."""

    scorer: Scorer
    ground: Ground


def counted(store: Store, given: NDArray[np.int64]) -> Counted:
    """The rows of a store that count, where some columns are covariates."""
    target = store.target
    assert target is not None  # noqa: S101  (check_table saw to it)
    weights = np.ones(store.n_rows) if store.weights is None else store.weights
    rows = None if (weights > 0).all() else np.flatnonzero(weights > 0)
    chosen = slice(None) if rows is None else rows
    make = value_target if target.task == "regression" else class_target
    inside = make(target.values[chosen], weights[chosen])
    groups = store.groups if store.groups is None or rows is None else store.groups[rows]
    if not len(given):
        return Counted(rows, inside.kernel.weights, Ground.undivided(inside), groups, [])
    strata, n_strata, covariates, said = conditions_of(store, given, rows, inside)
    return Counted(rows, inside.kernel.weights, Ground(inside, strata, n_strata, covariates), groups, said)


def sight(store: Store, given: NDArray[np.int64], seed: int, found: Counted | None = None) -> Sight:
    """What scores the columns of a store.

    Parameters
    ----------
    store
    given
        Positions of covariates.
    seed
        Below which shadows have their addresses.
    found
        The rows that count, where that is known already.
    """
    rows, weights, ground, groups, _ = counted(store, given) if found is None else found
    # Numbers divide nothing: what a shadow has lost of them is made up for by what they leave of it.
    divided = len(given) and (ground.covariates is None or ground.n_strata > 1)
    deal = Dealer(seed, strata=ground.strata if divided else None, groups=groups)
    leftover = None if ground.covariates is None else Leftover(ground.covariates, ground.strata, store.n_columns)
    # What covariates leave of columns is measured with the weights of the rows alone.
    squares = ground.squares() if ground.covariates is None else None
    return Sight(Scorer(store, rows, weights, deal, squares, leftover), ground)
