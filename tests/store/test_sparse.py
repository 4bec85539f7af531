"""Sparse tables give the store that their dense twins give, bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import fernwood
from fernwood.errors import BudgetError, SourceError
from fernwood.sources import Workspace, open_source
from fernwood.sources.base import SparseBand
from fernwood.store.quantise import quantise
from fernwood.store.sparse import quantise_sparse

TYPES = ("float32", "float64", "int8", "uint8", "int16", "int32", "int64", "uint64", "bool")


def sparse_band(dense: NDArray[Any], keep_zeros: NDArray[np.bool_] | None = None) -> SparseBand:
    """A band that stores what is not zero, and some zeros."""
    mask = (dense != 0) | (False if keep_zeros is None else keep_zeros)
    _, row = np.nonzero(mask)
    starts = np.concatenate(([0], np.cumsum(mask.sum(axis=1))))
    return SparseBand(dense.shape[1], starts, row.astype(np.int32), dense[mask], np.zeros(len(dense), np.uint8))


def assert_same(a: Any, b: Any) -> None:
    assert np.array_equal(a.codes, b.codes)
    assert np.array_equal(a.n_codes, b.n_codes)
    assert np.array_equal(a.n_missing, b.n_missing)
    assert np.array_equal(a.exact, b.exact)
    for field in a.grids._fields:
        assert np.array_equal(getattr(a.grids, field), getattr(b.grids, field)), field


@st.composite
def bands(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    n_rows, n_columns = draw(st.integers(2, 900)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    values = np.zeros((n_columns, n_rows), dtype)
    for column in values:
        share = draw(st.sampled_from([0.0, 0.02, 0.3, 0.6, 0.97, 1.0]))
        kind = draw(st.sampled_from(["normal", "few", "positive", "heavy", "wide", "negative", "many ties"]))
        drawn = {
            "normal": rng.standard_normal(n_rows),
            "few": rng.integers(-3, 4, n_rows),
            "positive": rng.exponential(1, n_rows),
            "heavy": np.where(rng.random(n_rows) < 0.3, rng.integers(1, 4, n_rows), rng.standard_normal(n_rows)),
            "wide": np.exp(rng.uniform(-80, 80, n_rows)) * rng.choice([-1, 1], n_rows),
            "negative": -rng.exponential(1, n_rows),
            "many ties": rng.integers(0, 400, n_rows),
        }[kind]
        column[:] = np.where(rng.random(n_rows) < share, drawn, 0)
        column[rng.random(n_rows) < draw(st.sampled_from([0, 0, 0.05, 1]))] = np.nan
        column[rng.random(n_rows) < draw(st.sampled_from([0, 0.02]))] = -0.0
    return values, rng.random(values.shape) < draw(st.sampled_from([0, 0.1]))


@given(bands(), st.sampled_from([8, 24, 41, 254, 255]))
def test_sparse_columns_are_coded_as_dense_ones(band: tuple[NDArray[Any], NDArray[np.bool_]], bins: int) -> None:
    dense, zeros = band
    assert_same(quantise_sparse(sparse_band(dense, zeros), bins), quantise(dense, bins))


def test_the_strategy_reaches_every_way_of_cutting() -> None:
    """Ties that are light, ties that are heavy, and none: each with more than 255 distinct values."""
    rng = np.random.default_rng(3)
    n = 3000
    untied, light = rng.standard_normal(n), np.sort(rng.integers(1, 1200, n)).astype(float)
    heavy = np.where(rng.random(n) < 0.9, 0, rng.standard_normal(n))
    two = np.where(rng.random(n) < 0.4, 5.0, np.where(rng.random(n) < 0.5, 0, rng.standard_normal(n)))
    dense = np.array([untied, light, heavy, two])
    for bins in (8, 24, 125, 255):
        for dtype in (np.float32, np.float64):
            expected = quantise(dense.astype(dtype), bins)
            assert not expected.exact.any()
            assert_same(quantise_sparse(sparse_band(dense.astype(dtype)), bins), expected)


def test_nan_of_any_sign_is_missing() -> None:
    values = np.array([[0, np.nan, 3, -np.nan, 1]], np.float32)
    values.view(np.uint32)[0, 3] = 0xFFC00001
    assert quantise_sparse(sparse_band(values), 24).codes.tolist() == [[0, 255, 2, 255, 1]]


@st.composite
def matrices(draw: st.DrawFn) -> scipy.sparse.coo_array:
    """Matrices of every type; cells may be stored twice, zeros too."""
    n_rows, n_columns = draw(st.integers(2, 40)), draw(st.integers(1, 12))
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(0, 2 * n_rows * n_columns))
    if dtype.kind == "f":
        values = rng.choice([0, 1, -2.5, 1e30, -1e30, 1 / 3, np.nan], n)
    elif dtype.kind == "b":
        values = rng.integers(0, 2, n)
    else:
        info = np.iinfo(dtype)
        values = rng.integers(max(info.min, -1000), min(info.max, 1000), n, endpoint=True)
    cells = rng.integers(0, n_rows, n), rng.integers(0, n_columns, n)
    return scipy.sparse.coo_array((values.astype(dtype), cells), (n_rows, n_columns))


def with_twins(matrix: scipy.sparse.coo_array, form: str) -> Any:
    """The matrix in some form, cells that are stored twice left so, and columns or rows in any order."""
    axis = 0 if form == "csr" else 1
    order = np.argsort(matrix.coords[axis], kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(matrix.coords[axis], minlength=matrix.shape[axis]))))
    parts = (matrix.data[order], matrix.coords[1 - axis][order], starts)
    return (scipy.sparse.csr_array if form == "csr" else scipy.sparse.csc_array)(parts, matrix.shape)


@given(matrices(), st.sampled_from(["csr", "csc"]))
@settings(max_examples=60)
def test_a_sparse_matrix_gives_the_store_of_its_dense_twin(matrix: scipy.sparse.coo_array, form: str) -> None:
    twin = with_twins(matrix, form)
    target = np.arange(matrix.shape[0]) % 2
    with np.errstate(all="ignore"):
        expected = fernwood.ingest(twin.toarray(), target=target)
    found = fernwood.ingest(twin, target=target)
    assert found.fingerprint == expected.fingerprint
    assert found.notes == expected.notes


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_every_form_is_read_and_columns_chosen(form: str) -> None:
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((60, 30)) < 0.2, rng.standard_normal((60, 30)), 0)
    matrix = scipy.sparse.coo_array(dense).asformat(form)
    options: dict[str, Any] = {"target": 7, "drop": ["x3", "x9", "x10"], "task": "regression"}
    assert fernwood.ingest(matrix, **options).fingerprint == fernwood.ingest(dense, **options).fingerprint


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_bands_and_scratch_change_nothing(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((700, 400)) < 0.1, rng.standard_normal((700, 400)), 0).astype(np.float32)
    matrix = scipy.sparse.csr_array(dense).asformat(form)
    with open_source(matrix).reading(np.arange(399, -1, -1), Workspace(60_000, tmp_path, lambda _: None)) as reader:
        assert (form == "csr") == any(tmp_path.iterdir())  # the budget is small: rows are turned on disk
        whole = np.concatenate([reader.band(a, min(a + 37, 400)).values for a in range(0, 400, 37)])
    assert np.array_equal(whole, dense.T[::-1])
    assert not any(tmp_path.iterdir())
    monkeypatch.setattr(sys.modules["fernwood.store.ingest"], "_BAND_BYTES", 200_000)
    assert fernwood.ingest(matrix).fingerprint == fernwood.ingest(dense).fingerprint


def test_row_numbers_and_copies_of_the_target_are_noticed() -> None:
    n = 40
    numbers, target = np.arange(n) - 3.0, np.arange(n) % 3
    other = np.where(np.arange(n) % 7 == 0, 1.0, 0)
    dense = np.column_stack((other, numbers, target, other[::-1]))
    with pytest.warns(fernwood.errors.FernwoodWarning) as warned:
        fernwood.ingest(scipy.sparse.csr_array(dense), target=target)
    assert [str(w.message) for w in warned] == [
        "column 'x2' tells the target exactly, class by class: drop what gives the answer away",
        "column 'x1' numbers the rows one by one: an index is no measurement, drop it",
    ]


def test_an_infinite_value_is_named() -> None:
    matrix = scipy.sparse.csr_array(np.array([[0, 1.0], [0, 0], [2, -np.inf], [0, np.inf]]))
    with pytest.raises(SourceError, match="column 'x1' has -inf in row 2; infinite values have no place"):
        fernwood.ingest(matrix)


def test_a_damaged_index_is_refused() -> None:
    matrix = scipy.sparse.csr_array(np.eye(4))
    matrix.indices[2] = 9
    with pytest.raises(SourceError, match="a value in column 9, and there are 4 columns: the file is damaged"):
        fernwood.ingest(matrix)
    matrix = scipy.sparse.csr_array(np.eye(4))
    matrix.indptr[2] = 0
    with pytest.raises(SourceError, match=r"the index \(indptr\) of the sparse matrix does not lead from 0"):
        fernwood.ingest(matrix)


def test_a_budget_too_small_says_what_would_do() -> None:
    matrix = scipy.sparse.random_array((2000, 600), density=0.01, format="csr", random_state=np.random.default_rng(0))
    with pytest.raises(BudgetError, match="too small for the sparse matrix; at least") as refused:
        fernwood.ingest(matrix, memory="1MB")
    store = fernwood.ingest(matrix, memory=refused.value.least)
    assert store.fingerprint == fernwood.ingest(matrix).fingerprint
