"""Bands are written behind the coding of the next one; whoever stops is heard."""

from __future__ import annotations

import signal
import threading
import time
from importlib import import_module
from typing import Any

import pytest

from fernwood.store.ingest import _Behind

BAND: Any = object()


def test_a_signal_that_came_just_before_a_wait_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("fernwood.store.ingest"), "_PARTING_S", 0.1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background inherits none
    try:
        assert seconds_until_heard() < 20
    finally:
        signal.signal(signal.SIGINT, before)


def seconds_until_heard() -> float:
    hangs = threading.Event()
    behind = _Behind(lambda _: hangs.wait(60) and None)
    # To another thread: the main one is not woken from its wait, as where the signal comes just before it.
    helper = threading.Thread(target=signal_self)
    started = time.monotonic()
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        write_two(behind)
    seconds = time.monotonic() - started
    hangs.set()
    helper.join()
    return seconds


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
    monkeypatch.setattr(import_module("fernwood.store.ingest"), "_WAIT_S", 0.05)
    monkeypatch.setattr(_Behind, "_work", lambda self: self._bands.get() and None)
    with pytest.raises(MemoryError, match="ended without a word"):
        write_two(_Behind(lambda _: None))
