"""One wave of the snowball over a store on disk, one thread: snowball_pass.py STORE.

A pass is a step of the search: contexts are drawn, every column and every shadow is read and scored in all of them, and
p and the false discovery rates are worked out. Columns a second count the columns of the table, not the shadows. With
as many shadows as the search has (one for every column, but no more than some ten thousand) in 8 contexts and in the
128 of the default, and with one for every column. Prints JSON; of 8 contexts the best of three passes, since the first
reads a cold file.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.loops import loop_of
from fernwood.search.examining import Shadows
from fernwood.search.snowball import SnowballSettings
from fernwood.store import open_store


def passes(n_contexts: int, n_passes: int, shadows: list[Shadows] | None = None) -> tuple[float, int]:
    """Columns a second, and how many shadows there were."""
    loop = loop_of(store, SnowballSettings(n_contexts=n_contexts), seed=200, shadows=shadows)
    state = loop.start()
    seconds = []
    for _ in range(n_passes):
        started = time.perf_counter()
        loop.step(state)
        seconds.append(time.perf_counter() - started)
    return store.n_columns / min(seconds), len(state.alone_null)


with open_store(sys.argv[1]) as store:
    everything = np.arange(store.n_columns)
    rate, n_shadows = passes(8, 3)
    own = [Shadows(everything, everything, np.zeros(store.n_columns, np.uint64))]
    figures = {
        "n_columns": store.n_columns,
        "n_rows": store.n_rows,
        "n_shadows": n_shadows,
        "columns_a_second": rate,
        "columns_a_second_own_shadows": passes(8, 3, own)[0],
        "columns_a_second_128_contexts": passes(128, 1)[0],
    }
print(json.dumps(figures))
