"""``--quiet``: nothing is printed but errors, not even that code is being compiled."""

from __future__ import annotations

import logging
from typing import Any

import typer

__all__ = ["quiet_option"]


def quiet_option(*short: str) -> Any:
    """The option, with a short name where a command has one."""
    return typer.Option("--quiet", *short, help="Print errors only.", callback=_hush)


def _hush(quiet: bool) -> bool:
    logging.getLogger("fernwood").setLevel(logging.WARNING if quiet else logging.INFO)
    return quiet
