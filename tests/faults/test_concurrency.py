"""Many processes at one store, one name and one run: the bounded part of ``python -m torture crowds``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torture.crowds import SCENES, Crowd, Seen
from torture.forking import Forker

SECONDS = 1.5


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Crowd:
    return Crowd(tmp_path_factory.mktemp("crowd"), forker)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_scene(crowd: Crowd, scene: Callable[[Crowd, float], Seen]) -> None:
    counts, faults = scene(crowd, SECONDS)
    assert faults == []
    assert counts.total() > 0
