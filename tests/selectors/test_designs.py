"""Study designs in which nothing is relevant: rows that belong together, in groups of any sizes.

Shadows that were cut over groups varied too little: of columns that are alike within groups of unequal sizes, twenty
times too many had a p of at most 0.001, and searches confirmed them by the hundreds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fernwood as fw
from fernwood.search.rolling import prepare
from fernwood.search.snowball_settings import SnowballSettings

pytestmark = pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")  # so few groups bear no smaller p

Sizes = Callable[[np.random.Generator], np.ndarray]
SIZES: dict[str, Sizes] = {
    "2 to 6": lambda rng: rng.integers(2, 7, 600),
    "geometric": lambda rng: np.minimum(rng.geometric(1 / 8, 600), 60),
    "3 and 40": lambda rng: rng.choice([3, 40], 600),
    "1 and 2": lambda rng: rng.integers(1, 3, 600),
    "all different": lambda rng: rng.permutation(np.arange(1, 35)),
}


def table(rng: np.random.Generator, sizes: Sizes, n_columns: int, n_rows: int, icc: float = 0.9) -> dict[str, Any]:
    """Columns that are alike within groups, and two classes of groups; a batch that both go with is the first column."""
    drawn = sizes(rng)
    groups = np.repeat(np.arange(len(drawn)), drawn)[:n_rows]
    values = np.sqrt(icc) * rng.standard_normal((groups.max() + 1, n_columns))[groups]
    values += np.sqrt(1 - icc) * rng.standard_normal((n_rows, n_columns))
    batch = rng.integers(0, 2, groups.max() + 1)[groups]
    target = (rng.random(groups.max() + 1)[groups] < 0.3 + 0.4 * batch).astype(int)
    return {"values": values, "target": target, "groups": groups, "batch": batch}


OFTEN = [("geometric", True), ("3 and 40", False), ("all different", False)]
EVERY = [
    pytest.param(sizes, given, marks=() if (sizes, given) in OFTEN else pytest.mark.long)
    for sizes in SIZES
    for given in (False, True)
]


@pytest.mark.parametrize(("sizes", "given"), EVERY)
def test_p_is_right_where_groups_are_of_unequal_sizes(sizes: str, *, given: bool) -> None:
    """Ten tables of 1000 columns: ten have p ≤ 0.001 by chance; more than 30 are a false alarm in a million cases."""
    n_small = 0
    for seed in range(10):
        made = table(np.random.default_rng([seed, 41]), SIZES[sizes], 1000, 595)
        values = made["values"]
        if given:
            values = np.column_stack([made["batch"], values + 2 * made["batch"][:, None]])
        store = fw.ingest(values, target=made["target"], groups=made["groups"])
        settings = SnowballSettings(given=(0,) if given else ())
        n_small += int(np.sum(prepare(store, settings, seed, n_threads=1).loop.start().chance <= 0.001))
    assert n_small <= 30


@pytest.mark.parametrize("goes_with", ["spread", "nothing"])
def test_p_is_right_where_weights_go_with_a_column(goes_with: str) -> None:
    """Ten tables of 1000 columns: ten have p ≤ 0.001 by chance; more than 30 are a false alarm in a million cases."""
    n_small = 0
    for seed in range(10):
        rng = np.random.default_rng([seed, 43])
        drawn = rng.standard_normal((400, 1))
        values = rng.standard_normal((400, 1000)) * (np.exp(0.7 * drawn) if goes_with == "spread" else 1)
        weights = np.exp(0.7 * drawn[:, 0])
        store = fw.ingest(values, target=rng.integers(0, 2, 400), weights=weights)
        n_small += int(np.sum(prepare(store, SnowballSettings(), seed, n_threads=1).loop.start().chance <= 0.001))
    assert n_small <= 30


QUICK: dict[str, Callable[[int], Any]] = {
    "snowball": lambda seed: fw.SnowballSelector(random_state=seed),
    "ferns": lambda seed: fw.FernSelector(depth=5, scans=100, random_state=seed),
}
SLOW: dict[str, Callable[[int], Any]] = {
    "subspace": lambda seed: fw.SubspaceSelector(random_state=seed),
    "subspace of ferns": lambda seed: fw.SubspaceSelector(learner="ferns", max_depth=5, random_state=seed),
    "boruta": lambda seed: fw.BorutaSelector(correction="fixed-shadows", alpha=0.1, random_state=seed),
}
CASES = [
    *(pytest.param(method, 12, 5, id=name) for name, method in QUICK.items()),
    *(pytest.param(method, 40, 11, id=name, marks=pytest.mark.long) for name, method in (QUICK | SLOW).items()),
]


@pytest.mark.parametrize(("method", "n_tables", "most"), CASES)
def test_noise_in_groups_is_seldom_confirmed(method: Callable[[int], Any], n_tables: int, most: int) -> None:
    """At a rate of 0.1, more than 5 of 12 tables, or 11 of 40, are a false alarm in 1800, or 1500, cases."""
    n_wrong = 0
    for seed in range(n_tables):
        made = table(np.random.default_rng([seed, 42]), SIZES["geometric"], 100, 240)
        n_wrong += bool(method(seed).fit(made["values"], made["target"], groups=made["groups"]).support_.any())
    assert n_wrong <= most
