"""Is it fit for strangers' files? One input, used as a user would, and what may not happen while it is.

It works, or it ends with a FernwoodError of one printable sentence. No other exception, no long wait, no memory beyond
a budget, no file outside of the directory it was given, no process, no connection, no code.
"""

from __future__ import annotations

import io
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple

from fernwood.errors import FernwoodError, FernwoodWarning
from torture.quick_disk import quick_disk
from torture.target import NoInputError, Target
from torture.watching import ForbiddenError, watched

__all__ = ["BUDGET", "Finding", "judge", "unprintable"]

SECONDS = 10.0
"""The longest that any input may take, of the processor's time: machines that run tests are busy."""
_WAITED = 6
BUDGET = 256 * 10**6
"""Bytes that the resident size may grow by while an input is used."""
_LONGEST_SENTENCE = 2000


class Finding(NamedTuple):
    """Something that may not happen.

    Attributes
    ----------
    kind : in a word, such as the name of the exception
    where : the place in the source that it comes from, by which two findings are told apart
    about : all that is known
    """

    kind: str
    where: str
    about: str

    @property
    def key(self) -> str:
        """Tells findings apart, in characters that a file name may have."""
        return "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{self.kind}-{self.where}")[:100]


def judge(target: Target, data: bytes) -> Finding | None:
    """Use an input in a directory of its own; what was wrong, if anything."""
    top = Path(tempfile.mkdtemp(prefix="judged-", dir=quick_disk()))
    inside = top / "inside"
    inside.mkdir()
    (top / "outside").mkdir()
    (top / "outside" / "precious.txt").write_text("as it was")
    _forget_peak()
    held, started, worked = _most_resident(), time.monotonic(), time.process_time()
    try:
        finding = _used(target, data, inside)
        seconds, grown = time.monotonic() - started, _most_resident() - held
        worked = time.process_time() - worked
        if finding is None and (worked > SECONDS or seconds > _WAITED * SECONDS):
            finding = Finding("Hang", target.name, f"{worked:.1f} s of work in {seconds:.1f} s")
        if finding is None and grown > BUDGET:
            finding = Finding("Memory", target.name, f"{grown / 1e6:.0f} MB more than before")
        left = sorted(str(path.relative_to(top)) for path in top.rglob("*") if not path.is_relative_to(inside))
        kept = left == ["outside", "outside/precious.txt"] and (top / left[1]).read_text() == "as it was"
        return finding if finding is not None or kept else Finding("Outside", target.name, f"left {left}")
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _used(target: Target, data: bytes, inside: Path) -> Finding | None:
    out, err = io.StringIO(), io.StringIO()
    with watched([inside]) as seen, warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FernwoodWarning)
        finding = None
        try:
            target.use(data, inside)
        except NoInputError:
            return None
        except FernwoodError as error:
            finding = _bad_sentence(error)
        except (Exception, ForbiddenError) as error:  # noqa: BLE001  (whatever it is, it is a finding)
            finding = Finding(type(error).__name__, _place_of(error), "".join(traceback.format_exception(error)))
    if seen and finding is None:
        finding = Finding("Forbidden", target.name, "; ".join(seen))
    escaped = unprintable(out.getvalue() + err.getvalue())
    if escaped and finding is None:
        finding = Finding("Terminal", target.name, f"printed {escaped!r}")
    return finding


def unprintable(text: str) -> str:
    """Characters of a text that are not for a terminal, but for line ends."""
    return "".join(c for c in text if not c.isprintable() and c != "\n")


def _bad_sentence(error: FernwoodError) -> Finding | None:
    text = str(error)
    if text and text.isprintable() and len(text) <= _LONGEST_SENTENCE:
        return None
    return Finding("Sentence", _place_of(error), f"{type(error).__name__}: {text!r}")


def _place_of(error: BaseException) -> str:
    """The innermost line of Fernwood in a traceback, as module and function."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}fernwood{os.sep}" in frame.filename
    ]
    if not frames:
        return "outside"
    return f"{Path(frames[-1].filename).stem}.{frames[-1].name}"


def _forget_peak() -> None:
    """Let the peak of the resident size begin anew, where the system can do that: Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _most_resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
