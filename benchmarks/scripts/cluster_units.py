"""What one column, one item and one round cost on a cluster, measured; and what that makes for a very large one.

    python benchmarks/scripts/cluster_units.py WIDE_STORE

Prints JSON. Items are done in this process, one after the other, so that what workers do and what the coordinator does
can be told apart; what a scheduler takes for an item is measured with a Dask LocalCluster and items that do nothing.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fernwood
from fernwood.relevance.shadows import by_chance
from fernwood.search.drawn import Drawn
from fernwood.search.methods import select
from fernwood.search.rolling import prepare
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.work.engine import Engine
from fernwood.work.packing import weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COLUMNS, ROWS, WORKERS = 10**8, 10**6, 1000
"""The table and the cluster that are worked out."""
SAMPLE, FIRST_LEG, CONTEXTS, WAVES = 50_000, 32, 128, 8
SHADOW_SHARE, RACING = 0.02, 0.1
DISK, NETWORK = 1e9, 1.25e9
"""Assumed, not measured: bytes a second that a worker reads, and that the coordinator's network carries."""
_ITEMS = 256


class Measured(Engine):
    """Does items here, and notes what they take and what comes back."""

    n_workers = 2

    def __init__(self) -> None:
        super().__init__()
        self.working, self.returned, self.n_items, self.largest = 0.0, 0, 0, 0

    def _results(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        self.largest = max(self.largest, sum(map(weight, items)))
        self.n_items += len(items)
        for item in items:
            started = time.perf_counter()
            result = perform(item)
            self.working += time.perf_counter() - started
            self.returned += len(pickle.dumps(result, protocol=5))
            yield result


def seconds_a_cell(rows: int, columns: int, contexts: int) -> float:
    """What one thread takes for one column in one context on one row."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        x = rng.standard_normal((rows, columns), dtype=np.float32)
        store = fernwood.ingest(x, Path(folder) / "t.fern", target=x[:, 0] + x[:, 1] > 0)
        loop = prepare(store, SnowballSettings(max_rows="all"), 0).loop
        examiner = loop.examiner
        drawn = Drawn.ferns(rng, examiner, np.arange(30), loop.ground, contexts)
        chances = by_chance(np.full((contexts, 2), 2.0), np.full((contexts, 2), 2.0))
        best = np.inf
        for _ in range(3):
            started = time.perf_counter()
            examiner.sweep(np.ones(columns, bool), drawn.contexts, chances, lambda *_: None, {})
            best = min(best, time.perf_counter() - started)
        return best / (rows * columns * contexts)


def through_dask() -> dict[str, float]:
    """What a Dask scheduler with two workers takes: an item of many, and a round of four, ours and by joblib."""
    import joblib
    from distributed import Client, LocalCluster

    from fernwood.work.cluster import DaskEngine

    def best(run: Callable[[], object]) -> float:
        took = []
        for _ in range(5):
            started = time.perf_counter()
            run()
            took.append(time.perf_counter() - started)
        return min(took)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        engine = DaskEngine(client)
        parallel = joblib.Parallel(-1, return_as="generator", pre_dispatch="all", batch_size=1)
        few, many = [bytes(1000)] * 4, [bytes(1000)] * _ITEMS
        return {
            "item_ms": 1e3 * best(lambda: list(engine.run(len, many))) / _ITEMS,
            "round_ms": 1e3 * best(lambda: list(engine.run(len, few))),
            "round_by_joblib_ms": 1e3 * best(lambda: list(parallel(joblib.delayed(len)(item) for item in few))),
        }


def main() -> None:
    store = fernwood.open(sys.argv[1])
    engine = Measured()
    started = time.perf_counter()
    select(store, SnowballSettings(), 0, engine=engine)
    coordinating = time.perf_counter() - started - engine.working
    n = store.n_columns
    records = (Path(sys.argv[1]) / "columns.parquet").stat().st_size
    units = {
        "cell_ns": 1e9 * seconds_a_cell(1000, 10_000, FIRST_LEG),
        "cell_many_rows_ns": 1e9 * seconds_a_cell(SAMPLE, 400, FIRST_LEG),
        **through_dask(),
        "sent_an_item": engine.bytes_sent / engine.n_items,
        "item_kilobytes": engine.bytes_sent / engine.n_items / 1e3,
        "most_sent_a_round": engine.largest,
        "rounds": engine.n_rounds,
        "returned_a_column": engine.returned / engine.n_rounds / n,
        "coordinating_ns_a_column": 1e9 * coordinating / engine.n_rounds / n,
        "record_bytes": records / n,
    }
    print(json.dumps({**units, **{f"large_{name}": value for name, value in large(units).items()}}))


def large(units: dict[str, float]) -> dict[str, float]:
    """The large table on the large cluster, from the units; bytes in GB, times in seconds."""
    a_worker = COLUMNS / WORKERS
    cells = a_worker * (1 + SHADOW_SHARE) * SAMPLE * (FIRST_LEG + RACING * (CONTEXTS - FIRST_LEG))
    n_items = 2 * WORKERS
    addresses = 12 * SHADOW_SHARE * COLUMNS
    sent = addresses + n_items * units["sent_an_item"]
    returned = 8 * (1 + SHADOW_SHARE) * COLUMNS
    merging = units["coordinating_ns_a_column"] * 1e-9 * COLUMNS
    working = cells * units["cell_many_rows_ns"] * 1e-9
    reading = a_worker * ROWS / DISK
    # Beside working and reading, in every one of the two rounds of a wave.
    a_round = merging + (sent + returned) / NETWORK + n_items * units["item_ms"] * 1e-3
    waves = WAVES * (working + 2 * a_round)
    return {
        "store_tb": COLUMNS * ROWS / 1e12,
        "records_gb": units["record_bytes"] * COLUMNS / 1e9,
        "reading_once_s": reading,
        "sample_gb_a_worker": a_worker * SAMPLE / 1e9,
        "wave_working_s": working,
        "items_a_round": n_items,
        "sent_a_round_mb": sent / 1e6,
        "returned_a_round_gb": returned / 1e9,
        "network_a_round_s": (sent + returned) / NETWORK,
        "scheduling_a_round_s": n_items * units["item_ms"] * 1e-3,
        "merging_a_round_s": merging,
        "coordinator_gb": 65 * COLUMNS / 1e9,
        # Every column is looked at twice on all rows; and today in every wave too, since a sample of rows is taken from
        # whole columns: a sample that workers keep would be made once.
        "hours": ((2 + 2 * WAVES) * reading + waves) / 3600,
        "hours_sample_kept": (3 * reading + waves) / 3600,
    }


if __name__ == "__main__":
    main()
