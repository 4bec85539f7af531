"""Work on the command line that stays inside a budget for the whole process, with progress."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fernwood.budget import default_budget, parse_size, resident
from fernwood.cli.lean import keep_pandas_out, too_small
from fernwood.errors import BudgetError
from fernwood.run.view import ProgressView

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["inside_budget"]


@contextmanager
def inside_budget(memory: str, *, quiet: bool) -> Iterator[tuple[int, ProgressView]]:
    """Bytes that the block may take beside what the process holds, and somebody to tell how far it is.

    Parameters
    ----------
    memory
        The most that the process may take, as a person writes it; empty for half of what is available.
    quiet
        Whether nothing is shown.
    """
    keep_pandas_out()
    total = parse_size(memory) if memory else default_budget()
    held = resident()
    try:
        with ProgressView(quiet=quiet) as view:
            yield max(total - held, 1), view
    except BudgetError as error:
        raise too_small(total, held, error.least, given=bool(memory)) from error
