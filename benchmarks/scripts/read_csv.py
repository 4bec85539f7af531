"""Time pyarrow's reader on a file: read_csv.py FILE."""

import json
import sys
import time

import pyarrow.csv

started = time.perf_counter()
table = pyarrow.csv.read_csv(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - started, "columns": table.num_columns}))
