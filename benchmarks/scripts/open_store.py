"""Time opening a store, its first read and its target: open_store.py STORE."""

import json
import sys
import time

import fernwood

fernwood.open  # noqa: B018  (load the modules before the clock starts)
started = time.perf_counter()
store = fernwood.open(sys.argv[1])
target = store.target
codes = store.read([0, store.n_columns - 1])
print(json.dumps({"seconds": time.perf_counter() - started, "columns": store.n_columns}))
