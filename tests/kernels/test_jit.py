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


FORMATS = """
import sys, warnings, fernwood
from fernwood.kernels import checksums, entries, genotypes, text
warnings.simplefilter("ignore")
for table in sys.argv[1:]:
    print(fernwood.ingest(table).fingerprint)
kernels = (
    checksums.checksum_columns, entries.parse_triplets, entries.parse_svmlight, entries.sort_by_column,
    genotypes.unpack_genotypes, text.copy_cells,
)
if hasattr(text.copy_cells, "stats"):
    print([len(k.signatures) for k in kernels], sum(sum(k.stats.cache_misses.values()) for k in kernels))
"""


def test_genotypes_and_sparse_text(tmp_path: Path) -> None:
    """The same stores without compiling; compiled, every kernel has one signature and comes from disk."""
    # Six people are a byte and a half of every variant; what fills the second byte up is zero.
    (tmp_path / "t.bed").write_bytes(b"\x6c\x1b\x01" + bytes(b if b % 2 == 0 else b & 15 for b in range(40, 58)))
    (tmp_path / "t.bim").write_text("".join(f"1\trs{i}\t0\t{i}\tA\tG\n" for i in range(9)))
    (tmp_path / "t.fam").write_text("".join(f"F I{i} 0 0 1 1\n" for i in range(6)))
    (tmp_path / "t.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 2\n3 2 0.12345678901234567\n2 2 -1e5\n"
    )
    (tmp_path / "t.svm").write_text("1 qid:3 1:2 2:0.12345678901234567\n0.12345678901234567 2:1 # no\n")
    outputs = {}
    for flag in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": flag}
        command = [sys.executable, "-c", FORMATS, *(str(tmp_path / f"t.{kind}") for kind in ("bed", "mtx", "svm"))]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert run.returncode == 0, run.stderr
        outputs[flag] = run.stdout.splitlines()
    assert outputs["0"][:3] == outputs["1"]
    assert outputs["0"][3] == "[1, 1, 1, 1, 1, 1] 0"


AHEAD = """
import pkgutil, warnings
from importlib import import_module
import numpy as np
import pandas as pd
import fernwood
from fernwood import kernels
from fernwood.kernels.families import FAMILIES, load_families

def signatures():
    modules = [import_module(f"fernwood.kernels.{m.name}") for m in pkgutil.iter_modules(kernels.__path__) if m.name != "__main__"]
    found = {f"{m.__name__}.{name}": value for m in modules for name, value in vars(m).items()}
    return {name: len(value.signatures) for name, value in found.items() if hasattr(value, "nopython_signatures")}

warnings.simplefilter("ignore")
load_families(*FAMILIES)
before = signatures()
rng = np.random.default_rng(0)
table = pd.DataFrame(rng.standard_normal((60, 30))).rename(columns="c{}".format).assign(site=list("abcd") * 15)
value = table["c0"] + table["c1"] * table["c2"]
for target in (value > 0, value):
    fernwood.SnowballSelector(goal="minimal", random_state=3).fit(table, target)
    fernwood.SubspaceSelector(q=8, n_iter=20, random_state=3).fit(table, target)
    fernwood.BorutaSelector(max_iter=6, n_estimators=10, random_state=3).fit(table, target)
fernwood.FernSelector(scans=20, depth=3, random_state=3).fit(table, value > 0)
fernwood.GainRatioTreeClassifier(random_state=3).fit(table, value > 0).predict(table)
print(sum(before.values()), {name: n for name, n in signatures().items() if n != before[name]})
"""


def test_what_searches_call_was_compiled_before() -> None:
    """No search compiles: families are called with the very types that searches call them with."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", AHEAD], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    n_compiled, compiled_late = run.stdout.split(maxsplit=1)
    assert int(n_compiled) > 30
    assert compiled_late == "{}\n"
