"""The real data sets, for tests that skip where they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.data import find_data, how_to_have_it


def data_file(name: str) -> Path:
    """A file of the data collection, or a skip that says what to set."""
    path = find_data(name)
    if path is None:
        pytest.skip(how_to_have_it(name))
    return path
