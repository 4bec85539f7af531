"""The report of a wide table: time, size and memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

_SEED = 200
_BUDGET = 512 * 10**6


def report_million(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A snowball over 1000 x 1 000 000 within 512 MB that writes its report, and `fernwood report` of the same run.

    The time of the latter is of the whole process, with reading back the decisions of a million columns; `seconds_more`
    is what the former took beyond a search without a report.
    """
    store, run = bench.scratch / "million.fern", bench.scratch / "million.run"
    bench.script("make_madelon.py", str(store), "1000000", str(_SEED))
    bench.fernwood("info", str(store))  # the first look at a store is the slowest
    always = ("--memory", "512MB", "--jobs", "2", "--seed", str(_SEED), "--out", str(run), "--force", "--json")
    plain = bench.fernwood("select", str(store), *always)
    searched = bench.fernwood("select", str(store), *always, "--report")
    written = (run / "report.html").stat().st_size
    again = bench.fernwood("report", str(run))
    size = (run / "report.html").stat().st_size
    figures = {
        "columns": json.loads(searched.output)["n_columns"],
        "seconds": again.seconds,
        "seconds_more": searched.seconds - plain.seconds,
        "report_bytes": max(size, written),
        "peak_bytes": again.peak_bytes,
        "peak_bytes_select": searched.peak_bytes,
    }
    return figures, {
        "report ≤ 10 s": figures["seconds"] <= 10,
        "page ≤ 5 MB": figures["report_bytes"] <= 5_000_000,
        "peak ≤ 512 MB": max(figures["peak_bytes"], figures["peak_bytes_select"]) <= _BUDGET,
    }
