"""Importances of columns beside their shadows, from any scikit-learn estimator.

An estimator takes a table of numbers, so the columns that take part and their shadows are laid out in memory, with the
values that `fernwood.search.decoding` has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.learner.rows import RowSampling
from fernwood.search.checks import check_table
from fernwood.search.dealing import Dealer
from fernwood.search.decoding import code_values
from fernwood.search.forests import usual_trees
from fernwood.subspace.candidates import own_addresses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.search.boruta import BorutaSettings
    from fernwood.store.base import Store

__all__ = ["Estimates"]

# Addresses below the seed, beside those of `search.fitting` and `search.forests`.
_MODEL, _ROWS = 8, 9

_GROWN = 0.7
_REPEATS = 5


class Estimates:
    """Fits an estimator in every iteration of Boruta.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns; an iteration names ranks in this order.
    settings
        With an estimator, which is cloned.
    seed
    """

    def __init__(self, store: Store, ids: NDArray[np.int64], settings: BorutaSettings, seed: int) -> None:
        self._store = store
        self._ids = ids
        self._addresses = own_addresses(store.checksums[ids])
        self._settings = settings
        self._seed = seed
        self._counted = np.arange(store.n_rows)
        if store.weights is not None:
            self._counted = np.flatnonzero(store.weights > 0)
        self._weights = None if store.weights is None else store.weights[self._counted]
        self._groups: NDArray[np.int32] | None = None
        if store.groups is not None:
            self._groups = np.unique(store.groups[self._counted], return_inverse=True)[1].astype(np.int32)
        self._deal = Dealer(seed, groups=self._groups)
        self._values = np.stack([code_values(store, int(i)) for i in ids])
        self._y = np.asarray(check_table(store).values)[self._counted]

    def __call__(
        self, columns: NDArray[np.int64], iteration: int, n_shadows: int, first_shadow: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Importances of columns and of their shadows; see `fernwood.search.boruta.Importances`."""
        n = len(columns)
        codes = np.ascontiguousarray(self._store.read(self._ids[columns])[:, self._counted])
        table = np.empty(((1 + n_shadows) * n, len(self._counted)), np.float32)
        values, addresses = self._values[columns], self._addresses[columns]
        for copy in range(1 + n_shadows):
            dealt = codes
            if copy:
                copies = np.full(n, first_shadow + copy - 1, np.uint64)
                dealt = self._deal(codes.copy(), addresses, copies)
            for j in range(n):
                table[copy * n + j] = values[j, dealt[j]]
        importance = self._importance(table.T, iteration)
        return importance[:n], importance[n:].reshape(n_shadows, n)

    def _importance(self, table: NDArray[np.float32], iteration: int) -> NDArray[np.float64]:
        model = self._model(table.shape[1], iteration)
        if self._settings.importance == "permutation":
            return self._permutation(model, table, iteration)
        self._fit(model, table, slice(None))
        if hasattr(model, "feature_importances_"):
            return np.asarray(model.feature_importances_, np.float64)
        if hasattr(model, "coef_"):
            return np.asarray(np.abs(np.atleast_2d(model.coef_)).sum(axis=0), np.float64)
        raise ParameterError(
            f"the estimator {type(model).__name__} has neither feature_importances_ nor coef_ when it is fitted; give "
            "another, or importance='permutation'"
        )

    def _model(self, n_features: int, iteration: int) -> Any:
        from sklearn.base import clone

        model = clone(self._settings.estimator)
        parameters = model.get_params(deep=True)
        names = sorted(name for name in parameters if name == "random_state" or name.endswith("__random_state"))
        drawn = seeds.generator(self._seed, _MODEL, iteration).integers(2**31, size=len(names)).tolist()
        changes: dict[str, Any] = dict(zip(names, drawn, strict=True))
        if "n_estimators" in parameters:
            wished = self._settings.n_estimators
            changes["n_estimators"] = (
                usual_trees(n_features, parameters.get("max_depth")) if wished == "auto" else wished
            )
        return model.set_params(**changes)

    def _fit(self, model: Any, table: NDArray[np.float32], rows: Any) -> None:
        weighted = {} if self._weights is None else {"sample_weight": self._weights[rows]}
        model.fit(table[rows], self._y[rows], **weighted)

    def _permutation(self, model: Any, table: NDArray[np.float32], iteration: int) -> NDArray[np.float64]:
        """The loss of score on three rows in ten, drawn for every iteration, when a column is permuted among them."""
        from sklearn.inspection import permutation_importance

        drawn = RowSampling(size=_GROWN).draw(len(table), self._seed, _ROWS, iteration, groups=self._groups)
        self._fit(model, table, drawn.grown)
        number = int(seeds.generator(self._seed, _MODEL, iteration, 1).integers(2**31))
        lost = permutation_importance(
            model, table[drawn.left_out], self._y[drawn.left_out], n_repeats=_REPEATS, random_state=number
        )
        return np.asarray(lost.importances_mean, np.float64)
