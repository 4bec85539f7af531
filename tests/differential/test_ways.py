"""The same table gives the same answer, bit for bit, whatever it is given as and whoever works on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.cases import EVERYTHING, Case, cases, expected
from tests.differential.methods import MODELS, answer, differs
from tests.differential.tables import make_table
from tests.differential.ways import WAYS


@pytest.mark.parametrize(("seed", "case"), cases())
def test_same_answer(seed: int, case: Case, tmp_path: Path) -> None:
    table = make_table(case.kind, seed)
    with WAYS[case.way].enter(table, tmp_path) as given:
        new = given.X if case.method in MODELS else None
        got = answer(EVERYTHING[case.method].estimator, given, new)
    assert differs(expected(case, seed), got) == ""
