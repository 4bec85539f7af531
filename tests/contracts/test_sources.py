"""Every source of ours passes the contract that other packages get, and the contract can be failed."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse
import zarr
from numpy.typing import NDArray
from sklearn.datasets import dump_svmlight_file

import fernwood
from fernwood.sources import open_source
from fernwood.sources.base import Band, Source
from fernwood.sources.table_form import TableForm
from fernwood.store.decoded import StoreSource
from fernwood.testing import SourceContract

Values = NDArray[np.float64]


def names(values: Values) -> list[str]:
    return [f"c{j}" for j in range(values.shape[1])]


def as_table(values: Values) -> pa.Table:
    return pa.table(
        {name: pa.array(column, from_pandas=True) for name, column in zip(names(values), values.T, strict=True)}
    )


def as_csv(values: Values) -> str:
    lines = [",".join("" if np.isnan(v) else repr(v) for v in row) for row in values.tolist()]
    return "\n".join([",".join(names(values)), *lines]) + "\n"


class TestArray(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        return open_source(values)


class TestNpyByRows(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        np.save(folder / "t.npy", values)
        return open_source(folder / "t.npy")


class TestNpyByColumns(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        np.save(folder / "t.npy", np.asfortranarray(values))
        return open_source(folder / "t.npy")


class TestFrame(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        return open_source(pd.DataFrame(values, columns=names(values)))


class TestFrameOfSeveralTypes(SourceContract):
    """Columns are taken one by one."""

    def make_source(self, folder: Path, values: Values) -> Source:
        frame = pd.DataFrame(values, columns=names(values))
        return open_source(frame.assign(c3=frame["c3"].astype("Float64")))


class TestPolarsFrame(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        return open_source(pl.from_arrow(as_table(values)))


class TestArrowTable(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        return open_source(as_table(values))


class TestCsv(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        (folder / "t.csv.gz").write_bytes(gzip.compress(as_csv(values).encode()))
        return open_source(folder / "t.csv.gz")


class TestTransposedCsv(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        frame = pd.DataFrame(values.T, index=names(values), columns=[f"s{i}" for i in range(len(values))])
        frame.to_csv(folder / "t.csv")
        return open_source(folder / "t.csv", TableForm(transposed=True))


class TestParquet(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        pq.write_table(as_table(values), folder / "t.parquet")
        return open_source(folder / "t.parquet")


class TestFeather(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        pyarrow.feather.write_feather(as_table(values), folder / "t.feather")
        return open_source(folder / "t.feather")


class TestStackedParquet(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        pq.write_table(as_table(values[:9]), folder / "1.parquet")
        pq.write_table(as_table(values[9:]), folder / "2.parquet")
        return open_source(folder)


class TestParquetSideBySide(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        table = as_table(values)
        pq.write_table(table.select(range(8)), folder / "1.parquet")
        pq.write_table(table.select(range(8, table.num_columns)), folder / "2.parquet")
        return open_source(folder)


class TestParquetByKey(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        table = as_table(values)
        keys = pa.array([f"row {i}" for i in range(len(values))])
        order = pa.array(np.random.default_rng(0).permutation(len(values)))
        pq.write_table(table.select(range(8)).append_column("key", keys), folder / "1.parquet")
        second = table.select(range(8, table.num_columns)).append_column("key", keys).take(order)
        pq.write_table(second, folder / "2.parquet")
        return open_source(folder, TableForm(key="key"))


class TestSparseByColumns(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        return open_source(scipy.sparse.csc_array(values))


class TestSparseByRows(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        return open_source(scipy.sparse.csr_array(values))


class TestPlink(SourceContract):
    def make_values(self, n_rows: int, n_columns: int) -> Values:
        return np.random.default_rng(n_rows).integers(0, 3, (n_rows, n_columns)).astype(np.float64)

    def make_source(self, folder: Path, values: Values) -> Source:
        n_rows, n_columns = values.shape
        bits = np.zeros((n_columns, -(-n_rows // 4) * 4), np.uint8)
        bits[:, :n_rows] = np.select([values.T == 2, values.T == 1, values.T == 0], [0, 2, 3], 1)
        quads = bits.reshape(n_columns, -1, 4) << np.array([0, 2, 4, 6], np.uint8)
        (folder / "t.bed").write_bytes(b"\x6c\x1b\x01" + np.bitwise_or.reduce(quads, axis=2).tobytes())
        (folder / "t.bim").write_text("".join(f"1\trs{j}\t0\t{j}\tA\tG\n" for j in range(n_columns)))
        (folder / "t.fam").write_text("".join(f"F{i} I{i} 0 0 1 {i % 2 + 1}\n" for i in range(n_rows)))
        return open_source(folder / "t.bed")


class TestHdf5InChunks(SourceContract):
    chunks: tuple[int, int] | None = (7, 5)

    def make_source(self, folder: Path, values: Values) -> Source:
        with h5py.File(folder / "t.h5", "w") as file:
            file.create_dataset("t", data=values, chunks=self.chunks)
        return open_source(folder / "t.h5")


class TestHdf5InOnePiece(TestHdf5InChunks):
    chunks = None


class TestZarr(SourceContract):
    def make_source(self, folder: Path, values: Values) -> Source:
        array = zarr.create_array(folder / "t.zarr", shape=values.shape, chunks=(50, 9), dtype=values.dtype)
        array[:] = values
        return open_source(folder / "t.zarr")


class TestAnnDataByRows(SourceContract):
    form: Any = scipy.sparse.csr_matrix

    def make_source(self, folder: Path, values: Values) -> Source:
        obs = pd.DataFrame({"plate": np.arange(len(values)) % 3}, index=[f"cell{i}" for i in range(len(values))])
        anndata.AnnData(self.form(values), obs).write_h5ad(folder / "t.h5ad", compression="gzip")
        return open_source(folder / "t.h5ad")


class TestAnnDataByColumns(TestAnnDataByRows):
    form = scipy.sparse.csc_matrix


class TestStoreAsSource(SourceContract):
    """Values of which a store keeps each."""

    def make_values(self, n_rows: int, n_columns: int) -> Values:
        return np.round(np.random.default_rng(n_rows).standard_normal((n_rows, n_columns)), 1)

    def make_source(self, folder: Path, values: Values) -> Source:
        frame = pd.DataFrame(values, columns=names(values))
        return StoreSource(fernwood.ingest(frame, folder / "t.fern"), "the store")


class TestMatrixMarket(SourceContract):
    holds_missing = False

    def make_source(self, folder: Path, values: Values) -> Source:
        scipy.io.mmwrite(folder / "t.mtx", scipy.sparse.coo_array(values))
        return open_source(folder / "t.mtx")


class TestCells(SourceContract):
    holds_missing = False

    def make_source(self, folder: Path, values: Values) -> Source:
        scipy.io.mmwrite(folder / "matrix.mtx", scipy.sparse.coo_array(values.T))
        (folder / "barcodes.tsv").write_text("".join(f"B{i}-1\n" for i in range(len(values))))
        (folder / "features.tsv").write_text("".join(f"id{j}\tg{j}\n" for j in range(values.shape[1])))
        return open_source(folder)


class TestSvmlight(SourceContract):
    holds_missing = False

    def make_values(self, n_rows: int, n_columns: int) -> Values:
        values = super().make_values(n_rows, n_columns)
        values[0, [0, -1]] = 1.5  # the first and the last index stand in the file
        return values

    def make_source(self, folder: Path, values: Values) -> Source:
        dump_svmlight_file(values, np.arange(len(values)) % 2, str(folder / "t.svm"), zero_based=False)
        return open_source(folder / "t.svm")


class _Wrong(SourceContract):
    """A source with one fault."""

    def __init__(self, fault: Any) -> None:
        self._fault = fault

    def make_source(self, folder: Path, values: Values) -> Source:
        source = open_source(values)
        self._fault(source, source._array)
        return source


def _failed(fault: Any, folder: Path) -> set[str]:
    failed = set()
    for name, test in _Wrong(fault).every_test():
        own = folder / name
        own.mkdir()
        try:
            test(own)  # type: ignore[operator]
        except Exception:  # noqa: BLE001  (any failure counts)
            failed.add(name)
    return failed


def _no_missing(source: Any, values: Values) -> None:
    source._array = np.nan_to_num(values)


def _ragged_names(source: Any, values: Values) -> None:
    source.names._n -= 1


def _no_size(source: Any, values: Values) -> None:
    source.n_bytes = 0


def _lean_words(source: Any, values: Values) -> None:
    """A reader that takes far more than it says."""
    inner = source.reading

    def reading(columns: Any, workspace: Any) -> Any:
        context = inner(columns, workspace)
        enter = context.__enter__

        class Greedy:
            def __enter__(self) -> Any:
                reader = enter()
                band = reader.band

                def greedy(start: int, stop: int) -> Band:
                    np.ones(2**22)
                    return band(start, stop)

                reader.band = greedy
                return reader

            def __exit__(self, *_: object) -> None:
                context.__exit__(None, None, None)

        return Greedy()

    source.reading = reading


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (_no_missing, "test_missing_values_are_nan"),
        (_ragged_names, "test_it_says_what_it_is"),
        (_no_size, "test_it_says_what_it_is"),
        (_lean_words, "test_memory_is_kept_to"),
    ],
)
def test_the_contract_can_be_failed(tmp_path: Path, fault: Any, test: str) -> None:
    assert test in _failed(fault, tmp_path)


def test_a_source_without_fault_fails_nothing(tmp_path: Path) -> None:
    assert _failed(lambda *_: None, tmp_path) == set()
