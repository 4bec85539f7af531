"""Tables of study designs without an answer: rows that belong together, or that weigh differently.

A generator makes the columns and what else `ingest` is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

Noise = tuple[np.ndarray, dict[str, Any]]
Rng = np.random.Generator

N_ROWS = 600
SIZES: dict[str, Callable[[Rng], np.ndarray]] = {
    "equal": lambda _: np.full(N_ROWS // 5, 5),
    "pairs": lambda rng: rng.integers(1, 3, N_ROWS),
    "several": lambda rng: rng.integers(2, 7, N_ROWS),
    "geometric": lambda rng: np.minimum(rng.geometric(1 / 8, N_ROWS), 60),
    "mixed": lambda rng: rng.choice([3, 40], N_ROWS),
    "giant": lambda _: np.append(N_ROWS // 2, np.full(N_ROWS // 10, 5)),
    "twelve": lambda rng: rng.permutation(6 + 8 * np.arange(12)),
}
"""Sizes of groups: all 5; 1 and 2; 2 to 6; geometric of mean 8, at most 60; 3 and 40; one of half the rows; twelve."""

LIKENESS = {"0": 0.0, "3": 0.3, "9": 0.9}
KINDS = (2, 4, 0)
"""Two classes, four, and numbers."""


def grouped(rng: Rng, sizes: str) -> np.ndarray:
    """The group of every row."""
    drawn = SIZES[sizes](rng)
    return np.repeat(np.arange(len(drawn)), drawn)[:N_ROWS]


def alike(rng: Rng, groups: np.ndarray, icc: float | np.ndarray, n_columns: int) -> np.ndarray:
    """Columns whose rows are alike within groups."""
    of_group = rng.standard_normal((int(groups.max()) + 1, n_columns), np.float32)[groups]
    own = rng.standard_normal((len(groups), n_columns), np.float32)
    return np.asarray(np.sqrt(icc) * of_group + np.sqrt(1 - np.asarray(icc)) * own, np.float32)


def answered(rng: Rng, groups: np.ndarray, n_classes: int, *, within: bool) -> dict[str, Any]:
    """A target that is constant within groups, or varies in them too."""
    n_groups = int(groups.max()) + 1
    if n_classes:
        each = rng.integers(0, n_classes, len(groups) if within else n_groups)
        return {"target": each if within else each[groups]}
    values = rng.standard_normal(n_groups)[groups]
    return {"target": values + within * rng.standard_normal(len(groups)), "task": "regression"}


def plain(rng: Rng, n_columns: int, *, sizes: str, icc: float, within: bool, kinds: tuple[int, ...] = KINDS) -> Noise:
    """Gaussian columns; the target is of a kind drawn from some."""
    groups = grouped(rng, sizes)
    kind = int(rng.choice(kinds))
    return alike(rng, groups, icc, n_columns), {"groups": groups, **answered(rng, groups, kind, within=within)}


# What may break it -----------------------------------------------------------------------------------------------


def rare(rng: Rng, n_columns: int) -> Noise:
    """A value in a few groups of geometric sizes, and there in most rows."""
    groups = grouped(rng, "geometric")
    carriers = rng.random((int(groups.max()) + 1, n_columns)) < rng.uniform(0.02, 0.2, n_columns)
    values = carriers[groups] & (rng.random((N_ROWS, n_columns)) < 0.8)
    return values.astype(np.float32), {"groups": groups, **answered(rng, groups, 2, within=False)}


def skewed(rng: Rng, n_columns: int) -> Noise:
    """Counts with many zeros, whose rate goes with the group; a target of four classes."""
    groups = grouped(rng, "geometric")
    rate = np.exp(1.2 * alike(rng, groups, 0.7, n_columns) - 0.5)
    return rng.poisson(rate).astype(np.float32), {"groups": groups, **answered(rng, groups, 4, within=False)}


def larger(rng: Rng, n_columns: int) -> Noise:
    """Groups of one class have three times as many rows as those of the other."""
    target = rng.integers(0, 2, N_ROWS)
    drawn = np.minimum(rng.geometric(np.where(target == 1, 1 / 12, 1 / 4)), 60)
    groups = np.repeat(np.arange(N_ROWS), drawn)[:N_ROWS]
    return alike(rng, groups, 0.6, n_columns), {"groups": groups, "target": target[groups]}


def unlike(rng: Rng, n_columns: int) -> Noise:
    """Columns from not alike at all to the same in all rows of a group, in one table."""
    groups = grouped(rng, "geometric")
    icc = rng.random(n_columns).astype(np.float32)
    return alike(rng, groups, icc, n_columns), {"groups": groups, **answered(rng, groups, 2, within=False)}


def loners(rng: Rng, n_columns: int) -> Noise:
    """Half of the rows are groups of one, the others seven large groups."""
    sizes = np.append(rng.integers(20, 70, 7), np.ones(N_ROWS, int))
    groups = np.repeat(np.arange(len(sizes)), sizes)[:N_ROWS]
    return alike(rng, groups, 0.5, n_columns), {"groups": groups, **answered(rng, groups, 2, within=False)}


def steady(rng: Rng, n_columns: int) -> Noise:
    """Groups whose rows scatter, by group, a tenth to three times as far as others."""
    groups = grouped(rng, "geometric")
    n_groups = int(groups.max()) + 1
    scatter = np.exp(rng.uniform(np.log(0.1), np.log(3), n_groups)).astype(np.float32)[groups, None]
    values = rng.standard_normal((n_groups, n_columns), np.float32)[groups]
    values += scatter * rng.standard_normal((N_ROWS, n_columns), np.float32)
    return values, {"groups": groups, **answered(rng, groups, 0, within=False)}


def sites(rng: Rng, n_columns: int) -> Noise:
    """Groups in four sites that shift columns and the chance to be ill; the site, the first column, is given."""
    groups = grouped(rng, "geometric")
    site = rng.integers(0, 4, int(groups.max()) + 1)
    ill = rng.random(len(site)) < np.array([0.2, 0.4, 0.6, 0.8])[site]
    values = alike(rng, groups, 0.5, n_columns) + rng.standard_normal((4, n_columns), np.float32)[site[groups]]
    return np.column_stack([site[groups], values]), {"groups": groups, "target": ill[groups].astype(int)}


def visits(rng: Rng, n_columns: int) -> Noise:
    """Groups with rows in up to three batches that shift columns; the batch, the first column, is given."""
    groups = grouped(rng, "geometric")
    batch = rng.integers(0, 3, N_ROWS)
    values = alike(rng, groups, 0.8, n_columns) + rng.standard_normal((3, n_columns), np.float32)[batch]
    return np.column_stack([batch, values]), {"groups": groups, **answered(rng, groups, 2, within=False)}


def weighted(rng: Rng, n_columns: int) -> Noise:
    """Groups of geometric sizes whose rows weigh differently."""
    values, roles = plain(rng, n_columns, sizes="geometric", icc=0.6, within=False)
    return values, {**roles, "weights": rng.exponential(1, N_ROWS) + 0.05}


class Design(NamedTuple):
    """A study design: what makes a table of so many columns, and which of them are given."""

    make: Callable[[Rng, int], Noise]
    given: tuple[int, ...] = ()


GROUPS = {
    f"{sizes}_{word}_{'within' if within else 'whole'}": Design(partial(plain, sizes=sizes, icc=icc, within=within))
    for sizes in ("equal", "pairs", "several", "geometric", "mixed")
    for word, icc in LIKENESS.items()
    for within in (False, True)
}
"""Every size × likeness × target, constant in whole groups or varying within them."""

HARD = {
    "giant": Design(partial(plain, sizes="giant", icc=0.5, within=False)),
    "twelve": Design(partial(plain, sizes="twelve", icc=0.9, within=False, kinds=(0,))),
    "rare": Design(rare),
    "skewed": Design(skewed),
    "larger": Design(larger),
    "unlike": Design(unlike),
    "loners": Design(loners),
    "steady": Design(steady),
    "sites": Design(sites, given=(0,)),
    "visits": Design(visits, given=(0,)),
    "weighted": Design(weighted),
}
"""Designs that were made to break it."""


def heavy(rng: Rng, n_columns: int, *, sd: float, goes_with: str, power: float = 1.0) -> Noise:
    """Rows whose weights go with how far columns spread, with their level, or with nothing; never with the target."""
    drawn = rng.standard_normal(N_ROWS)
    values = rng.standard_normal((N_ROWS, n_columns), np.float32)
    if goes_with == "spread":
        values *= np.exp(power * rng.random(n_columns).astype(np.float32) * drawn[:, None].astype(np.float32))
    elif goes_with == "level":
        values += 2 * rng.random(n_columns).astype(np.float32) * drawn[:, None].astype(np.float32)
    roles = answered(rng, np.arange(N_ROWS), int(rng.choice(KINDS)), within=True)
    return values, {**roles, "weights": np.exp(sd * drawn)}


def counted(rng: Rng, n_columns: int) -> Noise:
    """Weights from one to nine, as of rows that occurred so often, half of them one; half of the columns are rare."""
    values, roles = heavy(rng, n_columns, sd=0.0, goes_with="spread")
    values[:, ::2] = np.abs(values[:, ::2]) > 1.5
    roles["weights"] = np.where(rng.random(N_ROWS) < 0.5, 1, rng.integers(1, 10, N_ROWS))
    return values, roles


def sampled(rng: Rng, n_columns: int) -> Noise:
    """Inverse chances of rows of a population that were drawn more often where the first columns are large."""
    values = rng.standard_normal((N_ROWS, n_columns), np.float32)
    chance = 1 / (1 + np.exp(-values[:, : n_columns // 10].mean(axis=1) * np.sqrt(n_columns // 10) * 1.5))
    values[:, n_columns // 10 : n_columns // 2] += values[:, :1]
    roles = answered(rng, np.arange(N_ROWS), int(rng.choice(KINDS)), within=True)
    return values, {**roles, "weights": 1 / np.maximum(chance, 0.05)}


def heavy_groups(rng: Rng, n_columns: int) -> Noise:
    """Groups of geometric sizes and of one weight each, which goes with how far columns spread."""
    groups = grouped(rng, "geometric")
    drawn = rng.standard_normal(int(groups.max()) + 1)[groups]
    values = alike(rng, groups, 0.6, n_columns) * np.exp(0.5 * drawn)[:, None].astype(np.float32)
    roles = answered(rng, groups, int(rng.choice(KINDS)), within=False)
    return values, {"groups": groups, **roles, "weights": np.exp(0.7 * drawn)}


WEIGHTS = {
    f"{goes_with}_{word}": Design(partial(heavy, sd=sd, goes_with=goes_with))
    for goes_with in ("spread", "level", "nothing")
    for word, sd in (("5", 0.5), ("10", 1.0))
} | {"counted": Design(counted), "sampled": Design(sampled), "heavy_groups": Design(heavy_groups)}
"""Weights, by what they go with and the standard deviation of their logarithm, and of three other kinds."""


def ten(rng: Rng, sizes: str | None, strength: float, *, within: bool) -> tuple[np.ndarray, dict[str, Any], np.ndarray]:
    """2000 columns, of which the first ten go with two classes, and p of the test that knows how alike rows are.

    Rows of a group correlate by 0.5. A relevant column differs between classes by so many standard errors of that test,
    generalised least squares with the true covariance; without sizes, every row is a group.
    """
    groups = np.arange(N_ROWS) if sizes is None else grouped(rng, sizes)
    values = alike(rng, groups, 0.5, 2000).astype(np.float64)
    roles = answered(rng, groups, 2, within=within)
    inverse = np.linalg.inv(0.5 * (groups[:, None] == groups) + 0.5 * np.eye(N_ROWS))
    both = np.column_stack([np.ones(N_ROWS), roles["target"]])
    covariance = np.linalg.inv(both.T @ inverse @ both)
    values[:, :10] += strength * np.sqrt(covariance[1, 1]) * both[:, 1:]
    told = (covariance @ (both.T @ inverse @ values))[1] / np.sqrt(covariance[1, 1])
    if sizes is not None:
        roles["groups"] = groups
    return values, roles, np.array([math.erfc(abs(z) / math.sqrt(2)) for z in told.tolist()])
