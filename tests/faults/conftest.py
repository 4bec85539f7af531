"""A life without faults, which tests of faults do again piece by piece."""

from __future__ import annotations

import pytest

from torture.life import Life, lived


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    return lived(tmp_path_factory.mktemp("life").resolve())
