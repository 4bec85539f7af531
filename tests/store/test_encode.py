"""Coding new rows: the training table gives the store's codes again, other values find their bins."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import fernwood
from fernwood.errors import SourceError
from fernwood.store.encode import Coding

RNG = np.random.default_rng(0)


def frame(n_rows: int = 600) -> pd.DataFrame:
    """Every kind of column, with and without missing values, of few and of many distinct values."""
    rng = np.random.default_rng(3)
    number = rng.standard_normal(n_rows)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 400_000, n_rows), unit="s")
    table = pd.DataFrame(
        {
            "few": rng.integers(0, 30, n_rows),
            "many": number,
            "single": number.astype(np.float32),
            "holes": np.where(rng.random(n_rows) < 0.2, np.nan, number * 1e9),
            "boolean": rng.random(n_rows) < 0.3,
            "date": dates,
            "text": rng.choice(["ü", "a", "Z", "z"], n_rows),
            "category": pd.Categorical(rng.choice(["u", "v"], n_rows), categories=["w", "v", "u"]),
            "constant": 1,
        }
    )
    table.loc[::7, "text"] = None
    table.loc[::9, "date"] = pd.NaT
    return table


@given(
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([5, 300, 700]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1.0, 1e-300, 1e300]),
)
def test_coding_again_gives_the_same_codes(dtype: type, n_rows: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    table = rng.choice([rng.standard_normal(n_rows), rng.integers(-3, 3, n_rows)], 4).T
    with np.errstate(over="ignore", under="ignore"):
        table = (table * scale).astype(dtype)
    table[~np.isfinite(table) | (rng.random(table.shape) < 0.1)] = np.nan
    store = fernwood.ingest(table)
    np.testing.assert_array_equal(Coding.of(store, np.arange(4)).codes(table), store.read(np.arange(4)))


@given(arrays(np.float64, (12, 3), elements=st.floats(allow_nan=True, allow_infinity=False)))
def test_coding_odd_doubles_again(table: np.ndarray) -> None:
    store = fernwood.ingest(table)
    np.testing.assert_array_equal(Coding.of(store, [2, 0]).codes(table), store.read([2, 0]))


def test_every_kind_of_column_from_every_kind_of_frame(tmp_path: Path) -> None:
    table = frame()
    store = fernwood.ingest(table, tmp_path / "s.fern")
    ids = np.arange(store.n_columns)
    coding = pickle.loads(pickle.dumps(Coding.of(store, ids)))
    wanted = store.read(ids)
    shuffled = table[table.columns[::-1]].assign(more=1.0)
    for given_ in (table, pl.from_pandas(table), shuffled, store, store.rows(np.arange(600))):
        np.testing.assert_array_equal(coding.codes(given_), wanted)
    np.testing.assert_array_equal(coding.codes(store.rows([5, 1])), wanted[:, [5, 1]])
    np.testing.assert_array_equal(Coding.of(store, [6, 1]).codes(table), wanted[[6, 1]])
    np.testing.assert_array_equal(coding.codes(table.iloc[::3]), wanted[:, ::3])


def test_bands_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    table = frame()
    store = fernwood.ingest(table)
    coding = Coding.of(store, np.arange(store.n_columns))
    monkeypatch.setattr("fernwood.store.encode._BAND_BYTES", 1)
    np.testing.assert_array_equal(coding.codes(table), store.read(np.arange(store.n_columns)))


def test_values_that_were_not_there() -> None:
    numbers = np.concatenate(([0.0, 10.0], RNG.integers(1, 9, 10)))
    store = fernwood.ingest(pd.DataFrame({"n": numbers, "t": ["a", "c"] * 6, "m": RNG.random(12)}))
    coding = Coding.of(store, [0, 1])
    new = pd.DataFrame({"n": [-5.0, 99.0, np.nan, np.inf], "t": ["b", "a", None, "c"], "m": 0.0})
    last = int(store.n_codes[0]) - 1
    assert coding.codes(new).tolist() == [[0, last, 255, last], [255, 0, 255, 1]]
    assert coding.codes(new, n_blank=2)[2:].tolist() == [[255] * 4] * 2
    nothing = new.assign(t=np.nan)
    assert coding.codes(nothing)[1].tolist() == [255] * 4


def test_a_column_that_stands_twice_is_neither_of_both() -> None:
    coding = Coding.of(fernwood.ingest(pd.DataFrame({"a": RNG.random(12), "b": RNG.random(12)})), [1, 0])
    new = pd.DataFrame(RNG.random((4, 4)), columns=["c", "a", "b", "a"])
    with pytest.raises(SourceError, match="column 'a' stands twice in the data frame; rename one of them"):
        coding.codes(new)
    twice = new.rename(columns={"a": "d"}).set_axis(["a", "c", "b", "c"], axis=1)  # others may
    assert coding.codes(twice).shape == (2, 4)


def test_codes_follow_the_thresholds() -> None:
    store = fernwood.ingest(RNG.standard_normal((2000, 2)))
    cuts = store.thresholds(0)
    values = np.concatenate((cuts, np.nextafter(cuts, np.inf)))
    codes = Coding.of(store, [0]).codes(np.column_stack((values, values)))[0]
    assert codes.tolist() == [*range(len(cuts)), *range(1, len(cuts) + 1)]


def test_sparse_is_dense() -> None:
    table = RNG.integers(0, 3, (50, 4)).astype(float)
    coding = Coding.of(fernwood.ingest(table), [0, 3])
    for matrix in (sparse.csr_array(table), sparse.csc_matrix(table)):
        np.testing.assert_array_equal(coding.codes(matrix), coding.codes(table))


def test_numbered_columns_are_found_by_position() -> None:
    table = RNG.random((20, 3))
    store = fernwood.ingest(table)
    coding = Coding.of(store, [2, 1])
    np.testing.assert_array_equal(coding.codes(pd.DataFrame(table, columns=list("abc"))), store.read([2, 1]))


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (np.zeros((3, 2)), "the array has 2 columns and the table that was learned from had 3; give the same columns"),
        (pd.DataFrame({"n": [1.0], "d": [0.0]}), "the data frame has no column 't', which was learned from"),
        (
            pd.DataFrame({"n": ["one"], "t": ["a"], "d": [pd.Timestamp("2020-01-01")]}),
            "column 'n' holds values of kind category where it held number in the table that was learned from",
        ),
        (
            pd.DataFrame({"n": [1], "t": [2], "d": [pd.Timestamp("2020-01-01")]}),
            "column 't' holds values of kind number where it held category",
        ),
        (fernwood.ingest(pd.DataFrame({"n": [1, 2], "t": ["a", "b"], "d": [0.0, 1.0]})), "the store has other bins"),
    ],
)
def test_other_tables_get_one_sentence(new: object, words: str) -> None:
    days = pd.date_range("2020-01-01", periods=4)
    store = fernwood.ingest(pd.DataFrame({"n": [1.0, 2.0, 4.0, 2.0], "t": list("abab"), "d": days}))
    with pytest.raises(SourceError, match=words) as caught:
        Coding.of(store, [0, 1, 2]).codes(new)
    assert "\n" not in str(caught.value)
