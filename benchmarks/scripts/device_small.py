"""A small table, 500 x 2000, on `auto` and on the CPU: device_small.py; prints JSON."""

import json
import os
import time
import warnings

import fernwood
from fernwood.datasets import make_madelon
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

warnings.simplefilter("ignore")
table = make_madelon(500, 2000, class_sep=2.0, random_state=0)
store = fernwood.ingest(table.data, target=table.target)
seconds = {"cpu": [], "auto": []}
for turn in range(8):
    for device, taken in seconds.items():
        started = time.perf_counter()
        select_by_snowball(store, SnowballSettings(), turn, n_threads=os.cpu_count() or 1, device=device)
        taken.append(time.perf_counter() - started)
best = {device: min(taken[1:]) for device, taken in seconds.items()}  # the first loads kernels
print(json.dumps({**{f"seconds_{device}": each for device, each in best.items()}, "ratio": best["auto"] / best["cpu"]}))
