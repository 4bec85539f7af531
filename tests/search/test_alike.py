"""Columns of a group can stand for each other, each of them for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import fernwood
from fernwood.search import alike
from fernwood.search.alike import interchangeable
from fernwood.search.dealing import Dealer
from fernwood.search.examining import Examiner
from fernwood.search.rolling import select_by_snowball
from fernwood.search.scoring import Scorer
from fernwood.search.snowball_settings import SnowballSettings


def groups(table: Any, weights: np.ndarray | None = None, n_threads: int = 1, order: Any = None) -> list[list[int]]:
    store = fernwood.ingest(table, bins=128)
    n, rows = store.n_columns, None if weights is None else np.flatnonzero(weights > 0)
    counted = np.ones(store.n_rows) if weights is None else weights[weights > 0]
    examiner = Examiner(Scorer(store, rows, counted, Dealer(0)), np.arange(n), n_threads)
    return [group.tolist() for group in interchangeable(examiner, np.arange(n) if order is None else np.array(order))]


def test_categories_are_alike_when_they_divide_the_rows_alike() -> None:
    rng = np.random.default_rng(1)
    kind = rng.choice(list("abcd"), 300)
    frame = pd.DataFrame({"kind": kind, "other": rng.choice(list("abcd"), 300)})
    frame["renamed"] = pd.Series(kind).map({"a": "w", "b": "z", "c": "y", "d": "x"})
    frame["number"] = rng.standard_normal(300)
    assert groups(frame) == [[0, 2]]


@pytest.mark.parametrize("n_rows", [4096, 4097, 20_000])
def test_columns_that_are_constant_in_every_so_many_th_row_are_not_alike(n_rows: int) -> None:
    x = np.random.default_rng(0).standard_normal((n_rows, 6))
    x[:: max(n_rows // 4000, 2)] = 0
    x[:, 5] = x[:, 0] ** 3
    assert groups(x) == [[0, 5]]
    x[::2] = np.nan
    x[:, 5] = x[:, 0] ** 3
    assert groups(x) == [[0, 5]]


def test_rare_values_are_alike_where_the_same_rows_have_them() -> None:
    """Eight rows of 20 000: none, or one, of every fifth row has a value of its own."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(20_000)[: 8 * 6].reshape(6, 8)
    rows[3] = rows[0]  # the same carriers
    rows[4, 0] = rows[1, 0] = 5 * 77  # one in common, which is the only one in a fifth of the rows
    rows[1, 1:] = rows[1, 1:] // 5 * 5 + 1
    rows[4, 1:] = rows[4, 1:] // 5 * 5 + 2
    x = np.zeros((20_000, 6))
    for column, carriers in enumerate(rows):
        x[carriers, column] = 1
    assert groups(x) == [[0, 3]]
    words = pd.DataFrame(np.where(x == 1, "carrier", "none"), columns=list("abcdef"))
    assert groups(words) == [[0, 3]]


def test_what_is_cut_more_finely_does_not_chain_what_is_unlike() -> None:
    """Ten categories, their halves and their parity; and the same halves as numbers."""
    digit = np.random.default_rng(0).integers(0, 10, 3000)
    frame = pd.DataFrame(
        {
            "digit": np.array(list("abcdefghij"))[digit],
            "half": np.where(digit < 5, "low", "high"),
            "parity": np.where(digit % 2, "odd", "even"),
            "half as a number": np.where(digit < 5, 0, 1),
            "digit as a number": digit,
            "digit but for one row": np.array(list("zyxwvutsrq"))[digit],
        }
    )
    frame.loc[0, "digit but for one row"] = "?"  # a category more, in one row
    assert groups(frame) == [[0, 4, 5], [1, 3]]


def test_all_columns_of_a_group_are_alike() -> None:
    """Each of ten columns is like its neighbours, and the first is not like the last."""
    rng = np.random.default_rng(2)
    steps = rng.standard_normal((2000, 10))
    x = np.empty((2000, 10))
    x[:, 0] = steps[:, 0]
    for i in range(1, 10):
        x[:, i] = 0.96 * x[:, i - 1] + np.sqrt(1 - 0.96**2) * steps[:, i]
    rho = np.abs(spearmanr(x).statistic)
    assert (np.diagonal(rho, 1) > 0.92).all()
    assert rho[0, 9] < 0.8
    order = rng.permutation(10)
    found = groups(x, order=order)
    assert 1 < len(found) < 5
    for group in found:
        assert rho[np.ix_(group, group)].min() >= 0.899
    # Whoever is in no group, or in another, is unlike one of those who were there before.
    first = [group[0] for group in found]
    assert first[0] == order[0] or rho[order[0]][order[1:]].max() < 0.901


def test_categories_of_hardly_any_rows_each_are_not_alike_by_chance() -> None:
    rng = np.random.default_rng(3)
    names = np.array([f"n{i}" for i in range(250)])
    frame = pd.DataFrame({c: names[rng.permutation(np.arange(300) % 250)] for c in "abcd"})
    frame["copy"] = frame["b"].str.upper()
    assert groups(frame) == [[1, 4]]


def test_rows_count_as_they_weigh() -> None:
    """Two columns are the same in a few heavy rows; rows of weight zero are not looked at."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((1000, 3))
    x[:300, 1] = x[:300, 0]
    weights = np.where(np.arange(1000) < 300, 1.0, 1e-3)
    assert groups(x) == []
    assert groups(x, weights) == [[0, 1]]
    assert groups(x, np.where(np.arange(1000) < 300, 1.0, 0.0)) == [[0, 1]]


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    base = rng.standard_normal((400, 5))
    frame = pd.DataFrame(base[:, rng.integers(0, 5, 24)] + 0.2 * rng.standard_normal((400, 24)))
    for i in range(0, 24, 3):
        frame[i] = np.where(frame[i] > 0, "high", "low")
    frame.columns = [f"c{i}" for i in range(24)]
    whole = groups(frame)
    assert len(whole) > 3
    monkeypatch.setattr(alike, "block_width", lambda _: 10)
    monkeypatch.setattr(alike, "_CELLS_AT_ONCE", 70)
    assert groups(frame) == groups(frame, n_threads=2) == whole


def test_what_is_alike_on_a_sample_is_so_on_all_rows() -> None:
    """Two thirds of a sample drawn by class are of two rare ones, in whom two columns go together."""
    rng = np.random.default_rng(6)
    stage = np.where(np.arange(20_000) % 100 < 2, 1 + np.arange(20_000) % 100, 0)
    rare = stage[:, None] > 0
    x = rng.standard_normal((20_000, 20))
    x[:, 7] = x[:, 6] + 0.05 * rng.standard_normal(20_000)
    x[:, 2:4] += 9 * rare * (1 + rng.random((20_000, 1)))
    x[:, 6:8] += rare
    quick = SnowballSettings(n_contexts=32, n_confirming=32, max_rows=600)
    result = select_by_snowball(fernwood.ingest(x, target=stage, task="classification"), quick, 0).result
    assert {2, 3, 6, 7} <= set(result.confirmed.tolist())
    assert abs(spearmanr(x[:, 2:4]).statistic) < 0.5
    assert [sorted(group) for group in result.relations.groups] == [[6, 7]]
