"""What columns tell of each other, against pairs of rows that are counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.kernels.alike import tell_each_other
from tests.reference.alike import told_each_other

CODES = st.lists(st.sampled_from([0, 1, 2, 7, 254, 255]), min_size=9, max_size=9)


@given(st.lists(CODES, min_size=2, max_size=3), CODES, st.booleans())
def test_the_kernel_counts_as_pairs_of_rows_do(left: list[list[int]], right: list[int], weighed: bool) -> None:
    weights = np.linspace(0.25, 3, 9) if weighed else np.ones(9)
    out = np.full((len(left), 2), -7.0)
    kinds = np.arange(len(left)) > 0
    both = [right, left[0]]
    tell_each_other(np.array(left, np.uint8), np.array(both, np.uint8), kinds, np.array([True, False]), weights, out)
    for i, one in enumerate(left):
        for j, other in enumerate(both):
            numbers = i == 0 and j == 1
            expected = -7.0 if numbers else told_each_other(one, other, weights.tolist())
            assert out[i, j] == pytest.approx(expected, abs=1e-12)


def test_all_codes_and_the_fewest_rows() -> None:
    rows = np.repeat(np.arange(256, dtype=np.uint8), 2)[None]
    out = np.empty((1, 1))
    category = np.ones(1, bool)
    tell_each_other(rows, rows[:, ::-1].copy(), category, category, np.ones(512), out)
    assert out[0, 0] == pytest.approx(1)
    for n_rows in (1, 256):  # where every row has a code of its own, nothing can be known of it
        tell_each_other(rows[:, ::2][:, :n_rows].copy(), rows[:, :n_rows], category, category, np.ones(n_rows), out)
        assert out[0, 0] == 0
