"""Numbers of every type that NumPy has, in every kind of table: read as what they are, or refused in a sentence."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from numpy.typing import NDArray

import fernwood
from fernwood.errors import SourceError
from fernwood.sources import Workspace, open_source

TYPES = ["?", "i1", "u1", "i2", ">i2", "u2", "i4", ">u4", "i8", ">i8", "u8", "f2", ">f2", "f4", ">f4", "f8", ">f8"]
if np.dtype("g").itemsize > 8:  # not everywhere
    TYPES.append("g")
NAMES = list("abcd")
RNG = np.random.default_rng(0)
WHOLE = np.where(RNG.random((30, 4)) < 0.4, RNG.integers(1, 3, (30, 4)), 0)


def values_of(kind: str) -> NDArray[Any]:
    """Small numbers of a type, negative and broken ones where it has them."""
    dtype = np.dtype(kind)
    values = WHOLE * (0.5 if dtype.kind == "f" else 1) * np.where(np.arange(30) % 4 == 0, -1, 1)[:, None]
    return (np.abs(values) if dtype.kind in "bu" else values).astype(dtype)


def frame(folder: Path, values: NDArray[Any]) -> Any:
    return pd.DataFrame(values, columns=NAMES)


def mixed_frame(folder: Path, values: NDArray[Any]) -> Any:
    return pd.DataFrame(dict(zip(NAMES, values.T, strict=True))).assign(e=["x", "y"] * 15)


def array(folder: Path, values: NDArray[Any]) -> Any:
    return values


def npy(folder: Path, values: NDArray[Any]) -> Any:
    np.save(folder / "t.npy", values)
    return folder / "t.npy"


def npy_by_columns(folder: Path, values: NDArray[Any]) -> Any:
    return npy(folder, np.asfortranarray(values))


def hdf5(folder: Path, values: NDArray[Any]) -> Any:
    with h5py.File(folder / "t.h5", "w") as file:
        file["t"] = values
    return folder / "t.h5"


def sparse(form: str, *, twice: bool = False) -> Callable[[Path, NDArray[Any]], Any]:
    """A sparse matrix whose numbers are of a type, whether SciPy would make one of it or not."""

    def make(folder: Path, values: NDArray[Any]) -> Any:
        plain = scipy.sparse.coo_array(values.astype(np.float64))
        if twice:  # every number as two of which one is zero
            rows, columns = (np.repeat(part, 2) for part in plain.coords)
            data = np.stack([plain.data, np.zeros(plain.nnz)], axis=1).reshape(-1)
            starts = 2 * plain.tocsr().indptr
            matrix = scipy.sparse.csr_array((data, columns, starts), shape=plain.shape)
            matrix = matrix if form == "csr" else scipy.sparse.coo_array((data, (rows, columns)), shape=plain.shape)
        else:
            matrix = plain.asformat(form)
        matrix.data = matrix.data.astype(values.dtype)
        return matrix

    return make


def cells(form: str) -> Callable[[Path, NDArray[Any]], Any]:
    """An AnnData file with a sparse matrix of a type."""

    def make(folder: Path, values: NDArray[Any]) -> Any:
        matrix = scipy.sparse.csr_matrix if form == "csr" else scipy.sparse.csc_matrix
        anndata.AnnData(matrix(values.astype(np.float64))).write_h5ad(folder / "t.h5ad")
        with h5py.File(folder / "t.h5ad", "r+") as file:
            data = file["X/data"][:].astype(values.dtype)
            del file["X/data"]
            file["X/data"] = data
        return folder / "t.h5ad"

    return make


FORMS: dict[str, Callable[[Path, NDArray[Any]], Any]] = {
    "array": array,
    "frame": frame,
    "mixed frame": mixed_frame,
    ".npy": npy,
    ".npy by columns": npy_by_columns,
    "HDF5": hdf5,
    **{form: sparse(form) for form in ("csr", "csc", "coo", "bsr", "dia")},
    "csr, twice": sparse("csr", twice=True),
    "coo, twice": sparse("coo", twice=True),
    "cells by rows": cells("csr"),
    "cells by columns": cells("csc"),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", FORMS)
def test_every_type_gives_the_store_of_its_values(tmp_path: Path, form: str, kind: str) -> None:
    values = values_of(kind)
    expected = fernwood.ingest(values.astype(bool if kind == "?" else np.float64))
    table = FORMS[form](tmp_path, values)
    if kind == "g" and "frame" in form:
        with pytest.raises(SourceError, match="column 'a' has a type of its own, or mixes types"):
            fernwood.ingest(table)
        return
    before = (table.dtype, table.data.copy()) if hasattr(table, "tocsc") else None
    store = fernwood.ingest(table)
    np.testing.assert_array_equal(store.read(range(4)), expected.read(range(4)))
    for j in range(4):
        np.testing.assert_array_equal(store.column(j), expected.column(j))
    if before is not None:  # what is given is left as it is
        assert table.dtype == before[0]
        np.testing.assert_array_equal(table.data, before[1])


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "?"])
def test_roles_of_every_type(tmp_path: Path, kind: str) -> None:
    numbers = np.arange(30).astype(kind)
    np.save(tmp_path / "y.npy", numbers)
    ways = [numbers, tmp_path / "y.npy", *([pd.Series(numbers)] if kind != "g" else [])]
    for weights in ways:
        store = fernwood.ingest(WHOLE, target=weights, weights=weights, task="regression")
        assert store.target is not None
        assert store.target.values.tolist() == store.weights.tolist() == list(range(30))  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [[1.0, 2.0, 3.0], ["x", "y", "z"]])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda data: pl.DataFrame(data).to_arrow()])
def test_columns_of_a_frame_may_be_asked_for_again(tmp_path: Path, make: Callable[[Any], Any], text: list[Any]) -> None:
    source = open_source(make({"a": [1.5, 2.5, 3.5], "b": text, "c": [7, 8, 9]}))
    with source.reading(np.array([2, 1, 0, 1, 2, 2]), Workspace(2**26, tmp_path, lambda _: None)) as reader:
        bands = [reader.band(0, 6), reader.band(1, 6), reader.band(5, 6)]
        columns = reader.columns(3, 6)
    for band, places in zip(bands, [[2, 1, 0, 1, 2, 2], [1, 0, 1, 2, 2], [2]], strict=True):
        wanted = [[[1.5, 2.5, 3.5], [0, 1, 2] if isinstance(text[0], str) else text, [7, 8, 9]][i] for i in places]
        assert band.values.tolist() == wanted
        assert sorted(band.labels) == ([i for i, at in enumerate(places) if at == 1] if "x" in text else [])
    assert [column.to_pylist() for column in columns] == [text, [7, 8, 9], [7, 8, 9]]


@pytest.mark.parametrize("role", [False, True])
def test_a_packed_text_of_which_a_piece_is_empty(tmp_path: Path, role: bool) -> None:
    """It is what appending one file to another makes."""
    parts = [b"id,y\n1,2\n", b"", b"3,4\n"]
    (tmp_path / "t.csv.bz2").write_bytes(b"".join(bz2.compress(part) for part in parts))
    (tmp_path / "t.csv.gz").write_bytes(b"".join(gzip.compress(part) for part in parts))
    assert fernwood.ingest(tmp_path / "t.csv.gz").column("y").tolist() == [2, 4]
    options = {"target": f"{tmp_path / 't.csv.bz2'}:y"} if role else {}
    with pytest.raises(SourceError, match=r"'t.csv.bz2' cannot be unpacked here \(.*bz2.*\); unpack it first, and"):
        fernwood.ingest(WHOLE[:2] if role else tmp_path / "t.csv.bz2", **options)
