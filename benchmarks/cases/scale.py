"""Tables far wider than their budget: peak memory, time, and what is found."""

from __future__ import annotations

import json
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
        **_foretold(figures),
        "every column examined": figures["columns_examined"] == 10**6,
        "F1 ≥ 0.9": figures["f1"] >= 0.9,
        "within 4 minutes, whole process": figures["seconds"] <= 240,
    }


def scale_subspace(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """The table of `scale-million` with `--method subspace`: 40 draws of 10 000 columns, 400 000 in all."""
    store = bench.scratch / "million.fern"
    made = bench.script("make_madelon.py", str(store), "1000000", str(_SEED))
    figures, _ = _select(bench, store, made, "--method", "subspace", "--q", "10000", "--draws", "40")
    return figures, {"peak ≤ 512 MB": figures["peak_bytes"] <= _BUDGET, **_foretold(figures)}


def scale_ten_million(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """300 x 10 000 000, 3 GB of codes, five strong columns and a pair: `fernwood select --memory 1GB`.

    The second of the pair has no effect by itself, and a strong one beside the first; see `make_pair`.
    """
    store = bench.scratch / "pair.fern"
    made = bench.script("make_pair.py", str(store), "10000000", str(_SEED))
    figures, _ = _select(bench, store, made, memory="1GB")
    return figures, {
        "peak ≤ 1 GB": figures["peak_bytes"] <= 10**9,
        **_foretold(figures),
        "all 7 found": figures["found"] == 7,
        "within 12 minutes, whole process": figures["seconds"] <= 720,
    }


def scale_width(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Time a column of tables of 10 000 to 1 000 000 columns: one wave of the snowball; one draw a column of subspaces.

    Best of three for each width, the widths taking turns.
    """
    stores = {}
    for n_columns in (10**4, 10**5, 10**6):
        stores[n_columns] = bench.scratch / f"wide-{n_columns}.fern"
        bench.script("make_madelon.py", str(stores[n_columns]), str(n_columns), str(_SEED))
    told = json.loads(bench.script("time_a_column.py", *map(str, stores.values())).output)
    figures, bars = {}, {}
    for method, seconds in told.items():
        figures |= {f"{method}_microseconds_a_column_{width}": 1e6 * each for width, each in seconds.items()}
        figures[f"{method}_ratio"] = max(seconds.values()) / min(seconds.values())
        bars[f"{method}: within 1.5 x"] = figures[f"{method}_ratio"] <= 1.5
    return figures, bars


def scale_store(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Snowball and random subspaces on a store beside the same table in memory, 1000 x 50 000, turn by turn."""
    told = json.loads(bench.script("store_or_memory.py", str(bench.scratch / "store.fern"), str(_SEED)).output)
    figures, bars = {}, {}
    for method, seconds in told.items():
        figures |= {f"{method}_seconds_{place}": each for place, each in seconds.items()}
        figures[f"{method}_ratio"] = seconds["disk"] / seconds["memory"]
        bars[f"{method}: ≤ 1.15 x"] = figures[f"{method}_ratio"] <= 1.15
    return figures, bars


def scale_rows(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1 000 000 x 2000, 10 relevant, class_sep 2, 2 GB of codes: `fernwood select --memory 512MB`.

    Five informative columns, whose hypercube's corners have classes at random, and five linear combinations of them;
    no copies. With so many rows most of them tell by themselves, by effects of very different size.
    """
    figures, sampled = _of_rows(bench)
    figures["rows_sampled"] = sampled
    return figures, {
        "peak ≤ 512 MB": figures["peak_bytes"] <= _BUDGET,
        **_foretold(figures),
        "10 of 10 found": figures["found"] == 10,
        "within 10 minutes, whole process": figures["seconds"] <= 600,
    }


def scale_rows_subspace(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """The table of `scale-rows` with `--method subspace`: random patches of 50 000 rows and 50 columns."""
    figures, sampled = _of_rows(bench, "--method", "subspace")
    figures["rows_a_draw"] = sampled
    return figures, {"peak ≤ 512 MB": figures["peak_bytes"] <= _BUDGET, **_foretold(figures)}


def _of_rows(bench: Bench, *options: str) -> tuple[dict[str, Any], int]:
    """Figures of a million rows, and how many of them were looked at."""
    store = bench.scratch / "rows.fern"
    made = bench.script("make_madelon.py", str(store), "2000", str(_SEED), "1000000", "0")
    figures, told = _select(bench, store, made, *options)
    return figures, told["sampling"]["rows"]


def _foretold(figures: dict[str, Any]) -> dict[str, bool]:
    return {"plan within 10 % of the peak": abs(figures["planned_bytes"] / figures["peak_bytes"] - 1) <= 0.1}


def _select(
    bench: Bench, store: Path, made: Run, *options: str, memory: str = "512MB"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Plan and search a store that was made, inside the budget: figures, and what the search says."""
    bench.fernwood("info", str(store))  # the first look at a store is the slowest
    always = ("--memory", memory, "--jobs", "2", "--seed", str(_SEED), "--json")
    plan = json.loads(bench.fernwood("plan", str(store), *options, *always).output)
    run = bench.fernwood("select", str(store), *options, *always)
    told = json.loads(run.output)
    tally = Tally()
    taken = {int(name.removeprefix("x")) for name in told["confirmed"]}
    tally.add(taken, set(json.loads(made.output)), run.seconds)
    figures = {
        **tally.figures(),
        "columns_examined": told["columns_examined"],
        "cpu_seconds": run.cpu_seconds,
        "peak_bytes": run.peak_bytes,
        "planned_bytes": plan["memory"]["total"],
        "planned_seconds": plan["seconds"],
        "planned_most_seconds": plan["most_seconds"],
        "planned_bytes_read": plan["bytes_read"],
        "seconds_making": made.seconds,
        "peak_bytes_making": made.peak_bytes,
    }
    return figures, told


SCALE_CASES = {
    "scale-million": scale_million,
    "scale-subspace": scale_subspace,
    "scale-ten-million": scale_ten_million,
    "scale-width": scale_width,
    "scale-store": scale_store,
    "scale-rows": scale_rows,
    "scale-rows-subspace": scale_rows_subspace,
}
