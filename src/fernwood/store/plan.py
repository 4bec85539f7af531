"""Planning reads: which runs of bytes to fetch so that a set of columns arrives with few calls and little waste."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Span", "plan_reads"]

_GAP_BYTES = 64 * 1024
_SPAN_BYTES = 2**19


class Span(NamedTuple):
    """Columns `first` to before `last` of one shard are read at once; they serve ``ids[start:stop]``."""

    shard: int
    first: int
    last: int
    start: int
    stop: int


def plan_reads(
    ids: NDArray[np.int64],
    n_rows: int,
    shard_columns: int,
    *,
    gap_bytes: int = _GAP_BYTES,
    span_bytes: int = _SPAN_BYTES,
) -> list[Span]:
    """The spans to read for some columns.

    Parameters
    ----------
    ids
        Wanted columns in increasing order; repeats are fine.
    n_rows
        Bytes of a column.
    shard_columns
        Columns in every shard but the last; a span lies within one shard.
    gap_bytes
        Unwanted bytes between two wanted columns that are read rather than skipped: copying them costs about as much
        as one more call.
    span_bytes
        The most that one span covers, unless a single column is longer.

    Examples
    --------
    >>> plan_reads(np.array([3, 4, 90]), n_rows=1000, shard_columns=100)
    [Span(shard=0, first=3, last=5, start=0, stop=2), Span(shard=0, first=90, last=91, start=2, stop=3)]
    """
    if not len(ids):
        return []
    window = max(1, span_bytes // max(n_rows, 1))
    # A window never crosses a shard, so that no span does.
    shard = ids // shard_columns
    part = (ids % shard_columns) // window
    far = np.diff(ids) > 1 + gap_bytes // max(n_rows, 1)
    breaks = np.flatnonzero(far | (np.diff(shard) != 0) | (np.diff(part) != 0)) + 1
    starts = np.concatenate(([0], breaks)).tolist()
    stops = np.concatenate((breaks, [len(ids)])).tolist()
    columns = ids % shard_columns
    return [
        Span(int(shard[a]), int(columns[a]), int(columns[b - 1]) + 1, a, b) for a, b in zip(starts, stops, strict=True)
    ]
