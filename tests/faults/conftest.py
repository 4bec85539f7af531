"""One process that has everything loaded, for all tests that start commands to break them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fernwood.kernels.ready import ensure_compiled
from torture.forking import Forker


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    ensure_compiled("text", "trees", "snowball", "ferns", "ratios", "checksums")
    with Forker() as forker:
        yield forker
