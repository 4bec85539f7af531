"""Elimination on the command line: from a table to an export, stopping, going on, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

QUICK = ("--method", "elimination", "--cv", 3, "--seed", 1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Twenty columns of which two tell the target; a value is missing, and one column is constant."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 20))
    sick = np.where(x[:, 3] + x[:, 7] > 0, "yes", "no")
    with (tmp_path / "t.csv").open("w") as file:
        file.write(",".join([*(f"g{i}" for i in range(20)), "flat", "sick"]) + "\n")
        for i, row in enumerate(x):
            cells = [f"{v:.3f}" for v in row]
            if i == 5:
                cells[2] = ""
            file.write(",".join([*cells, "1", sick[i]]) + "\n")
    return tmp_path / "t.csv"


@pytest.mark.parametrize("estimator", ["naive-bayes", "logistic", "tree", "sklearn.tree:DecisionTreeClassifier"])
def test_from_a_table_to_an_export(run: Any, table: Path, tmp_path: Path, estimator: str) -> None:
    done = run("select", table.name, "--target", "sick", "--out", "r", *QUICK, "--estimator", estimator)
    assert done.code == 0, done.err
    assert "calls of the learner, error 0." in done.out
    assert "above the tolerance" in done.out
    exported = run("export", "r", "--to", "json")
    rows = {row["column"]: row for row in json.loads(exported.out)}
    assert rows["g3"]["decision"] == rows["g7"]["decision"] == "confirmed"
    assert rows["flat"]["decision"] == "unexamined"
    assert any(row["reason"].startswith("removed in call ") for row in rows.values()) or "no removal" in done.out
    if ":" in estimator:  # a run directory does not decide what code is imported
        refused = run("resume", "r", "--json")
        assert refused.code == 2
        assert f"whose code would run; allow it with --estimator {estimator}" in refused.err
    again = run("resume", "r", "--json", "--estimator", estimator)
    assert again.code == 0
    summary = json.loads(again.out)
    assert summary["unit"] == "calls"
    assert len(summary["elimination"]["trace"]["error"]) == summary["n_draws"]
    assert {"g3", "g7"} <= set(summary["confirmed"])


def test_a_learner_that_fails_is_named_and_the_run_is_kept(run: Any, table: Path, tmp_path: Path) -> None:
    options = (*QUICK, "--estimator", "sklearn.naive_bayes:GaussianNB")
    done = run("select", table.name, "--target", "sick", "--out", "r", *options)
    assert done.code == 2
    assert "GaussianNB failed with 20 columns: ValueError: Input X contains NaN." in done.err
    assert "go on with: fernwood resume r" in done.err
    assert (tmp_path / "r" / "checkpoint.npz").is_file()
    assert run("resume", "r").code == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--estimator is not given; give naive-bayes, tree, logistic, forest, or a class as module:Class"),
        (("--estimator", "bayes"), "estimator is 'bayes'; give naive-bayes"),
        (("--estimator", "no_such_module:Class"), "No module named 'no_such_module'; is the module installed?"),
        (("--estimator", "sklearn.tree:Nothing"), "'sklearn.tree' has no 'Nothing'"),
        (("--estimator", "json:loads"), "which is no class with fit and predict"),
        (
            ("--estimator", "sklearn.multiclass:OneVsRestClassifier"),
            "'sklearn.multiclass:OneVsRestClassifier', which cannot be made without parameters: ",
        ),
        (("--estimator", "tree", "--n-relevant", "20"), "n_relevant is 20 of 20 usable columns"),
        (("--estimator", "tree", "--r-min", "9", "--r-max", "3"), "r_min is 9 and r_max 3"),
        (("--estimator", "tree", "--cv", "151"), "cv is 151 and the table has 150 rows"),
        (("--estimator", "tree", "--scoring", "best"), "scoring is 'best', which does not serve"),
        (("--estimator", "tree", "--fdr", "0.2"), "--fdr is for the snowball, random subspaces and ferns; add"),
        (("--estimator", "tree", "--depth", "3"), "--depth is for random subspaces, ferns and Boruta; add"),
    ],
)
def test_refusals(run: Any, table: Path, options: tuple[str, ...], sentence: str) -> None:
    done = run("select", table.name, "--target", "sick", "--method", "elimination", "--seed", 1, *options)
    assert done.code == 2
    assert sentence in done.err
    assert "Traceback" not in done.err
    assert done.err.count("\n") <= 2


def test_options_of_elimination_are_for_it_alone(run: Any, table: Path) -> None:
    done = run("select", table.name, "--target", "sick", "--estimator", "tree")
    assert done.code == 2
    assert (
        "--estimator is for elimination and the filter; add --method elimination or filter, or leave it out" in done.err
    )


def test_a_learner_of_classes_for_numbers(run: Any, table: Path) -> None:
    options = ("--method", "elimination", "--estimator", "naive-bayes")
    done = run("select", table.name, "--target", "g1", "--drop", "sick", *options)
    assert done.code == 2
    assert "the estimator naive-bayes is for classes and the target asks for regression" in done.err
