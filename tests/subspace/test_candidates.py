"""The order of the columns that are drawn from: by content, never by place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import fernwood
from fernwood.learner.ferns import fern_rows
from fernwood.learner.target import store_target
from fernwood.search.boruta import BorutaSettings
from fernwood.search.dealing import Dealer
from fernwood.search.estimating import Estimates
from fernwood.search.fern_fitting import FernColumns
from fernwood.search.fitting import TreeFits
from fernwood.search.settings import SubspaceSettings
from fernwood.subspace.candidates import candidates, own_addresses

RNG = np.random.default_rng(0)
TABLE = RNG.integers(0, 5, (30, 40)).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_permuted_columns_are_permuted_candidates(seed: int) -> None:
    table = pd.DataFrame(TABLE, columns=[f"c{i}" for i in range(40)])
    table["same as c3"] = table["c3"]
    table["also c3"] = table["c3"]
    order = np.random.default_rng(seed).permutation(42)
    first = fernwood.ingest(table)
    second = fernwood.ingest(table.iloc[:, order])
    by_name = [first.names[i] for i in candidates(first).tolist()]
    assert [second.names[i] for i in candidates(second).tolist()] == by_name
    assert sorted(by_name) == sorted(table.columns)
    assert by_name != list(table.columns)


def test_columns_that_say_nothing_are_never_drawn() -> None:
    table = TABLE[:, :6].copy()
    table[:, 1] = 7.0
    table[:, 3] = np.nan
    table[:4, 4] = np.nan
    table[4:, 4] = 2.0  # constant, but there or not: it tells rows apart
    store = fernwood.ingest(table)
    assert sorted(candidates(store).tolist()) == [0, 2, 4, 5]


def test_equal_columns_stand_by_kind_then_by_name() -> None:
    """The codes of a number, a boolean and a category can be the same bytes."""
    bits = np.arange(30) % 2
    table = pd.DataFrame(
        {
            "n2": bits.astype(float),
            "c2": pd.Categorical(np.array(["a", "b"])[bits]),
            "b2": bits.astype(bool),
            "c1": pd.Categorical(np.array(["x", "y"])[bits]),
            "n1": bits.astype(float),
            "b1": bits.astype(bool),
        }
    )
    store = fernwood.ingest(table)
    assert len(np.unique(store.checksums)) == 1
    places = candidates(store)
    assert (np.diff(store.kinds[places].astype(int)) >= 0).all()
    names = [store.names[i] for i in places.tolist()]
    assert [n for n in names if n[0] == "n"] == ["n1", "n2"]
    assert [n for n in names if n[0] == "b"] == ["b1", "b2"]
    assert [n for n in names if n[0] == "c"] == ["c1", "c2"]


def test_a_table_of_constants_has_no_candidates() -> None:
    assert candidates(fernwood.ingest(np.ones((5, 3)))).tolist() == []


def test_columns_with_the_same_codes_have_addresses_of_their_own() -> None:
    rng = np.random.default_rng(0)
    for sums in (rng.integers(0, 2**64, 50, np.uint64), np.repeat(rng.integers(0, 2**64, 9, np.uint64), 7), []):
        sums = np.sort(np.asarray(sums, np.uint64))
        addresses = own_addresses(sums)
        assert len(np.unique(addresses)) == len(sums)
        first = np.append(True, sums[1:] != sums[:-1])[: len(sums)]
        assert addresses[first].tolist() == sums[first].tolist()


@pytest.mark.parametrize("kind", ["trees", "ferns", "estimator"])
def test_columns_with_the_same_codes_have_shadows_of_their_own(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every place that permutes columns beside others, where equal shadows would compete for the same rows."""
    store = fernwood.ingest(np.repeat(np.arange(40.0)[:, None] % 7, 5, axis=1), target=np.arange(40) % 2)
    ids, made = candidates(store), []
    at = Dealer.at

    def heard(self: Dealer, codes: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        made.append(at(self, codes, addresses).copy())
        return made[-1].copy()

    monkeypatch.setattr(Dealer, "at", heard)
    if kind == "ferns":
        FernColumns(store, ids, fern_rows(store), 0).shadows(store.read(ids), np.arange(5))
    elif kind == "trees":
        settings = SubspaceSettings(n_trees=1).fitting("classification", n_shadows=1, keep_trees=False, patch=None)
        TreeFits(store, ids, store_target(store), settings, 0)(np.arange(5), 0)
    else:
        Estimates(store, ids, BorutaSettings(estimator=DecisionTreeClassifier()), 0)(np.arange(5), 0, 1, 0)
    assert len(np.unique(np.concatenate(made), axis=0)) == 5
