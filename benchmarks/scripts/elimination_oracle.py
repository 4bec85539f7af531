"""Elimination without a learner, a removal of a relevant column doing harm: elimination_oracle.py FIRST_SEED N_SEEDS.

The problem of the paper's Table 4 (100 columns, 10 relevant, updates 1 897 000 (n + 1) a call) and a wide one (1558
columns, 20 relevant). Prints JSON: of every search and r_max the mean calls, updates and columns left, and the share of
runs that left exactly the relevant ones; `noisy` ones have one harmless removal in ten look harmful.
"""

import json
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.seven import Oracle, updates
from fernwood.run.driving import drive
from fernwood.search.elimination import EliminationLoop, EliminationSettings

_PAPER = {20: 123.8, 40: 151.3, 60: 169.0, 80: 172.3, 100: 184.1}
_NOISE = 0.1

first, n_seeds = int(sys.argv[1]), int(sys.argv[2])


def means(n: int, r: int, noise: float = 0.0, **how: Any) -> dict[str, float]:
    runs = []
    for seed in range(first, first + n_seeds):
        relevant = set(np.random.default_rng(seed).choice(n, r, replace=False).tolist())
        removals = EliminationSettings("tree", **how).removals(n, seed)
        state = drive(EliminationLoop(Oracle(n, relevant, noise, seed), removals, 0.002)).state  # type: ignore[var-annotated]
        left = set(np.flatnonzero(state.left).tolist())
        spent = sum(map(updates, state.trace.left.tolist()))
        runs.append((state.n_calls, spent, len(left), left == relevant))
    names = ("calls", "updates", "inputs", "right")
    return {name: fmean(run[place] for run in runs) for place, name in enumerate(names)}


figures: dict[str, float] = {"n_seeds": n_seeds}
for r_max, paper in _PAPER.items():
    for search in ("halving", "binary"):
        told = means(100, 10, search=search, r_max=r_max)
        figures |= {f"{search}_{name}_{r_max}": value for name, value in told.items()}
    figures[f"fewer_calls_than_paper_{r_max}"] = 1 - figures[f"halving_calls_{r_max}"] / paper
for name, how in {
    "known": {"n_relevant": 10},
    "known_one": {"n_relevant": 10, "step": 1},
    "known_halving": {"n_relevant": 10, "search": "halving"},
    "noisy": {"noise": _NOISE},
    "noisy_binary": {"noise": _NOISE, "search": "binary"},
    "two_at_once": {"candidates": 2},
    "four_at_once": {"candidates": 4},
}.items():
    figures |= {f"{name}_{figure}": value for figure, value in means(100, 10, **how).items()}
for search in ("halving", "binary"):
    figures |= {f"wide_{search}_{name}": value for name, value in means(1558, 20, search=search, r_max=100).items()}
print(json.dumps(figures))
