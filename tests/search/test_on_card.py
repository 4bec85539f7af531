"""Whole searches on a card, against the same on the processor; skipped where there is no card."""

from __future__ import annotations

import numpy as np
import pytest

import fernwood
from benchmarks.problems import PROBLEMS
from fernwood.device import why_none
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings

pytestmark = pytest.mark.skipif(bool(why_none()), reason="no CUDA device here")


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("device_memory", [None, 540_000_000])
def test_every_problem_of_the_benchmarks_has_one_answer(name: str, device_memory: int | None) -> None:
    try:
        data, target, _, task = PROBLEMS[name](np.random.default_rng(200))
    except SystemExit as error:
        pytest.skip(f"the data are not here: {error}")
    store = fernwood.ingest(data, target=target, task=task)
    one, other = (
        select_by_snowball(store, SnowballSettings(), 200, n_threads=4, **how)[0]
        for how in ({}, {"device": "cuda", "device_memory": device_memory})
    )
    assert list(one.tables()) == list(other.tables())
    assert one.relations == other.relations
