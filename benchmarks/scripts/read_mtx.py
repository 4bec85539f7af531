"""Time scipy.io.mmread, turned so that features are columns: read_mtx.py FILE.mtx."""

import json
import sys
import time

import scipy.io

started = time.perf_counter()
scipy.io.mmread(sys.argv[1]).T.tocsc()
print(json.dumps({"seconds": time.perf_counter() - started}))
