"""Covariates: columns that are in every context. Categories divide the rows into strata; numbers make a basis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.errors import ParameterError, SourceError, shown
from fernwood.learner.covariates import ROWS_A_BASIS_TERM, covariates_of, terms_needed
from fernwood.sources.base import Kind
from fernwood.sources.names import has_numbers, is_pattern, match_names, plain_position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fernwood.kernels.histograms import Target
    from fernwood.learner.covariates import Covariates
    from fernwood.learner.target import TreeTarget
    from fernwood.search.snowball_settings import SnowballSettings
    from fernwood.store.base import Store

__all__ = ["Conditions", "Said", "conditions_of", "given_positions", "with_names"]

_ROWS_FOR_CONTEXTS = 48
"""Rows of a stratum, on average, that a number of two values may leave where it makes strata."""
_ROWS_AT_LEAST = 12
"""Rows of a stratum, on average, that categories have to leave."""
_MOST_NAMED = 12
_LEFT_OPEN = 1e-6
"""The share of a target that covariates have to leave open."""


class Conditions(NamedTuple):
    """What covariates make of the rows that count.

    Attributes
    ----------
    strata : int32 array; the stratum of every row, from 0 on
    n_strata : how many there are
    covariates : those that are numbers; None without any
    said : what was done with every covariate
    """

    strata: NDArray[np.int32]
    n_strata: int
    covariates: Covariates | None
    said: list[Said]


class Said(NamedTuple):
    """What was done with a covariate: its name, and how many terms of the basis it has; 0 where it makes strata."""

    name: str
    terms: int


def given_positions(store: Store, given: Sequence[str | int]) -> NDArray[np.int64]:
    """Where the columns are that a user names as covariates, by name, pattern or position, in the order of the store.

    Positions are those in the table that the store was made from, as of the target and everything else that is given.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.random.default_rng(0).standard_normal((9, 4)))
    >>> given_positions(store, ["x2", 0]).tolist()
    [0, 2]
    """
    for column in given:
        if isinstance(column, str) and plain_position(column) is not None and store.names.find(column) is None:
            _refuse_a_number_among_names(store, column)
    positions = match_names(store.names, given, "the covariate", place_of=store.stored_at)
    for position in positions.tolist():
        if not store.usable[position]:
            raise ParameterError(
                f"the covariate {shown(store.names[position])} is constant, or all its values are missing; leave it out"
            )
    return positions


def _refuse_a_number_among_names(store: Store, number: str) -> None:
    """Refuse a number where it may be the name of a column that did not go into the store."""
    named = store.target is not None and store.target.name == number
    if named or has_numbers(store.names):
        raise SourceError(
            f"the covariate {shown(number)} is not a column of the store, whose columns have numbers for names, so "
            "that it is not taken for a position; give the name of another one"
        )


def with_names(store: Store, settings: SnowballSettings) -> SnowballSettings:
    """Settings whose covariates are given by name: a position means something for one table only."""
    if all(
        isinstance(column, str) and not is_pattern(column) and plain_position(column) is None
        for column in settings.given
    ):
        return settings  # names are looked for once, where they are needed: that takes a while among millions
    names = store.names.take(given_positions(store, settings.given)).to_pylist()
    return replace(settings, given=tuple(names))


def conditions_of(
    store: Store, positions: NDArray[np.int64], rows: NDArray[np.int64] | None, target: TreeTarget
) -> Conditions:
    """Strata of covariates that are categories, and a basis of those that are numbers.

    A number of two values, a yes or no, makes strata as well, as long as those are large.

    Parameters
    ----------
    store
    positions : int64 array; of the covariates
    rows : int64 array, or None for all; those that count
    target : of those rows
    """
    codes = store.read(positions)
    codes = codes if rows is None else codes[:, rows]
    names = store.names.take(positions).to_pylist()
    strata, n_strata, numbers = _divided(codes, store.kinds[positions] == Kind.CATEGORY, names)
    if not len(numbers):
        _check_something_is_open(target.kernel, strata, None, names)
        return Conditions(strata, n_strata, None, [Said(name, 0) for name in names])
    # Terms are made orthogonal one after the other, in an order that does not depend on where columns stand.
    numbers = numbers[np.argsort(store.checksums[positions[numbers]], kind="stable")]
    _check_rows_bear(codes[numbers], [names[j] for j in sorted(numbers.tolist())])
    covariates, own = covariates_of(codes[numbers], target, strata)
    _check_something_is_open(target.kernel, strata, covariates, names)
    terms = dict(zip(numbers.tolist(), own, strict=True))
    return Conditions(strata, n_strata, covariates, [Said(name, terms.get(j, 0)) for j, name in enumerate(names)])


def _check_rows_bear(codes: NDArray[np.uint8], names: list[str]) -> None:
    """Refuse more covariates than there are rows for."""
    n_rows, n_terms = codes.shape[1], terms_needed(codes)
    if n_terms * ROWS_A_BASIS_TERM > n_rows:
        raise ParameterError(
            f"the covariates {_listed(names)} need {n_terms:,} terms at least, and {n_rows:,} rows bear "
            f"{n_rows // ROWS_A_BASIS_TERM:,}, one for every {ROWS_A_BASIS_TERM} rows; name fewer of them, or their "
            "first principal components"
        )


def _check_something_is_open(
    kernel: Target, strata: NDArray[np.int32], covariates: Covariates | None, names: list[str]
) -> None:
    """Refuse covariates that say all there is to say about the target: one of them may be the target."""
    values = kernel.labels[:, None] == np.arange(kernel.labels.max()) if kernel.classes else kernel.values[:, None]
    amounts = np.bincount(strata, kernel.weights)
    before = left = 0.0
    for column in values.astype(np.float64).T:
        before += float((kernel.weights * (column - np.average(column, weights=kernel.weights)) ** 2).sum())
        mean = np.bincount(strata, kernel.weights * column) / amounts
        left += float((kernel.weights * (column - mean[strata]) ** 2).sum())
    if covariates is not None:
        left = float((kernel.weights[:, None] * covariates.left**2).sum())
    if left <= _LEFT_OPEN * before:
        one = len(names) == 1
        raise ParameterError(
            f"{'the covariate' if one else 'together the covariates'} {_listed(names)} {'tells' if one else 'tell'} "
            "the target wholly, so that nothing is left for any column to tell; leave out what stands for the target"
        )


def _listed(names: list[str]) -> str:
    more = " and others" if len(names) > _MOST_NAMED else ""
    return ", ".join(shown(name) for name in names[:_MOST_NAMED]) + more


def _divided(
    codes: NDArray[np.uint8], categories: NDArray[np.bool_], names: list[str]
) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
    """The stratum of every row, how many there are, and which covariates take no part in them."""
    n_rows = codes.shape[1]
    strata, numbers = np.zeros(n_rows, np.int64), []
    for j in np.argsort(~categories, kind="stable").tolist():
        if not categories[j] and len(np.unique(codes[j])) > 2:
            numbers.append(j)
            continue
        finer = np.unique(strata * 256 + codes[j], return_inverse=True)[1]
        if not categories[j] and n_rows < _ROWS_FOR_CONTEXTS * (int(finer.max()) + 1):
            numbers.append(j)
            continue
        strata = finer
    n_strata = int(strata.max()) + 1
    if n_rows < _ROWS_AT_LEAST * n_strata:
        dividing = [name for name, category in zip(names, categories.tolist(), strict=True) if category]
        raise ParameterError(
            f"the covariates {_listed(dividing)} divide {n_rows:,} rows into {n_strata:,} strata, and "
            f"{_ROWS_AT_LEAST} rows in each, on average, are needed; give fewer of them, or coarser ones"
        )
    return strata.astype(np.int32), n_strata, np.array(sorted(numbers), np.int64)
