"""Fernwood beside what people use today, on the same table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

_PEERS = ("univariate", "forest", "borutapy", "fernwood")
_COLUMNS, _SEED = 2000, 200


def peers(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """Madelon-like, 1000 x 2000, class_sep 1.5, 20 relevant: each in a process of its own, one after another."""
    figures: dict[str, Any] = {"relevant": 20, "columns": _COLUMNS}
    for who in _PEERS:
        run = bench.script("peers.py", who, str(_COLUMNS), str(_SEED))
        told = {**json.loads(run.output), "megabytes": run.peak_bytes / 1e6}
        figures |= {f"{who}_{name}": value for name, value in told.items()}
    figures["times_faster_than_borutapy"] = figures["borutapy_seconds"] / figures["fernwood_seconds"]
    most = max(figures[f"{who}_found"] - figures[f"{who}_others"] for who in _PEERS if who != "fernwood")
    return figures, {
        "faster than BorutaPy": figures["times_faster_than_borutapy"] > 1,
        "more found less others than any": figures["fernwood_found"] - figures["fernwood_others"] >= most,
    }
