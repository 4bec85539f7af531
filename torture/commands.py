"""A command of the command line, in this process, up to what would become one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import typer.main

from fernwood.cli import load_commands
from fernwood.errors import ParameterError

__all__ = ["run_command"]


def run_command(arguments: Sequence[str]) -> int:
    """How a command ends: 0, or the exit code that it asks for; what it refuses is raised.

    What the library for the command line says of an option is a refusal as any other.
    """
    try:
        return int(_commands()(list(arguments), standalone_mode=False) or 0)
    except SystemExit as end:
        return int(end.code or 0)
    except Exception as error:
        if type(error).__module__.split(".")[0] in {"click", "typer"} and hasattr(error, "format_message"):
            raise ParameterError(ascii(error.format_message())[:200]) from error
        if hasattr(error, "exit_code"):
            return int(error.exit_code)
        raise


@cache
def _commands() -> Any:
    """The commands, made once: the library would make them anew for each, which takes longer than most of them do."""
    return typer.main.get_command(load_commands())
