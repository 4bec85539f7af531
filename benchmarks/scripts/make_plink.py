"""Write genotypes with minor alleles of 5 % to 50 % and 0.2 % missing: make_plink.py FILE.bed PEOPLE VARIANTS."""

import sys
from pathlib import Path

import numpy as np

path, n_people, n_variants = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
stride = -(-n_people // 4)
with path.open("wb") as file:
    file.write(b"\x6c\x1b\x01")
    for first in range(0, n_variants, 5000):
        n = min(5000, n_variants - first)
        share = rng.uniform(0.05, 0.5, (n, 1)).astype(np.float32)
        first_allele, second_allele = (rng.random((n, 4 * stride), np.float32) < share for _ in range(2))
        bits = np.array([3, 2, 0], np.uint8)[first_allele.astype(np.uint8) + second_allele]
        bits[rng.random(bits.shape, np.float32) < 0.002] = 1
        bits[:, n_people:] = 0
        quads = bits.reshape(n, stride, 4)
        file.write((quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6).tobytes())
with path.with_suffix(".bim").open("w") as file:
    file.writelines(f"{i % 22 + 1}\trs{1_000_000 + 7 * i}\t0\t{50 * i}\tA\tG\n" for i in range(n_variants))
with path.with_suffix(".fam").open("w") as file:
    file.writelines(f"F{i} I{i} 0 0 {i % 2 + 1} {rng.integers(1, 3)}\n" for i in range(n_people))
