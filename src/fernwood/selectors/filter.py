"""`FilterSelector`: columns ranked by their gain ratio, as many kept as a learner does best with."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fernwood.search.filter import FilterSettings
from fernwood.selectors.learning import LearnerSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy as np

    from fernwood.result import Result
    from fernwood.run.driving import SearchProgress
    from fernwood.store.roles import Task

__all__ = ["FilterSelector"]

# Every parameter of the settings, which have the same names here and there.
_SETTINGS = tuple(field.name for field in fields(FilterSettings))


class FilterSelector(LearnerSelector):
    """Rank columns by their gain ratio, try a learner on the first 1, 2, 3, … of them, and keep the best prefix.

    Ranking looks at one column at a time, so that columns which tell only beside others come late, and columns that say
    the same come together. It is quick, and what to compare a search with.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        Cloned for every fit. A `random_state` of it that is None is set from ours.
    cv : int, splitter or iterable of splits
        How a prefix is tried, as in scikit-learn; rows are split once for all of them.
    scoring : str or callable, optional
        As in scikit-learn; None is the estimator's own score.
    max_columns : int, optional
        How many columns to try at most; by default all.
    task : {"classification", "regression"}, optional
        What the target asks for; by default what the estimator is.
    memory : int or str, optional
        What the store made of `X` may take, such as ``"512MB"``; what the learner takes is its own.
    n_jobs : int, optional
        Threads for folds, as joblib counts them. The answer does not depend on it.
    random_state : int, RandomState, Generator or None
    progress : bool or callable
        Show progress on standard error, or call this with every `SearchProgress`.
    verbose : int
        1 shows progress as well, as elsewhere in scikit-learn; 0 does not.
    run_dir : path, optional
        A directory for checkpoints. Calling `fit` again with the same data and parameters goes on from the last one.

    Attributes
    ----------
    support_ : bool array; the columns that are kept
    ranking_ : int array; 1 for kept columns, then 2, 3, … by gain ratio
    importances_ : float64 array; gain ratios
    n_features_ : int; how many columns are kept
    n_calls_ : int; prefixes that the learner was tried on
    result_ : Result; the decision table
    tentative_ : bool array; none
    n_features_in_, feature_names_in_

    Notes
    -----
    The gain ratio of a column is that of its best split of all rows: numbers in two, categories with a branch each. A
    target of numbers is cut into ten parts for it. Naive Bayes and `GainRatioTreeClassifier` are not fitted anew for
    every prefix as far as they can do without.

    References
    ----------
    D. J. Stracuzzi, P. E. Utgoff (2004). Randomized variable elimination. Journal of Machine Learning Research 5,
    1331–1362, section 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fernwood import FilterSelector
    >>> x = np.random.default_rng(0).standard_normal((200, 60))
    >>> selector = FilterSelector(GaussianNB(), random_state=0).fit(x, x[:, 3] + x[:, 7] > 0)
    >>> selector.support_[[3, 7]], selector.n_calls_
    (array([ True,  True]), 60)
    """

    def __init__(
        self,
        estimator: Any,
        cv: Any = 5,
        scoring: Any = None,
        max_columns: int | None = None,
        *,
        task: Task | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.max_columns = max_columns
        self.task = task
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.run_dir = run_dir

    def _settings(self) -> FilterSettings:
        return FilterSettings(**{name: getattr(self, name) for name in _SETTINGS})

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        self.n_features_ = len(result.confirmed)
        self.n_calls_ = result.facts.n_draws
