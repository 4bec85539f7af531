"""`fernwood theory …`: tables, JSON, pictures, and the page of documentation that shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from fernwood import theory
from fernwood.cli.theory import app
from fernwood.errors import FernwoodError

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"
COMMANDS = re.findall(r"^```console\n\$ fernwood theory (.*?)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: str) -> str:
    with pytest.raises(FernwoodError) as caught:
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    return str(caught.value)


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_the_page_shows_what_its_commands_print(command: str, shown: str) -> None:
    printed = run(*command.split())
    assert [line.rstrip() for line in printed.rstrip().splitlines()] == shown.rstrip().splitlines()


def test_every_number_in_the_text_of_the_page_is_in_a_command_or_its_output() -> None:
    page = PAGE.read_text()
    evidence = "\n".join(f"{command}\n{shown}" for command, shown in COMMANDS)
    prose = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    numbers = re.findall(r"\d[\d,]*\.\d+|\d{2,}", prose)
    assert numbers
    assert [number for number in numbers if number not in evidence] == []
    assert len(COMMANDS) >= 10


def test_importance_as_json() -> None:
    answer = json.loads(run("importance", "seven-segment", "-K", "1", "-K", "7", "--json"))
    assert answer["importances"]["K = 7"] == theory.seven_segment().importances(7)
    assert answer["totals"]["K = 1"] == pytest.approx(3.321928094887362, abs=1e-12)


def test_parameters_reach_the_library() -> None:
    answer = json.loads(run("importance", "xor:3", "--max-depth", "2", "--subspace", "3", "--json"))
    assert set(answer["importances"]["K = 1"].values()) == {0.0}
    answer = json.loads(run("relevance", "noisy-copies:2:1/10", "--json"))
    assert answer["columns"]["X2"] == {
        "relevance": "strong",
        "degree": 1,
        "minimal_conditionings": [["X1"], ["X1.1"], ["X1.2"]],
    }
    assert answer["markov_boundaries"] == [["X1", "X2"]]
    answer = json.loads(run("decomposition", "chain:2", "--json"))
    assert answer["by_column"] == theory.chain(2).importances()
    assert len(answer["terms"]) == 4
    answer = json.loads(run("found", "clique:3", "-q", "3", "-K", "2", "--alpha", "1/3", "--json"))
    assert answer["surely"] == ["X1", "X2", "X3"]


def test_convergence_as_json() -> None:
    answer = json.loads(run("convergence", "clique", "-p", "1000", "-q", "50", "-r", "3", "--alpha", "0.5", "--json"))
    expected = theory.expected_iterations("clique", 1000, 50, 3, 0.5)
    assert answer["cases"] == [{"scenario": "clique", "p": 1000, "q": 50, "r": 3, "expected_iterations": [expected]}]
    assert len(json.loads(run("convergence", "--json"))["cases"]) == 3


def test_table_1_points_out_the_misprint() -> None:
    printed = run("table1")
    assert "1123*" in printed
    assert "* misprint in the paper: marginal with p = 10,000, q = 100, r = 100" in printed
    rows = json.loads(run("table1", "--json"))
    assert [row["misprints"] for row in rows].count(["rs"]) == 1


def test_the_other_commands_as_json() -> None:
    answer = json.loads(
        run("iterations", "-p", "1000", "-q", "100", "-r", "4", "--degree", "3", "--no-chains", "--json")
    )
    assert answer["iterations"] == theory.how_many_iterations(1000, 100, 4, 3, chains=False)
    answer = json.loads(run("elimination", "100", "10", "--cost", "quadratic", "--step", "2", "--json"))
    schedule = theory.elimination_schedule(100, 10, "quadratic", step=2)
    assert answer["steps"][0] == [100, 2]
    assert (answer["expected_cost"], answer["expected_calls"]) == schedule[1:]
    assert json.loads(run("bias", "2", "3", "100", "--json"))["bits"] == theory.information_bias(2, 3, 100)
    short = ["-p", "50", "-q", "10", "-r", "3", "--n-iter", "5", "--repetitions", "4"]
    answer = json.loads(run("simulate", "marginal", *short, "--seed", "2", "--json"))
    course = theory.simulate("marginal", 50, 10, 3, 1, n_iter=5, repetitions=4, random_state=2)
    assert answer["mean"] == course.mean.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_of_samples_is_a_distribution(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]})
    path = tmp_path / f"samples{suffix}"
    frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    answer = json.loads(run("relevance", str(path), "--target", "y", "--json"))
    assert answer["columns"]["b"]["minimal_conditionings"] == [["a"]]


@pytest.mark.parametrize(
    "command",
    [
        ["importance", "seven-segment", "-K", "1", "-K", "7"],
        ["decomposition", "seven-segment"],
        ["convergence"],
        ["convergence", "chaining", "-p", "100", "-q", "20", "-r", "2", "--alpha", "0.5"],
    ],
)
def test_pictures_are_drawn(tmp_path: Path, command: list[str]) -> None:
    picture = tmp_path / "picture.svg"
    run(*command, "--plot", str(picture))
    text = picture.read_text()
    assert text.startswith("<?xml")
    # A panel per scenario, and the colour bar beside the heat map.
    assert len(re.findall(r'id="axes_\d+"', text)) == {"importance": 1, "decomposition": 2}.get(
        command[0], 3 if len(command) == 1 else 1
    )


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no example 'nope'; give one of seven-segment" in refused("importance", "nope")
    assert "'xor:a' has other parameters" in refused("importance", "xor:a")
    assert "'seven-segment:3' has other parameters" in refused("importance", "seven-segment:3")
    assert "alpha is 'much'; give a number" in refused("convergence", "--alpha", "much")
    assert "scenario is 'mixed'" in refused("convergence", "mixed")
    assert "no output was named for" in refused("relevance", "samples.csv")
    assert "cannot be read" in refused("relevance", str(tmp_path / "missing.csv"), "--target", "y")
    nowhere = refused("convergence", "--plot", str(tmp_path / "no" / "figure.png"))
    assert "cannot be written: No such file or directory; choose another place" in nowhere
    assert "cannot be written" in refused("decomposition", "xor", "--plot", str(tmp_path / "figure.doc"))
    assert "q is 200 and p is 100" in refused("convergence", "chaining", "-p", "100", "-q", "200")
    assert "alpha is 'a bit'" in refused("found", "xor", "-q", "2", "--alpha", "a bit")
