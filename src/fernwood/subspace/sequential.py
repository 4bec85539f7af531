"""Sequential random subspaces: part of a draw are columns already found, the rest is drawn among all others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import ParameterError
from fernwood.kernels.drawing import draw_beside, draw_places, draw_weighted
from fernwood.subspace.sizes import share_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["draw_subspace"]


def draw_subspace(
    n_columns: int,
    found: NDArray[np.int64],
    q: int,
    alpha: float,
    state: NDArray[np.uint64],
    weights: NDArray[np.float64] | None = None,
    carry: float = 1.0,
) -> NDArray[np.int64]:
    """One draw of step 2(a) of Algorithm 1 (Sutera et al. 2018).

    R is a subset of min(⌊αq⌋, |F|) columns of F drawn without replacement, C one of q − |R| columns that are not in R,
    among which the rest of F may come up again. With α = 0 this is the random subspace method. With `carry` below 1, R
    has at most that share of F, rounded up.

    Parameters
    ----------
    n_columns
        Columns in all, numbered from 0; at most 2³².
    found : int64 array
        F: the columns found so far, in increasing order.
    q
        Columns in the draw, 1 to `n_columns`.
    alpha
        Share of the draw kept for columns of F, 0 to 1.
    state : uint64 array of four
        From `fernwood.seeds.state`, at the draw's address; it is not changed.
    weights : float64 array, one for every column of F, optional
        R is drawn in proportion to these instead of evenly; columns of weight zero are not carried.
    carry
        The share of F that R may hold: below 1, columns that tell the same do not always meet in a draw.

    Returns
    -------
    int64 array, in increasing order

    Notes
    -----
    Peak memory is proportional to q and |F|, not to `n_columns`.

    Examples
    --------
    >>> from fernwood import seeds
    >>> drawn = draw_subspace(1000, np.array([3, 7]), 5, 0.4, seeds.state(0))
    >>> len(drawn), 3 in drawn, 7 in drawn
    (5, True, True)
    """
    if not 1 <= q <= n_columns:
        raise ParameterError(f"q is {q}; a draw holds from 1 to {n_columns} columns")
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha is {alpha}; it is a share: give a number from 0 to 1")
    moving = state.copy()
    most = min(math.floor(share_of(alpha, q)), math.ceil(share_of(carry, len(found))))
    carried = _carried(found, most, moving, weights)
    drawn: NDArray[np.int64] = draw_beside(moving, n_columns, carried, q)
    return drawn


def _carried(
    found: NDArray[np.int64], most: int, state: NDArray[np.uint64], weights: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    """R, in increasing order."""
    if not most or not len(found):
        return found[:0]
    if weights is not None:
        places: NDArray[np.int64] = draw_weighted(state, weights, min(most, int(np.count_nonzero(weights))))
    elif most < len(found):
        places = draw_places(state, len(found), most)
    else:
        return found
    return found[places]
