"""How subsets of a store's columns are tried by a learner: the store as a table, its rows split, columns by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fernwood.learner.subsets import evaluation_of
from fernwood.run.plan import SearchPlan, plan_layout
from fernwood.search.checks import check_table
from fernwood.search.decoding import decoded
from fernwood.search.learners import named_learner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.subsets import Evaluation, SubsetErrors
    from fernwood.store.base import Store

__all__ = ["ByRank", "Trying", "evaluation_of_store", "laid_out"]


class Trying(Protocol):
    """Settings of a search that tries subsets; some also have a `holdout`."""

    @property
    def estimator(self) -> Any:
        """The learner, or its name."""

    @property
    def cv(self) -> Any:
        """How rows are split."""

    @property
    def scoring(self) -> Any:
        """What is asked of it."""


class ByRank:
    """Errors of columns that are named by rank, whatever order a table has them in. A `SubsetErrors`."""

    def __init__(self, errors: SubsetErrors, places: NDArray[np.int64]) -> None:
        self.n_columns = len(places)
        self._errors = errors
        self._places = places

    def __call__(self, columns: NDArray[np.int64]) -> float:
        """The error on columns given by rank."""
        return self._errors(np.sort(self._places[columns]))


def laid_out(
    store: Store,
    ids: NDArray[np.int64],
    settings: Trying,
    seed: int,
    evaluation: Evaluation | None,
    memory: int | None,
    held: int,
) -> tuple[Evaluation, NDArray[np.int64], SearchPlan]:
    """The evaluation, where in its table a column of `ids` stands, and what the table takes; see `evaluation_of_store`.

    An evaluation that is given has its table already, with the columns of the store in their order.
    """
    if evaluation is not None:
        return evaluation, ids, SearchPlan(0, 0, 0, 1, held)
    plan = plan_layout(store.n_rows, len(ids), memory, held=held)
    return *evaluation_of_store(store, ids, settings, seed), plan


def evaluation_of_store(
    store: Store, ids: NDArray[np.int64], settings: Trying, seed: int
) -> tuple[Evaluation, NDArray[np.int64]]:
    """The evaluation of a store's own values, and where in its table a column of `ids` stands."""
    target = check_table(store)
    estimator = settings.estimator
    if isinstance(estimator, str):
        missing = bool(store.n_missing[ids].any())
        estimator = named_learner(estimator, target.task, missing=missing)
    labels = np.array(target.classes)[target.values] if target.classes else target.values
    evaluation = evaluation_of(
        estimator,
        decoded(store, np.sort(ids)),
        labels,
        cv=settings.cv,
        scoring=settings.scoring,
        seed=seed,
        sample_weight=store.weights,
        groups=store.groups,
        holdout=getattr(settings, "holdout", None),
    )
    return evaluation, np.argsort(np.argsort(ids))
