"""Engines for tests: one that does its items in this process, and a small Dask cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from fernwood.work.engine import Engine


class HereEngine(Engine):
    """Items that travel as joblib and Dask let them, and are done in this process, in any order."""

    n_workers = 3

    def __init__(self) -> None:
        super().__init__()
        self.largest_round = 0

    def _results(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        sent = [pickle.dumps(item, protocol=5) for item in items]
        self.largest_round = max(self.largest_round, sum(map(len, sent)))
        done = {
            int(i): perform(pickle.loads(sent[i])) for i in np.random.default_rng(len(items)).permutation(len(items))
        }
        for i in range(len(items)):
            yield done[i]


class ThreadsEngine(Engine):
    """Items that are done side by side in one process, as by a worker of several threads."""

    n_workers = 4

    def _results(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        with ThreadPoolExecutor(self.n_workers) as pool:
            yield from pool.map(perform, items)


@pytest.fixture
def here() -> HereEngine:
    return HereEngine()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, a process each."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed; pip install 'fernwood[dask]'")
    made = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    try:
        with distributed.Client(made, set_as_default=False) as client:
            yield client
    finally:
        # Where a worker died the moment it came, as tests here make them do, Dask's nanny may drop the word that the
        # next one is there, and then waits for that word forever before it ends it. Workers end with this process.
        with suppress(TimeoutError):
            made.close(timeout=20)
