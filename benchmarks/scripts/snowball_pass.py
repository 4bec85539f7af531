"""One pass of the snowball over a store on disk, one thread: snowball_pass.py STORE.

A pass draws contexts of the columns that tell most by themselves, reads every column and every shadow, scores them in
all of the contexts, and works out p and the false discovery rates: what a wave does, without letting any column rest.
Columns a second count the columns of the table, not the shadows. With as many shadows as the search has (one for every
column, but no more than some ten thousand) in 8 contexts and in 128, and with one for every column; and a whole wave of
128 contexts as the search makes it, in which most columns rest after the first quarter. Prints JSON; of 8 contexts the
best of three passes, since the first reads a cold file.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fernwood.relevance.shadows import combined, found_at, tail_chances
from fernwood.search.drawn import Drawn
from fernwood.search.evidence import ContextEvidence, Look
from fernwood.search.examining import Shadows
from fernwood.search.ledger import SnowballState
from fernwood.search.rolling import prepare
from fernwood.search.snowball import Snowball
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store import open_store

_CARRIED = 30
SETTINGS = SnowballSettings()


def one_pass(loop: Snowball, state: SnowballState, n_contexts: int) -> None:
    examiner, told, ground = loop.examiner, loop.told, loop.ground
    carried = np.sort(np.argsort(state.chance, kind="stable")[:_CARRIED])
    drawn = Drawn.ferns(np.random.default_rng(0), examiner, carried, ground, n_contexts)
    own, null = np.zeros(told.n_columns, np.float32), np.zeros(told.n_shadows, np.float32)
    told.add_sums(drawn, {}, told.everyone(), own, null)
    chances = np.empty(told.n_columns)
    for kind, place in told.kinds:
        shadows = combined(state.alone_null[place], null[place], n_contexts)
        for ranks in kind.members():
            chances[ranks] = tail_chances(combined(state.alone[ranks], own[ranks], n_contexts), shadows)
    found_at(0.05, chances)


def rate(n_contexts: int, n_passes: int, shadows: list[Shadows] | None = None) -> tuple[float, int]:
    """Columns a second, and how many shadows there were."""
    loop = prepare(store, SETTINGS, seed=200).loop
    if shadows is not None:
        look = Look(loop.examiner, loop.ground, ContextEvidence(loop.examiner, shadows))
        loop = Snowball(look, SETTINGS, seed=200)
    state = loop.start()
    seconds = []
    for _ in range(n_passes):
        started = time.perf_counter()
        one_pass(loop, state, n_contexts)
        seconds.append(time.perf_counter() - started)
    return store.n_columns / min(seconds), loop.told.n_shadows


def wave_rate() -> float:
    loop = prepare(store, SETTINGS, seed=200).loop
    state = loop.start()
    started = time.perf_counter()
    loop.step(state)
    return store.n_columns / (time.perf_counter() - started)


with open_store(sys.argv[1]) as store:
    everything = np.arange(store.n_columns)
    columns_a_second, n_shadows = rate(8, 3)
    one_kind = np.zeros(store.n_columns, np.uint8)
    own_shadows = [Shadows(0, one_kind, everything, everything.astype(np.uint64), store.n_columns)]
    figures = {
        "n_columns": store.n_columns,
        "n_rows": store.n_rows,
        "n_shadows": n_shadows,
        "columns_a_second": columns_a_second,
        "columns_a_second_own_shadows": rate(8, 3, own_shadows)[0],
        "columns_a_second_128_contexts": rate(128, 1)[0],
        "columns_a_second_wave": wave_rate(),
    }
print(json.dumps(figures))
