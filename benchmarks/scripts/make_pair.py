"""Write a store of 300 rows with strong columns and a pair: make_pair.py STORE COLUMNS SEED; prints their positions."""

import json
import sys

from fernwood.datasets import make_pair

table = make_pair(300, int(sys.argv[2]), shuffle=True, random_state=int(sys.argv[3]), out=sys.argv[1], memory="1GB")
print(json.dumps(table.relevant.tolist()))
