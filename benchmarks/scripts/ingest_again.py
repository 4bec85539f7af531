"""Ingest a table until compiled code is loaded, then time it: ingest_again.py TABLE OUT TARGET. The median of five."""

import json
import shutil
import sys
import time
from statistics import median

from fernwood.store import ingest

table, out, target = sys.argv[1:4]
seconds, cpu_seconds = [], []
for _ in range(6):
    shutil.rmtree(out, ignore_errors=True)
    started, cpu_started = time.perf_counter(), time.process_time()
    ingest(table, out, target=target, memory="300MB")
    seconds.append(time.perf_counter() - started)
    cpu_seconds.append(time.process_time() - cpu_started)
print(json.dumps({"seconds": median(seconds[1:]), "cpu_seconds": median(cpu_seconds[1:])}))
