"""How many columns a draw has, and how many a share of them is."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np

from fernwood.errors import FernwoodWarning, ParameterError

__all__ = ["checked_q", "default_q", "share_of"]

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


def share_of(share: float, number: int) -> Fraction:
    """A share of a number, exactly, of the share as it is written: 0.57 · 100 is 56.999… in floats; nobody means 56.

    Examples
    --------
    >>> import math
    >>> math.floor(share_of(0.57, 100)), math.ceil(share_of(0.07, 100)), math.floor(share_of(1 / 3, 6))
    (57, 7, 2)
    """
    # As in `fernwood.theory.memory_size`: a third is a third, and not 0.333….
    return Fraction(str(+share)).limit_denominator(10**9) * number
