"""One search on threads and on the workers of a Dask LocalCluster, side by side, and once with a worker killed.

    python benchmarks/scripts/cluster_beside.py STORE

Prints JSON. The cluster is there before the clock starts, and its workers have loaded what they need, as the process
with the threads has.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

import numpy as np

_REPEATS = 3


def main() -> None:
    from distributed import Client, LocalCluster

    import fernwood
    from fernwood.search.methods import select
    from fernwood.search.snowball_settings import SnowballSettings
    from fernwood.work.cluster import DaskEngine

    store = fernwood.open(sys.argv[1])
    settings = SnowballSettings()

    def timed(**how: Any) -> tuple[float, Any]:
        started = time.perf_counter()
        result = select(store, settings, 0, **how).result
        return time.perf_counter() - started, result

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        engine = DaskEngine(client)
        _, expected = timed(n_threads=2)  # compiled code is loaded, and files are in the system's cache
        timed(engine=engine)
        on_threads, on_workers, sent = [], [], 0.0
        for _ in range(_REPEATS):
            on_threads.append(timed(n_threads=2)[0])
            before = engine.bytes_sent, engine.n_rounds
            took, got = timed(engine=engine)
            on_workers.append(took)
            sent = (engine.bytes_sent - before[0]) / (engine.n_rounds - before[1])
        victim = next(iter(client.run(os.getpid).values()))
        seen: list[Any] = []

        def kill(progress: Any) -> None:
            seen.append(progress)
            if len(seen) == 3:
                os.kill(victim, signal.SIGKILL)

        seconds_killed, after = timed(engine=engine, progress=kill)
        figures = {
            "rows": store.n_rows,
            "columns": store.n_columns,
            "confirmed": len(expected.confirmed),
            "seconds_threads": min(on_threads),
            "seconds_workers": min(on_workers),
            "over_threads": min(on_workers) / min(on_threads),
            "rounds": (engine.n_rounds - before[1]),
            "bytes_sent_a_round": sent,
            "kilobytes_sent_a_round": sent / 1e3,
            "same_selection": int(_same(expected, got)),
            "seconds_killed": seconds_killed,
            "same_selection_killed": int(_same(expected, after)),
        }
    print(json.dumps(figures))


def _same(one: Any, other: Any) -> bool:
    """Every decision, and every p or score, bit for bit."""
    pairs = (
        (one.confirmed, other.confirmed),
        (one.tentative, other.tentative),
        (one.p, other.p),
        (one.score, other.score),
    )
    return all((a is None and b is None) or np.array_equal(a, b, equal_nan=True) for a, b in pairs)


if __name__ == "__main__":
    main()
