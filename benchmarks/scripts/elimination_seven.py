"""Seven of ten relevant bits among a hundred, by a thermal perceptron: elimination_seven.py WAY R_MAX FIRST N.

WAY is `known` (RVE), `one` (RVE, a column at a time), `binary` (RVErS), `binary-early` or `halving`; R_MAX counts for
the last three. Problems are those of `benchmarks/seven.py`. Prints JSON: means over the problems.
"""

import json
import sys
import time
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.seven import N, eliminated, updates

way, r_max, first, n_problems = sys.argv[1], *map(int, sys.argv[2:5])
told: dict[str, list[float]] = {
    name: [] for name in ("calls", "updates", "removal_updates", "inputs", "relevant", "seconds")
}
exact = 0
for seed in range(first, first + n_problems):
    started = time.perf_counter()
    state, kept, relevant = eliminated(way, r_max, seed)
    told["seconds"].append(time.perf_counter() - started)
    told["calls"].append(state.n_calls)
    told["updates"].append(sum(updates(n) for n in state.trace.left.tolist()))
    told["removal_updates"].append(told["updates"][-1] - updates(N))
    told["inputs"].append(len(kept))
    told["relevant"].append(len(kept & relevant))
    exact += kept == relevant
means = {name: fmean(values) for name, values in told.items()}
means |= {"billions": means["updates"] / 1e9, "removal_billions": means["removal_updates"] / 1e9}
print(json.dumps({**means, "exact": exact, "problems": n_problems}))
