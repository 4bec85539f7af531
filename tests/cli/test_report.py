"""``fernwood report`` and ``--report``: of a finished run, of one that was stopped, and where it cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fernwood.kernels.ready import ensure_compiled


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    ensure_compiled("snowball")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 20))
    names = ["<img src=x onerror=alert(1)>", *(f"g{i}" for i in range(1, 20))]
    rows = [",".join([*map(str, row), "ill" if row[0] + row[1] > 0 else "well"]) for row in x.tolist()]
    path = tmp_path / "genes.csv"
    path.write_text("\n".join([",".join([*names, "state"]), *rows]))
    return path


def table_of(page: str) -> str:
    """What does not depend on the clock."""
    return page[page.index("<table") : page.index("</table>")]


def test_a_report_beside_the_answer(run: Any, table: Path, tmp_path: Path) -> None:
    done = run("select", "genes.csv", "--target", "state", "--seed", 1, "--out", "r", "--report", "--fdr", 0.2)
    assert done.code == 0, done.err
    page = (tmp_path / "r" / "report.html").read_text()
    assert "of 20 columns matter" in page
    assert "fernwood select genes.csv --target state --fdr 0.2 --out r --report --seed 1" in page
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "the report is r/report.html" in done.out
    (tmp_path / "r" / "report.html").unlink()
    assert run("report", "r").code == 0
    again = (tmp_path / "r" / "report.html").read_text()
    assert table_of(again) == table_of(page)
    elsewhere = run("report", "r", "--output", "page.html")
    assert elsewhere.code == 0
    assert (tmp_path / "page.html").read_text() == again
    refused = run("report", "r", "--output", "page.html")
    assert refused.code == 2
    assert refused.err == "fernwood: 'page.html' exists; choose another name or replace it with --force\n"
    assert run("report", "r", "--output", "page.html", "--force", "--quiet").out == ""


def test_bad_input_is_one_sentence(run: Any, table: Path, tmp_path: Path) -> None:
    lost = run("select", "genes.csv", "--target", "state", "--report")
    assert (lost.code, lost.err) == (
        2,
        "fernwood: --report is given without --out; give --out RUN, the directory that the report goes into\n",
    )
    (tmp_path / "empty").mkdir()
    nothing = run("report", "empty")
    assert nothing.code == 2
    assert "holds no result yet" in nothing.err
    astray = run("report", "nowhere")
    assert (astray.code, astray.err) == (
        2,
        "fernwood: there is no run 'nowhere'; make one with `fernwood select --out`\n",
    )
    nowhere = run("select", "genes.csv", "--target", "state", "--out", "r", "--seed", 0)
    assert nowhere.code == 0
    refused = run("report", "r", "--output", "no/such/place.html")
    assert refused.code == 2
    assert "there is no directory 'no/such' to write into; make it first" in refused.err
    (tmp_path / "folder").mkdir()
    device = run("report", "r", "--output", "folder", "--force")
    assert device.code == 2
    assert device.err == "fernwood: 'folder' is a directory; give the name of a file\n"
    os.mkfifo(tmp_path / "pipe")
    pipe = run("report", "r", "--output", "pipe", "--force")
    assert pipe.code == 2
    assert "'pipe' cannot be written: there is something of that name that is no file" in pipe.err
    assert (tmp_path / "pipe").is_fifo()


def test_a_disk_that_is_full(run: Any, table: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for it; what was there stays."""
    assert run("select", "genes.csv", "--target", "state", "--out", "r", "--seed", 0, "--report").code == 0
    before = (tmp_path / "r" / "report.html").read_bytes()
    limited = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); from fernwood.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", limited, "report", "r"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "the report 'r/report.html' cannot be written: File too large; mend that, or choose another" in done.stderr
    assert (tmp_path / "r" / "report.html").read_bytes() == before
    assert not list((tmp_path / "r").glob(".report*"))
