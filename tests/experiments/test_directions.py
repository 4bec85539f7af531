"""The small version of every experiment shows what the papers conclude."""

from __future__ import annotations

import json

import pytest

from benchmarks.data import find_data
from experiments.catalogue import NAMES, experiment
from experiments.experiment import Told

# Some tables of a paper are too long for a small version; their claims are then those of a part that sums them up.
PARTS = [(name, part.name) for name in NAMES for part in experiment(name).parts if part.cells(True)]


@pytest.mark.parametrize(("name", "part_name"), PARTS, ids=["-".join(names) for names in PARTS])
def test_the_direction_of_every_claim(name: str, part_name: str) -> None:
    part = next(part for part in experiment(name).parts if part.name == part_name)
    cells = part.cells(True)
    there = [cell for cell in cells if cell.needs is None or find_data(cell.needs)]
    if not there:
        pytest.skip(f"{cells[0].needs} is not here; set FERNWOOD_DATA to the folder that holds it")
    told = Told(row for cell in there for row in cell.rows())
    json.dumps(told.rows, allow_nan=False)
    claims = list(part.claims(told))
    wrong = [f"{claim.about}: {claim.ours}" for claim in claims if claim.direction is bool(claim.differs)]
    assert not wrong, "\n".join(wrong)
    assert claims or len(there) < len(cells)


def test_an_experiment_has_the_name_of_its_module() -> None:
    assert [experiment(name).name for name in NAMES] == list(NAMES)
