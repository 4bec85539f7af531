"""Decoys: permuted copies behind the columns of a store, which take part in a search and have no result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.search.boruta import BorutaSettings
from fernwood.search.decoys import DecoyStore, with_decoys
from fernwood.search.ferns import FernSettings
from fernwood.search.methods import Settings, select
from fernwood.search.settings import SubspaceSettings

RNG = np.random.default_rng(1)
N_ROWS = 60


def rare_and_common(n_rare: int = 300, n_common: int = 30) -> np.ndarray:
    values = np.zeros((N_ROWS, n_rare + n_common))
    for j in range(values.shape[1]):
        values[RNG.choice(N_ROWS, 1 if j < n_rare else 25, replace=False), j] = 1
    return values


def decoy_store(**roles: Any) -> DecoyStore:
    store = fernwood.ingest(RNG.integers(0, 5, (N_ROWS, 6)).astype(float), **roles)
    return DecoyStore(store, np.array([4, 1, 4]), np.array([9, 9, 10], np.uint64), seed=3)


def test_a_decoy_is_a_permutation_of_its_own() -> None:
    store = decoy_store()
    codes = store.read(np.arange(9))
    for decoy, model in ((6, 4), (7, 1), (8, 4)):
        np.testing.assert_array_equal(np.sort(codes[decoy]), np.sort(codes[model]))
        assert (codes[decoy] != codes[model]).any()
    assert (codes[6] != codes[8]).any()
    assert len(set(store.checksums.tolist())) == 9
    assert store.n_codes[[6, 7, 8]].tolist() == store.n_codes[[4, 1, 4]].tolist()


def test_reads_of_any_columns() -> None:
    store = decoy_store()
    all_codes = store.read(np.arange(9))
    for ids in ([], [8], [2], [8, 8, 0, 6, 0], [7, 3, 7, 8], RNG.integers(0, 9, 40)):
        np.testing.assert_array_equal(store.read(ids), all_codes[np.asarray(ids, int)])
        out = np.empty((len(ids), N_ROWS), np.uint8)
        assert store.read(ids, out) is out
        np.testing.assert_array_equal(out, all_codes[np.asarray(ids, int)])


def test_rows_without_weight_keep_their_values_and_groups_stay_together() -> None:
    weights = (np.arange(N_ROWS) % 3 > 0).astype(float)
    codes = decoy_store(weights=weights).read([4, 6])
    np.testing.assert_array_equal(codes[0, weights == 0], codes[1, weights == 0])
    assert (codes[0] != codes[1]).any()

    groups = np.repeat(np.arange(N_ROWS // 3), 3)
    store = fernwood.ingest(groups[:, None].astype(float), groups=groups)
    decoy = DecoyStore(store, np.array([0]), np.array([1], np.uint64), seed=0).read([1])[0].reshape(-1, 3)
    assert (decoy == decoy[:, :1]).all()


def test_only_a_small_highest_stratum_gets_company() -> None:
    for values, wanted in ((rare_and_common(300, 30), 35), (rare_and_common(300, 120), 0)):
        store = fernwood.ingest(values)
        columns = with_decoys(store, np.arange(store.n_columns), n_shadows=1, seed=0)
        assert columns.n_decoys == wanted
        assert columns.n_judged == values.shape[1]
        assert (columns.strata[columns.n_judged :] == columns.strata.max()).all()


def test_decoys_follow_columns_wherever_they_are() -> None:
    values = rare_and_common()
    order = RNG.permutation(values.shape[1])
    made = []
    for table in (values, values[:, order]):
        store = fernwood.ingest(table)
        columns = with_decoys(store, np.arange(store.n_columns), n_shadows=1, seed=5)
        made.append(sorted(map(bytes, columns.store.read(columns.ids[columns.n_judged :]))))
    assert made[0] == made[1]


@pytest.mark.parametrize(
    "settings",
    [
        SubspaceSettings(q=40, n_iter=60, n_trees=2),
        SubspaceSettings(q=40, n_iter=60, n_trees=2, rule="mirror"),
        SubspaceSettings(q=40, n_iter=60, learner="ferns", max_depth=3),
        FernSettings(q=40, scans=20, depth=3),
        BorutaSettings(max_iter=22, n_estimators=20, correction="fixed-shadows"),
    ],
)
def test_a_result_is_about_the_columns_of_the_table(settings: Settings, tmp_path: Path) -> None:
    """Also from a store of files, which reads decoys from their models; the answer is the same."""
    values = rare_and_common(120, 20)
    target = (values[:, 125] + values[:, 130] > 0).astype(int)
    in_memory = fernwood.ingest(values, target=target)
    result = select(in_memory, settings, 1).result
    assert len(result.to_table()) == 140
    with fernwood.ingest(values, tmp_path / "s.fern", target=target) as store:
        assert select(store, settings, 1, n_threads=2).result.to_table().equals(result.to_table())
