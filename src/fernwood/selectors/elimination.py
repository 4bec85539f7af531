"""`EliminationSelector`: randomized variable elimination around any learner, as a scikit-learn selector."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.search.elimination import EliminationSettings
from fernwood.search.tracing import EliminationTrace
from fernwood.selectors.learning import LearnerSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from fernwood.result import Result
    from fernwood.run.driving import SearchProgress
    from fernwood.search.elimination import Baseline, SearchName
    from fernwood.store.roles import Task

__all__ = ["EliminationSelector"]

# Every parameter of the settings, which have the same names here and there.
_SETTINGS = tuple(field.name for field in fields(EliminationSettings))


class EliminationSelector(LearnerSelector):
    """Remove columns at random, many at a time, as long as a learner does as well without them (RVE and RVErS).

    The learner is called with some columns left out; where its error does not rise by more than the tolerance they are
    gone for good. What is left is a set of columns that the learner does well with: not all relevant ones, since of
    columns that say the same one is enough. The learner gets your own columns of `X`, not those of a store.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        Cloned for every fit. A `random_state` of it that is None is set from ours.
    n_relevant : int, optional
        How many columns to keep, where it is known (RVE).
    r_min, r_max : int, optional
        Bounds of the number of relevant columns, where it is not known (RVErS); by default 2 and all columns. Fewer
        than r_min columns are never kept.
    tolerance : float
        How much the error may rise in a removal that is accepted, in the unit of the score.
    baseline : {"best", "last"}
        Above what it may rise: the least error of all selections accepted so far; or, as the paper prints it, the error
        of the selection before, so that small rises add up.
    cost : {"linear", "constant", "quadratic"} or callable
        M(n), what fitting on n columns costs, for the paper's schedule; `halving` needs none.
    c1, c2 : float
        Of the paper's search for r: how many failures in a row, and how many successes, move a bound, in terms of those
        that are expected.
    cv : int, splitter or iterable of splits
        How a selection is tried, as in scikit-learn; rows are split once for all selections. `PredefinedSplit` has a
        fixed validation set. A number of folds keeps groups together.
    scoring : str or callable, optional
        As in scikit-learn; None is the estimator's own score. The error is 1 − score, and −score for names that begin
        with ``neg_``.
    step : int, optional
        Columns in every removal, such as 1, with the paper's rule for stopping.
    search : {"halving", "binary", "binary-early"}, optional
        `binary` is the paper's, and `binary-early` too, which ends once it has settled on a number: after fewer calls,
        with more columns. `halving` learns from failures: of a removal that failed one half is tried, and so on,
        and columns that failed are tried last; it needs half the calls. None is `halving`, or the paper's algorithm
        where `n_relevant` or `step` is given.
    candidates : int
        Removals that are tried at once, on `n_jobs` threads; the largest that does no harm is accepted. The answer
        depends on it.
    holdout : float or splitter, optional
        A share of the rows to hold out. The learner is then also tried on them, and the selection that did best there
        is the answer, not the last one. Costs one fit more for every removal that is accepted.
    task : {"classification", "regression"}, optional
        What the target asks for; by default what the estimator is.
    memory : int or str, optional
        What the store made of `X` may take, such as ``"512MB"``; what the learner takes is its own.
    n_jobs : int, optional
        Threads for folds or candidates, as joblib counts them; its `parallel_config` may say processes. The answer
        does not depend on it.
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
    ranking_ : int array; 1 for kept columns, then 2, 3, … by how often removing them failed
    importances_ : float64 array; by how much the error rose when a column was last tried
    n_features_ : int; how many columns are kept
    n_calls_ : int; selections that the learner was tried on
    error_ : float; of the columns that are kept
    errors_ : float64 array; of every call
    trace_ : EliminationTrace; what every call came to, as a table; `fernwood.EliminationDisplay` draws it
    result_ : Result; the decision table
    tentative_ : bool array; none
    n_features_in_, feature_names_in_

    References
    ----------
    D. J. Stracuzzi, P. E. Utgoff (2004). Randomized variable elimination. Journal of Machine Learning Research 5,
    1331–1362.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fernwood import EliminationSelector
    >>> x = np.random.default_rng(0).standard_normal((1000, 60))
    >>> selector = EliminationSelector(GaussianNB(), random_state=0).fit(x, x[:, 3] + x[:, 7] > 0)
    >>> selector.support_[[3, 7]], selector.n_features_ < 10, selector.n_calls_ < 60
    (array([ True,  True]), True, True)
    """

    def __init__(
        self,
        estimator: Any,
        n_relevant: int | None = None,
        r_min: int = 2,
        r_max: int | None = None,
        tolerance: float = 0.002,
        cost: str | Callable[[int], float] = "linear",
        c1: float = 3,
        c2: float = 0.3,
        cv: Any = 5,
        scoring: Any = None,
        step: int | None = None,
        *,
        baseline: Baseline = "best",
        search: SearchName | None = None,
        candidates: int = 1,
        holdout: Any = None,
        task: Task | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_relevant = n_relevant
        self.r_min = r_min
        self.r_max = r_max
        self.tolerance = tolerance
        self.cost = cost
        self.c1 = c1
        self.c2 = c2
        self.cv = cv
        self.scoring = scoring
        self.step = step
        self.baseline = baseline
        self.search = search
        self.candidates = candidates
        self.holdout = holdout
        self.task = task
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.run_dir = run_dir

    def _settings(self) -> EliminationSettings:
        return EliminationSettings(**{name: getattr(self, name) for name in _SETTINGS})

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        trace = result.facts.elimination["trace"]
        self.trace_ = EliminationTrace(trace)
        self.errors_ = np.array(trace["error"])
        self.n_calls_ = len(self.errors_)
        self.n_features_ = len(result.confirmed)
        # Of the last call that was accepted with as many columns as are kept.
        taken = np.array(trace["accepted"], bool) & (np.array(trace["columns"]) == self.n_features_)
        self.error_ = float(self.errors_[taken][-1]) if taken.any() else np.nan
