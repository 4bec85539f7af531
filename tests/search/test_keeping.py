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
            # To be kept, or to be sorted into strata where the rule tests: once, for either or both.
            tests = not isinstance(settings, BorutaSettings)
            assert store.bytes_read - before == (kept or tests) * N_ROWS * N_COLUMNS
            before = store.bytes_read
            result = select(store, settings, 1, memory=memory).result
            tables.append(result.to_table())
            pictured = N_ROWS * len(result.insight.profiles)  # these are read again when all is over
            assert (store.bytes_read - before - pictured == N_ROWS * N_COLUMNS) == kept
        assert tables[0].equals(tables[1])


def test_a_store_of_which_little_is_read_is_not_kept(tmp_path: Path) -> None:
    make_madelon(N_ROWS, N_COLUMNS, random_state=0, out=tmp_path / "s.fern")
    with fernwood.open(tmp_path / "s.fern") as store:
        for rule, surveyed in (("probe", 0), ("shadow", 1)):
            few, many = (SubspaceSettings(q=20, n_iter=n_iter, rule=rule) for n_iter in (3, 4))
            before = store.bytes_read
            assert prepare(store, few, 1, memory=10**9).plan.held == 0
            assert store.bytes_read - before == surveyed * N_ROWS * N_COLUMNS
            assert prepare(store, many, 1, memory=10**9).plan.held == N_ROWS * N_COLUMNS
            assert store.bytes_read - before == (1 + surveyed) * N_ROWS * N_COLUMNS
