"""Dates and seconds: every unit there is, and dates further away than any that are meant."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import fernwood
from fernwood.sources.dates import dates_of, seconds_of

DAY = np.datetime64("2026-11-16T12:34:56.789012", "us")


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "25s", "3M", "2Y"])
def test_there_and_back(unit: str) -> None:
    dates = np.array([DAY, "NaT", "1969-12-31T23:59:59", "1600-02-29"], f"datetime64[{unit}]")
    assert np.array_equal(dates_of(seconds_of(dates)).astype(f"datetime64[{unit}]"), dates, equal_nan=True)


@pytest.mark.parametrize("unit", ["ns", "ps", "fs", "as"])
def test_fractions(unit: str) -> None:
    dates = np.array([1500, -7, "NaT"], f"datetime64[{unit}]")
    told = seconds_of(dates)
    np.testing.assert_allclose(
        told, np.array([1500, -7, np.nan]) / {"ns": 1e9, "ps": 1e12, "fs": 1e15, "as": 1e18}[unit]
    )


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "s", "us", "7Y"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_dates_stay_in_order_however_far_they_are(unit: str, order: str) -> None:
    far = (
        np.array([-(2**63) + 1, -(10**17), -5, 0, 5, 10**17, 2**63 - 1]).astype(f"{order}i8").view(f"{order}M8[{unit}]")
    )
    told = seconds_of(far)
    assert (np.diff(told) >= 0).all()
    assert np.isfinite(told).all()
    back = dates_of(told)
    assert not np.isnat(back).any()
    assert (np.diff(back.astype(np.int64)) >= 0).all()


def test_seconds_beyond_what_a_double_counts_microseconds_to() -> None:
    last = 2**63 - 1024
    assert dates_of(np.array([1e303, -1e303, np.inf])).astype(np.int64).tolist() == [last, -last, last]


def test_a_table_of_far_dates() -> None:
    """They are neither wrapped around nor missing."""
    ticks = np.array([10**15, 5, 6])
    last = np.datetime64(2**63 - 1024, "us")
    for table in (ticks.astype("datetime64[s]")[:, None], pa.table({"d": pa.array(ticks, pa.timestamp("s"))})):
        store = fernwood.ingest(table)
        assert np.array_equal(store.column(0), [last, np.datetime64(5, "s"), np.datetime64(6, "s")])
        assert np.array_equal(store.read([0])[0], [2, 0, 1])
