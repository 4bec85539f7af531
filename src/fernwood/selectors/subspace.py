"""`SubspaceSelector`: random subspaces, sequential or not, as a scikit-learn selector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fernwood.search.settings import SubspaceSettings
from fernwood.selectors.base import SearchSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import numpy as np

    from fernwood.run.driving import SearchProgress
    from fernwood.search.fitting import Importance
    from fernwood.search.settings import Criterion, RuleName
    from fernwood.store.roles import Task

__all__ = ["SubspaceSelector"]

# Every parameter of the settings, which have the same names here and there.
_SETTINGS = tuple(SubspaceSettings.__dataclass_fields__)


class SubspaceSelector(SearchSelector):
    """Select columns by trees on random subspaces, columns already found being carried into later draws (SRS).

    A draw holds `q` columns: up to a share `alpha` of them are columns found before, the others are drawn among all.
    Trees grow on the draw and a random probe, and say how important every column is. Found are the columns that beat
    the probe again and again. With ``alpha=0`` this is the random subspace method (RS).

    Parameters
    ----------
    q : int, optional
        Columns in a draw; by default one in 80, at least 50.
    alpha : float
        Share of a draw for columns found before.
    n_iter : int, optional
        Draws in all; by default so many that a column is drawn 50 times on average.
    learner : {"extra", "cart", "random"}
        One random threshold a column, the best threshold, or totally randomized trees.
    max_features : int, float, {"sqrt", "log2"} or None
        Columns of the draw looked at in a node; None is all.
    rule : {"probe", "importance"}
        `probe`: above a random probe in at least `min_share` of more than `min_draws` draws. `importance`: any
        importance above zero, as the paper's algorithm has it for infinitely many rows.
    min_draws, min_share : int, float
        L and β of the probe rule.
    weighted : bool
        Carry columns in proportion to their mean importance instead of evenly.
    round_size : int
        Draws that see the same found columns, and can run side by side; 1 is the paper's sequence exactly.
    n_trees : int
        Trees on every draw; the paper's is 1, more make the comparison with the probe sharper.
    importance : {"impurity", "out-of-sample", "permutation"}
        How columns are scored; the last two need rows left out by `bootstrap` or `max_samples`.
    criterion : {"gini", "entropy", "variance"}, optional
        By default `gini` for classes and `variance` for numbers.
    max_depth, min_samples_leaf, min_samples_split, categories, bootstrap, max_samples, class_weight
        As in scikit-learn's forests; `categories` is `multiway` or `subset`.
    task : {"classification", "regression"}, optional
        What the target asks for, where the rules of `fernwood.ingest` guess wrong.
    memory : int or str, optional
        What `fit` may take beyond what the process holds, such as ``"512MB"``.
    n_jobs : int, optional
        Threads, as joblib counts them. The answer does not depend on it.
    random_state : int, RandomState, Generator or None
    progress : bool or callable
        Show progress on standard error, or call this with every `SearchProgress`.
    run_dir : path, optional
        A directory for checkpoints. Calling `fit` again with the same data and parameters goes on from the last one.

    Attributes
    ----------
    support_ : bool array; the columns that are confirmed
    tentative_ : bool array; columns ahead of the probe after too few draws
    importances_ : float64 array; mean importance over the draws a column was in
    ranking_ : int array; 1 for confirmed columns, then 2, 3, … from the best of the others
    result_ : Result; the decision table
    n_features_in_, feature_names_in_

    Notes
    -----
    Ctrl-C ends `fit` after the last whole round; the attributes then hold the best answer so far, and the interrupt
    goes on to the caller. No p-values: the probe rule has no stated error rate.

    References
    ----------
    A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace with trees for feature selection
    under memory constraints. AISTATS.

    Examples
    --------
    >>> from fernwood import SubspaceSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> selector = SubspaceSelector(random_state=0).fit(table.data, table.target)
    >>> bool(selector.support_[:5].any()), selector.transform(table.data).shape[0]
    (True, 300)
    """

    def __init__(
        self,
        q: int | None = None,
        memory: int | str | None = None,
        alpha: float = 0.5,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        learner: Literal["extra", "cart", "random"] = "extra",
        n_iter: int | None = None,
        rule: RuleName = "probe",
        *,
        min_draws: int = 5,
        min_share: float = 0.95,
        weighted: bool = False,
        round_size: int = 20,
        n_trees: int = 10,
        importance: Importance = "impurity",
        criterion: Criterion | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        categories: Literal["multiway", "subset"] = "multiway",
        bootstrap: bool = False,
        max_samples: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        task: Task | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.q = q
        self.memory = memory
        self.alpha = alpha
        self.max_features = max_features
        self.learner = learner
        self.n_iter = n_iter
        self.rule = rule
        self.min_draws = min_draws
        self.min_share = min_share
        self.weighted = weighted
        self.round_size = round_size
        self.n_trees = n_trees
        self.importance = importance
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.categories = categories
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.run_dir = run_dir

    def _settings(self) -> SubspaceSettings:
        return SubspaceSettings(**{name: getattr(self, name) for name in _SETTINGS})
