"""What a shell offers in place of half a word: runs where a run is asked for, stores where a store is.

Options, commands and choices are completed by themselves; other paths by the shell.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from fernwood.files import entries_of, holds

__all__ = ["run_argument", "runs_like", "store_argument", "stores_like"]

_MOST_LOOKED_AT = 2000


def runs_like(incomplete: str) -> list[str]:
    """Directories of runs whose path begins so; none lets the shell offer what it knows."""
    return _directories(incomplete, "run.json")


def stores_like(incomplete: str) -> list[str]:
    """Stores whose path begins so."""
    return _directories(incomplete, "manifest.json")


def _directories(incomplete: str, holding: str) -> list[str]:
    """What lies beside the word, or in the directory that it names, and holds such a file."""
    folder, sep, beginning = incomplete.rpartition("/")
    with suppress(OSError, ValueError):
        beside = entries_of(Path(f"{folder}{sep}") if sep else Path(), _MOST_LOOKED_AT)
        names = [path.name for path in beside if path.name.startswith(beginning) and holds(path, holding)]
        return [f"{folder}{sep}{name}" for name in sorted(names)]
    return []


def run_argument(text: str = "The directory of a run.") -> Any:
    """An argument that is a run."""
    return typer.Argument(help=text, autocompletion=runs_like)


def store_argument() -> Any:
    """An argument that is a store."""
    return typer.Argument(help="A store: NAME.fern, or a URL.", autocompletion=stores_like)
