"""Workers that joblib starts: the same answer as on threads, also where some of them are killed."""

from __future__ import annotations

import os
from pathlib import Path

import joblib
import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import FernwoodWarning
from fernwood.work.choosing import engine_here
from fernwood.work.processes import JoblibEngine
from tests.work.errands import complains, dies_elsewhere, dies_once, doubled, lacks_memory_elsewhere

MADELON = make_madelon(300, 200, class_sep=2.0, random_state=0)


def test_results_come_in_the_order_of_the_items() -> None:
    items = [bytes([i]) for i in range(9)]
    engine = JoblibEngine(2)
    with joblib.parallel_config("loky"):
        assert list(engine.run(doubled, items)) == [item + item for item in items]
    assert (engine.bytes_sent, engine.n_rounds, engine.n_again) == (9, 1, 0)


def test_items_of_a_process_that_is_killed_are_done_again(tmp_path: Path) -> None:
    items = [str(tmp_path / name).encode() for name in ("a", "deadly", "b", "c")]
    engine = JoblibEngine(2)
    with joblib.parallel_config("loky"):
        done = list(engine.run(dies_once, items))
    assert (tmp_path / "deadly").exists()
    assert os.getpid() not in done
    assert engine.n_again >= 1


def test_an_item_that_kills_all_is_done_here() -> None:
    with joblib.parallel_config("loky"), pytest.warns(FernwoodWarning, match="died 3 times; this part .* is done here"):
        assert list(JoblibEngine(2).run(dies_elsewhere, [str(os.getpid()).encode()])) == [os.getpid()]


def test_an_item_for_which_a_process_has_no_room_is_done_here() -> None:
    here = str(os.getpid()).encode()
    with joblib.parallel_config("loky"), pytest.warns(FernwoodWarning, match="short of memory; this part .* done here"):
        assert list(JoblibEngine(2).run(lacks_memory_elsewhere, [here, here])) == [os.getpid()] * 2


def test_a_complaint_is_passed_on() -> None:
    with joblib.parallel_config("loky"), pytest.raises(ValueError, match="nothing to be done with this"):
        list(JoblibEngine(2).run(complains, [b"this"]))


def test_joblib_says_who_works() -> None:
    assert engine_here(2) is None
    with joblib.parallel_config("threading", n_jobs=2):
        assert engine_here(None) is None
    with joblib.parallel_config("loky", n_jobs=3):
        engine = engine_here(None)
        assert isinstance(engine, JoblibEngine)
        assert engine.n_workers == 3
        assert engine_here(1) is None


def test_a_selector_on_processes() -> None:
    """In-memory input too: it is put where processes see it."""
    on_threads = fernwood.SnowballSelector(random_state=0, n_jobs=2).fit(MADELON.data, MADELON.target)
    with joblib.parallel_config("loky", n_jobs=2):
        on_processes = fernwood.SnowballSelector(random_state=0).fit(MADELON.data, MADELON.target)
    assert on_threads.support_.any()
    np.testing.assert_array_equal(on_threads.pvalues_, on_processes.pvalues_)
    np.testing.assert_array_equal(on_threads.support_, on_processes.support_)
