"""`BorutaSelector`: Boruta, on our own trees or any estimator, as a scikit-learn selector."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fernwood.errors import FernwoodWarning
from fernwood.relevance.decision import Decision
from fernwood.search.boruta import BorutaSettings
from fernwood.selectors.base import SearchSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from fernwood.result import Result
    from fernwood.run.driving import SearchProgress
    from fernwood.search.boruta import Correction, ImportanceName, LearnerName
    from fernwood.store.roles import Task

__all__ = ["BorutaSelector"]

# Every parameter of the settings, which have the same names here and there.
_SETTINGS = tuple(field.name for field in fields(BorutaSettings))


class BorutaSelector(SearchSelector):
    """Select columns that are more often more important than the best of their shadows than chance explains (Boruta).

    In every iteration a forest grows on the columns that are not rejected and on their shadows, the same columns with
    their values dealt anew to the rows. A column above the best shadow has a hit. Many hits confirm a column, few
    reject it, and what stays between is tentative. Our own trees deal shadows as they need them: no doubled table is
    ever stored. Names are those that users of BorutaPy know.

    Parameters
    ----------
    estimator : scikit-learn estimator, optional
        In place of our trees: one that has ``feature_importances_`` or ``coef_`` when it is fitted, or any one with
        ``importance="permutation"``. The columns that take part and their shadows are then laid out in memory, four
        bytes a cell, with values as the store has them. Its `random_state`, and its `n_estimators` if it has one, are
        set for every iteration; it is cloned, never changed.
    n_estimators : int or "auto"
        Trees or ferns in an iteration; "auto" makes so many that a column is looked at about a hundred times.
    perc : float
        Which percentile of the shadows' importances a column must be above for a hit; 100 is the best shadow, and less
        is less strict.
    alpha : float
        The level of the tests; with `fixed-shadows` the error rate.
    two_step : bool
        Correct for many tests as BorutaPy does, at a false discovery rate over columns and by Bonferroni over
        iterations; or, if False, by Bonferroni over all columns, as published.
    max_iter : int
        Iterations after which what is undecided stays tentative; a warning says so.
    correction : {None, "fixed-shadows"}
        None is the published algorithm, which confirms columns of pure noise in wide tables. `fixed-shadows` keeps one
        permutation a shadow in all iterations and tests columns against all shadows at the false discovery rate alpha.
    importance : {"model", "permutation"}
        What the model says by itself, of our trees the mean decrease of impurity; or the loss on rows left out when a
        column is permuted.
    learner : {"extra", "cart", "ferns"}
        Our trees: one random threshold a column, or the best; or random ferns, for classes, whose importance is what
        scores out of the bag lose when a column is permuted.
    max_depth : int, None or "auto"
        How deep our trees grow; "auto" is 5. Of ferns, the depth, 1 to 16; "auto" is 7.
    max_features : int, float, {"sqrt", "log2"} or None
        Columns and shadows, of all of them, that are looked at in a node of our trees.
    class_weight : mapping, "balanced" or None
        Of our trees.
    task : {"classification", "regression"}, optional
        What the target asks for, where the rules of `fernwood.ingest` guess wrong.
    memory : int or str, optional
        What `fit` may take beyond what the process holds, such as ``"512MB"``; by default half of what is available.
    n_jobs : int, optional
        Threads that grow our trees, as joblib counts them. The answer does not depend on it.
    random_state : int, RandomState, Generator or None
    progress : bool or callable
        Show progress on standard error, or call this with every `SearchProgress`.
    verbose : int
        1 shows progress as well, as elsewhere in scikit-learn; 0 does not.
    run_dir : path, optional
        A directory for checkpoints. Calling `fit` again with the same data and parameters goes on from the last one.

    Attributes
    ----------
    support_ : bool array; the columns that are confirmed
    support_weak_, tentative_ : bool array; the columns that are tentative
    ranking_ : int array; 1 for confirmed columns, 2 for tentative ones, then 3, 4, … from the best of the others
    n_features_ : int; how many columns are confirmed
    n_iter_ : int; iterations that were made
    importances_ : float64 array; mean importance over the iterations a column was in
    pvalues_, qvalues_ : float64 arrays, of `fixed-shadows`
    result_ : Result; the decision table
    n_features_in_, feature_names_in_

    References
    ----------
    M. B. Kursa, W. R. Rudnicki (2010). Feature selection with the Boruta package. Journal of Statistical Software
    36(11).

    Examples
    --------
    >>> from fernwood import BorutaSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> selector = BorutaSelector(max_iter=30, random_state=0, correction="fixed-shadows")
    >>> selector = selector.fit(table.data, table.target)
    >>> bool(selector.support_[:5].any()), selector.n_features_ == selector.support_.sum()
    (True, np.True_)
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        perc: float = 100,
        alpha: float = 0.05,
        two_step: bool = True,
        max_iter: int = 100,
        *,
        correction: Correction | None = None,
        importance: ImportanceName = "model",
        learner: LearnerName = "extra",
        max_depth: int | Literal["auto"] | None = "auto",
        max_features: float | Literal["sqrt", "log2"] | None = "sqrt",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        task: Task | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.perc = perc
        self.alpha = alpha
        self.two_step = two_step
        self.max_iter = max_iter
        self.correction = correction
        self.importance = importance
        self.learner = learner
        self.max_depth = max_depth
        self.max_features = max_features
        self.class_weight = class_weight
        self.task = task
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.run_dir = run_dir

    def _settings(self) -> BorutaSettings:
        return BorutaSettings(**{name: getattr(self, name) for name in _SETTINGS})

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        self.support_weak_ = self.tentative_
        self.n_features_ = len(result.confirmed)
        self.n_iter_ = result.facts.n_draws
        decision = result.verdicts.decision[result.order]
        rank = np.cumsum(decision > Decision.TENTATIVE) + Decision.REJECTED
        self.ranking_[result.order] = np.where(decision > Decision.TENTATIVE, rank, 1 + decision)
        if result.undecided:
            warnings.warn(result.undecided, FernwoodWarning, stacklevel=4)
