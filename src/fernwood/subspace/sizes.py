"""How many columns a draw has."""

from __future__ import annotations

import warnings

import numpy as np

from fernwood.errors import FernwoodWarning, ParameterError

__all__ = ["checked_q", "default_q"]

_DRAWS_A_TURN = 80
_FEWEST_COLUMNS = 50
_MOST_BYTES = 64_000_000


def default_q(n_rows: int, n_columns: int) -> int:
    """How many columns a draw has when nobody says.

    One column in 80, so that every column is in one of 80 draws, but 50 columns at least; and no more than make a draw
    of 64 MB, a byte a cell, so that a worker's memory does not grow with the table.

    Examples
    --------
    >>> default_q(300, 20_000), default_q(300, 1000), default_q(300, 30), default_q(400_000, 800_000)
    (250, 50, 30, 160)
    """
    most = max(2, _MOST_BYTES // max(n_rows, 1))
    return min(max(n_columns // _DRAWS_A_TURN, _FEWEST_COLUMNS), most, n_columns)


def checked_q(q: object, n_rows: int, n_columns: int) -> int:
    """How many columns a draw has, of what a user gave as `q`.

    Parameters
    ----------
    q
        An integer from 1 on, or None for `default_q`. One above `n_columns` is a warning, and means all of them.
    n_rows, n_columns
        Of the table; usable columns only.

    Examples
    --------
    >>> checked_q(None, 300, 20_000), checked_q(40, 300, 20_000)
    (250, 40)
    """
    if q is None:
        return default_q(n_rows, n_columns)
    size = int(q) if isinstance(q, int | np.integer) and not isinstance(q, bool) else 0
    if size < 1:
        raise ParameterError(f"q is {q!r}; give a number of columns from 1 on, or None for one in {_DRAWS_A_TURN}")
    if size > n_columns:
        warnings.warn(
            f"q is {size} and {n_columns} columns are usable, so every draw holds all of them; give a smaller q to "
            "draw among them",
            FernwoodWarning,
            stacklevel=2,
        )
    return min(size, n_columns)
