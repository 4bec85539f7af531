"""What a worker keeps between items: never what belongs to other contexts."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood import seeds
from fernwood.datasets import make_madelon
from fernwood.errors import StoreError
from fernwood.search import working
from fernwood.search.drawn import Recipe
from fernwood.search.scoring import Columns
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.search.spread import SnowballBench, _Examination, _Group
from fernwood.search.working import Crew
from fernwood.store.base import Store
from fernwood.store.columns_cache import CachedStore
from tests.work.conftest import HereEngine

MADELON = make_madelon(300, 120, class_sep=2.0, random_state=4)


def examination(carried: list[int]) -> _Examination:
    """Columns in contexts of some others, drawn at one and the same address."""
    state: dict[str, Any] = dict(seeds.generator(0, 1).bit_generator.state)
    recipe = Recipe(np.array(carried, np.int32), np.zeros(len(carried), bool), 8, None, state)

    def group(n: int, addresses: np.ndarray | None = None) -> _Group:
        return _Group.of(Columns(np.arange(n), np.zeros(n, bool), np.full(n, -1, np.int16)), addresses)

    return _Examination(
        True, recipe, group(0), {0: group(30, np.arange(30, dtype=np.uint64))}, [(0, group(50))], each=True
    )


def test_contexts_of_other_columns_are_drawn_anew_at_the_same_address() -> None:
    """A search that is stopped early relates the columns it has found; when it goes on, it finds more."""
    store = fernwood.ingest(MADELON.data, target=MADELON.target)
    settings = SnowballSettings()
    used = SnowballBench(store, settings, 0)
    (first,) = used.perform("examine", examination([0, 1, 2, 3]))
    (second,) = used.perform("examine", examination([4, 5, 6, 7]))
    (fresh,) = SnowballBench(store, settings, 0).perform("examine", examination([4, 5, 6, 7]))
    np.testing.assert_array_equal(second, fresh)
    assert not np.array_equal(first, second)


def test_the_process_that_asks_keeps_no_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it may hold is promised; a worker keeps up to 256 MB."""
    kept: list[int] = []

    class Noted(CachedStore):
        def __init__(self, store: Store, n_bytes: int) -> None:
            kept.append(n_bytes)
            super().__init__(store, n_bytes)

    monkeypatch.setattr("fernwood.store.columns_cache.CachedStore", Noted)
    store = fernwood.ingest(MADELON.data, tmp_path / "m.fern", target=MADELON.target)
    crew = Crew(HereEngine(), store, SnowballSettings(), 0)
    working._made(crew._site)
    crew.dismiss()
    working._made(crew._site)
    assert kept == [0, 256 * 10**6]


def test_a_store_in_memory_is_for_no_worker() -> None:
    store = fernwood.ingest(MADELON.data, target=MADELON.target)
    with pytest.raises(StoreError, match="the store is in memory, where no worker sees it; keep it on a disk first"):
        Crew(HereEngine(), store, SnowballSettings(), 0)


def test_a_worker_keeps_two_searches_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(working, "_made", lambda site: made.append(site.seed) or site.seed)
    monkeypatch.setattr(working, "_known", OrderedDict())
    store = fernwood.ingest(MADELON.data[:, :9], tmp_path / "m.fern", target=MADELON.target)
    sites = [Crew(HereEngine(), store, SnowballSettings(), seed)._site for seed in range(3)]
    for number in (0, 1, 0, 2, 0, 1):
        working._ready(sites[number])
    assert made == [0, 1, 2, 1]  # the one that was not used for longest had to go
