"""Where the real data sets are: `FERNWOOD_DATA`, or `shared/data` beside the project; tests skip where neither is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_file(name: str) -> Path:
    """A file of the data collection, or a skip that says what to set."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("FERNWOOD_DATA") or beside) / name
    if not path.is_file():
        pytest.skip(f"{name} is not here; set FERNWOOD_DATA to the folder that holds it")
    return path
