"""Time ingest beside anndata's own reading, in turns in one process: ingest_cells.py FILE TIMES MEMORY.

Libraries are loaded and kernels compiled before; what the parts of ingest take is told from a run of its own.
"""

import cProfile
import json
import pstats
import shutil
import sys
import time
from pathlib import Path

import anndata

import fernwood
from fernwood.sources import open_source

path, times, memory = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
out = path.with_suffix(".timed.fern")
open_source(path)
reads, ingests, read_processor, processor = [], [], [], []


def ingest() -> None:
    shutil.rmtree(out, ignore_errors=True)
    fernwood.ingest(path, out, target="kind", memory=memory).close()


ingest()
for _ in range(times):
    started, cpu = time.perf_counter(), time.process_time()
    anndata.read_h5ad(path)
    reads.append(time.perf_counter() - started)
    read_processor.append(time.process_time() - cpu)
    shutil.rmtree(out, ignore_errors=True)
    started, cpu = time.perf_counter(), time.process_time()
    ingest()
    ingests.append(time.perf_counter() - started)
    processor.append(time.process_time() - cpu)
profile = cProfile.Profile()
profile.runcall(ingest)
stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]


def spent(name: str) -> float:
    """Seconds of the main thread in functions of this name; records, checksums and writing go on beside it."""
    return float(sum(entry[3] for (_, _, function), entry in stats.items() if function == name))


print(
    json.dumps(
        {
            "read_seconds": sorted(reads)[times // 2],
            "read_seconds_least": min(reads),
            "ingest_seconds": sorted(ingests)[times // 2],
            "ingest_seconds_least": min(ingests),
            "read_processor_seconds": min(read_processor),
            "ingest_processor_seconds": min(processor),
            "part_read_and_sort_seconds": spent("fill"),
            "part_code_seconds": spent("quantise_sparse"),
            "part_wait_for_writing_seconds": spent("result"),
            "part_finish_and_sync_seconds": spent("finish"),
        }
    )
)
shutil.rmtree(out, ignore_errors=True)
