"""How many columns a draw has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.errors import FernwoodWarning, ParameterError
from fernwood.subspace.sizes import checked_q, default_q


@given(st.integers(1, 10**8), st.integers(1, 10**7))
def test_a_draw_fits_64_megabytes_and_the_table(n_rows: int, n_columns: int) -> None:
    q = default_q(n_rows, n_columns)
    assert 1 <= q <= n_columns
    assert q <= 2 or q * n_rows <= 64_000_000


def test_sizes_worked_by_hand() -> None:
    assert [default_q(100, p) for p in (10, 50, 4000, 4080, 8000)] == [10, 50, 50, 51, 100]
    assert default_q(10**8, 5000) == 2
    assert checked_q(None, 100, 8000) == 100
    assert checked_q(np.int64(7), 100, 8000) == 7
    assert checked_q(1, 100, 8000) == 1


def test_more_than_there_are_means_all_of_them() -> None:
    with pytest.warns(FernwoodWarning, match="q is 31 and 30 columns are usable, so every draw holds all of them"):
        assert checked_q(31, 100, 30) == 30


@pytest.mark.parametrize("q", [0, -3, 2.5, "10", True])
def test_q_is_a_number_of_columns(q: object) -> None:
    with pytest.raises(ParameterError, match="give a number of columns from 1 on, or None for one in 80"):
        checked_q(q, 100, 30)
