"""Where the real data sets are: in the folder that `FERNWOOD_DATA` names, or in `shared/data` beside the project."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["find_data", "how_to_have_it"]


def find_data(name: str) -> Path | None:
    """A file of the data collection, where it is there; with an empty `FERNWOOD_DATA`, none is."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = os.environ.get("FERNWOOD_DATA", str(beside))
    path = Path(folder) / name
    return path if folder and path.is_file() else None


def how_to_have_it(name: str) -> str:
    """What to do about a file that is not there."""
    return f"{name} is not here; set FERNWOOD_DATA to the folder that holds it"
