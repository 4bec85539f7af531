"""``fernwood plan``: what a search will take, before it begins."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.kernels.ready import ensure_compiled


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wide enough that ledgers count, and with columns that are found beside others: confirming them takes memory."""
    ensure_compiled("trees", "snowball", "ferns", "ratios")
    path = tmp_path_factory.mktemp("store") / "s.fern"
    make_madelon(300, 150_000, class_sep=2.0, random_state=0, out=path)
    return path


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("snowball", ("--jobs", 2)),
        ("subspace", ("--draws", 20, "--q", 500, "--trees", 1, "--jobs", 2)),
        pytest.param("ferns", ("--scans", 2, "--depth", 3, "--jobs", 1), marks=pytest.mark.long),
    ],
)
def test_the_memory_is_foretold_within_a_tenth(run_fresh: Any, store: Path, method: str, options: tuple[Any]) -> None:
    always = (store, "--method", method, "--memory", "600MB", "--seed", 0, *options, "--json")
    planned = run_fresh("plan", *always)
    assert planned.code == 0, planned.err
    told = json.loads(planned.out)
    assert told["memory"]["total"] <= 600 * 10**6
    memory = told["memory"]
    assert memory["least"] <= memory["total"]
    parts = memory["process"] + memory["table"] + memory["ledger"]
    working = memory["shared"] + told["threads"] * memory["a_thread"]
    assert 0 < memory["total"] - parts - max(working, memory["while_threads_rest"]) < 30 * 10**6
    searched = run_fresh("select", *always)
    assert searched.code == 0, searched.err
    assert told["memory"]["total"] == pytest.approx(searched.peak, rel=0.1)


def test_it_is_told_by_parts_and_the_least_does(run: Any, store: Path) -> None:
    done = run("plan", store, "--memory", "700MB", "--jobs", 2)
    assert done.code == 0, done.err
    for part in ("ledger of all columns", "2 threads", "together, of 700.0 MB", "the least that would do", "a wave"):
        assert part in done.out
    least = json.loads(run("plan", store, "--memory", "700MB", "--jobs", 2, "--json").out)["memory"]["least"]
    refused = run("plan", store, "--memory", str(least - 20_000_000), "--jobs", 2)
    assert refused.code == 2
    assert "is too small" in refused.err
    assert run("plan", store, "--memory", str(least + 5_000_000), "--jobs", 2).code == 0


def test_without_a_budget_half_of_what_is_available_is_taken_and_said(run: Any, store: Path) -> None:
    done = run("plan", store)
    assert done.code == 0, done.err
    assert "half of what is available here" in done.out
    told = json.loads(run("plan", store, "--json").out)
    assert told["memory"]["budget"] == pytest.approx(fernwood.budget.default_budget(), rel=0.3)


def test_a_table_is_planned_as_a_store_is(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((60, 20)), np.arange(60) % 2])
    header = ",".join([*(f"c{i}" for i in range(20)), "y"])
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header=header, comments="")
    done = run("plan", "t.csv", "--target", "y", "--method", "boruta", "--max-iter", 7)
    assert done.code == 0, done.err
    assert "t.csv: 60 rows, 20 columns" in done.out
    assert "7 iterations at most" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_options_are_those_of_select(run: Any, store: Path, tmp_path: Path) -> None:
    for not_of_a_plan in (("--out", "r"), ("--report",)):
        assert "has no option" in run("plan", store, *not_of_a_plan).err
    wrong = run("plan", store, "--scans", 5)
    assert wrong.code == 2
    assert "--scans is for ferns" in wrong.err
    assert "there is no file 't.csv'" in run("plan", "t.csv").err
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    missing = run("plan", "t.csv")
    assert missing.code == 2
    assert "--target is not given" in missing.err


LITTLE = """
from fernwood.cli import searching
searching.default_budget = lambda: 100_000_000
"""


def test_half_of_too_little_is_said_to_be_that(run: Any, store: Path) -> None:
    refused = run("select", store, before=LITTLE)
    assert refused.code == 2
    assert "100.0 MB, half of the memory that is available, is too small" in refused.err
    assert re.search(r"--memory \d+MB would do", refused.err)
