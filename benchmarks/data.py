"""Where the real data sets are: in `FERNWOOD_DATA`, or in `shared/data` beside the project."""

from __future__ import annotations

import os
from pathlib import Path


def find_data(name: str) -> Path | None:
    """A file of the data collection, where it is there."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("FERNWOOD_DATA") or beside) / name
    return path if path.is_file() else None
