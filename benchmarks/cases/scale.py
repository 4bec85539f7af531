"""Tables far wider than their budget: peak memory, time, and what is found."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from benchmarks.tally import Tally

if TYPE_CHECKING:
    from benchmarks.run import Bench

_SEED = 200
_BUDGET = 512 * 10**6


def scale_million(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1000 x 1 000 000, class_sep 2, 1 GB of codes: `fernwood select --memory 512MB`."""
    store = bench.scratch / "million.fern"
    made = bench.script("make_madelon.py", str(store), "1000000", str(_SEED))
    bench.fernwood("info", str(store))  # the first look at a store is the slowest
    run = bench.fernwood("select", str(store), "--memory", "512MB", "--jobs", "2", "--seed", str(_SEED), "--json")
    told = json.loads(run.output)
    tally = Tally()
    taken = {int(name.removeprefix("x")) for name in told["confirmed"]}
    tally.add(taken, set(json.loads(made.output)), run.seconds)
    shutil.rmtree(store)
    figures = {
        **tally.figures(),
        "columns_examined": told["columns_examined"],
        "peak_bytes": run.peak_bytes,
        "seconds_making": made.seconds,
        "peak_bytes_making": made.peak_bytes,
    }
    return figures, {
        "peak ≤ 512 MB": run.peak_bytes <= _BUDGET,
        "every column examined": told["columns_examined"] == 10**6,
        "F1 ≥ 0.9": figures["f1"] >= 0.9,
        "within 4 minutes, whole process": run.seconds <= 240,
    }


SCALE_CASES = {"scale-million": scale_million}
