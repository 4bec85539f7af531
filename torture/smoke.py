"""What an installation without extras must do.

    python -I torture/smoke.py FOLDER

Run by the interpreter of an empty environment: of ours it imports nothing but Fernwood. It ends with 1 where something
is wrong, and says what.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import fernwood

FERNWOOD = Path(sys.executable).with_name("fernwood")
LACKING = {"cells.h5ad": "h5ad", "table.h5": "hdf5", "table.zarr": "zarr"}
"""Tables that are refused without an extra, and the extra that the sentence must name."""


def main(folder: Path) -> list[str]:
    """What is wrong."""
    wrong = []
    told = _fernwood("--version")
    if told.returncode or fernwood.__version__ not in told.stdout:
        wrong.append(f"--version says {told.stdout + told.stderr!r}")
    wrong += [f"fernwood.{name} cannot be imported" for name in dir(fernwood) if not hasattr(fernwood, name)]
    told = _fernwood("demo", "--out", str(folder / "demo"))
    if told.returncode or "0 of 19,980 others" not in told.stdout:
        wrong.append(f"the demo ends with {told.returncode}: {told.stdout[-500:] + told.stderr[-500:]}")
    wrong += _of_a_store(folder)
    wrong += _of_extras(folder)
    return wrong


def _of_a_store(folder: Path) -> list[str]:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((50, 8))
    fernwood.ingest(data, folder / "small.fern", target=data[:, 3] > 0).close()
    told = _fernwood("info", str(folder / "small.fern"))
    return [] if told.returncode == 0 and "8" in told.stdout else [f"info says {told.stdout + told.stderr!r}"]


def _of_extras(folder: Path) -> list[str]:
    wrong = []
    (folder / "cells.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(512))
    (folder / "table.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(512))
    (folder / "table.zarr").mkdir()
    (folder / "table.zarr" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    for name, extra in LACKING.items():
        wrong += _not_refused(name, extra, _fernwood("select", str(folder / name), "--target", "y"))
    wrong += _not_refused("a URL", "remote", _fernwood("info", "s3://nowhere/store.fern"))
    told = _fernwood("select", str(folder / "small.fern"), "--scheduler", "tcp://localhost:1")
    wrong += _not_refused("--scheduler", "dask", told)
    return wrong


def _not_refused(what: str, extra: str, told: subprocess.CompletedProcess[str]) -> list[str]:
    sentence = f"pip install 'fernwood[{extra}]'"
    plain = " ".join(told.stderr.split())
    if told.returncode == 2 and sentence in plain and "Traceback" not in plain:
        return []
    return [f"{what} is not refused with {sentence!r}: {told.returncode}, {told.stdout + told.stderr!r}"]


def _fernwood(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FERNWOOD, *arguments], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    problems = main(Path(sys.argv[1]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
