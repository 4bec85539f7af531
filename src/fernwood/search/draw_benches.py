"""What workers of other processes have ready for searches that draw columns: the same search of the same store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fernwood.search import iterating, scanning, selecting
from fernwood.search.subspace import fit_draws
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.ferns import Tally
    from fernwood.search.boruta import BorutaSettings
    from fernwood.search.ferns import FernSettings
    from fernwood.search.forests import Forests
    from fernwood.search.settings import SubspaceSettings
    from fernwood.search.subspace import Scores
    from fernwood.store.base import Store

__all__ = ["BorutaBench", "FernBench", "SubspaceBench"]


class SubspaceBench:
    """For random subspaces; a `Bench`."""

    def __init__(self, store: Store, settings: SubspaceSettings, seed: int) -> None:
        self._search = selecting.prepare(store, settings, seed).search

    def perform(self, what: str, told: Any) -> list[Scores]:  # noqa: ARG002  (there is but one thing to do)
        """Fit draws: what is said of their columns, draw by draw."""
        numbers, found, weights = told
        carried = None if weights is None else np.frombuffer(weights)
        return [draw.scores for draw in fit_draws(self._search, numbers, found.unpack(), carried)]


class FernBench:
    """For random ferns; a `Bench`."""

    def __init__(self, store: Store, settings: FernSettings, seed: int) -> None:
        self._search = scanning.prepare(store, settings, seed).loop

    def perform(self, what: str, told: Any) -> list[tuple[NDArray[np.int64], Tally]]:  # noqa: ARG002
        """Fit draws: their columns, and what ferns say of them."""
        numbers, found = told
        columns = found.unpack()
        return [self._search.fit(number, columns) for number in numbers]


class BorutaBench:
    """For Boruta with our own trees or ferns; a `Bench`."""

    def __init__(self, store: Store, settings: BorutaSettings, seed: int) -> None:
        _, importances, _ = iterating.importances_of(store, candidates(store), settings, seed)
        self._forests = cast("Forests", importances)

    def perform(self, what: str, told: Any) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:  # noqa: ARG002
        """Some fits of one block of columns."""
        forest, block, numbers = told
        return self._forests.fits_of_block(forest, block.unpack(), numbers)
