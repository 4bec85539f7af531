"""What a command line does not load: pandas takes 38 MB of every budget, and no command but those of AnnData uses it.

A search loads its own method and no other, since all of them together load most of SciPy and all of scikit-learn.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fernwood

COMMAND = """
import atexit, sys
atexit.register(lambda: sys.stderr.write("pandas is there" if "pandas._libs" in sys.modules else "lean"))
from fernwood.cli import main
main()
"""
SEARCH = ["--seed", "1", "--jobs", "1", "--quiet"]
COMMANDS = {
    "ingest": ["ingest", "t.csv", "--target", "y", "--out", "new.fern"],
    "info": ["info", "s.fern"],
    "verify": ["verify", "s.fern"],
    "plan": ["plan", "s.fern", "--jobs", "1"],
    "select": ["select", "s.fern", *SEARCH],
    "select, kept": ["select", "s.fern", *SEARCH, "--out", "new.run", "--report"],
    "status": ["status", "kept.run"],
    "report": ["report", "kept.run"],
    "export": ["export", "kept.run", "--to", "csv"],
    "resume": ["resume", "kept.run", "--jobs", "1"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lean")
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 20)), np.arange(60) % 2
    fernwood.ingest(x, folder / "s.fern", target=y)
    lines = [",".join(map(str, row)) for row in np.column_stack([x, y]).tolist()]
    (folder / "t.csv").write_text("\n".join([",".join([*(f"x{i}" for i in range(20)), "y"]), *lines]) + "\n")
    done = command(folder, ["select", "s.fern", *SEARCH, "--out", "kept.run"])
    assert done.returncode == 0, done.stderr
    return folder


def command(folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_pandas_is_not_loaded(name: str, folder: Path) -> None:
    pytest.importorskip("pandas", reason="without pandas nobody loads it")
    done = command(folder, COMMANDS[name])
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("lean"), done.stderr


LOADED = """
import atexit, json, sys
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
from fernwood.cli import main
main()
"""
SEARCHES = "fernwood.search."
METHODS = {f"{SEARCHES}{name}" for name in ("boruta", "elimination", "fern_fitting", "filter", "fitting", "reducing")}


def test_a_plain_select_loads_its_own_method_and_little_else(folder: Path) -> None:
    words = ["select", "t.csv", "--target", "y", "--out", "plain.run", *SEARCH]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    loaded = set(json.loads(done.stderr))
    assert {"fernwood.search.snowball", "numba", "numpy", "pyarrow"} <= loaded
    assert not loaded & METHODS
    assert not loaded & {"cffi", "jinja2", "joblib", "matplotlib", "narwhals", "pandas._libs", "sklearn", "yaml"}
    parts_of_scipy = {name.split(".")[1] for name in loaded if name.startswith("scipy.")}
    assert {part for part in parts_of_scipy if not part.startswith("_")} <= {"version"}
    assert not {"fernwood.selectors", "fernwood.models", "fernwood.report.html", "fernwood.theory"} & loaded
