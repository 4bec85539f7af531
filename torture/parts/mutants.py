"""Mutants of `relevance/`: whether its tests notice a small mistake in the code that decides what is real.

What survives is a test that is missing, unless `equivalent_mutants.toml` says why nobody could tell it from the code.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

from benchmarks.provenance import ROOT
from torture.mutant_runs import Named, tasks
from torture.part import Bar, Part

if TYPE_CHECKING:
    from torture.part import Asked

_EQUIVALENT = ROOT / "torture" / "equivalent_mutants.toml"
_SHARE = 0.8


def equivalents() -> dict[Named, str]:
    """Mutants that do what the code does, with the reason."""
    listed = tomllib.loads(_EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return {Named(one["module"], one["place"], one["was"], one["becomes"]): one["why"] for one in listed}


def _run(asked: Asked) -> list[Bar]:
    survived = []
    command = [sys.executable, "-m", "torture.mutant_runs"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout or ():
            survived.append(Named(**json.loads(line)))
            asked.tell("survived: {}.{}: {}  →  {}".format(*survived[-1]))
    if running.returncode:
        return [Bar("mutants of `relevance/` killed", f"≥ {100 * _SHARE:g} %", "the tests fail without any", False)]
    known, n = equivalents(), len(tasks())
    killed, listed = n - len(survived), sum(name in known for name in survived)
    told = (
        f"{killed} of {n} ({100 * killed / n:.1f} %); of the {len(survived)} others {listed} are listed as equivalent"
    )
    wrong = set(known) - set(survived)
    return [
        Bar("mutants of `relevance/` killed", f"≥ {100 * _SHARE:g} %", told, killed >= _SHARE * n),
        Bar("mutants listed as equivalent that are not", "0", str(len(wrong)), not wrong),
    ]


PART = Part("mutants", "small mistakes in the code that decides, and whether its tests notice", 30, _run)
