"""The snowball on a card: these need one, and CuPy. `PYTHONPATH=src python benchmarks/run.py gpu-sweep …`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.tally import Tally

if TYPE_CHECKING:
    from benchmarks.run import Bench

_SEED = 200


def gpu_sweep(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A sweep of 10 000 000 x 1000 with shadows, 8 contexts, on the card: time, and how near to the card's ceilings."""
    figures = json.loads(bench.script("device_sweep.py", "10000000").output)
    return figures, {"≤ 0.1 s": figures["seconds"] <= 0.1}


def gpu_million(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A whole selection, Madelon-like, 1000 x 1 000 000, class_sep 2, from the page cache, beside the CPU."""
    figures = _selected(bench, "1000000", "cuda,cpu")
    return figures, {
        "≤ 5 s": figures["seconds_cuda"] <= 5,
        "the same p of every column as the CPU": figures["columns_that_differ"] == 0,
    }


def gpu_ten_million(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A whole selection, Madelon-like, 1000 x 10 000 000, class_sep 2, 10 GB of codes, from the page cache."""
    figures = _selected(bench, "10000000", "cuda")
    return figures, {"≤ 30 s": figures["seconds_cuda"] <= 30, "F1 ≥ 0.85": figures["f1"] >= 0.85}


def gpu_stream(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A sweep of a store of twice the memory that the card may take, beside the copy alone."""
    store = bench.scratch / "stream.fern"
    bench.script("make_wide.py", str(store), "2000000", str(_SEED))
    figures = json.loads(bench.script("device_stream.py", str(store)).output)
    return figures, {"≤ 1.2 x": figures["ratio"] <= 1.2}


def gpu_small(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A small table, 500 x 2000, with `auto` and with the CPU: best of seven searches each, turn by turn."""
    figures = json.loads(bench.script("device_small.py").output)
    return figures, {"≤ 1.1 x": figures["ratio"] <= 1.1}


def _selected(bench: Bench, n_columns: str, devices: str) -> dict[str, Any]:
    store = bench.scratch / "gpu.fern"
    made = bench.script("make_wide.py", str(store), n_columns, str(_SEED))
    told = json.loads(bench.script("device_select.py", str(store), str(_SEED), devices).output)
    tally = Tally()
    tally.add(set(told.pop("confirmed")), set(json.loads(made.output)), told["seconds_cuda"])
    return {**tally.figures(), **told, "seconds_making": made.seconds}


GPU_CASES = {
    "gpu-sweep": gpu_sweep,
    "gpu-million": gpu_million,
    "gpu-ten-million": gpu_ten_million,
    "gpu-stream": gpu_stream,
    "gpu-small": gpu_small,
}
