"""Compiled and plain Python give the same store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = """
import sys, fernwood
from fernwood.kernels import text
fernwood.ingest(sys.argv[1], target="y")
store = fernwood.ingest(sys.argv[1], target="y")
print(store.fingerprint, hasattr(text.parse_cells, "py_func"))
"""


def test_without_compiling(tmp_path: Path) -> None:
    rows = [
        f"{i * 0.37:.3f},word {i % 3},{'NA' if i % 5 == 0 else i},{i % 2},0.12345678901234567{i}" for i in range(40)
    ]
    (tmp_path / "t.csv").write_text("a,b,c,y,d\n" + "\r\n".join(rows))
    outputs = {
        flag: subprocess.run(
            [sys.executable, "-c", CHECK, str(tmp_path / "t.csv")],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
        ).stdout.split()
        for flag in ("0", "1")
    }
    assert (outputs["0"][1], outputs["1"][1]) == ("True", "False")
    assert outputs["0"][0] == outputs["1"][0]


def test_nothing_is_compiled_twice(tmp_path: Path) -> None:
    """The child that compiles uses the very types that the reader calls with: afterwards every kernel comes from disk."""
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,0.12345678901234567\n")
    code = (
        "import sys, fernwood; from fernwood.kernels import text\n"
        "try: fernwood.ingest(sys.argv[1], categorical=['b'])\n"
        "finally: print(sum(sum(getattr(text, k).stats.cache_misses.values()) "
        "for k in ('parse_cells', 'count_cells', 'copy_cells')), len(text.copy_cells.signatures))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.csv")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if run.returncode:
        pytest.fail(run.stderr)
    assert run.stdout == "0 1\n"
    assert list((tmp_path / "cache").rglob("*.ready"))
