"""Kills at random, in every kind of search: the bounded part of ``python -m torture kills``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fernwood
from torture.dying import Death
from torture.forking import Ended, Forker
from torture.jobs import METHODS, write_table
from torture.kills import CASES, Kills

SEED = 12
KILLED = (
    *("ingest", "ingest-force", "snowball", "subspace-srs", "ferns", "boruta", "elimination-rvers", "filter"),
    "fit-SubspaceSelector",
)


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Kills:
    return Kills(tmp_path_factory.mktemp("kills"), SEED, forker, fresh=False)


@pytest.mark.parametrize("name", KILLED)
def test_the_answer_after_kills_is_that_of_a_run_in_one_go(kills: Kills, name: str) -> None:
    (case,) = (case for case in CASES if case.name == name)
    assert kills.chain(1000 + KILLED.index(name), case, most=3).faults == []


def test_every_method_is_killed_in_full_size() -> None:
    assert {options[options.index("--method") + 1] for options in METHODS.values()} == {
        *("snowball", "subspace", "ferns", "boruta", "elimination", "filter")
    }
    assert {case.name for case in CASES} >= {*METHODS, *KILLED}


def test_a_difference_is_told(kills: Kills, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here every answer is another one."""
    (case,) = (case for case in CASES if case.name == "subspace-srs")
    kills.chain(0, case, most=1)  # knows the answer now
    monkeypatch.setattr("torture.kills.answer_of", lambda _: {"decisions.parquet": b"other", "run.json": b""})
    outcome = kills.chain(0, case, most=1)
    assert outcome.faults
    assert outcome.faults[0].startswith(f"seed {SEED}, chain 0 (subspace-srs; ")


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_a_process_dies_at_the_call_that_was_chosen(tmp_path: Path, how: str) -> None:
    program = (
        "import os, sys; from torture.dying import Death, die_at; die_at(Death(3, sys.argv[1]))\n"
        "file = os.open('f', os.O_RDWR | os.O_CREAT)\n"
        "for _ in range(5): os.write(file, b'1234')\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, how],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "f").read_bytes() == {"before": b"1234", "half": b"123412", "after": b"12341234"}[how]


def test_a_child_of_the_forker_dies_alone(tmp_path: Path, forker: Forker) -> None:
    write_table(tmp_path / "t.csv")
    command = ("ingest", "t.csv", "--target", "y", "--out", "s.fern", "--quiet")
    ended = forker.fernwood(*command, cwd=tmp_path, death=Death(1, "before")).wait()
    assert ended is not None
    assert ended.was_killed
    whole = forker.fernwood(*command, cwd=tmp_path).wait()
    assert whole is not None
    assert (whole.code, whole.err) == (0, "")
    assert whole.calls > 10


@pytest.mark.parametrize("found_by", ["ingest", "open"])
def test_a_store_whose_replacement_is_killed_is_there(found_by: str, tmp_path: Path, forker: Forker) -> None:
    """At every call of an ingest with --force; between two of them the store has another name for an instant."""
    write_table(tmp_path / "t.csv", n_rows=20, n_columns=4)
    command = ("ingest", "t.csv", "--target", "y", "--out", "s.fern", "--quiet")

    def ended(*more: str, death: Death | None = None) -> Ended:
        told = forker.fernwood(*command, *more, cwd=tmp_path, **({} if death is None else {"death": death})).wait()
        assert told is not None
        return told

    ended()
    n_calls, n_hidden = ended("--force").calls, 0
    for call in range(1, n_calls + 1):
        assert ended("--force", death=Death(call, "after")).was_killed
        n_hidden += not (tmp_path / "s.fern").exists()
        if found_by == "ingest":
            again = ended()
            assert again.code == 2
            assert "exists; choose another name or replace it with --force" in again.err
        with fernwood.open(tmp_path / "s.fern") as store:
            store.verify()
    assert n_hidden == 1
    assert ended("--force").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.fern", "t.csv"]
