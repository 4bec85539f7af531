"""What covariates leave of columns, by which their scores are divided: a shadow has lost what they say of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.kernels.least_squares import divide as divide_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.learner.covariates import Covariates
    from fernwood.search.components import Components

__all__ = ["Leftover", "divide"]

_LEAST = 1e-3
"""Of a column that covariates tell but for less than this, rounding is most of what is left."""


class Leftover:
    """What every level of a basis leaves of the components of columns and of shadows, worked out once for each.

    Of a pair of components there are sums of squares e₁², e₂² and of products e₁e₂. The first component, where it
    leads, is divided by e₁²; both together by the greatest eigenvalue of the matrix of the three, since a sum of two
    squares of which one is small has a longer tail than its mean says.

    Parameters
    ----------
    covariates
    strata : int32 array; of the rows that count
    n_columns
        Of the store.
    """

    def __init__(self, covariates: Covariates, strata: NDArray[np.int32], n_columns: int) -> None:
        self._covariates = covariates
        self._strata = strata
        self._n_levels = len(covariates.levels)
        self._of_columns = np.full((n_columns, self._n_levels, 2), np.nan, np.float32)
        self._of_shadows: dict[int, NDArray[np.float32]] = {}

    def unknown(
        self, positions: NDArray[np.signedinteger[Any]], addresses: NDArray[np.uint64] | None
    ) -> NDArray[np.int64]:
        """Places of the columns, or of their shadows, of which it is not known yet."""
        if addresses is None:
            return np.flatnonzero(np.isnan(self._of_columns[positions, 0, 0]))
        known = self._of_shadows
        return np.array([at for at, address in enumerate(addresses.tolist()) if address not in known], np.int64)

    def learn(
        self,
        positions: NDArray[np.signedinteger[Any]],
        addresses: NDArray[np.uint64] | None,
        codes: NDArray[np.uint8],
        categories: NDArray[np.bool_],
        components: Components,
    ) -> None:
        """Work out what is left of columns, or of shadows, with these codes, and keep it."""
        left = self._left_of(codes, categories, components)
        if addresses is None:
            self._of_columns[positions] = left
        else:
            self._of_shadows.update(zip(addresses.tolist(), left, strict=True))

    def known(
        self, positions: NDArray[np.signedinteger[Any]], addresses: NDArray[np.uint64] | None
    ) -> NDArray[np.float32]:
        """What is left of columns, or of shadows: shape (columns, levels, 2), for all components and leading ones."""
        if addresses is None:
            return np.asarray(self._of_columns[positions])
        out = np.empty((len(addresses), self._n_levels, 2), np.float32)
        for at, address in enumerate(addresses.tolist()):
            out[at] = self._of_shadows[address]
        return out

    def _left_of(
        self, codes: NDArray[np.uint8], categories: NDArray[np.bool_], components: Components
    ) -> NDArray[np.float32]:
        every, leading = np.zeros((2, len(codes), self._n_levels))
        for pairs in components.others(codes, categories):
            sums = self._covariates.leftover(codes, pairs.owner, pairs.tables.table, self._strata)
            first, product, second = sums[..., 0], sums[..., 1], sums[..., 2]
            half, apart = (first + second) / 2, (first - second) / 2
            np.maximum.at(every, pairs.owner, half + np.sqrt(apart**2 + product**2))
            ahead = pairs.leading > 0
            np.maximum.at(leading, pairs.owner[ahead], first[ahead])
            both = pairs.leading > 1
            np.maximum.at(leading, pairs.owner[both], (half + np.sqrt(apart**2 + product**2))[both])
        out = np.stack([every, leading], axis=2) / self._covariates.spread.sum()
        return np.asarray(np.maximum(out, _LEAST), np.float32)


def divide(scores: NDArray[np.float32], left: NDArray[np.float32], contexts: Contexts) -> NDArray[np.float32]:
    """Scores over what is left of columns in contexts, on average over their cells; in place.

    Parameters
    ----------
    scores : float32 array, shape (columns, contexts, 2)
    left : float32 array, shape (columns, levels, 2); from `Leftover.known`
    contexts
    """
    divide_by(scores, left, contexts.shares)
    return scores
