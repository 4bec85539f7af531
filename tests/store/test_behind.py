"""Bands are written behind the coding of the next one; whoever stops is heard."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

from fernwood.store.ingest import _Behind

BAND: Any = object()


def test_a_signal_that_came_just_before_a_wait_ends_it() -> None:
    hangs = threading.Event()
    behind = _Behind(lambda _: hangs.wait(60) and None)
    # To another thread: the main one is not woken from its wait, as where the signal comes just before it.
    helper = threading.Thread(target=signal_self)
    started = time.monotonic()
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        write_two(behind)
    hangs.set()
    helper.join()
    assert time.monotonic() - started < 20


def signal_self() -> None:
    time.sleep(0.3)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_what_went_wrong_behind_is_raised_where_the_next_band_comes() -> None:
    def fail(_: object) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        write_two(_Behind(fail))


def write_two(behind: _Behind) -> None:
    with behind:
        behind.append(BAND)
        behind.append(BAND)


def test_a_thread_that_ends_without_a_word_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does that has no memory to say that it has none."""
    monkeypatch.setattr(_Behind, "_work", lambda self: self._bands.get() and None)
    with pytest.raises(MemoryError, match="ended without a word"):
        write_two(_Behind(lambda _: None))
