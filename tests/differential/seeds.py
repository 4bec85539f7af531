"""Where the tables of this run come from: fixed ones in the quick part, and others with every commit in the long one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["FIXED", "VARIABLE", "rotating"]

FIXED = 1
VARIABLE = "FERNWOOD_SEED"


def rotating() -> int:
    """The seed of the long part: FERNWOOD_SEED, or the beginning of the commit's hash; 0 without git."""
    given = os.environ.get(VARIABLE, "")
    if given:
        return int(given)
    try:
        said = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(said.stdout[:7], 16)
