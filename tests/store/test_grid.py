from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from fernwood.store.grid import bit_length, from_keys, pack_grids, to_keys, unpack_grids

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1))
def test_keys_keep_order_and_come_back(values: list[float]) -> None:
    array = np.array(values) + 0.0  # −0.0 and 0.0 share a key
    np.testing.assert_array_equal(from_keys(to_keys(array)), array)
    np.testing.assert_array_equal(np.argsort(to_keys(array), kind="stable"), np.argsort(array, kind="stable"))


@given(st.integers(-(2**63), 2**63 - 1))
def test_bit_length(x: int) -> None:
    assert bit_length(np.array([x]))[0] == (x % 2**64).bit_length()


@given(st.lists(st.lists(finite, max_size=30).map(sorted), max_size=8))
def test_grids_come_back_exactly(columns: list[list[float]]) -> None:
    keys = to_keys(np.array([v for column in columns for v in column], float))
    grids = pack_grids(keys, np.array([len(column) for column in columns], np.int64))
    for column, back in zip(columns, unpack_grids(grids), strict=True):
        np.testing.assert_array_equal(back, np.array(column, float))


def test_the_example_of_the_module() -> None:
    grids = pack_grids(to_keys(np.array([0.0, 1.0, 2.0, 4.0])), np.array([4]))
    assert (grids.shift[0], grids.origin[0], grids.steps.tolist()) == (52, 0, [1023, 1, 1])


def test_the_widest_grid_does_not_overflow() -> None:
    widest = np.array([-np.finfo(float).max, -5e-324, 5e-324, np.finfo(float).max])
    np.testing.assert_array_equal(unpack_grids(pack_grids(to_keys(widest), np.array([4])))[0], widest)
