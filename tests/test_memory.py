"""The memory promise of ingest and of ferns: peaks, measured in processes of their own, on tables larger than the budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fernwood

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


def test_genotypes(tmp_path: Path) -> None:
    people, variants = 2000, 150_000
    pairs = np.random.default_rng(0).choice(np.array([0, 2, 3], np.uint8), (2000, people // 4, 4))
    quads = np.bitwise_or.reduce(pairs << np.array([0, 2, 4, 6], np.uint8), axis=2).tobytes()
    with (tmp_path / "t.bed").open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for _ in range(variants // 2000):
            file.write(quads)
    (tmp_path / "t.bim").write_text("".join(f"1\trs{i}\t0\t{i}\tA\tG\n" for i in range(variants)))
    (tmp_path / "t.fam").write_text("".join(f"F I{i} 0 0 1 1\n" for i in range(people)))
    assert people * variants >= 300_000_000
    assert ingest(tmp_path / "t.bed", "300MB") <= 300_000_000


@pytest.mark.parametrize("kind", ["mtx", "svm"])
def test_entries_of_sparse_text(tmp_path: Path, kind: str) -> None:
    """Entries that take twice the room that is left beside Python and its libraries, and go to a scratch file."""
    rows, columns, in_a_row = 3000, 4000, 1000
    path = tmp_path / f"t.{kind}"
    step = columns // in_a_row
    entry = "ROW {} {}\n" if kind == "mtx" else " {}:{}"
    lines = [  # which come again after so many rows
        "".join([entry.format(i, (row + i) % 9 + 1) for i in range(1 + row % step, columns + 1, step)])
        for row in range(9 * step)
    ]
    with path.open("w") as file:
        if kind == "mtx":
            file.write(f"%%MatrixMarket matrix coordinate integer general\n{rows} {columns} {rows * in_a_row}\n")
        for row in range(1, rows + 1):
            line = lines[row % len(lines)]
            file.write(line.replace("ROW", str(row)) if kind == "mtx" else f"1{line}\n")
    assert ingest(path, "290MB") <= 290_000_000


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
            numbers = rng.integers(1000, 9999, cells)
            digits = np.stack(
                [*(numbers // 10**power % 10 + ord("0") for power in (3, 2, 1, 0)), 0 * numbers + ord(",")]
            )
            file.write((f"g{i}," if transposed else "") + digits.T.astype(np.uint8).tobytes().decode()[:-1] + "\n")
    options = ["--task", "regression", *(["--transposed"] if transposed else [])]
    assert ingest(tmp_path / "t.csv", "300MB", *options) <= 300_000_000


# Fits a store of 100 MB inside a budget that begins when fit is entered, with kernels already loaded, as the promise is.
FIT = """
import sys
import fernwood
from fernwood.budget import peak_resident, resident
from fernwood.kernels.families import load_families
from fernwood.kernels.ready import ensure_compiled

learner, budget, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ensure_compiled("ferns")
load_families("ferns")
store = fernwood.open(path)
options = {"memory": budget, "n_jobs": 2, "random_state": 0}
if learner == "ferns":
    selector = fernwood.FernSelector(scans=4, **options)
elif learner == "subspace":
    selector = fernwood.SubspaceSelector(learner="ferns", n_iter=40, n_trees=200, **options)
else:
    selector = fernwood.BorutaSelector(learner="ferns", n_estimators=20_000, max_iter=1, **options)
before = resident()
selector.fit(store)
assert peak_resident() - before <= budget, f"{peak_resident() - before:,} bytes of {budget:,}"
assert selector.importances_[0] == selector.importances_.max()
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 2000 rows and 50 000 columns, the first of which tells most."""
    directory = tmp_path_factory.mktemp("large")
    table = np.lib.format.open_memmap(directory / "t.npy", "w+", np.uint8, (2000, 50_000), fortran_order=True)
    rng = np.random.default_rng(0)
    for start in range(0, 50_000, 5000):
        table[:, start : start + 5000] = rng.integers(0, 9, (2000, 5000), np.uint8)
    target = (table[:, 0] + rng.integers(0, 3, 2000) > 4).astype(int)
    table.flush()
    fernwood.ingest(directory / "t.npy", target=target, out=directory / "t.fern")
    assert sum(path.stat().st_size for path in (directory / "t.fern").iterdir()) > 100_000_000
    return directory / "t.fern"


@pytest.mark.parametrize(
    "learner", ["ferns", *(pytest.param(other, marks=pytest.mark.long) for other in ("subspace", "boruta"))]
)
def test_ferns_on_a_table_larger_than_the_budget(large: Path, learner: str) -> None:
    budget = 60_000_000
    peak_of(sys.executable, "-W", "ignore", "-c", FIT, learner, str(budget), str(large))


def test_ferns_on_the_command_line_keep_their_budget(large: Path) -> None:
    """What 300 MB leave beside the interpreter is less than the table."""
    command = str(Path(sys.executable).with_name("fernwood"))
    options = ("--method", "ferns", "--scans", "4", "--jobs", "2", "--quiet")
    assert peak_of(command, "select", str(large), "--memory", "300MB", *options) <= 300_000_000
