"""Write AnnData of random values: make_h5ad.py FOLDER ROWS COLUMNS SHARE counts|measures.

Two files, plain.h5ad and packed.h5ad (gzip), CSR of float32, SHARE of it not zero; counts are small whole numbers, as
single-cell counts are, and measures are all different. `kind` in obs is a target.
"""

import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scipy.sparse

folder, n_rows, n_columns, share = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
rng = np.random.default_rng(0)
matrix = scipy.sparse.random_array((n_rows, n_columns), density=share, format="csr", dtype=np.float32, rng=rng)
drawn = rng.geometric(0.35, matrix.nnz) if sys.argv[5] == "counts" else rng.exponential(1, matrix.nnz) + 0.01
matrix.data[:] = drawn
obs = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], n_rows)}, index=[f"cell{i}" for i in range(n_rows)])
var = pd.DataFrame(index=[f"gene{i}" for i in range(n_columns)])
cells = anndata.AnnData(scipy.sparse.csr_matrix(matrix), obs, var)
folder.mkdir(parents=True, exist_ok=True)
cells.write_h5ad(folder / "plain.h5ad")
cells.write_h5ad(folder / "packed.h5ad", compression="gzip")
