"""A command that stops where it is told to; a module of its own, so that the forker knows it by name."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from fernwood.cli import main


def pausing(moment: str, here: str, arguments: list[str]) -> int:
    """Run the command line, but make a file and wait for a signal where a function, "module:name", is called."""
    module, _, path = moment.partition(":")
    owner: Any = import_module(module)
    *holders, name = path.split(".")
    for holder in holders:
        owner = getattr(owner, holder)

    def paused(*_: object, **__: object) -> None:
        Path(here).touch()
        while True:
            signal.pause()

    setattr(owner, name, paused)
    import_module("fernwood.store.ingest")._PARTING_S = 0.1  # whoever writes here does not end soon

    sys.argv = ["fernwood", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 1
