"""Selecting on the command line: the main job from a table to an exported answer, stopping, going on, and bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.kernels.ready import ensure_compiled
from fernwood.saved import load_result

QUICK = ("--method", "subspace", "--rule", "probe", "--draws", 40, "--q", 10, "--trees", 3, "--seed", 1)


@pytest.fixture(scope="session", autouse=True)
def _trees_compiled() -> None:
    ensure_compiled("trees")
    ensure_compiled("snowball")
    ensure_compiled("ferns")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Thirty columns of which two tell the target, one is text and one is constant."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 30))
    sick = np.where(x[:, 3] + x[:, 7] > 0, "yes", "no")
    names = [f"g{i}" for i in range(30)]
    with (tmp_path / "t.csv").open("w") as file:
        file.write(",".join([*names, "site", "flat", "sick"]) + "\n")
        for i, row in enumerate(x):
            file.write(",".join([*(f"{v:.3f}" for v in row), "abc"[i % 3], "1", sick[i]]) + "\n")
    return tmp_path / "t.csv"


def decisions(text: str) -> dict[str, str]:
    rows = text.splitlines()[1:]
    return {row.split(",")[0].strip('"'): row.split(",")[2].strip('"') for row in rows}


def test_from_a_table_to_an_export(run: Any, table: Path, tmp_path: Path) -> None:
    done = run("select", table.name, "--target", "sick", "--out", "r", *QUICK)
    assert done.code == 0, done.err
    assert "g3 " in done.out
    assert "confirmed and" in done.out
    assert "of 32 columns, for the target 'sick' (classification, 120 rows)" in done.out
    assert "40 draws of 10 columns" in done.out
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == [
        "checkpoint-before.npz",
        "checkpoint.npz",
        "decisions.parquet",
        "events.jsonl",
        "insight.json",
        "result.json",
        "run.json",
        "table.fern",
    ]
    exported = run("export", "r", "--to", "csv")
    assert exported.code == 0
    decided = decisions(exported.out)
    assert len(decided) == 32
    assert decided["g3"] == decided["g7"] == "confirmed"
    assert decided["flat"] == "unexamined"


def test_the_default_is_the_snowball(run: Any, table: Path) -> None:
    done = run("select", table.name, "--target", "sick", "--seed", 1, "--out", "r")
    assert done.code == 0, done.err
    assert "by itself" in done.out
    assert "told" in done.out.splitlines()[1]
    assert "false discovery rate 0.1" in done.out
    rows = json.loads(run("export", "r", "--to", "json").out)
    tested = ["p", "q", "p_from", "group", "partners"]
    assert list(rows[0]) == ["column", "position", "decision", "reason", "draws", "score", *tested]
    assert {row["column"] for row in rows if row["decision"] == "confirmed"} == {"g3", "g7"}
    assert all(0 < row["p"] <= 1 for row in rows)
    said = json.loads(run("resume", "r", "--json").out)
    assert (said["method"], said["parameters"]["fdr"]) == ("snowball", 0.1)
    assert sorted(said["confirmed"]) == ["g3", "g7"]


def test_boruta_from_a_table_to_an_export(run: Any, table: Path) -> None:
    options = ("--method", "boruta", "--max-iter", 20, "--trees", 60, "--perc", 99, "--level", 0.1, "--seed", 1)
    done = run("select", table.name, "--target", "sick", "--out", "r", *options)
    assert done.code == 0, done.err
    assert "above the best shadow" in done.out
    assert " iterations, " in done.out
    rows = json.loads(run("export", "r", "--to", "json").out)
    assert {"g3", "g7"} <= {row["column"] for row in rows if row["decision"] == "confirmed"}
    said = json.loads(run("resume", "r", "--json").out)
    assert (said["method"], said["unit"], said["parameters"]["n_estimators"]) == ("boruta", "iterations", 60)
    fixed = run("select", table.name, "--target", "sick", "--json", "--fixed-shadows", *options)
    assert json.loads(fixed.out)["parameters"]["correction"] == "fixed-shadows"


@pytest.mark.parametrize("method", ["subspace", "boruta"])
def test_ferns_as_the_learner_of_another_method(run: Any, table: Path, method: str) -> None:
    options = ("--method", method, "--learner", "ferns", "--depth", 4, "--seed", 1)
    many = ("--draws", 100, "--q", 20) if method == "subspace" else ("--max-iter", 20, "--trees", 300)
    done = run("select", table.name, "--target", "sick", "--out", "r", *options, *many)
    assert done.code == 0, done.err
    said = json.loads(run("resume", "r", "--json").out)
    assert {"g3", "g7"} <= set(said["confirmed"])
    assert (said["method"], said["parameters"]["learner"], said["parameters"]["max_depth"]) == (method, "ferns", 4)


def test_boruta_says_what_to_do_about_undecided_columns(run: Any, table: Path) -> None:
    done = run("select", table.name, "--target", "sick", "--method", "boruta", "--max-iter", 2, "--trees", 20)
    assert "31 tentative after 2 iterations" in done.out
    assert "a larger max_iter may decide them" in done.out


def test_the_snowball_keeps_its_budget(run_fresh: Any, tmp_path: Path) -> None:
    fernwood.datasets.make_madelon(200, 10_000, class_sep=2.0, random_state=0, out=tmp_path / "wide.fern")
    small = run_fresh("select", "wide.fern", "--memory", "150MB")
    assert small.code == 2
    least = small.err.split("at least ")[1].split()[0]
    done = run_fresh("select", "wide.fern", "--memory", f"{float(least) * 1.02}MB", "--json")
    assert done.code == 0, done.err
    assert done.peak <= json.loads(done.out)["machine"]["memory"]


def test_forms_of_an_export_agree(run: Any, table: Path, tmp_path: Path) -> None:
    run("select", table.name, "--target", "sick", "--out", "r", "--quiet", *QUICK)
    for form in ("csv", "parquet", "json"):
        assert run("export", "r", "--to", form, "--output", f"d.{form}").code == 0
    rows = pa_csv.read_csv(tmp_path / "d.csv").to_pylist()
    assert pq.read_table(tmp_path / "d.parquet").to_pylist() == rows
    assert json.loads((tmp_path / "d.json").read_text()) == rows
    assert list(rows[0]) == ["column", "position", "decision", "reason", "draws", "score", "wins"]
    only = run("export", "r", "--to", "json", "--only", "confirmed")
    assert {row["decision"] for row in json.loads(only.out)} == {"confirmed"}
    again = run("export", "r", "--to", "csv", "--output", "d.csv")
    assert (again.code, "d.csv' exists" in again.err) == (2, True)
    assert run("export", "r", "--to", "csv", "--output", "d.csv", "--force").code == 0


def test_equal_runs_export_equal_bytes(run: Any, table: Path, tmp_path: Path) -> None:
    """Of a table or its store, on one thread or two."""
    run("ingest", table.name, "--target", "sick", "--out", "s.fern", "--quiet")
    run("select", table.name, "--target", "sick", "--out", "a", "--quiet", "--jobs", 1, *QUICK)
    run("select", "s.fern", "--out", "b", "--quiet", "--jobs", 2, *QUICK)
    for form in ("csv", "parquet", "json"):
        for name in "ab":
            assert run("export", name, "--to", form, "--output", f"{name}.{form}").code == 0
        assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()
    run("select", "s.fern", "--out", "c", "--quiet", *QUICK[:-1], 2)
    assert run("export", "c", "--to", "csv").out != (tmp_path / "a.csv").read_text()


def test_json_says_all_that_people_read(run: Any, table: Path) -> None:
    done = run("select", table.name, "--target", "sick", "--json", "--memory", "600MB", *QUICK)
    assert done.code == 0
    assert done.err == ""
    said = json.loads(done.out)
    assert said["confirmed"][:2] in (["g3", "g7"], ["g7", "g3"])
    assert said["counts"]["unexamined"] == 1
    assert (said["n_draws"], said["seed"], said["finished"], said["n_usable"]) == (40, 1, True, 31)
    assert said["parameters"]["q"] == 10
    assert said["machine"]["memory"] == 600_000_000
    assert 0 < said["machine"]["peak_memory"] < 600_000_000


def test_shadows_are_the_default_of_random_subspaces(run: Any, table: Path) -> None:
    done = run("select", table.name, "--target", "sick", "--method", "subspace", "--q", 10, "--seed", 0)
    assert done.code == 0, done.err
    assert {"g3", "g7"} <= {line.split()[0] for line in done.out.splitlines() if "  confirmed  " in line}
    assert "more important than" in done.out
    assert ["column", "decision", "p", "q", "told", "effect"] in [line.split() for line in done.out.splitlines()]
    said = json.loads(
        run("select", table.name, "--target", "sick", "--method", "subspace", "--rule", "mirror", "--json").out
    )
    assert (said["against"], said["parameters"]["importance"]) == ("mirror", "permutation")


def test_ferns_from_a_table_to_an_export_and_again(run: Any, table: Path) -> None:
    ferns = ("--target", "sick", "--method", "ferns", "--scans", 200, "--depth", 4, "--q", 10, "--seed", 1)
    done = run("select", table.name, *ferns, "--out", "r")
    assert done.code == 0, done.err
    assert {"g3", "g7"} <= {line.split()[0] for line in done.out.splitlines() if "  confirmed  " in line}
    assert "draws of 10 columns, " in done.out
    assert "ferns a column (median), seed 1" in done.out
    exported = run("export", "r", "--to", "csv").out
    assert decisions(exported)["g3"] == "confirmed"
    assert run("resume", "r", "--quiet").code == 0
    assert run("export", "r", "--to", "csv").out == exported
    paper = run("select", table.name, *ferns, "--rule", "max-shadow", "--blind", "--json")
    said = json.loads(paper.out)
    assert {"g3", "g7"} <= set(said["confirmed"])
    assert (said["parameters"]["sequential"], said["parameters"]["rule"]) == (False, "max-shadow")
    shown = run("select", table.name, *ferns, "--rule", "max-shadow")
    assert ["column", "decision", "importance", "draws", "effect"] in [line.split() for line in shown.out.splitlines()]


def test_nothing_found_says_why(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    np.save(tmp_path / "n.npy", np.c_[rng.standard_normal((60, 8)), np.arange(60) % 2])
    done = run("select", "n.npy", "--target", 8, "--method", "subspace", "--draws", 5, "--q", 4, "--seed", 0)
    assert done.code == 0
    assert "0 confirmed" in done.out
    assert "no column is confirmed: " in done.out
    assert "draws each (median)" in done.out


def test_a_regression_and_a_drop(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((150, 10))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", 3 * x[:, 2] + rng.standard_normal(150))
    done = run("select", "x.npy", "--target", "y.npy", "--drop", "x9", "--json", *QUICK[:6], "--seed", 0)
    said = json.loads(done.out)
    assert (said["task"], said["n_columns"]) == ("regression", 9)
    assert "x2" in said["confirmed"]


# A search that rests after every round, so that it is at work for seconds however small it is.
RESTING = """
import time
from fernwood.cli import main
from fernwood.run import driving
offer = driving._Keeper.offer
def offer_and_rest(self, state):
    offer(self, state)
    time.sleep(0.1)
driving._Keeper.offer = offer_and_rest
main()
"""


def start(tmp_path: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RESTING, *map(str, arguments)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if path.exists():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_and_resumed_is_as_in_one_go(run: Any, table: Path, tmp_path: Path, number: int) -> None:
    run("ingest", table.name, "--target", "sick", "--out", "s.fern", "--quiet")
    long = ("--method", "subspace", "--rule", "probe", "--draws", 1000, "--q", 10, "--trees", 2, "--seed", 3)
    process = start(tmp_path, "select", "s.fern", "--out", "r", *long)
    wait_for(tmp_path / "r" / "checkpoint.npz", process)
    assert "r: a process works on it (subspace)\nsearching: " in run("status", "r").out
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "fernwood: stopped after" in err
    stands = run("status", "r").out
    assert "r: stopped before its end (subspace)" in stands
    assert "of 1,000 draws)" in stands
    assert "go on with: fernwood resume r" in stands
    assert "of 1,000 draws; go on with: fernwood resume r" in err
    assert "confirmed and" in out  # the best answer so far
    early = run("export", "r", "--to", "csv")
    assert early.code == 0
    assert "warning: the run stopped after" in early.err
    assert run("resume", "r", "--quiet").code == 0
    run("select", "s.fern", "--out", "whole", "--quiet", *long)
    resumed, whole = (run("export", name, "--to", "csv") for name in ("r", "whole"))
    assert resumed.out == whole.out
    assert resumed.out != early.out
    assert resumed.err == ""


def test_killed_and_resumed_is_as_in_one_go(run: Any, table: Path, tmp_path: Path) -> None:
    run("ingest", table.name, "--target", "sick", "--out", "s.fern", "--quiet")
    long = ("--method", "subspace", "--rule", "probe", "--draws", 1000, "--q", 10, "--trees", 2, "--seed", 4)
    process = start(tmp_path, "select", "s.fern", "--out", "r", *long)
    wait_for(tmp_path / "r" / "checkpoint.npz", process)
    process.kill()
    process.communicate()
    assert "r: its process ended without a word (subspace)" in run("status", "r").out
    assert run("export", "r", "--to", "csv").code == 2  # no result yet, in one sentence
    assert run("resume", "r", "--quiet").code == 0
    run("select", "s.fern", "--out", "whole", "--quiet", *long)
    assert run("export", "r", "--to", "csv").out == run("export", "whole", "--to", "csv").out


def test_stopped_without_a_run_keeps_the_answer_but_nothing_to_go_on_with(table: Path, tmp_path: Path) -> None:
    process = start(
        tmp_path, "select", table.name, "--target", "sick", "--method", "subspace", "--draws", 10**4, "--q", 5
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    while "searching" not in line:
        assert line, process.communicate()
        line = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "--out RUN would keep it" in err
    assert "confirmed and" in out


def test_a_finished_run_resumes_to_itself(run: Any, table: Path) -> None:
    first = run("select", table.name, "--target", "sick", "--out", "r", "--json", *QUICK)
    again = run("resume", "r", "--json")
    assert again.code == 0
    assert json.loads(run("status", "r", "--json").out)["state"] == "done"
    assert "decisions for all columns: fernwood export r --to csv" in run("status", "r").out
    one, two = json.loads(first.out), json.loads(again.out)
    assert {**one, "machine": 0} == {**two, "machine": 0}


def test_a_moved_store_is_asked_for(run: Any, table: Path, tmp_path: Path) -> None:
    run("ingest", table.name, "--target", "sick", "--out", "s.fern", "--quiet")
    run("select", "s.fern", "--out", "r", "--quiet", *QUICK)
    (tmp_path / "s.fern").rename(tmp_path / "moved.fern")
    lost = run("resume", "r")
    assert lost.code == 2
    assert "there is no store" in lost.err
    assert run("resume", "r", "--store", "moved.fern", "--quiet").code == 0
    run("ingest", table.name, "--target", "site", "--out", "other.fern", "--quiet")
    other = run("resume", "r", "--store", "other.fern")
    assert other.code == 2
    assert "is not the one that 'r' began with (target: 'sick' there, 'site' here); say with" in other.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["t.csv"], "--target is not given; name the column"),
        (["t.csv", "--target", "sic"], "there is no target 'sic'"),
        (["nothing.csv", "--target", "y"], "nothing.csv"),
        (["t.csv", "--target", "sick", "--method", "subspace", "--alpha", "2"], "alpha is 2.0; it is a share"),
        (["t.csv", "--target", "sick", "--method", "subspace", "--q", "0"], "q is 0; give a number of columns"),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--draws", "0"],
            "n_iter is 0; it must be an integer from 1 on",
        ),
        (["t.csv", "--target", "sick", "--method", "subspace", "--trees", "0"], "n_trees is 0"),
        (["t.csv", "--target", "sick", "--jobs", "-1"], "--jobs is -1; give a number of threads"),
        (["t.csv", "--target", "sick", "--jobs", "4097"], "--jobs is 4097; give a number of threads up to 4096"),
        (["t.csv", "--target", "sick", "--seed", "-1"], "random_state is -1"),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--max-features", "many"],
            "--max-features is 'many'; give a number",
        ),
        (["t.csv", "--target", "sick", "--max-rows", "few"], "--max-rows is 'few'; give a number of rows, or all"),
        (
            ["t.csv", "--target", "sick", "--max-rows", "12"],
            "max_rows is 12; it must be an integer from 100 on, or 'all'",
        ),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--patch-rows", "few"],
            "--patch-rows is 'few'; give a number of rows, a share such as 0.5, or all",
        ),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--patch-rows", "1.5"],
            "patch_rows is 1.5; give a number of rows from 1 on",
        ),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--rule", "probe", "--importance", "permutation"],
            "give max_samples=0.7",
        ),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--rule", "mirror", "--importance", "impurity"],
            "use importance='permutation', or rule='shadow'",
        ),
        (["t.csv", "--target", "sick", "--method", "subspace", "--fdr", "0"], "fdr is 0.0; it is a rate"),
        (["t.csv", "--target", "sick", "--fixed-shadows"], "--fixed-shadows is for Boruta; add --method boruta"),
        (["t.csv", "--target", "sick", "--max-iter", "9"], "--max-iter is for Boruta; add --method boruta"),
        (["t.csv", "--target", "sick", "--method", "boruta", "--max-iter", "0"], "max_iter is 0; it must be"),
        (
            ["t.csv", "--target", "sick", "--method", "boruta", "--fdr", "0.2"],
            "--fdr is not for Boruta, which tests at a level; give --level",
        ),
        (["t.csv", "--target", "sick", "--method", "boruta", "--perc", "0"], "perc is 0.0; it is a percentile"),
        (
            ["t.csv", "--target", "sick", "--rule", "probe"],
            "--rule is for random subspaces and ferns; add --method subspace or",
        ),
        (["t.csv", "--target", "sick", "--memory", "3MB"], "--memory 3.0 MB is too small"),
        (
            ["t.csv", "--target", "sick", "--columns", "flat", "--columns", "g1"],
            "1 of n_features = 2 columns are usable",
        ),
        (["t.csv", "--target", "sick", "--out", "there"], "exists and is not a run"),
        (["t.csv", "--target", "sick", "--method", "magic"], "'magic' is not"),
        (["t.csv", "--target", "sick", "--fdr", "1.5"], "fdr is 1.5; it is a rate: give a number between 0 and 1"),
        (["t.csv", "--target", "sick", "--trees", "3"], "--trees is for random subspaces and Boruta; add --method"),
        (["t.csv", "--target", "sick", "--scans", "3"], "--scans is for ferns; add --method ferns, or leave it out"),
        (
            ["t.csv", "--target", "sick", "--method", "subspace", "--rule", "max-shadow"],
            "rule is 'max-shadow'; it must be one of 'shadow', 'mirror', 'probe', 'importance'",
        ),
        (
            ["t.csv", "--target", "sick", "--method", "ferns", "--depth", "20"],
            "a fern of depth 20 takes 8.4 MB a class",
        ),
        (["t.csv", "--target", "sick", "--method", "ferns", "--rule", "probe"], "rule is 'probe'; it must be one of"),
        (["t.csv", "--target", "sick", "--method", "ferns", "--trees", "3"], "--trees is for random subspaces"),
        (["t.csv", "--target", "g0", "--method", "ferns"], "is numbers, and ferns tell classes apart; use trees"),
        (["t.csv", "--target", "sick", "--learner", "ferns"], "--learner is for random subspaces and Boruta; add --m"),
        (
            ["t.csv", "--target", "g0", "--method", "subspace", "--learner", "ferns"],
            "is numbers, and ferns tell classes apart; use learner='extra'",
        ),
        (
            ["t.csv", "--target", "sick", "--method", "boruta", "--learner", "random"],
            "learner is 'random'; it must be one of 'extra', 'cart', 'ferns'",
        ),
        (["t.csv", "--target", "sick", "--method", "boruta", "--alpha", "0.1"], "tests at a level; give --level"),
        (["t.csv", "--target", "sick", "--method", "boruta", "--q", "9"], "--q is for random subspaces and ferns; add"),
        (["t.csv", "--target", "sick", "--depth", "3"], "--depth is for random subspaces, ferns and Boruta; add"),
        (["t.csv", "--target", "sick", "--goal", "best"], "'best' is not"),
        (["t.csv", "--target", "sick", "--goal", "minimal", "--slack", "2"], "slack is 2.0; it is the share"),
        (
            ["t.csv", "--target", "sick", "--method", "ferns", "--goal", "minimal"],
            "--goal is for the snowball and random subspaces; add --method snowball or subspace",
        ),
    ],
)
def test_bad_input_gets_one_sentence(run: Any, table: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "diary.txt").write_text("mine")
    before = sorted(p.name for p in tmp_path.iterdir())
    done = run("select", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1, done.err
    assert done.out == "" or "columns," in done.out  # the table may have been read already
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_store_has_its_roles_settled(run: Any, table: Path) -> None:
    """And what was read of the table: another layer is not in it."""
    run("ingest", table.name, "--target", "sick", "--out", "s.fern", "--quiet")
    for option in (["--target", "site"], ["--layer", "counts"], ["--key", "id"], ["--empty-chunks"]):
        done = run("select", "s.fern", *option)
        assert done.code == 2
        assert f"{option[0]} is given and 's.fern' is a store, which has it settled; leave it out" in done.err


def test_an_existing_run_is_replaced_by_force_alone(run: Any, table: Path) -> None:
    assert run("select", table.name, "--target", "sick", "--out", "r", "--quiet", *QUICK).code == 0
    again = run("select", table.name, "--target", "sick", "--out", "r", "--quiet", *QUICK)
    assert again.code == 2
    assert "holds a run already; go on with it (fernwood resume)" in again.err
    assert run("select", table.name, "--target", "sick", "--out", "r", "--quiet", "--force", *QUICK).code == 0


@pytest.mark.parametrize("command", [("resume", "no"), ("export", "no", "--to", "csv")])
def test_what_is_no_run_gets_one_sentence(run: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "no").mkdir()
    done = run(*command)
    assert done.code == 2
    assert done.err.count("\n") == 1


def test_hostile_names_stay_text(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((80, 4))
    names = ["[red]a[/red]", "\"b,'\"'", "<script>", "=1+2"]
    import pyarrow as pa

    columns = {name: x[:, i] for i, name in enumerate(names)}
    pq.write_table(pa.table({**columns, "y": (x[:, 0] > 0).astype(int)}), tmp_path / "h.parquet")
    done = run(
        "select",
        "h.parquet",
        "--target",
        "y",
        "--method",
        "subspace",
        "--rule",
        "probe",
        "--draws",
        20,
        "--seed",
        0,
        "--out",
        "r",
        "--q",
        4,
    )
    assert done.code == 0, done.err
    assert "[red]a[/red]" in done.out
    run("export", "r", "--to", "csv", "--output", "d.csv")
    assert sorted(pa_csv.read_csv(tmp_path / "d.csv").column("column").to_pylist()) == sorted(names)


def test_inside_the_budget(run_fresh: Any, tmp_path: Path) -> None:
    """Many columns: the ledger grows with the table, and is part of what was promised."""
    fernwood.datasets.make_madelon(60, 150_000, random_state=0, out=tmp_path / "wide.fern")
    small = run_fresh("select", "wide.fern", "--memory", "150MB", "--method", "subspace", "--draws", 5)
    assert small.code == 2
    least = next(word for word in small.err.split("at least ")[1].split())
    done = run_fresh(
        "select", "wide.fern", "--memory", f"{float(least) * 1.02}MB", "--method", "subspace", "--draws", 5, "--json"
    )
    assert done.code == 0, done.err
    assert done.peak <= json.loads(done.out)["machine"]["memory"]


# Covariates, groups of rows, relations -------------------------------------------------------------------------------


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    """Two columns that tell only together, a copy, a site that goes with a column, and three rows of every patient."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 450
    frame = pd.DataFrame(rng.standard_normal((n, 60)), columns=[f"g{i}" for i in range(60)])
    frame["g50"] = frame["g20"]
    frame["site"], frame["patient"] = rng.choice(list("abc"), n), np.arange(n) // 3
    y = 2 * ((frame["g3"] > 0) ^ (frame["g9"] > 0)) + (frame["g20"] > 0)
    frame["y"] = y.map({0: "w", 1: "x", 2: "y", 3: "z"})
    frame.to_csv(tmp_path / "cohort.csv", index=False)
    return tmp_path / "cohort.csv"


def test_covariates_and_groups_are_named_at_the_command_line(run: Any, cohort: Path) -> None:
    how = ["select", cohort.name, "--target", "y", "--groups", "patient", "--given", "site", "--max-contexts", 200]
    done = run(*how, "--seed", 0, "--out", "r")
    assert done.code == 0, done.err
    heading = next(line for line in done.out.splitlines() if line.startswith("column"))
    assert "more beside" in heading
    assert "group 1" in done.out
    assert "contexts of random columns met any two" in done.out
    shown = json.loads(run(*how, "--seed", 0, "--json").out)
    assert shown["partners"]["g3"][0] == "g9"
    assert sorted(shown["groups"][0]) == ["g20", "g50"]
    assert shown["n_groups"] == 150
    assert shown["warnings"] == []
    table = run("export", "r", "--to", "csv").out
    assert decisions(table)["site"] == "unexamined"
    assert "given: in every context" in table
    row = next(line for line in table.splitlines() if line.startswith('"g3"'))
    assert '""g9""' in row  # a list, as JSON


def test_few_that_suffice(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """y is g0 and g1 together; g2 is g0 once more, a little off."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 12))
    x[:, 2] = x[:, 0] + 0.1 * rng.standard_normal(400)
    header = ",".join([f"g{i}" for i in range(12)] + ["y"])
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    np.savetxt(tmp_path / "few.csv", np.c_[x, y], delimiter=",", header=header, comments="", fmt="%.5f")
    monkeypatch.chdir(tmp_path)
    options = ("--target", "y", "--task", "classification", "--goal", "minimal", "--seed", 1)
    done = run("select", "few.csv", *options, "--out", "r")
    assert done.code == 0
    assert "2 of the 3 confirmed columns suffice: trees leave" in done.out
    assert "suffices" in done.out
    exported = [json.loads(line.rstrip(",")) for line in run("export", "r", "--to", "json").out.splitlines()[1:-1]]
    kept = {row["column"] for row in exported if row["minimal"]}
    assert kept in ({"g0", "g1"}, {"g2", "g1"})
    (other,) = {"g0", "g2"} - kept
    assert next(row for row in exported if row["column"] == other)["stand_ins"] == sorted(kept - {"g1"})
    told = json.loads(run("resume", "r", "--json").out)
    assert set(told["minimal"]["kept"]) == kept
    assert told["parameters"]["goal"] == "minimal"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--given", "sitee"], "fernwood: the covariate 'sitee' is no column of the table; did you mean 'site'?"),
        (["--given", "site", "--method", "subspace"], "--given is for the snowball; add --method snowball"),
        (["--groups", "nobody"], "there are no groups 'nobody': neither a column of the table nor a file"),
        (["--given", "patient"], "the covariates 'patient' divide"),
    ],
)
def test_covariates_and_groups_that_are_not_there(run: Any, cohort: Path, options: list[str], words: str) -> None:
    if "patient" in options:
        text = cohort.read_text().splitlines()
        place = text[0].split(",").index("patient")
        named = [line.split(",") for line in text]
        for cells in named[1:]:
            cells[place] = f"p{cells[place]}"  # a category each, not a number
        cohort.write_text("\n".join(",".join(cells) for cells in named) + "\n")
    done = run("select", cohort.name, "--target", "y", *options)
    assert done.code == 2
    assert words in done.err


SLOW_DISK = """
import time
from fernwood.files import FileReader
read_into = FileReader.read_into
def slowly(self, buffer, offset):
    if self.path.suffix == ".npy":
        time.sleep(0.05)
    read_into(self, buffer, offset)
FileReader.read_into = slowly
"""


def test_a_search_that_waits_for_the_disk_says_so(run: Any, tmp_path: Path) -> None:
    make_madelon(200, 40, class_sep=2.0, random_state=0, out=tmp_path / "s.fern")
    how = ("select", "s.fern", "--seed", 0, "--jobs", 1, "--max-contexts", 0)
    done = run(*how, before=SLOW_DISK)
    assert done.code == 0, done.err
    assert "waited for the disk for" in done.out
    told = json.loads(run(*how, "--json").out)["machine"]
    assert told["bytes_read"] > 200 * 40
    assert told["share_reading"] < 0.5


def test_one_numbering_for_everything_that_is_given(run: Any, tmp_path: Path) -> None:
    """A position is one in the table, also where the target and columns left out stand before it."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 8))
    with (tmp_path / "t.csv").open("w") as file:
        file.write(",".join(["sick", *(f"g{i}" for i in range(1, 9))]) + "\n")
        for row in x:
            file.write(",".join([str(int(row[0] + row[2] > 0)), *(f"{v:.3f}" for v in row)]) + "\n")
    quick = ("--seed", 1, "--quiet", "--max-contexts", 0)
    ways = {
        "table": ("select", "t.csv", "--target", 0, "--drop", 2, "--given", 3),
        "end": ("select", "t.csv", "--target", "-9", "--drop", "g2", "--given", "-6"),
        "name": ("select", "t.csv", "--target", "sick", "--drop", "g2", "--given", "g3"),
        "store": ("select", "t.fern", "--given", 3),
    }
    assert run("ingest", "t.csv", "--target", 0, "--drop", 2, "--out", "t.fern").code == 0
    answers = []
    for name, command in ways.items():
        done = run(*command, "--out", name, *quick)
        assert done.code == 0, done.err
        kept = json.loads((tmp_path / name / "run.json").read_text())
        assert kept["parameters"]["given"] == ["g3"], name
        found = load_result(tmp_path / name).to_table().select(["column", "decision", "p"]).to_pylist()
        assert {"column": "g3", "decision": "unexamined", "p": 1.0} in found
        answers.append(found)
    assert answers == 4 * answers[:1]
    for given, words in ((2, "column 2 of the table is not in the store"), ("1_0", "'1_0' is no column of the table")):
        done = run("select", "t.fern", "--given", given, *quick)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert words in done.err
