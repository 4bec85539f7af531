"""Tables far wider than their budget: peak memory, time, and what is found."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from benchmarks.tally import Tally

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.run import Bench, Run

_SEED = 200
_BUDGET = 512 * 10**6


def scale_million(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1000 x 1 000 000, class_sep 2, 1 GB of codes: `fernwood select --memory 512MB`."""
    store = bench.scratch / "million.fern"
    made = bench.script("make_madelon.py", str(store), "1000000", str(_SEED))
    figures, _ = _select(bench, store, made)
    return figures, {
        "peak ≤ 512 MB": figures["peak_bytes"] <= _BUDGET,
        "every column examined": figures["columns_examined"] == 10**6,
        "F1 ≥ 0.9": figures["f1"] >= 0.9,
        "within 4 minutes, whole process": figures["seconds"] <= 240,
    }


def scale_rows(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1 000 000 x 2000, 10 relevant, class_sep 2, 2 GB of codes: `fernwood select --memory 512MB`.

    Five informative columns, whose hypercube's corners have classes at random, and five linear combinations of them;
    no copies. With so many rows most of them tell by themselves, by effects of very different size.
    """
    figures, sampled = _of_rows(bench)
    figures["rows_sampled"] = sampled
    return figures, {
        "peak ≤ 512 MB": figures["peak_bytes"] <= _BUDGET,
        "10 of 10 found": figures["found"] == 10,
        "within 10 minutes, whole process": figures["seconds"] <= 600,
    }


def scale_rows_subspace(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """The table of `scale-rows` with `--method subspace`: random patches of 50 000 rows and 50 columns."""
    figures, sampled = _of_rows(bench, "--method", "subspace")
    figures["rows_a_draw"] = sampled
    return figures, {"peak ≤ 512 MB": figures["peak_bytes"] <= _BUDGET}


def _of_rows(bench: Bench, *options: str) -> tuple[dict[str, Any], int]:
    """Figures of a million rows, and how many of them were looked at."""
    store = bench.scratch / "rows.fern"
    made = bench.script("make_madelon.py", str(store), "2000", str(_SEED), "1000000", "0")
    figures, told = _select(bench, store, made, *options)
    return figures, told["sampling"]["rows"]


def _select(bench: Bench, store: Path, made: Run, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Search a store that was made, inside the budget, and remove it: figures, and what the search says."""
    bench.fernwood("info", str(store))  # the first look at a store is the slowest
    always = ("--memory", "512MB", "--jobs", "2", "--seed", str(_SEED), "--json")
    run = bench.fernwood("select", str(store), *options, *always)
    told = json.loads(run.output)
    tally = Tally()
    taken = {int(name.removeprefix("x")) for name in told["confirmed"]}
    tally.add(taken, set(json.loads(made.output)), run.seconds)
    shutil.rmtree(store)
    figures = {
        **tally.figures(),
        "columns_examined": told["columns_examined"],
        "cpu_seconds": run.cpu_seconds,
        "peak_bytes": run.peak_bytes,
        "seconds_making": made.seconds,
        "peak_bytes_making": made.peak_bytes,
    }
    return figures, told


SCALE_CASES = {
    "scale-million": scale_million,
    "scale-rows": scale_rows,
    "scale-rows-subspace": scale_rows_subspace,
}
