"""A sweep on a card, with the ceilings of the card beside it: device_sweep.py COLUMNS; prints JSON.

1000 rows of 41 codes, two classes, 8 contexts of 16 cells: gains of all columns, what they tell and its sum, and the
same for a shadow of every fiftieth column, dealt by the card. Codes and contexts are on the card. Beside that: how fast
the card copies, how fast it looks up in shared memory when it does nothing else, and the same sweep by all threads of
the host on a twentieth of the columns. Times are medians, of the card by its own clock.
"""

import json
import os
import sys
import time

import numpy as np

import fernwood
from fernwood.device import open_card
from fernwood.kernels.components import fill_components, step_components
from fernwood.kernels.cuda.examining import Pairs, gains_of, lay_out, packed, sums_of
from fernwood.kernels.telling import Chances
from fernwood.learner.contexts import divided
from fernwood.learner.target import class_target
from fernwood.search.examining import Examiner
from fernwood.search.sight import sight

N_ROWS, N_CODES, N_CONTEXTS, N_CELLS, COLUMNS_A_SHADOW = 1000, 41, 8, 16, 50
LOOK_UPS = """
extern "C" __global__ void look_up(int n, int* out) {
    extern __shared__ int table[];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) table[i] = (i * 7919) & 255;
    __syncthreads();
    int lane = threadIdx.x & 31, a = threadIdx.x & 255, b = (a + 64) & 255, c = (a + 128) & 255, d = (a + 192) & 255;
    for (int i = 0; i < n; ++i) {
        a = table[a * 32 + lane];
        b = table[b * 32 + lane];
        c = table[c * 32 + lane];
        d = table[d * 32 + lane];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
"""


def seconds_of(work, turns: int = 5) -> float:
    """By the card's clock; the first turn is not counted."""
    taken = []
    for _ in range(turns + 1):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        taken.append(cp.cuda.get_elapsed_time(begin, end) / 1000)
    return float(np.median(taken[1:]))


def look_up() -> None:
    kernel((blocks,), (256,), (np.int32(4096), room), shared_mem=32_768)


n_columns = int(sys.argv[1])
card = open_card()
cp = card.cupy
rng = np.random.default_rng(0)
codes = cp.empty((n_columns, N_ROWS + 15 & ~15), np.uint8)
for first in range(0, n_columns, 250_000):
    some = codes[first : first + 250_000]
    some[:] = cp.random.random(some.shape, dtype=np.float32) * N_CODES
target = class_target(rng.integers(0, 2, N_ROWS))
contexts = divided(target, rng.integers(0, N_CELLS, (N_CONTEXTS, N_ROWS)))
(laid,) = lay_out(card, contexts)
amounts, one = np.zeros((1, 256)), np.zeros(1, np.int64)
amounts[0, :N_CODES] = N_ROWS / N_CODES
table = np.empty((1, 256, 2), np.float32)
fill_components(amounts, np.zeros(1, bool), one, one, table)
steps, unit = np.empty(table.shape, np.int8), np.empty((1, 2), np.float32)
step_components(table, steps, unit)
tables = cp.asarray(packed(steps.view(np.int16)[:, :, 0])), cp.asarray(unit)


def pairs(places, addresses):
    n = len(places)
    return Pairs(codes, places, cp.zeros(n, np.int32), addresses, *tables, cp.arange(n + 1), cp.ones(n, np.uint8))


columns = pairs(cp.arange(n_columns), None)
models = cp.arange(0, n_columns, COLUMNS_A_SHADOW)
shadows = pairs(models, cp.asarray(rng.integers(0, 2**63, len(models)).astype(np.uint64)))
unlike = np.ones((N_CONTEXTS, 2), np.float32)
chances = Chances(unlike * 2, unlike * 0.9, unlike * 0.3)


def sweep(of: Pairs) -> None:
    sums_of(card, of, gains_of(card, of, laid), chances)


of_columns, of_shadows = seconds_of(lambda: sweep(columns)), seconds_of(lambda: sweep(shadows))
copy = cp.empty_like(codes[: min(n_columns, 4_000_000)])
copying = seconds_of(lambda: cp.copyto(copy, codes[: len(copy)]))
bandwidth = 2 * copy.nbytes / copying
kernel = cp.RawKernel(LOOK_UPS, "look_up")
blocks = card.blocks_at_once(32_768, 256)
room = cp.empty(blocks * 256, np.int32)
look_ups = 4 * 4096 * blocks * 256 / seconds_of(look_up)

few = fernwood.ingest(
    rng.integers(0, N_CODES, (N_ROWS, n_columns // 20)).astype(np.float32), target=target.kernel.labels
)
examiner = Examiner(sight(few, np.empty(0, np.int64), 0).scorer, np.arange(few.n_columns), os.cpu_count() or 1)
examiner.survey()
on_host = []
for _ in range(4):
    started = time.perf_counter()
    examiner.sweep(np.ones(few.n_columns, bool), contexts, chances, lambda *_: None, {})
    on_host.append(time.perf_counter() - started)
n_examined = n_columns + len(models)
print(
    json.dumps(
        {
            "columns": n_columns,
            "shadows": len(models),
            "seconds": of_columns + of_shadows,
            "seconds_columns": of_columns,
            "seconds_shadows": of_shadows,
            "bytes_read": n_examined * N_ROWS,
            "look_ups": 2 * n_examined * N_ROWS * N_CONTEXTS,
            "copy_bytes_a_second": bandwidth,
            "shared_look_ups_a_second": look_ups,
            "share_of_copy_bandwidth": n_columns * N_ROWS / of_columns / bandwidth,
            "share_of_look_up_rate": 2 * n_columns * N_ROWS * N_CONTEXTS / of_columns / look_ups,
            "host_threads": os.cpu_count(),
            "host_seconds_for_a_twentieth": float(np.median(on_host[1:])),
            "times_the_host": 20 * float(np.median(on_host[1:])) / of_columns,
        }
    )
)
