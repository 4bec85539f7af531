"""Numbers that travel to workers: they come out as they went in, and take little room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from fernwood.work.packing import pack, shares


@given(hnp.arrays(np.int64, st.integers(0, 50), elements=st.integers(-(2**40), 2**40)))
def test_numbers_come_out_as_they_went_in(numbers: np.ndarray) -> None:
    out = pack(numbers).unpack()
    assert out.dtype == np.int64
    assert out.tolist() == numbers.tolist()


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint64])
def test_small_types(dtype: type[np.generic]) -> None:
    numbers = np.array([3, 2, 2, 900], dtype)
    assert pack(numbers).unpack().tolist() == [3, 2, 2, 900]


def test_what_is_regular_takes_no_room() -> None:
    for numbers in (np.arange(10**6), np.full(10**6, -1), np.array([7]), np.arange(0, 900, 3)):
        assert pack(numbers).steps == b""
    near = np.cumsum(np.random.default_rng(0).integers(1, 200, 5000))
    assert len(pack(near).steps) == 4999


@given(st.integers(0, 60), st.integers(1, 9))
def test_shares_are_all_there_and_fair(n: int, n_workers: int) -> None:
    cut = shares(range(3, 3 + n), n_workers)
    assert [number for some in cut for number in some] == list(range(3, 3 + n))
    assert len(cut) <= 2 * n_workers
    assert not cut or max(map(len, cut)) - min(map(len, cut)) <= 1
