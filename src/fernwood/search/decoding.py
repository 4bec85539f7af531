"""A store as a table of numbers, for learners that take no store: four bytes a cell.

Numbers of which a column has more than 255 are the middles of their bins, categories and dates are the numbers of their
codes, and missing values are NaN. Numbers that four bytes cannot hold or tell apart are the numbers of their codes,
too, which are in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["code_values", "decoded"]


def code_values(store: Store, position: int) -> NDArray[np.float32]:
    """What the codes of a column stand for, as numbers; NaN for those that no row has.

    Examples
    --------
    >>> import fernwood
    >>> code_values(fernwood.ingest(np.array([[1.5, 0.0], [2.5, 1.0]])), 0)[:3]
    array([1.5, 2.5, nan], dtype=float32)
    """
    out = np.full(256, np.nan, np.float32)
    codes, values = store.read([position])[0], store.column(position)
    if values.dtype.kind not in "MO":
        with np.errstate(over="ignore"):
            out[codes] = values
    used = np.unique(codes[codes != MISSING])
    # Dates, categories, and numbers too large, too small or too close: their order stays.
    if values.dtype.kind in "MO" or np.isinf(out[used]).any() or (np.diff(out[used]) <= 0).any():
        out[used] = used
    return out


def decoded(store: Store, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Columns of a store as a table of numbers, a row each; a column lies in one piece.

    Examples
    --------
    >>> import fernwood
    >>> decoded(fernwood.ingest(np.array([[1.5, 0.0], [2.5, 1.0]])), np.array([1, 0]))
    array([[0. , 1.5],
           [1. , 2.5]], dtype=float32)
    """
    table = np.empty((len(ids), store.n_rows), np.float32)
    for place, position in enumerate(ids.tolist()):
        table[place] = code_values(store, position)[store.read([position])[0]]
    return table.T
