"""Write a Madelon-like store of 1000 rows, class_sep 2: make_madelon.py STORE COLUMNS SEED; prints what is relevant."""

import json
import sys

from fernwood.datasets import make_madelon

table = make_madelon(
    1000, int(sys.argv[2]), class_sep=2.0, shuffle=True, random_state=int(sys.argv[3]), out=sys.argv[1], memory="512MB"
)
print(json.dumps(table.relevant.tolist()))
