"""Write a Madelon-like store, class_sep 2: make_madelon.py STORE COLUMNS SEED [ROWS COPIES]; prints what is relevant.

By default 1000 rows, and 10 noisy copies beside the 5 informative columns and 5 linear combinations of them.
"""

import json
import sys

from fernwood.datasets import make_madelon

store, n_columns, seed, *shape = sys.argv[1:]
n_rows, n_copies = map(int, shape) if shape else (1000, 10)
table = make_madelon(
    n_rows,
    int(n_columns),
    n_copies=n_copies,
    class_sep=2.0,
    shuffle=True,
    random_state=int(seed),
    out=store,
    memory="512MB" if n_rows < 10**5 else "2GB",
)
print(json.dumps(table.relevant.tolist()))
