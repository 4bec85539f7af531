"""Every store passes the same contract."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import fernwood
from fernwood.run.plan import SearchPlan
from fernwood.search.keeping import kept_where_it_fits
from fernwood.store import Store, disk, stored, view, writer
from fernwood.store.columns_cache import CachedStore
from fernwood.store.plan import plan_reads
from fernwood.store.spilling import where_workers_see_it
from fernwood.store.view import ColumnView, Kept
from tests.contracts.store_contract import N_COLUMNS, N_ROWS, StoreContract, contract_table


def frame() -> pd.DataFrame:
    table, names, _ = contract_table()
    return pd.DataFrame(table, columns=names)


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return fernwood.ingest(frame(), target=contract_table()[2])


class TestDiskStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])

    def test_any_numpy_user_can_open_it(self, store: disk.DiskStore, values: NDArray[np.float64]) -> None:
        np.testing.assert_array_equal(np.load(store.path / "codes.npy"), self.expected(values))


class TestShardedStore(TestDiskStore):
    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
        monkeypatch.setattr(writer.DiskWriter.__init__, "__defaults__", (10 * N_ROWS,))
        monkeypatch.setattr(writer, "RECORDS_A_GROUP", 7)
        return fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])

    def test_any_numpy_user_can_open_it(self, store: disk.DiskStore, values: NDArray[np.float64]) -> None:
        shards = sorted(store.path.glob("codes-*.npy"))
        assert [np.load(shard).shape[0] for shard in shards] == [10, 10, 10, 7]
        np.testing.assert_array_equal(np.concatenate([np.load(shard) for shard in shards]), self.expected(values))


class TestStoreInShortSpans(TestShardedStore):
    """Reads of few columns at a time, that leave out the ones between."""

    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
        monkeypatch.setattr(writer.DiskWriter.__init__, "__defaults__", (10 * N_ROWS,))
        short = partial(plan_reads, gap_bytes=N_ROWS, span_bytes=4 * N_ROWS)
        monkeypatch.setattr(stored, "plan_reads", short)
        return fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])


class TestSpilledStore(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with where_workers_see_it(fernwood.ingest(frame(), target=contract_table()[2])) as store:
            yield store


class TestCachedStore(StoreContract):
    """Columns stay in memory while there is room for them."""

    is_sent = False

    @pytest.fixture(params=[0, 1, 5, 20, N_COLUMNS])
    def store(self, tmp_path: Path, request: pytest.FixtureRequest) -> Store:
        store = fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])
        return CachedStore(store, request.param * N_ROWS + N_ROWS // 2)


class TestStoreThatFitsTheBudget(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        store = fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])
        kept, _ = kept_where_it_fits(store, SearchPlan(0, 0, 0, 1), 10**9)
        assert isinstance(kept, Kept)
        return kept


class TestStoreBeyondTheBudget(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        store = fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])
        kept, _ = kept_where_it_fits(store, SearchPlan(0, 0, 0, 1), N_ROWS)
        assert kept is store
        return kept


class TestRemoteStore(StoreContract):
    """A store at a URL, in blocks that are shorter than it."""

    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
        fsspec = pytest.importorskip("fsspec", reason="stores at a URL need fsspec: pip install 'fernwood[remote]'")
        from fernwood.store import remote

        monkeypatch.setattr(remote, "BLOCK_BYTES", 250)
        monkeypatch.setenv("FERNWOOD_CACHE", str(tmp_path / "cache"))
        fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2])
        fsspec.filesystem("memory").put(str(tmp_path / "s.fern"), "/contract.fern", recursive=True)
        with fernwood.open("memory://contract.fern", cache_size=self.cache_size) as store:
            yield store
        remote._AT_WORK.clear()
        fsspec.filesystem("memory").rm("/contract.fern", recursive=True)

    cache_size: str | None = None


class TestRemoteStoreWithASmallCache(TestRemoteStore):
    cache_size = "3kB"


class TestRowView(StoreContract):
    @pytest.fixture
    def rows(self) -> NDArray[np.int64]:
        return np.random.default_rng(1).permutation(N_ROWS)[:25]

    @pytest.fixture
    def store(self, tmp_path: Path, rows: NDArray[np.int64]) -> Store:
        return fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2]).rows(rows)


class TestRowViewInBlocks(TestRowView):
    """A view that reads two columns at a time of the store behind it."""

    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(view, "_BLOCK_BYTES", 2 * N_ROWS)


class TestViewOfViews(TestRowView):
    """A sample of the rows of a cached choice of columns, whose order is another, in other roles."""

    is_sent = False

    @pytest.fixture
    def store(self, tmp_path: Path, rows: NDArray[np.int64]) -> Store:
        whole = fernwood.ingest(frame().iloc[:, ::-1], tmp_path / "s.fern")
        columns = ColumnView(CachedStore(whole, 9 * N_ROWS), np.arange(N_COLUMNS)[::-1])
        return columns.with_roles(fernwood.ingest(frame(), target=contract_table()[2]).roles).rows(rows)


class TestKept(TestRowView):
    @pytest.fixture
    def store(self, tmp_path: Path, rows: NDArray[np.int64]) -> Store:
        return Kept(fernwood.ingest(frame(), tmp_path / "s.fern", target=contract_table()[2]).rows(rows))


class TestColumnView(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        wider = frame().assign(extra=1.0, more=2.0)
        order = np.random.default_rng(3).permutation(wider.shape[1])
        store = fernwood.ingest(wider.iloc[:, order], tmp_path / "s.fern", target=contract_table()[2])
        return ColumnView(store, np.argsort(order)[:N_COLUMNS])


class TestRoleView(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        store = fernwood.ingest(frame(), tmp_path / "s.fern")
        return store.with_roles(fernwood.ingest(frame(), target=contract_table()[2]).roles)

    def test_roles_of_other_rows_are_refused(self, store: Store) -> None:
        with pytest.raises(fernwood.ParameterError, match="the target has 2 values and the store has "):
            store.with_roles(store.roles.take(np.arange(2)))
