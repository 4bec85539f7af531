from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from fernwood.store.plan import Span, plan_reads

ids_lists = st.lists(st.integers(0, 500), max_size=60).map(sorted)


@given(ids_lists, st.integers(1, 50), st.integers(1, 200), st.integers(0, 300), st.integers(1, 500))
def test_a_plan_covers_every_column_once_inside_shards(
    ids: list[int], n_rows: int, shard_columns: int, gap: int, span: int
) -> None:
    spans = plan_reads(np.array(ids, np.int64), n_rows, shard_columns, gap_bytes=gap, span_bytes=span)
    served = []
    for shard, first, last, start, stop in spans:
        assert 0 <= first < last <= shard_columns
        assert (last - first) * n_rows <= max(span, n_rows)
        columns = [shard * shard_columns + c for c in range(first, last)]
        for want in ids[start:stop]:
            assert want in columns
        served += list(range(start, stop))
        gaps = np.diff(ids[start:stop])
        assert all((g - 1) * n_rows <= gap for g in gaps if g > 1)
    assert served == list(range(len(ids)))


def test_neighbours_are_read_at_once() -> None:
    assert plan_reads(np.arange(10, 20), 100, 1000) == [Span(0, 10, 20, 0, 10)]


def test_far_columns_are_read_apart() -> None:
    assert len(plan_reads(np.array([0, 1000]), 1000, 10_000, gap_bytes=1000)) == 2


def test_nothing_is_no_read() -> None:
    assert plan_reads(np.array([], np.int64), 100, 10) == []
