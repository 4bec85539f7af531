"""Kernels are compiled in child processes, once, whatever happens to a child or to the folder that keeps them."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fernwood.kernels import ready
from fernwood.kernels.families import FAMILIES, STEPS

SMALL = ("strata", "groups")


def script(code: str, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done


def marked(cache: Path) -> list[str]:
    return sorted(path.name.split("-")[1] for path in cache.rglob("*.ready"))


def test_families_are_made_of_the_steps_that_there_are() -> None:
    assert {step for steps in FAMILIES.values() for step in steps} == set(STEPS)


STOPPED = """
import sys
from fernwood.kernels import ready

is_done = ready._is_done

def end_before(child, step):
    if step == "groups":
        child.kill()
    return is_done(child, step)

ready._is_done = end_before
ready.ensure_compiled("strata", "groups")
"""

GOES_ON = """
import json
from fernwood.kernels import ready

asked = []
is_done = ready._is_done
ready._is_done = lambda child, step: asked.append(step) or is_done(child, step)
ready.ensure_compiled("strata", "groups")
first = list(asked)
ready.ensure_compiled("strata", "groups")
print(json.dumps([first, asked]))
"""


def test_after_a_child_was_killed_the_next_one_compiles_the_rest(tmp_path: Path) -> None:
    script(STOPPED, tmp_path)
    assert marked(tmp_path) == ["strata"]
    first, both = json.loads(script(GOES_ON, tmp_path).stdout)
    assert first == both == ["groups"]
    assert marked(tmp_path) == ["groups", "strata"]


NOTHING_KEPT = """
import errno, logging, sys
from numba.core import caching

if sys.argv[1] == "no folder":
    caching.CacheImpl._locator_classes = []
else:
    def is_full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")
    caching.IndexDataCacheFile.save = is_full
logging.basicConfig(format="%(message)s")
import numpy as np
from fernwood.kernels.dealing import permute_codes
from fernwood.kernels.jit import njit
from fernwood.kernels.ready import ensure_compiled

assert njit(lambda n: n + 1)(1) == 2
codes = np.arange(9, dtype=np.uint8)[None]
permute_codes(codes, np.ones(1, np.uint64), codes)
print(*np.sort(codes[0]))
if sys.argv[1] == "no folder":
    ensure_compiled("groups")
"""


@pytest.mark.parametrize("trouble", ["no folder", "full"])
def test_where_nothing_can_be_kept_it_is_said_once(tmp_path: Path, trouble: str) -> None:
    done = script(NOTHING_KEPT, tmp_path, trouble)
    assert done.stdout == "0 1 2 3 4 5 6 7 8\n"
    assert done.stderr.count("\n") == 1
    assert "cannot be kept" in done.stderr
    assert "NUMBA_CACHE_DIR" in done.stderr
    assert marked(tmp_path) == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_counts(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with caplog.at_level(logging.INFO, logger="fernwood"):
        for n_done in range(3):
            ready._count(n_done, 2)
        assert terminal.getvalue().split("\r")[1:] == [
            f"compiling numerical code (first run only): {n_done} of 2{end}"
            for n_done, end in [(0, ""), (1, ""), (2, "\n")]
        ]
        assert caplog.messages == []
        monkeypatch.setattr(sys, "stderr", file := io.StringIO())
        for n_done in range(3):
            ready._count(n_done, 2)
        assert caplog.messages == ["compiling numerical code (first run only)"]
    with caplog.at_level(logging.WARNING, logger="fernwood"):
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        ready._count(0, 2)
    assert terminal.getvalue() == file.getvalue() == ""
