"""The peak memory of a process that searches iris and 4996 shuffled columns: boruta_memory.py WHAT PATH [SEED].

WHAT is `table`, which makes PATH.npz and the store PATH.fern; `ours`, the selector; or `peer`, BorutaPy. A process
loads nothing that its search does not need. Three iterations hold all that a search ever does.
"""

import sys
from pathlib import Path

import numpy as np

what, path = sys.argv[1], Path(sys.argv[2])
if what == "table":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import fernwood
    from benchmarks import tables

    data, target, _, task = tables.iris(np.random.default_rng(int(sys.argv[3])))
    np.savez(path.with_suffix(".npz"), data=data, target=target)
    fernwood.ingest(data, target=target, task=task, out=path.with_suffix(".fern"))
    sys.exit()
with np.load(path.with_suffix(".npz")) as table:
    data, target = table["data"], table["target"]
if what == "ours":
    import fernwood

    fernwood.BorutaSelector(n_jobs=2, max_iter=3, random_state=0).fit(data, target)
else:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
    BorutaPy(forest, n_estimators="auto", max_iter=3, random_state=0).fit(data, target)
