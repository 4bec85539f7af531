"""What commands do not print."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIBRARY = """
import warnings
from fernwood.cli.quiet import hide_deprecations
hide_deprecations()
warnings.filterwarnings("once", category=DeprecationWarning)
warnings.warn("old", DeprecationWarning)
warnings.warn("odd", UserWarning)
"""


@pytest.mark.parametrize("asked", [False, True])
def test_deprecations_of_libraries_are_shown_to_whoever_asks(asked: bool) -> None:
    command = [sys.executable, *(["-W", "default"] if asked else []), "-c", LIBRARY]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stderr
    assert ("DeprecationWarning: old" in said) == asked
    assert "UserWarning: odd" in said
