"""Write standard normals, and a target beside them: make_table.py FILE ROWS COLUMNS (.npy float32, or .csv)."""

import sys
from pathlib import Path

import numpy as np

path, n_rows, n_columns = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
np.save(f"{path}.target.npy", rng.integers(0, 2, (n_rows, 1)))
if path.suffix == ".npy":
    out = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
    for row in range(n_rows):
        out[row] = rng.standard_normal(n_columns, np.float32)
    out.flush()
else:
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(f"x{i}" for i in range(n_columns)) + "\n")
        for _ in range(n_rows):
            file.write(",".join([f"{v:.6f}" for v in rng.standard_normal(n_columns).tolist()]) + "\n")
