"""Rows that a tree grows on, and those that it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.errors import ParameterError
from fernwood.learner.rows import RowSampling


@given(st.integers(1, 60), st.booleans(), st.floats(0.01, 1.0) | st.integers(1, 60) | st.none(), st.integers(0, 2**32))
def test_rows_left_out_are_all_the_others(n_rows: int, again: bool, size: float | None, seed: int) -> None:
    if isinstance(size, int):
        size = min(size, n_rows)
    drawn = RowSampling(again, size).draw(n_rows, seed, 1, 2)
    grown = np.arange(n_rows) if drawn.grown is None else drawn.grown
    assert sorted({*grown.tolist(), *drawn.left_out.tolist()}) == list(range(n_rows))
    assert not set(grown.tolist()) & set(drawn.left_out.tolist())
    assert (np.diff(grown) >= 0).all()
    assert again or len(set(grown.tolist())) == len(grown)
    wanted = n_rows if size is None else size if isinstance(size, int) else max(1, round(size * n_rows))
    assert len(grown) == wanted


def test_all_rows_by_default() -> None:
    for sampling in (RowSampling(), RowSampling(size=1.0)):
        assert sampling.draw(5, 0, 1).grown is None
        assert not sampling.leaves_some_out


def test_one_row_is_one_row() -> None:
    """1 is a number of rows and 1.0 a share, though they are equal in Python."""
    for one in (1, np.int64(1)):
        assert RowSampling(size=one).leaves_some_out
        drawn = RowSampling(size=one).draw(5, 0, 1)
        assert drawn.grown is not None
        assert (len(drawn.grown), len(drawn.left_out)) == (1, 4)


def test_a_bootstrap_sample_leaves_a_third_out() -> None:
    """(1 − 1/n)^n of the rows; the standard deviation is below 0.005 here, so six of them: never, in a billion seeds."""
    drawn = RowSampling(with_replacement=True).draw(10_000, 7, 1)
    assert drawn.grown is not None
    assert len(drawn.grown) == 10_000
    assert abs(len(drawn.left_out) / 10_000 - np.exp(-1)) < 0.03


def test_an_address_means_the_same_rows() -> None:
    for sampling in (RowSampling(True), RowSampling(size=0.5), RowSampling(True, 20)):
        first, again, other = (sampling.draw(100, 3, *address) for address in ((1, 0), (1, 0), (1, 1)))
        np.testing.assert_array_equal(first.grown, again.grown)
        np.testing.assert_array_equal(first.left_out, again.left_out)
        assert first.grown.tolist() != other.grown.tolist()


@pytest.mark.parametrize("again", [False, True])
def test_every_row_is_as_likely_as_any_other(again: bool) -> None:
    """8000 drawn of 40 rows, 200 a row; six standard deviations for 40 rows: once in ten million seeds."""
    counts = np.zeros(40)
    for number in range(400):
        grown = RowSampling(again, 20).draw(40, 11, number).grown
        np.add.at(counts, grown, 1)
    assert np.abs(counts - 200).max() < 6 * np.sqrt(200)


@pytest.mark.parametrize("size", [0, -1, 0.0, 1.5, True, "half", float("nan"), np.float64(2)])
def test_sizes_out_of_range(size: object) -> None:
    with pytest.raises(ParameterError, match="max_samples is .*; give a number of rows from 1 on, a share above 0"):
        RowSampling(size=size)


@pytest.mark.parametrize("again", [False, True])
def test_more_rows_than_there_are(again: bool) -> None:
    with pytest.raises(ParameterError, match="max_samples is 6 and there are 5 rows; give at most that many"):
        RowSampling(again, 6).draw(5, 0, 1)


GROUPS = np.repeat(np.arange(12), [1, 5, 2, 2, 8, 1, 3, 4, 4, 6, 2, 2]).astype(np.int32)


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize("size", [0.5, 20])
def test_rows_of_a_group_stay_together(with_replacement: bool, size: float) -> None:
    order = np.random.default_rng(0).permutation(len(GROUPS))
    groups = GROUPS[order]
    seen = set()
    for number in range(20):
        drawn = RowSampling(with_replacement, size).draw(len(groups), 0, number, groups=groups)
        assert drawn.grown is not None
        assert (np.diff(drawn.grown) >= 0).all()
        times = np.bincount(drawn.grown, minlength=len(groups))
        for group in range(12):
            assert len(set(times[groups == group].tolist())) == 1
        assert drawn.left_out.tolist() == np.flatnonzero(times == 0).tolist()
        assert np.unique(np.repeat(groups, times > 0)).size <= 6 or size == 20
        seen.add(times.tobytes())
    assert len(seen) > 10
