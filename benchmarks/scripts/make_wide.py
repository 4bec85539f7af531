"""Write a Madelon-like store of very many columns, 1000 rows, class_sep 2: make_wide.py STORE COLUMNS SEED.

Prints what is relevant. The first 100 000 columns are those of `make_madelon`; all others are columns of noise among
them, block by block with their rows in another order, drawn anew for every block. That takes a tenth of the time.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import fernwood
from fernwood.datasets import make_madelon
from fernwood.files import appearing_directory
from fernwood.kernels.checksums import checksum_columns
from fernwood.store.columns import CodedBand
from fernwood.store.writer import DiskWriter

_BLOCK = 100_000
path, n_columns, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
table = make_madelon(1000, _BLOCK, class_sep=2.0, shuffle=True, random_state=seed)
first = fernwood.ingest(table.data, target=table.target, memory="8GB")
everyone = np.arange(_BLOCK)
codes, records = first.read(everyone), first._records(everyone).combine_chunks().to_batches()[0]  # noqa: SLF001
noise = np.setdiff1d(np.arange(_BLOCK), table.relevant)
rng = np.random.default_rng(seed)
with appearing_directory(path, replace=False) as directory:
    writer = DiskWriter(directory, first.n_rows, 41)
    writer.append(CodedBand(codes, records))
    for start in range(_BLOCK, n_columns, len(noise)):
        some = noise[: n_columns - start]
        dealt = np.take(codes[some], rng.permutation(first.n_rows), axis=1)
        checksums = np.empty(len(some), np.uint64)
        checksum_columns(dealt, checksums)
        of_others = records.take(pa.array(some))
        here = np.arange(start, start + len(some))
        fields = {"name": pa.array([f"x{i}" for i in here], pa.large_string()), "checksum": pa.array(checksums)}
        fields |= {"position": pa.array(here), "from_end": pa.array(here - n_columns)}
        for name, field in fields.items():
            of_others = of_others.set_column(of_others.schema.get_field_index(name), name, field)
        writer.append(CodedBand(dealt, of_others))
    writer.finish(first.roles, [], "made", 0, "benchmarks")
    writer.abandon()
print(json.dumps(table.relevant.tolist()))
