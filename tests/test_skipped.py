"""The line about skipped tests."""

from __future__ import annotations

import pytest

from benchmarks.data import find_data, how_to_have_it
from tests.skipped import DOES_NOT_APPLY, need_of


@pytest.mark.parametrize(
    ("reason", "need"),
    [
        ("no CUDA device here: CuPy is not installed; pip install 'fernwood[gpu]'", "a GPU"),
        (how_to_have_it("madelon.parquet"), "the data sets"),
        ("there is no chromium to open the site with", "a browser"),
        ("MkDocs is not installed: make docs, or the docs extra", "the documentation's tools"),
        ("h5py is not installed; pip install 'fernwood[hdf5]'", "optional packages"),
        ("could not import 'bed_reader': No module named 'bed_reader'", "optional packages"),
        ("this system does not say which files are mapped", "another kind of system"),
        ("folds are of rows: a row that is repeated may be in two of them", DOES_NOT_APPLY),
    ],
)
def test_what_a_skipped_test_needs(reason: str, need: str) -> None:
    assert need_of(reason).startswith(need)


def test_an_empty_variable_hides_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERNWOOD_DATA", "")
    assert find_data("madelon.parquet") is None
