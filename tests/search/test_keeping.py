"""Stores that fit into the budget are read once, and the answer is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.search.boruta import BorutaSettings
from fernwood.search.ferns import FernSettings
from fernwood.search.methods import Settings, prepare, select
from fernwood.search.settings import SubspaceSettings

N_ROWS, N_COLUMNS = 150, 80


@pytest.mark.parametrize(
    "settings",
    [
        SubspaceSettings(q=20, n_iter=40, n_trees=2),
        FernSettings(q=20, scans=20, depth=3),
        BorutaSettings(max_iter=4, n_estimators=20),
    ],
)
def test_what_fits_is_read_once(tmp_path: Path, settings: Settings) -> None:
    make_madelon(N_ROWS, N_COLUMNS, class_sep=2.0, random_state=0, out=tmp_path / "s.fern")
    with fernwood.open(tmp_path / "s.fern") as store:
        plain = prepare(store, settings, 1).plan.total
        tables = []
        for memory, kept in ((plain + N_ROWS * N_COLUMNS, True), (plain + N_ROWS * N_COLUMNS - 1, False)):
            before = store.bytes_read
            assert prepare(store, settings, 1, memory=memory).plan.total == plain + kept * N_ROWS * N_COLUMNS
            assert (store.bytes_read - before == N_ROWS * N_COLUMNS) == kept
            before = store.bytes_read
            result = select(store, settings, 1, memory=memory).result
            tables.append(result.to_table())
            pictured = N_ROWS * len(result.insight.profiles)  # these are read again when all is over
            assert (store.bytes_read - before - pictured == N_ROWS * N_COLUMNS) == kept
        assert tables[0].equals(tables[1])


def test_a_store_of_which_little_is_read_is_not_kept(tmp_path: Path) -> None:
    make_madelon(N_ROWS, N_COLUMNS, random_state=0, out=tmp_path / "s.fern")
    with fernwood.open(tmp_path / "s.fern") as store:
        prepare(store, SubspaceSettings(q=20, n_iter=3), 1, memory=10**9)
        assert store.bytes_read == 0
        prepare(store, SubspaceSettings(q=20, n_iter=4), 1, memory=10**9)
        assert store.bytes_read == N_ROWS * N_COLUMNS
