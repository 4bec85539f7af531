"""The small version of every experiment shows what the papers conclude."""

from __future__ import annotations

import json

import pytest

from benchmarks.data import find_data, how_to_have_it
from experiments.catalogue import NAMES, experiment
from experiments.experiment import Cell, Row, Told

# Some tables of a paper are too long for a small version; their claims are then those of a part that sums them up.
PARTS = [(name, part.name) for name in NAMES for part in experiment(name).parts if part.cells(True)]

FAILING = {
    ("convergence", "table1"): "marginal, p = 10000, q = 100, r = 100, RS",
    ("importances", "strong"): "the formula beside I(Y; X3)",
    ("importances", "subspaces"): "formula (2), Σ 1 / C(p, k) Σ I(X; Y | B): total of the seven segments",
    ("importances", "rows"): "fewer than ten rows for every pair of values",
    (
        "importances",
        "found",
    ): "Proposition 5: strongly relevant columns of a degree below (1 − α) q are found, whatever K",
    (
        "subsets",
        "company",
    ): "1000 rows, q = 100: relevant columns above the probe in 95 % of trees, alone and all 20 together",
    ("seven_of_ten", "schedule"): "different instances by the ten relevant bits, of 1000",
    ("elimination", "table5"): "sick-euthyroid: columns, classes, rows to train on and to test on",
}
"""What the papers say and small versions show to be otherwise: misprints, and claims that do not hold."""


MEASURED: dict[str, list[Row]] = {}
"""What cells gave, since parts of an experiment share some."""


def rows_of(cell: Cell) -> list[Row]:
    if cell.key not in MEASURED:
        MEASURED[cell.key] = list(cell.rows())
    return MEASURED[cell.key]


@pytest.mark.parametrize(("name", "part_name"), PARTS, ids=["-".join(names) for names in PARTS])
def test_the_direction_of_every_claim(name: str, part_name: str) -> None:
    part = next(part for part in experiment(name).parts if part.name == part_name)
    cells = part.cells(True)
    for cell in cells:  # a claim is about all of them
        if cell.needs is not None and find_data(cell.needs) is None:
            pytest.skip(how_to_have_it(cell.needs))
    told = Told(row for cell in cells for row in rows_of(cell))
    json.dumps(told.rows, allow_nan=False)
    claims = list(part.claims(told))
    fails = [claim for claim in claims if not claim.direction]
    known = FAILING.get((name, part_name))
    assert [claim.about for claim in fails] == ([known] if known else []), "\n".join(claim.ours for claim in fails)
    assert all(claim.differs for claim in fails)
    assert claims


def test_an_experiment_has_the_name_of_its_module() -> None:
    assert [experiment(name).name for name in NAMES] == list(NAMES)
