"""What every store must do; a store passes by subclassing `StoreContract` and saying how to make one."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from numpy.typing import NDArray

from fernwood.errors import ParameterError, SourceError
from fernwood.sources.base import Kind
from fernwood.store import Store

N_ROWS, N_COLUMNS = 60, 37

POSITIONS = st.lists(st.integers(0, N_COLUMNS - 1), max_size=80)
"""Columns to read: in any order, some of them again, in order, or none."""
LISTS = st.one_of(
    POSITIONS,
    POSITIONS.map(sorted),
    POSITIONS.map(lambda ids: sorted(set(ids))),
    # Repeats among a run of columns that is as long as they are many.
    st.builds(
        lambda first, steps: (first + np.cumsum(steps)).clip(0, N_COLUMNS - 1).tolist(),
        st.integers(0, N_COLUMNS - 1),
        st.lists(st.integers(0, 2), max_size=80),
    ),
)
many_reads = settings(
    # Reads change nothing, so that all examples may read one store.
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
    ]
)


def contract_table() -> tuple[NDArray[np.float64], list[str], NDArray[np.int64]]:
    """Numbers with holes, a constant and an all-missing column; names; classes."""
    rng = np.random.default_rng(5)
    table = np.round(rng.standard_normal((N_ROWS, N_COLUMNS)), 2)
    table[rng.random(table.shape) < 0.05] = np.nan
    table[:, 4] = 1.25
    table[:, 9] = np.nan
    table[:, 11] = rng.integers(0, 2, N_ROWS)
    names = [f"gene {i}/{'é' if i % 2 else '<b>'}" for i in range(N_COLUMNS)]
    return table, names, rng.integers(0, 3, N_ROWS)


class StoreContract:
    """Subclass, and give a fixture `store` made from `contract_table`, and `rows`, the rows that it holds.

    Attributes
    ----------
    is_sent : whether the store can be sent to another process; what a worker makes for itself need not be
    """

    is_sent = True

    @pytest.fixture
    def rows(self) -> NDArray[np.int64]:
        return np.arange(N_ROWS)

    @pytest.fixture
    def values(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return contract_table()[0][rows]

    def expected(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Codes of the whole table's distinct values, worked out anew."""
        whole = contract_table()[0]
        codes = np.full(values.shape, 255, np.uint8)
        for j in range(N_COLUMNS):
            distinct = np.unique(whole[~np.isnan(whole[:, j]), j])
            present = ~np.isnan(values[:, j])
            codes[present, j] = np.searchsorted(distinct, values[present, j])
        return codes.T

    def test_shape_and_names(self, store: Store, rows: NDArray[np.int64]) -> None:
        assert (store.n_rows, store.n_columns) == (len(rows), N_COLUMNS)
        assert list(store.names) == contract_table()[1]
        assert store.names[-1] == contract_table()[1][-1]
        assert store.names.take(np.array([5, 0, 5])).to_pylist() == [contract_table()[1][i] for i in (5, 0, 5)]

    def test_what_is_forgotten_is_read_again(self, store: Store) -> None:
        sums, usable = store.checksums.copy(), store.usable.copy()
        store.forget()
        assert "checksums" not in vars(store)
        np.testing.assert_array_equal(store.checksums, sums)
        np.testing.assert_array_equal(store.usable, usable)

    def test_expecting_columns_changes_nothing(self, store: Store, values: NDArray[np.float64]) -> None:
        store.expect(np.array([5, 0, 5]))
        np.testing.assert_array_equal(store.read([5, 0]), self.expected(values)[[5, 0]])

    def test_reads_any_columns_in_any_order(self, store: Store, values: NDArray[np.float64]) -> None:
        codes = self.expected(values)
        rng = np.random.default_rng(0)
        for ids in (
            [],
            [3],
            [3, 3],
            [36, 0, 17, 17, 2],
            np.arange(N_COLUMNS),
            rng.permutation(N_COLUMNS),
            np.arange(30, 5, -3),
        ):
            np.testing.assert_array_equal(store.read(ids), codes[np.asarray(ids, int)])

    @many_reads
    @given(reads=st.lists(LISTS, min_size=1, max_size=4))
    @example(reads=[[3, 3, 5]])
    @example(reads=[[9, 9, 11], [8, 9, 10, 10, 12]])
    def test_reads_what_plain_indexing_gives(
        self, store: Store, values: NDArray[np.float64], reads: list[list[int]]
    ) -> None:
        codes = self.expected(values)
        for ids in reads:
            np.testing.assert_array_equal(store.read(ids), codes[np.array(ids, int)], str(ids))
            out = np.full((len(ids), store.n_rows), 77, np.uint8)
            assert store.read(np.array(ids, np.uint16), out) is out
            np.testing.assert_array_equal(out, codes[np.array(ids, int)], str(ids))

    @many_reads
    @given(ids=LISTS, before=st.integers(0, 3), after=st.integers(0, 3))
    def test_a_buffer_around_the_columns_stays_as_it_is(
        self, store: Store, values: NDArray[np.float64], ids: list[int], before: int, after: int
    ) -> None:
        whole = np.full((before + len(ids) + after, store.n_rows), 77, np.uint8)
        store.read(ids, whole[before : before + len(ids)])
        np.testing.assert_array_equal(whole[before : before + len(ids)], self.expected(values)[np.array(ids, int)])
        assert (whole[:before] == 77).all()
        assert (whole[before + len(ids) :] == 77).all()

    @settings(many_reads, max_examples=15)
    @given(ids=LISTS)
    def test_records_are_those_of_the_columns_that_were_asked_for(self, store: Store, ids: list[int]) -> None:
        every = [(scale.kind, scale.edges.tolist(), scale.labels) for scale in store.scales(range(N_COLUMNS))]
        names = contract_table()[1]
        assert store.names.take(np.array(ids, np.int64)).to_pylist() == [names[i] for i in ids]
        found = [(scale.kind, scale.edges.tolist(), scale.labels) for scale in store.scales(ids)]
        assert found == [every[i] for i in ids]

    def test_reads_into_a_buffer(self, store: Store, values: NDArray[np.float64]) -> None:
        out = np.zeros((3, store.n_rows), np.uint8)
        assert store.read([7, 1, 30], out) is out
        np.testing.assert_array_equal(out, self.expected(values)[[7, 1, 30]])

    @pytest.mark.parametrize("ids", [[-1], [N_COLUMNS], [0, 99]])
    def test_refuses_columns_that_are_not_there(self, store: Store, ids: list[int]) -> None:
        with pytest.raises(ParameterError, match="this store has 0 to 36"):
            store.read(ids)

    def test_refuses_a_buffer_of_another_shape(self, store: Store) -> None:
        sealed = np.zeros((1, store.n_rows), np.uint8)
        sealed.flags.writeable = False
        for out in (
            sealed,
            np.zeros((2, store.n_rows), np.uint8),
            np.zeros((1, store.n_rows), np.int8),
            np.zeros((1, 2 * store.n_rows), np.uint8)[:, ::2],
        ):
            with pytest.raises(ParameterError, match="it must be a contiguous uint8 array"):
                store.read([0], out)

    def test_is_safe_from_many_threads(self, store: Store, values: NDArray[np.float64]) -> None:
        codes = self.expected(values)
        wrong: list[int] = []

        def work(seed: int) -> None:
            rng = np.random.default_rng(seed)
            for _ in range(50):
                ids = rng.integers(0, N_COLUMNS, rng.integers(1, 20))
                if not (store.read(ids) == codes[ids]).all() or store.names[int(ids[0])] != contract_table()[1][ids[0]]:
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_what_it_knows_of_columns(self, store: Store) -> None:
        whole = contract_table()[0]
        np.testing.assert_array_equal(store.n_missing, np.isnan(whole).sum(axis=0))
        np.testing.assert_array_equal(store.n_codes, [len(np.unique(c[~np.isnan(c)])) for c in whole.T])
        assert set(store.kinds.tolist()) == {Kind.NUMBER}
        assert np.flatnonzero(~store.usable).tolist() == [4, 9]
        assert len(set(store.checksums.tolist())) == N_COLUMNS

    def test_columns_come_back_in_source_units(self, store: Store, values: NDArray[np.float64]) -> None:
        for j in (0, 4, 9, 11, 36):
            np.testing.assert_array_equal(store.column(contract_table()[1][j]), values[:, j])
            np.testing.assert_array_equal(store.column(j - N_COLUMNS), values[:, j])
        assert store.thresholds(11).tolist() == [0.5]

    def test_refuses_a_name_that_is_not_there(self, store: Store) -> None:
        with pytest.raises(SourceError, match=r"no column 'gene 1/e'; did you mean 'gene 1/é'\?"):
            store.column("gene 1/e")

    def test_rows_are_a_lazy_store(self, store: Store, values: NDArray[np.float64]) -> None:
        mask = np.arange(store.n_rows) % 3 == 0
        for part, chosen in ((store.rows(mask), np.flatnonzero(mask)), (store.rows([5, 2]), np.array([5, 2]))):
            np.testing.assert_array_equal(part.read([3, 0]), self.expected(values)[[3, 0]][:, chosen])
            assert store.target is not None
            assert part.target is not None
            np.testing.assert_array_equal(part.target.values, store.target.values[chosen])
            assert part.fingerprint != store.fingerprint

    @pytest.mark.parametrize(
        ("rows_", "sentence"),
        [
            ([True], r"the mask has shape \(1,\); this store has \d+ rows"),
            ([0.5], "rows are given as float64; give row numbers or a mask of booleans"),
            ([-1, 3], r"rows run from -1 to 3; this store has 0 to \d+"),
            ([1000], r"rows run from 1000 to 1000; this store has 0 to \d+"),
            ([[0]], r"rows have shape \(1, 1\); give one list of row numbers, or a mask"),
        ],
    )
    def test_refuses_rows_that_are_not_there(self, store: Store, rows_: list[object], sentence: str) -> None:
        with pytest.raises(ParameterError, match=sentence):
            store.rows(rows_)

    def test_describes_itself(self, store: Store, rows: NDArray[np.int64]) -> None:
        about = store.describe()
        assert (about.rows, about.columns, about.constant, about.all_missing) == (len(rows), N_COLUMNS, 1, 1)
        assert about.target is not None
        counts = np.bincount(contract_table()[2][rows], minlength=3)
        assert about.target["classes"] == [{"label": i, "rows": int(n)} for i, n in enumerate(counts)]

    def test_is_whole(self, store: Store) -> None:
        store.verify()

    def test_blocks_cover_it(self, store: Store, values: NDArray[np.float64]) -> None:
        parts = list(store.blocks(5 * store.n_rows))
        assert [first for first, _ in parts] == list(range(0, N_COLUMNS, 5))
        np.testing.assert_array_equal(np.concatenate([codes for _, codes in parts]), self.expected(values))

    def test_survives_closing_and_pickling(self, store: Store, values: NDArray[np.float64]) -> None:
        store.close()
        np.testing.assert_array_equal(store.read([2]), self.expected(values)[[2]])
        if not self.is_sent:
            return
        store.close()
        again = pickle.loads(pickle.dumps(store))
        np.testing.assert_array_equal(again.read([2]), self.expected(values)[[2]])
        np.testing.assert_array_equal(store.read([2]), self.expected(values)[[2]])
