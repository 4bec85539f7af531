"""Runs on the command line that end before their time: every method stops on a signal and goes on; a disk is full."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.kernels.ready import ensure_compiled
from fernwood.run.standing import standing

# A signal comes when the first step is done.
SIGNAL = """
from fernwood.run import driving
offer = driving._Keeper.offer
def offer_and_signal(self, state):
    offer(self, state)
    os.kill(os.getpid(), {number})
driving._Keeper.offer = offer_and_signal
"""
# No file may be larger than this.
FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, resource.RLIM_INFINITY))
"""
METHODS = {
    "snowball": (),
    "subspace": ("--draws", 60, "--q", 6, "--rule", "probe", "--trees", 2),
    "ferns": ("--scans", 20, "--depth", 3),
    "boruta": ("--max-iter", 15, "--trees", 20),
    "elimination": ("--estimator", "naive-bayes", "--cv", 3),
    "filter": ("--estimator", "naive-bayes", "--cv", 3),
}


@pytest.fixture(scope="session", autouse=True)
def _kernels_compiled() -> None:
    ensure_compiled("trees", "snowball", "ferns", "ratios")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty columns of which two tell the target."""
    path = tmp_path_factory.mktemp("store") / "s.fern"
    x = np.random.default_rng(0).standard_normal((120, 30))
    fernwood.ingest(x, path, target=(x[:, 3] + x[:, 7] > 0).astype(int))
    return path


@pytest.mark.parametrize("method", METHODS)
def test_every_method_stops_on_a_signal_and_goes_on(run: Any, store: Path, tmp_path: Path, method: str) -> None:
    options = ("--method", method, "--seed", 1, *METHODS[method])
    number = signal.SIGINT if method in ("snowball", "ferns", "elimination") else signal.SIGTERM
    stopped = run("select", store, "--out", "r", *options, before=SIGNAL.format(number=int(number)))
    assert stopped.code == 3, stopped.err
    assert "fernwood: stopped after " in stopped.err
    assert "; go on with: fernwood resume r\n" in stopped.err
    assert "confirmed and" in stopped.out  # the best answer so far
    early = pq.read_table(tmp_path / "r" / "decisions.parquet")
    assert standing(tmp_path / "r").state == "stopped"
    assert run("resume", "r", "--quiet").code == 0
    assert run("select", store, "--out", "whole", "--quiet", *options).code == 0
    late, whole = (pq.read_table(tmp_path / name / "decisions.parquet") for name in ("r", "whole"))
    assert late.equals(whole)
    assert not late.equals(early)


def test_a_full_disk_loses_nothing_that_was_kept(run: Any, store: Path, tmp_path: Path) -> None:
    options = ("--method", "subspace", "--seed", 1, *METHODS["subspace"])
    run("select", store, "--out", "r", *options, before=SIGNAL.format(number=int(signal.SIGTERM)))
    before = (tmp_path / "r" / "checkpoint.npz").read_bytes()
    full = run("resume", "r", before=FULL.format(size=len(before) // 2))
    assert full.code == 2
    assert full.err.startswith("fernwood: the checkpoint of 'r' cannot be written: File too large; mend that")
    assert full.err.endswith("go on with: fernwood resume r\n")
    assert full.err.count("\n") == 1
    assert (tmp_path / "r" / "checkpoint.npz").read_bytes() == before
    shown = run("status", "r").out
    assert "go on with: fernwood resume r" in shown
    assert "last checkpoint " in shown
    assert run("resume", "r", "--quiet").code == 0
    assert run("select", store, "--out", "whole", "--quiet", *options).code == 0
    late, whole = (pq.read_table(tmp_path / name / "decisions.parquet") for name in ("r", "whole"))
    assert late.equals(whole)


def test_a_run_that_another_fernwood_began(run: Any, store: Path) -> None:
    began = "import fernwood.run.directory as d; d.__version__ = '99.0'; d.versions.__globals__['__version__'] = '99.0'"
    options = ("--method", "subspace", "--seed", 1, *METHODS["subspace"])
    assert run("select", store, "--out", "r", "--quiet", *options, before=began).code == 0
    refused = run("resume", "r")
    assert refused.code == 2
    assert "the run 'r' began with Fernwood '99.0' and this is " in refused.err
    assert "; go on with that Fernwood, or start again\n" in refused.err
    assert run("status", "r").code == 0
    assert run("export", "r", "--to", "csv").code == 0


def test_a_disk_too_full_for_a_run(run: Any, store: Path, tmp_path: Path) -> None:
    full = run("select", store, "--out", "r", before=FULL.format(size=100))
    assert full.code == 2
    assert "the run's run.json cannot be written: File too large; mend that, or choose another place" in full.err
    assert list(tmp_path.iterdir()) == []
