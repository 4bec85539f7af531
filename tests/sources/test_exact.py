"""Whole numbers leave a table as they came: no double is on their way, whatever the file and the memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
import zarr
from numpy.typing import NDArray

from fernwood.errors import SourceError
from fernwood.sources import Workspace, open_source
from fernwood.sources.base import Source

N_ROWS, N_COLUMNS = 3000, 12


def numbers(dtype: str) -> NDArray[Any]:
    """Numbers that doubles would merge, among zeros and small ones."""
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    values = rng.integers(0, 3, (N_ROWS, N_COLUMNS)).astype(dtype)
    large = [limits.max, limits.max - 1, limits.min, limits.min + 1, 2**53 + 1, 2**62 + 1]
    for row, value in enumerate(large):
        values[row::11] = np.where(rng.random(values[row::11].shape) < 0.3, np.array(value, dtype), values[row::11])
    return values


def by_rows(folder: Path, values: NDArray[Any]) -> Source:
    np.save(folder / "t.npy", values)
    return open_source(folder / "t.npy")


def by_columns(folder: Path, values: NDArray[Any]) -> Source:
    return by_rows(folder, np.asfortranarray(values))


def other_order_of_bytes(folder: Path, values: NDArray[Any]) -> Source:
    return by_rows(folder, values.astype(values.dtype.newbyteorder()))


def hdf5(folder: Path, values: NDArray[Any], chunks: tuple[int, int] | None = (500, 5)) -> Source:
    with h5py.File(folder / "t.h5", "w") as file:
        file.create_dataset("t", data=values, chunks=chunks)
    return open_source(folder / "t.h5")


def hdf5_in_one_piece(folder: Path, values: NDArray[Any]) -> Source:
    return hdf5(folder, values, None)


def zarr_folder(folder: Path, values: NDArray[Any]) -> Source:
    array = zarr.create_array(folder / "t.zarr", shape=values.shape, chunks=(500, 5), dtype=values.dtype)
    array[:] = values
    return open_source(folder / "t.zarr")


def cells(folder: Path, values: Any) -> Source:
    anndata.AnnData(X=values).write_h5ad(folder / "t.h5ad")
    return open_source(folder / "t.h5ad")


def cells_by_rows(folder: Path, values: NDArray[Any]) -> Source:
    return cells(folder, scipy.sparse.csr_array(values))


def cells_by_columns(folder: Path, values: NDArray[Any]) -> Source:
    return cells(folder, scipy.sparse.csc_array(values))


WAYS = [
    by_rows,
    by_columns,
    other_order_of_bytes,
    hdf5,
    hdf5_in_one_piece,
    zarr_folder,
    cells,
    cells_by_rows,
    cells_by_columns,
]


@pytest.mark.parametrize("memory", [2**28, 420_000], ids=["roomy", "tight"])
@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u2"])
@pytest.mark.parametrize("way", WAYS)
def test_whole_numbers_are_not_rounded(
    tmp_path: Path, way: Callable[[Path, NDArray[Any]], Source], dtype: str, memory: int
) -> None:
    values = numbers("i8").astype(dtype) if dtype != "u8" else numbers("u8")
    source = way(tmp_path, values)
    wanted = np.array([7, 1, 2, 3, 11, 0, 2])
    with source.reading(wanted, Workspace(memory, tmp_path, lambda _: None)) as reader:
        found = [column for start in range(0, 7, 2) for column in reader.columns(start, min(start + 2, 7))]
        band = reader.band(0, 7).values
    assert [column.type for column in found] == [pa.from_numpy_dtype(np.dtype(dtype))] * 7
    for column, place in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(column.to_numpy(zero_copy_only=False), values[:, place])
    np.testing.assert_array_equal(band, values[:, wanted].T.astype(band.dtype))


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="this machine has no longer floats than doubles")
@pytest.mark.parametrize("memory", [2**28, 100_000], ids=["roomy", "tight"])
def test_longer_floats_than_any_table_has_are_refused_on_their_way_out(tmp_path: Path, memory: int) -> None:
    values = np.random.default_rng(0).standard_normal((N_ROWS, N_COLUMNS)).astype(np.longdouble)
    with by_rows(tmp_path, values).reading(np.arange(2), Workspace(memory, tmp_path, lambda _: None)) as reader:
        np.testing.assert_array_equal(reader.band(0, 2).values, values[:, :2].T.astype(float))
        with pytest.raises(SourceError, match="of type 'float[0-9]+', which no table is written with; save them as"):
            reader.columns(0, 2)
