"""Experiments are stopped and go on, leave files, and do without data that are not there."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import experiments.__main__ as command
from experiments import page, running, writing
from experiments.experiment import Cell, Claim, Experiment, Part, Told

ROOT = Path(__file__).parents[2]
measured: list[int] = []


def doubled(number: int) -> dict[str, Any]:
    measured.append(number)
    if number == 3 and stop:
        raise KeyboardInterrupt
    return {"double": 2 * number}


def doubles(told: Told) -> list[Claim]:
    return [Claim("three doubled", "6", str(told.where(number=3).mean("double")), direction=True, exact=True)]


def draw(told: Told, figure: Any) -> None:
    figure.subplots().plot(told.values("number"), told.values("double"))


def numbers(_: bool) -> list[Cell]:
    return [Cell(doubled, {"number": number}) for number in range(5)]


def absent(_: bool) -> list[Cell]:
    return [Cell(doubled, {"number": 9}, needs="no-such-file.parquet")]


stop = False
PART = Part("doubles", "Doubled | numbers", "A paper", numbers, doubles, draw)
# Named as an experiment that there is: what is kept is bound to the text of a module.
WHOLE = Experiment("convergence", 1, "Numbers, doubled", (PART,))


def tell(_: str) -> None:
    """Nobody listens."""


def outcome_of(kept: Path, whole: Experiment = WHOLE) -> running.Outcome:
    measured.clear()
    return running.run(whole, kept, quick=True, jobs=1, tell=tell)


def test_what_was_done_before_a_stop_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "stop", True)
    with pytest.raises(KeyboardInterrupt):
        outcome_of(tmp_path / "kept.jsonl")
    assert measured == [0, 1, 2, 3]
    monkeypatch.setattr(sys.modules[__name__], "stop", False)
    outcome = outcome_of(tmp_path / "kept.jsonl")
    assert measured == [3, 4]
    assert [row["double"] for row in outcome.rows["doubles"]] == [0, 2, 4, 6, 8]


def test_a_line_cut_off_by_a_crash_is_measured_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    whole = outcome_of(kept)
    kept.write_text(kept.read_text()[:-15])
    assert outcome_of(kept).rows == whole.rows
    assert measured == [4]


def test_cells_of_another_version_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome_of(tmp_path / "kept.jsonl")
    monkeypatch.setattr(running.metadata, "version", lambda _: "99")
    outcome_of(tmp_path / "kept.jsonl")
    assert measured == [0, 1, 2, 3, 4]


def test_what_needs_data_that_are_not_there_is_left_out_and_named(tmp_path: Path) -> None:
    both = Experiment("convergence", 1, "Both", (PART, Part("absent", "Absent", "A paper", absent, doubles, draw)))
    outcome = outcome_of(tmp_path / "kept.jsonl", both)
    assert outcome.missing == ("no-such-file.parquet",)
    whole = writing.write(both, outcome, quick=True, results=tmp_path, figures=tmp_path)
    assert whole["parts"]["absent"]["claims"] == []
    assert len(whole["parts"]["doubles"]["claims"]) == 1


def test_a_run_without_data_leaves_the_results_that_were_measured_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "results"
    monkeypatch.setattr(writing, "ROOT", tmp_path)
    monkeypatch.setattr(writing, "RESULTS", kept)
    monkeypatch.setattr(writing, "FIGURES", tmp_path)
    monkeypatch.setattr(command, "SCRATCH", tmp_path / "scratch")
    here = Experiment("convergence", 1, "Here", (PART,))
    writing.write(here, outcome_of(tmp_path / "kept.jsonl", here), quick=False, results=kept, figures=tmp_path)
    before = (kept / "convergence.json").read_bytes()
    away = Experiment("convergence", 1, "Away", (Part("doubles", "Doubled", "A paper", absent, doubles, draw),))
    monkeypatch.setattr(command, "experiment", lambda _: away)
    command._reproduce("convergence", quick=False, fresh=False, jobs=1)
    assert (kept / "convergence.json").read_bytes() == before
    assert "were measured with no-such-file.parquet and stay" in capsys.readouterr().err
    assert json.loads((tmp_path / "scratch" / "incomplete" / "convergence.json").read_text())["title"] == "Away"


def test_files_tell_what_was_measured_and_how(tmp_path: Path) -> None:
    whole = writing.write(WHOLE, outcome_of(tmp_path / "kept.jsonl"), quick=True, results=tmp_path, figures=tmp_path)
    told = json.loads((tmp_path / "convergence.json").read_text())
    assert told == whole
    assert told["command"] == "python -m experiments convergence --quick"
    assert {"commit", "seeds", "versions", "wall_seconds", "machine"} <= set(told)
    with (tmp_path / "convergence-doubles.csv").open() as file:
        assert [row["double"] for row in csv.DictReader(file)] == ["0", "2", "4", "6", "8"]
    picture = (tmp_path / "convergence-doubles.svg").read_bytes()
    writing.write(WHOLE, outcome_of(tmp_path / "kept.jsonl"), quick=True, results=tmp_path, figures=tmp_path)
    assert (tmp_path / "convergence-doubles.svg").read_bytes() == picture


def test_claims_are_read_again_from_rows_of_before(tmp_path: Path) -> None:
    writing.write(WHOLE, outcome_of(tmp_path / "kept.jsonl"), quick=False, results=tmp_path, figures=tmp_path)
    before = json.loads((tmp_path / "convergence.json").read_text())
    measured.clear()
    other = Part("doubles", "Doubled", "A paper", numbers, lambda told: [Claim("rows", "5", str(len(told)), True)])
    whole = Experiment("convergence", 1, "Numbers, doubled", (other,))
    writing.rewrite(whole, results=tmp_path, figures=tmp_path)
    after = json.loads((tmp_path / "convergence.json").read_text())
    assert not measured
    assert [claim["ours"] for claim in after["parts"]["doubles"]["claims"]] == ["5"]
    assert after["parts"]["doubles"]["figures"] == before["parts"]["doubles"]["figures"]
    assert {name: after[name] for name in ("commit", "date", "wall_seconds")} == {
        name: before[name] for name in ("commit", "date", "wall_seconds")
    }


def test_a_page_shows_claims_and_counts_verdicts(tmp_path: Path) -> None:
    writing.write(WHOLE, outcome_of(tmp_path / "kept.jsonl"), quick=False, results=tmp_path, figures=tmp_path)
    text = page.page(tmp_path)
    assert "| [Numbers, doubled](#numbers-doubled) | 1 | 1 | 0 | 0 |" in text
    assert "| three doubled | 6 | 6.0 | exact |" in text


@pytest.mark.parametrize(
    ("agrees", "exact", "direction", "verdict"),
    [
        (None, False, True, "agrees"),
        (True, True, True, "exact"),
        (False, False, True, "differs"),
        (None, False, False, "differs"),
        (True, False, False, "differs"),
    ],
)
def test_a_verdict_asks_for_the_direction_and_the_figures(
    agrees: bool | None, exact: bool, direction: bool, verdict: str
) -> None:
    assert Claim("a", "b", "c", direction, agrees, exact).verdict == verdict


def test_documents_show_what_the_results_hold() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run: python -m experiments --page"
    readme = page.README.read_text(encoding="utf-8")
    assert readme == page.readme(readme), "run: python -m experiments --page"


def test_results_in_the_project_are_those_of_full_runs() -> None:
    for path in writing.RESULTS.glob("*.json"):
        assert json.loads(path.read_text(encoding="utf-8"))["quick"] is False, path.name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no such experiment: nothing; --list shows them"),
        ([], "name an experiment, or 'all'; --list shows them"),
        (["convergence", "--jobs", "0"], "--jobs is 0, but at least one process has to do the work"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
    with pytest.raises(SystemExit) as stopped:
        command.main()
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_the_list_names_every_experiment_and_its_source() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "experiments", "--list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "convergence   item 1" in run.stdout
    assert "Sutera et al. (2018), Table 1" in run.stdout
