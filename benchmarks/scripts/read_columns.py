"""Read 10 000 random columns of a store against reading its codes front to back: read_columns.py STORE.

The sequential rate is that of reading the whole file into a new array, as one would to use it. A second one, into a
mebibyte that stays in the processor's cache, is given for comparison: it moves the same bytes but keeps none.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import fernwood

store_path = Path(sys.argv[1])
codes_path = store_path / "codes.npy"
size = codes_path.stat().st_size
n_wanted = 10_000
fernwood.open  # noqa: B018


def sequential() -> None:
    with codes_path.open("rb", buffering=0) as file:
        np.frombuffer(file.read(), np.uint8)


def sequential_in_cache() -> None:
    buffer = bytearray(2**20)
    with codes_path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def seconds(work: object, n: int = 9) -> float:
    times = []
    for _ in range(n):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return sorted(times)[n // 2]


ids = np.sort(np.random.default_rng(1).choice(fernwood.open(store_path).n_columns, n_wanted, replace=False))
out = np.zeros((n_wanted, fernwood.open(store_path).n_rows), np.uint8)


def random() -> None:
    with fernwood.open(store_path) as store:  # cold handles: opened anew every time
        store.read(ids, out)


sequential()
print(
    json.dumps(
        {
            "random_bytes_per_second": out.size / seconds(random),
            "sequential_bytes_per_second": size / seconds(sequential),
            "sequential_in_cache_bytes_per_second": size / seconds(sequential_in_cache),
        }
    )
)
