"""What searches say of a small table without compiled code: ``python -m torture.metamorphic.uncompiled NAME ...``.

Without arguments for NUMBA_DISABLE_JIT this is the same with compiled code; `both_ways` compares the two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from typing import Any

import numba

from fernwood.search.methods import select
from torture.metamorphic.methods import SEARCHES, decisions
from torture.metamorphic.tables import make_table

__all__ = ["both_ways", "said"]

_N_ROWS, _N_COLUMNS = 40, 8
_LITTLE = {
    "n_contexts": 4,
    "n_confirming": 4,
    "max_waves": 2,
    "max_contexts": 2,
    "n_iter": 6,
    "q": 4,
    "scans": 4,
    "max_iter": 3,
    "n_estimators": 4,
    "max_columns": 3,
    "n_relevant": 6,
    "max_rows": 100,
}
"""Interpreted kernels take a hundred times as long: so much is enough to go through all of them."""


def said(name: str, task: str, seed: int) -> dict[str, Any]:
    """What a search says of a small table, with little effort."""
    search = SEARCHES[name]
    own = {field.name for field in fields(search.settings)}
    given = {key: value for key, value in _LITTLE.items() if key in own and getattr(search.settings, key) is not None}
    store = make_table(task, seed, _N_ROWS, _N_COLUMNS).store()
    return decisions(select(store, replace(search.settings, **given), 5).result)


def both_ways(names: list[str], task: str, seed: int) -> str:
    """What compiled code changes in the answers of some searches; empty where it changes nothing."""
    told = []
    for flag in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": flag, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "torture.metamorphic.uncompiled", task, str(seed), *names]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            return f"{task}, seed {seed}, NUMBA_DISABLE_JIT={flag}: {run.stderr.splitlines()[-1:]}"
        told.append(json.loads(run.stdout))
    (compiled, first), (plain, second) = told
    if not (compiled and not plain):
        return "NUMBA_DISABLE_JIT is not heeded"
    return "; ".join(f"{name}, {task}, seed {seed}" for name in names if first[name] != second[name])


if __name__ == "__main__":
    compiled = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # set when Numba is imported
    print(json.dumps([compiled, {name: said(name, sys.argv[1], int(sys.argv[2])) for name in sys.argv[3:]}]))
