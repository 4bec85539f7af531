"""The command line gives the answer of the selector, and one column is the same by name and by position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fernwood.cli import load_commands
from fernwood.saved import load_result
from fernwood.selectors import BorutaSelector, FernSelector, FilterSelector, SnowballSelector, SubspaceSelector
from tests.differential.cases import both_parts
from tests.differential.methods import about_result, differs, fitted, quietly
from tests.differential.tables import Table, make_table
from tests.differential.ways import plain

COMMANDS: dict[str, tuple[Any, list[str]]] = {
    "snowball": (SnowballSelector(max_contexts=8), ["--max-contexts", "8"]),
    "minimal": (SnowballSelector(max_contexts=8, goal="minimal"), ["--max-contexts", "8", "--goal", "minimal"]),
    "subspace": (SubspaceSelector(q=8, n_iter=40), ["--method", "subspace", "--q", "8", "--draws", "40"]),
    "probe": (
        SubspaceSelector(q=8, n_iter=40, rule="probe", learner="cart"),
        ["--method", "subspace", "--q", "8", "--draws", "40", "--rule", "probe", "--learner", "cart"],
    ),
    "ferns": (FernSelector(scans=40, depth=5), ["--method", "ferns", "--scans", "40", "--depth", "5"]),
    "boruta": (
        BorutaSelector(max_iter=6, n_estimators=20, correction="fixed-shadows"),
        ["--method", "boruta", "--max-iter", "6", "--trees", "20", "--fixed-shadows"],
    ),
}
KINDS = ("missing", "rare", "categorical", "weighted", "names")
SEED = 5


def _mixed_up(table: Table) -> tuple[pd.DataFrame, list[str]]:
    """Roles between the columns, and something to drop before all others; so positions differ before and after."""
    frame = table.with_roles()
    names = list(table.frame)
    roles = [name for name in frame if name not in names]
    ordered = ["dropped", roles[0], *names[:2], *roles[1:], *names[2:]]
    return frame.assign(dropped=np.arange(len(frame)) % 3)[ordered], ordered


def _asked(file: Path, table: Table, *options: str) -> Any:
    """The result of the command, or what it said where it failed."""
    run = file.with_suffix(".run")
    roles = [word for name in table.roles_by_name() for word in (f"--{name}", name)]
    words = ["select", str(file), *roles, "--task", table.task, "--seed", str(SEED), "--out", str(run), "--force"]
    with quietly():
        done = CliRunner().invoke(load_commands(), [*words, "--quiet", *options])
    assert done.exit_code == 0, done.output or repr(done.exception)
    return load_result(run)


@pytest.mark.parametrize(
    ("seed", "name", "kind"),
    both_parts([(name, KINDS[(i + j) % 5]) for i, name in enumerate(COMMANDS) for j in (0, 2)], of=2),
)
def test_same_answer_as_the_selector(seed: int, name: str, kind: str, tmp_path: Path) -> None:
    table = make_table(kind, seed)
    selector, options = COMMANDS[name]
    frame, _ = _mixed_up(table)
    file = tmp_path / "t.parquet"
    frame.to_parquet(file, index=False)
    told = about_result(_asked(file, table, "--drop", "dropped", *options))
    expected = about_result(fitted(selector.set_params(random_state=SEED), plain(table)).result_)
    for answer in (told, expected):
        answer["summary"].pop("notes")
        answer.pop("wins")  # a run keeps them only where they decide
    assert differs(_plain(expected), _plain(told)) == ""


def _plain(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: _plain(value) for key, value in said.items()}
    return list(map(_plain, said)) if isinstance(said, tuple | list) else said


@pytest.mark.parametrize(("seed", "kind"), both_parts([("tied",), ("missing",), ("grouped",)]))
def test_columns_by_name_and_by_position(seed: int, kind: str, tmp_path: Path) -> None:
    """All options count in the table as it is, so that a position and the name that stands there are the same."""
    table = make_table(kind, seed)
    frame, ordered = _mixed_up(table)
    file = tmp_path / "t.parquet"
    frame.to_parquet(file, index=False)
    options = ["--max-contexts", "8"]
    by_name = _asked(file, table, "--drop", "dropped", "--given", "x2", *options)
    by_position = _asked(file, table, "--drop", "0", "--given", str(ordered.index("x2")), *options)
    assert differs(_without_given(by_name), _without_given(by_position)) == ""


def _without_given(result: Any) -> dict[str, Any]:
    said = about_result(result)
    del said["summary"]["parameters"]["given"]
    return said


def test_filters_by_the_names_of_learners(tmp_path: Path) -> None:
    from sklearn.naive_bayes import GaussianNB

    table = make_table("tied", SEED)
    file = tmp_path / "t.parquet"
    table.with_roles().to_parquet(file, index=False)
    told = _asked(file, table, "--method", "filter", "--estimator", "naive-bayes", "--cv", "3")
    expected = fitted(FilterSelector(GaussianNB(), cv=3, random_state=SEED), plain(table)).result_
    np.testing.assert_array_equal(told.score, expected.score)
    np.testing.assert_array_equal(told.confirmed, expected.confirmed)
