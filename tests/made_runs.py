"""Runs whose answers are made up, so that what leaves a run can be tested on any columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fernwood
from fernwood.relations import Minimal
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.result import Facts, Result
from fernwood.run.directory import STORE_NAME, RunDirectory, RunManifest
from fernwood.saved import save_result
from fernwood.store import Store

REASONS = ("told by itself, q at most 0.1", "told in one wave", "told nothing", "constant")


def made_result(
    store: Store,
    confirmed: list[str],
    tentative: list[str] = [],  # noqa: B006
    *,
    q: dict[str, float] | None = None,
    minimal: list[str] | None = None,
    **facts: Any,
) -> Result:
    """A result in which these columns were found, the first with the smallest p."""
    names = list(store.names)
    decision = np.full(len(names), Decision.REJECTED, np.uint8)
    chances = np.full(len(names), 0.8)
    rates = np.full(len(names), 0.9)
    for rank, name in enumerate([*confirmed, *tentative]):
        place = names.index(name)
        decision[place] = Decision.CONFIRMED if name in confirmed else Decision.TENTATIVE
        chances[place] = 1e-6 * (rank + 1)
        rates[place] = 0.001 if name in confirmed else 0.15
    for name, rate in (q or {}).items():
        rates[names.index(name)] = rate
    about: dict[str, Any] = {
        "method": "snowball",
        "n_usable": len(names),
        "n_draws": 5,
        "n_planned": 5,
        "against": "shadows",
        "seed": 0,
        "parameters": {"fdr": 0.1},
        "unit": "waves",
        **facts,
    }
    few = None
    if minimal is not None:
        kept = [names.index(name) for name in minimal]
        few = Minimal(kept, {names.index(n): kept[:1] for n in confirmed if n not in minimal}, 0.2, 0.21, 0.02, 3)
    return Result(
        store.names,
        Facts.of(store, **about),
        np.full(len(names), 3, np.int32),
        -np.log10(chances),
        np.zeros(len(names), np.int32),
        Verdicts(decision, decision.copy(), REASONS),
        chances,
        rates,
        np.zeros(len(names), bool),
        minimal=few,
        contents=store.contents,
    )


def made_run(path: Path, table: Any, confirmed: list[str], tentative: list[str] = [], **how: Any) -> Result:  # noqa: B006
    """A finished run on disk, with its store, on a table as `ingest` takes it."""
    options = {name: how.pop(name) for name in ("target", "weights", "groups", "categorical", "drop") if name in how}
    with RunDirectory.appearing(path) as directory:
        store = fernwood.ingest(table, directory / STORE_NAME, **options)
        result = made_result(store, confirmed, tentative, **how)
        facts = result.facts
        manifest = RunManifest.of(store, facts.method, facts.parameters, facts.seed, STORE_NAME)
        RunDirectory.write_manifest(directory, manifest)
        save_result(result, directory)
        store.close()
    return result
