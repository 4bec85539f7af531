"""What ``fernwood`` alone says: what to do next."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from fernwood.errors import printable
from fernwood.files import entries_of, modified

__all__ = ["welcome"]

_MOST_LOOKED_AT = 1000

_FIRST = """\
Fernwood finds the columns that matter in tables far wider than memory.

  see it work (a minute):  fernwood demo
  your own table:          fernwood select TABLE.csv --target COLUMN --out RUN
  what that would take:    fernwood plan TABLE.csv --target COLUMN
  everything else:         fernwood --help"""


def welcome(folder: Path = Path()) -> str:
    """A few lines for someone who does not know what to type; runs that lie in the folder are named.

    Examples
    --------
    >>> "fernwood demo" in welcome()
    True
    """
    newest = _newest_run(folder)
    if newest is None:
        return _FIRST
    return f"{_FIRST}\n  the run that is here:    fernwood status {printable(newest.name)}"


def _newest_run(folder: Path) -> Path | None:
    runs: list[tuple[int, str]] = []
    with suppress(OSError):
        for path in entries_of(folder, _MOST_LOOKED_AT):
            with suppress(OSError):
                runs.append((modified(path / "run.json"), path.name))
    return folder / max(runs)[1] if runs else None
