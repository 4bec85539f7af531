"""What is not printed: progress and notes with ``--quiet``, and what libraries say of each other always."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Any

import typer

__all__ = ["hide_deprecations", "quiet_option"]


def quiet_option(*short: str) -> Any:
    """The option, with a short name where a command has one."""
    return typer.Option("--quiet", *short, help="Print errors only.", callback=_hush)


def _hush(quiet: bool) -> bool:
    logging.getLogger("fernwood").setLevel(logging.WARNING if quiet else logging.INFO)
    return quiet


def hide_deprecations() -> None:
    """Print no deprecations, also those of libraries that would show them to everybody, unless Python was asked to."""
    if not sys.warnoptions:
        show = warnings.showwarning

        def show_others(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, DeprecationWarning | PendingDeprecationWarning):
                show(message, category, *where, **more)

        warnings.showwarning = show_others
