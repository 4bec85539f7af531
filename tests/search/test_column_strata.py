"""Strata of columns: from codes, the same for every store, block, thread and order."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fernwood
from fernwood.search import column_strata as module
from fernwood.search.column_strata import column_strata

RNG = np.random.default_rng(0)
N_ROWS = 120


def table() -> np.ndarray:
    """Columns of 1 to 60 ones, of 2 to 100 values, constant ones, and each of these with missing values."""
    columns = [np.arange(N_ROWS) < n for n in (0, 1, 2, 3, 5, 8, 13, 21, 40, 60)]
    columns += [np.arange(N_ROWS) % n for n in (2, 3, 5, 17, 100)]
    values = np.array([RNG.permutation(column) for column in columns], float).T
    with_gaps = values.copy()
    with_gaps[RNG.random(values.shape) < 0.2] = np.nan
    return np.hstack([values, with_gaps])


def slow_order(column: np.ndarray, weights: np.ndarray) -> tuple[int, int, bool]:
    """What strata of numbers are ordered by: rows that set a column apart, codes, missing values."""
    counted = weights > 0
    seen = ["none" if math.isnan(value) else repr(value) for value in column.tolist()]
    total = weights.sum()
    shares = [sum(w for s, w in zip(seen, weights, strict=True) if s == value) / total for value in set(seen)]
    apart = counted.sum() * (1 - math.sqrt(sum(share**2 for share in shares)))
    n_codes = len(set(seen) - {"none"})
    return round(math.log2(max(apart, 1))), round(math.log2(max(n_codes, 1))), "none" in seen


@pytest.mark.parametrize("weights", [None, RNG.integers(0, 3, N_ROWS).astype(float)])
def test_against_counting_one_column_at_a_time(weights: np.ndarray | None) -> None:
    values = table()
    store = fernwood.ingest(values, target=np.arange(N_ROWS) % 2, weights=weights)
    found = column_strata(store, np.arange(store.n_columns))
    keys = [slow_order(column, np.ones(N_ROWS) if weights is None else weights) for column in values.T]
    assert found.tolist() == [sorted(set(keys)).index(key) for key in keys]


def test_order_blocks_and_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    store = fernwood.ingest(table())
    ids = RNG.permutation(store.n_columns)
    wanted = column_strata(store, np.arange(store.n_columns))[ids]
    np.testing.assert_array_equal(column_strata(store, ids), wanted)
    monkeypatch.setattr(module, "_MOST_COLUMNS", 7)
    np.testing.assert_array_equal(column_strata(store, ids, n_threads=3), wanted)


def test_no_columns() -> None:
    assert column_strata(fernwood.ingest(table()), np.empty(0, np.int64)).tolist() == []
