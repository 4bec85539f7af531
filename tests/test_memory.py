"""The memory promise of ingest: the peak of the whole process, measured from outside, on tables larger than the budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# A child inherits the high-water mark of its parent, so a small process stands between the test and what it measures.
LAUNCHER = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_of(*command: str) -> int:
    run = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, *command], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def ingest(table: Path, memory: str, *options: str) -> int:
    command = str(Path(sys.executable).with_name("fernwood"))
    return peak_of(
        command,
        "ingest",
        str(table),
        "--target",
        "0",
        "--out",
        f"{table}.fern",
        "--memory",
        memory,
        "--quiet",
        *options,
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_wide_array(tmp_path: Path, order: str) -> None:
    shape = (250, 160_000) if order == "C" else (160_000, 250)
    table = np.lib.format.open_memmap(tmp_path / "t.npy", "w+", np.float32, shape, fortran_order=order == "F")
    rng = np.random.default_rng(0)
    if order == "C":
        for row in range(shape[0]):
            table[row] = rng.standard_normal(shape[1], np.float32)
    else:
        for column in range(shape[1]):
            table[:, column] = rng.standard_normal(shape[0], np.float32)
    table.flush()
    assert (tmp_path / "t.npy").stat().st_size > 155_000_000
    assert ingest(tmp_path / "t.npy", "155MB", "--task", "regression") <= 155_000_000


def test_many_rows_in_row_order(tmp_path: Path) -> None:
    """Turned through a scratch file: a band would be slivers of every row."""
    table = np.lib.format.open_memmap(tmp_path / "t.npy", "w+", np.float32, (200_000, 200))
    rng = np.random.default_rng(0)
    for start in range(0, len(table), 20_000):
        table[start : start + 20_000] = rng.integers(0, 9, (20_000, 200))
    table.flush()
    assert ingest(tmp_path / "t.npy", "155MB") <= 155_000_000
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("transposed", [False, True])
def test_a_text_table(tmp_path: Path, transposed: bool) -> None:
    """60 MB of text that needs 96 MB as doubles, in what 300 MB leave beside the interpreter and compiled code."""
    rng = np.random.default_rng(0)
    lines, cells = (20_000, 600) if transposed else (600, 20_000)
    with (tmp_path / "t.csv").open("w") as file:
        file.write(
            ",".join(["name", *(f"c{i}" for i in range(cells))] if transposed else [f"c{i}" for i in range(cells)])
            + "\n"
        )
        for i in range(lines):
            numbers = ",".join(map(str, rng.integers(0, 9999, cells).tolist()))
            file.write((f"g{i}," if transposed else "") + numbers + "\n")
    options = ["--task", "regression", *(["--transposed"] if transposed else [])]
    assert ingest(tmp_path / "t.csv", "300MB", *options) <= 300_000_000
