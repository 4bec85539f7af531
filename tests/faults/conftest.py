"""What tests of faults share: a life without faults, and a process that has everything loaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fernwood.kernels.ready import ensure_compiled
from torture.forking import Forker
from torture.life import Life, lived


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    return lived(tmp_path_factory.mktemp("life").resolve())


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    ensure_compiled("text", "trees", "snowball", "ferns", "ratios", "checksums")
    with Forker() as forker:
        yield forker
