"""Workers and stores that are elsewhere: beside threads of one process, and beside the disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.run import Bench

_SEED = 400
_COLUMNS = 100_000
_MEMORY = 420 * 10**6
_MOST_FETCHED = 1.2
_URL = "s3://bucket/table.fern"


def cluster_object_store(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1000 x 100 000, in an object store on the loopback, with an empty cache; and from the disk."""
    store, cache = bench.scratch / "table.fern", bench.scratch / "tmp"
    bench.script("make_madelon.py", str(store), str(_COLUMNS), str(_SEED))
    cache.mkdir()
    options = ("--memory", f"{_MEMORY // 10**6}MB", "--seed", str(_SEED), "--jobs", "2", "--json", "--force")
    runs = {name: bench.scratch / f"{name}.run" for name in ("disk", "objects")}
    disk = bench.fernwood("select", str(store), "--out", str(runs["disk"]), *options)
    with _served(store, {"TMPDIR": str(cache)}):
        cold = bench.fernwood("select", _URL, "--out", str(runs["objects"]), *options)
        left = [path for root in cache.iterdir() for path in root.iterdir()]
    told = json.loads(cold.output)["machine"]
    n_bytes = sum(path.stat().st_size for path in store.iterdir())
    exports = [bench.fernwood("export", str(run), "--to", "csv").output for run in runs.values()]
    figures = {
        "columns": _COLUMNS,
        "store_bytes": n_bytes,
        "same_selection": int(exports[0] == exports[1]),
        "bytes_fetched": told["bytes_fetched"],
        "fetched_over_store": told["bytes_fetched"] / n_bytes,
        "read_over_codes": told["bytes_read"] / (1000 * _COLUMNS),
        "share_waiting": told["share_reading"],
        "seconds": cold.seconds,
        "seconds_disk": disk.seconds,
        "peak_bytes": cold.peak_bytes,
        "peak_bytes_disk": disk.peak_bytes,
        "left_in_cache": len(left),
    }
    return figures, {
        "identical selection": exports[0] == exports[1],
        "each byte fetched at most 1.2 ×": figures["fetched_over_store"] <= _MOST_FETCHED,
        "peak ≤ the budget": cold.peak_bytes <= _MEMORY,
        "no cache left behind": not left,
    }


@contextmanager
def _served(store: Path, beside: dict[str, str]) -> Iterator[None]:
    """A copy of a store in an object store, and the environment that leads there, while the block runs."""
    script = Path(__file__).resolve().parents[1] / "scripts" / "serve_store.py"
    command = [sys.executable, str(script), str(store), _URL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        before = dict(os.environ)
        os.environ.update({**json.loads(server.stdout.readline()), **beside})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
            server.stdin.close()


def cluster_dask(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1000 x 50 000: two worker processes of a Dask LocalCluster beside two threads; one is killed."""
    store = bench.scratch / "table.fern"
    bench.script("make_madelon.py", str(store), "50000", str(_SEED))
    figures = json.loads(bench.script("cluster_beside.py", str(store)).output)
    return figures, {
        "≤ 1.25 × the time of threads": figures["over_threads"] <= 1.25,
        "identical selection": figures["same_selection"] == 1,
        "< 1 MB sent a round": figures["bytes_sent_a_round"] < 10**6,
        "identical selection with a worker killed": figures["same_selection_killed"] == 1,
    }


def cluster_units(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """What a column, an item and a round cost; worked out for 10⁸ columns x 10⁶ rows on 1000 workers."""
    store = bench.scratch / "table.fern"
    bench.script("make_madelon.py", str(store), "50000", str(_SEED))
    return json.loads(bench.script("cluster_units.py", str(store)).output), {}


CLUSTER_CASES = {
    "cluster-dask": cluster_dask,
    "cluster-object-store": cluster_object_store,
    "cluster-units": cluster_units,
}
