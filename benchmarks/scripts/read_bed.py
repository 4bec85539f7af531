"""Time bed-reader on one thread: read_bed.py FILE.bed. All genotypes as int8 in bands, and the names of variants."""

import json
import sys
import time

import numpy as np
from bed_reader import open_bed

started = time.perf_counter()
with open_bed(sys.argv[1], num_threads=1) as bed:
    for first in range(0, bed.sid_count, 5000):
        bed.read(np.s_[:, first : first + 5000], dtype="int8", order="F")
    seconds = time.perf_counter() - started
with open_bed(sys.argv[1], num_threads=1) as bed:
    started = time.perf_counter()
    bed.sid  # noqa: B018  (read when it is asked for)
    names = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "names_seconds": names}))
