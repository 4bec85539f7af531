"""What the snowball makes of columns that depend on covariates: calibrate_covariates.py FIRST_SEED N_TABLES [DESIGN …].

Every table of every design is looked at without any context, and searched. Where nothing is relevant, counted are the
searches at a false discovery rate of 0.1 that confirm anything; where some columns are, how many of those are found and
the share of others among the confirmed. Compared with what they should be are p without context, and where columns are
relevant, p of the others at the end, from contexts: how many times too many are at most 0.01, 0.001 and 0.0001, with
the standard error over tables. Prints JSON.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fernwood
from benchmarks.confounded import DESIGNS, make
from fernwood.search.rolling import prepare
from fernwood.search.snowball_settings import SnowballSettings

LEVELS = {"1e2": 1e-2, "1e3": 1e-3, "1e4": 1e-4}

first, n_tables = (int(argument) for argument in sys.argv[1:3])
figures: dict[str, float] = {"n_tables": n_tables}
for name in sys.argv[3:] or DESIGNS:
    design = DESIGNS[name]
    alone, beside = np.empty((n_tables, len(LEVELS))), np.empty((n_tables, len(LEVELS)))
    confirmed, found, false = [], [], []
    began = time.perf_counter()
    for number in range(n_tables):
        seed = first + number
        values, target, task, n_relevant = make(design, seed)
        given = list(range(design.n_covariates))
        store = fernwood.ingest(values, target=target, task=task, given=given)
        settings = SnowballSettings(given=given)
        others = design.n_covariates + n_relevant
        ids, _, loop, *_ = prepare(store, settings, seed)
        is_null = ids >= others
        state = loop.start()
        chances = state.chance[is_null]
        while loop.progress(state).done < loop.progress(state).total:
            state = loop.step(state)
        late = state.chance[is_null]
        alone[number] = [np.mean(chances <= level) / level for level in LEVELS.values()]
        beside[number] = [np.mean(late <= level) / level for level in LEVELS.values()]
        n_false = int(np.count_nonzero(is_null[state.found]))
        confirmed.append(n_false)
        found.append(len(state.found) - n_false)
        false.append(n_false / max(len(state.found), 1))
    for word, shares in (("alone", alone), ("beside", beside)):
        errors = shares.std(axis=0, ddof=1) / np.sqrt(n_tables)
        for level, share, error in zip(LEVELS, shares.mean(axis=0).tolist(), errors.tolist(), strict=True):
            figures |= {f"{name}_{word}_{level}": share, f"{name}_{word}_{level}_error": error}
    figures[f"{name}_any"] = int(np.count_nonzero(confirmed))
    figures[f"{name}_columns"] = sum(confirmed)
    if n_relevant:
        figures |= {f"{name}_found": float(np.mean(found)), f"{name}_false": float(np.mean(false))}
    said = {key.removeprefix(name + "_"): round(value, 3) for key, value in figures.items() if key.startswith(name)}
    print(name, f"{time.perf_counter() - began:.0f} s", said, file=sys.stderr, flush=True)
print(json.dumps(figures))
