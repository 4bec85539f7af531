"""Comparing runs on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.made_runs import made_run

LONG = "n" * 10_000
HOSTILE = ["<img src=x onerror=alert(1)>", "[red]a[/red]", "\u202eabc", "🌲" * 40, LONG]
NAMES = [f"c{i}" for i in range(30)]


def table(names: list[str], n: int = 40) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {name: pa.array(rng.integers(0, 9, n)) for name in names}
    return pa.table({**columns, "y": pa.array(np.arange(n) % 2)})


@pytest.fixture
def runs(tmp_path: Path) -> None:
    names = [*NAMES, *HOSTILE]
    made_run(tmp_path / "a", table(names), ["c1", "c2", "c3"], ["c5"], target="y", q={"c3": 0.09})
    made_run(tmp_path / "b", table(names), ["c1", "c2", *HOSTILE], ["c3"], target="y", q={"c3": 0.12}, seed=4)
    made_run(tmp_path / "c", table(NAMES), NAMES, target="y", seed=5, n_draws=3)


@pytest.mark.usefixtures("runs")
def test_what_people_read(run: Any) -> None:
    done = run("compare", "a", "b")
    assert (done.code, done.err) == (0, "")
    assert "there: a, 3 selected\nhere:  b, 7 selected\nin both: 2 (Jaccard 0.25)\n" in done.out
    assert "why: only the seed differs: what changed is what chance decided\n" in done.out
    assert "gained: 5\n" in done.out
    assert "lost: 1\n" in done.out
    assert "q 0.09 there, 0.12 here" in done.out
    assert max(len(line.rstrip()) for line in done.out.splitlines()) <= 80
    assert "\u202e" not in done.out
    assert "<img src=x" in done.out
    assert "[red]a[/red]" in done.out
    assert len(done.out) < 4000  # a name of 10,000 characters is cut


@pytest.mark.usefixtures("runs")
def test_as_json(run: Any) -> None:
    told = json.loads(run("compare", "a", "b", "--json").out)
    assert told["runs"] == ["a", "b"]
    assert (told["n_both"], told["jaccard"]) == (2, 0.25)
    assert {change["column"] for change in told["gained"]} == set(HOSTILE)
    assert told["lost"][0]["there"]["q"] == 0.09
    assert told["lost"][0]["said"] == "q 0.09 there, 0.12 here, at a rate of 0.1: near it in both"
    assert told["differences"] == [{"what": "seed", "said": "seed: 0 there, 4 here"}]


@pytest.mark.usefixtures("runs")
def test_other_data_a_limit_and_no_difference(run: Any) -> None:
    done = run("compare", "b", "c", "--limit", "2")
    assert "  columns: 35 there, 30 here\n" in done.out
    assert "  the run here stopped after 3 of 5 waves\n" in done.out
    assert "columns that are only in the table there: 5 (" in done.out
    assert "… and 26 more; --limit 0 shows all\n" in done.out
    assert run("compare", "a", "a").out.endswith("no decision differs\n")


def test_no_reason_hides_another(tmp_path: Path, run: Any) -> None:
    """A column dropped, another permuted, and weights added."""
    data = table(NAMES)
    made_run(tmp_path / "a", data, ["c1", "c7"], target="y")
    other = data.set_column(7, "c7", pa.array(np.roll(data.column("c7").to_numpy(), 3)))
    other = other.append_column("w", pa.array(1.0 + np.arange(40) % 3))
    made_run(tmp_path / "b", other, ["c1"], target="y", weights="w", drop=["c9"])
    done = run("compare", "a", "b")
    assert "lost: 1\n" in done.out
    for said in (
        "columns: 30 there, 29 here",
        "weights: none there, some here",
        "values: 1 of 29 columns that both have hold others ('c7')",
    ):
        assert f"  {said}\n" in done.out


@pytest.mark.usefixtures("runs")
def test_more_than_two(run: Any) -> None:
    done = run("compare", "a", "b", "c", "--limit", "3")
    assert done.code == 0
    assert "3 runs, which differ in: seed, columns, stopped early\n" in done.out
    assert "selected in all: 2 of 35 columns" in done.out
    assert "c1      3 of 3" in done.out
    told = json.loads(run("compare", "a", "b", "c", "--json").out)
    assert told["often"]["c1"] == 3
    assert told["n_always"] == 2


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a"], "there is one run; give two or more to compare"),
        (["a", "nowhere"], "there is no run 'nowhere'; make one with `fernwood select --out`"),
        (["a", "b", "--limit", "-1"], "--limit is -1; give a number of columns, or 0 for all"),
    ],
)
def test_one_sentence_for_what_cannot_be(run: Any, arguments: list[str], words: str) -> None:
    done = run("compare", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
