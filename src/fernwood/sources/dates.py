"""Dates and the seconds since 1970 that they are while they are examined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["A_SECOND", "dates_of", "seconds_of"]

A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
"""How many ticks a second has, by their unit."""
_LONGER = {"m": 60, "h": 3600, "D": 86_400, "W": 604_800}
_FURTHEST_YEAR = 10**15
"""What NumPy can count the days to; beyond it, it would wrap around without a word."""
_FURTHEST = float(np.nextafter(2.0**63, 0))
"""Microseconds to the last date that they can count to."""


def seconds_of(dates: NDArray[Any]) -> NDArray[np.float64]:
    """Dates of any unit as seconds; NaT is NaN.

    Examples
    --------
    >>> seconds_of(np.array(["1970-01-02", "NaT"], "datetime64[D]"))
    array([86400.,    nan])
    """
    unit, count = np.datetime_data(dates.dtype)
    missing = np.isnat(dates)
    ticks: NDArray[Any] = dates.astype(np.int64)
    if unit in ("Y", "M"):
        least, most = np.array([-_FURTHEST_YEAR, _FURTHEST_YEAR]) // count
        calendar = np.clip(ticks, least, most).astype(dates.dtype)
        unit, count, ticks = "D", 1, calendar.astype("datetime64[D]").astype(np.int64)
    seconds = ticks.astype(np.float64)
    seconds *= count * _LONGER.get(unit, 1)
    seconds /= A_SECOND.get(unit, 1)
    seconds[missing] = np.nan
    return seconds


def dates_of(seconds: NDArray[np.float64]) -> NDArray[np.datetime64]:
    """Seconds as dates to the microsecond; NaN is NaT, and what is beyond the last date is that one.

    Examples
    --------
    >>> dates_of(np.array([1.5, np.nan, 1e300])).tolist()[:2]
    [datetime.datetime(1970, 1, 1, 0, 0, 1, 500000), None]
    """
    missing = np.isnan(seconds)
    with np.errstate(over="ignore"):  # what no double can count is beyond the last date, too
        microseconds = np.clip(np.where(missing, 0, seconds) * 1e6, -_FURTHEST, _FURTHEST).round()
    dates = microseconds.astype(np.int64).astype("datetime64[us]")
    dates[missing] = np.datetime64("NaT")
    return np.asarray(dates)
