"""`fernwood select --method filter`, from a table to an export, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 8)).round(3)
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"c{i}" for i in range(8)), "y"])
        writer.writerows([*row, int(row[2] + row[5] > 0)] for row in x)
    return path


def test_from_a_table_to_an_export_and_again(run: Any, table: Path) -> None:
    options = ("--method", "filter", "--estimator", "naive-bayes", "--cv", "4", "--seed", "1")
    done = run("select", table, "--target", "y", *options, "--out", "a.run")
    assert done.code == 0, done.err
    assert "gain ratio" in done.out
    assert "8 calls of the learner" in done.out
    exported = run("export", "a.run", "--to", "json")
    kept = [row["column"] for row in json.loads(exported.out) if row["decision"] == "confirmed"]
    assert set(kept) >= {"c2", "c5"}
    assert run("resume", "a.run").code == 0
    assert run("export", "a.run", "--to", "json").out == exported.out
    told = json.loads(run("select", table, "--target", "y", *options, "--json").out)
    assert told["method"] == "filter"
    assert set(told["confirmed"]) == set(kept)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--estimator is not given; give naive-bayes, tree"),
        (
            ["--estimator", "tree", "--step", "2"],
            "--step is for elimination; add --method elimination, or leave it out",
        ),
        (["--estimator", "oak"], "estimator is 'oak'; give naive-bayes, tree"),
        (["--estimator", "tree", "--fdr", "0.2"], "--fdr is for the snowball, random subspaces and ferns; add"),
        (["--estimator", "tree", "--cv", "500"], "cv is 500 and the table has 120 rows"),
    ],
)
def test_bad_input_gets_one_sentence(run: Any, table: Path, options: list[str], words: str) -> None:
    done = run("select", table, "--target", "y", "--method", "filter", *options)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
