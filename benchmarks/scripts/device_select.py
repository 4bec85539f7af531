"""A whole selection, device by device: device_select.py STORE SEED DEVICE[,DEVICE] [DEVICE_MEMORY]; prints JSON.

From opening the store to the result, by device, with all threads; kernels are compiled, and the store is in the page
cache, since a first look at it is not counted. Also what is confirmed, and how many columns have another p elsewhere.
"""

import json
import os
import sys
import time
import warnings

import numpy as np

import fernwood
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

path, seed, devices, *memory = sys.argv[1:]
warnings.simplefilter("ignore")
few = fernwood.ingest(np.random.default_rng(0).standard_normal((200, 30)), target=np.arange(200) % 2)
told, answers = {}, []
for device in devices.split(","):
    how = {"n_threads": os.cpu_count(), "device": device, "device_memory": int(memory[0]) if memory else None}
    select_by_snowball(few, SnowballSettings(max_waves=1), seed=0, **how)
    for first in range(0, fernwood.open(path).n_columns, 100_000):  # the page cache
        store = fernwood.open(path)
        store.read(np.arange(first, min(first + 100_000, store.n_columns)))
    started = time.perf_counter()
    result, _ = select_by_snowball(fernwood.open(path), SnowballSettings(), int(seed), **how)
    told[f"seconds_{device}"] = time.perf_counter() - started
    answers.append(result)
told["columns_that_differ"] = max(int(np.count_nonzero(one.p != answers[0].p)) for one in answers)
print(json.dumps({**told, "confirmed": answers[0].confirmed.tolist()}))
