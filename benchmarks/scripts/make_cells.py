"""Write a 10x folder of counts, and a target by barcode beside it: make_cells.py FOLDER CELLS FEATURES DENSITY."""

import sys
from pathlib import Path

import numpy as np

folder, n_cells, n_features, density = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
rng = np.random.default_rng(0)
folder.mkdir()
filled = [np.sort(rng.choice(n_features, rng.binomial(n_features, density), replace=False)) + 1 for _ in range(n_cells)]
with (folder / "matrix.mtx").open("w") as file:
    file.write("%%MatrixMarket matrix coordinate integer general\n%\n")
    file.write(f"{n_features} {n_cells} {sum(map(len, filled))}\n")
    for cell, features in enumerate(filled, 1):
        counts = rng.geometric(0.4, len(features))
        file.writelines(
            f"{feature} {cell} {n}\n" for feature, n in zip(features.tolist(), counts.tolist(), strict=True)
        )
(folder / "barcodes.tsv").write_text("".join(f"CELL{i:08d}-1\n" for i in range(n_cells)))
(folder / "features.tsv").write_text("".join(f"ENSG{i:011d}\tGENE{i}\tGene Expression\n" for i in range(n_features)))
target = "".join(f"CELL{i:08d}-1,{'ill' if rng.random() < 0.5 else 'well'}\n" for i in rng.permutation(n_cells))
folder.with_suffix(".target.csv").write_text("barcode,state\n" + target)
