"""`SubspaceSelector`: random subspaces, sequential or not, as a scikit-learn selector."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from fernwood.search.settings import SubspaceSettings
from fernwood.selectors.base import SearchSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import numpy as np

    from fernwood.run.driving import SearchProgress
    from fernwood.search.fitting import Importance
    from fernwood.search.goal import Goal
    from fernwood.search.settings import Criterion, LearnerName, RuleName
    from fernwood.store.roles import Task

__all__ = ["SubspaceSelector"]

# Every parameter of the settings, which have the same names here and there.
_SETTINGS = tuple(field.name for field in fields(SubspaceSettings))


class SubspaceSelector(SearchSelector):
    """Select columns by trees on random subspaces, columns already found being carried into later draws (SRS).

    A draw holds `q` columns: up to a share `alpha` of them are columns found before, the others are drawn among all.
    Trees grow on the draw and on the shadows of its columns, their values dealt anew to the rows, and say how important
    each is. Found are the columns that are more important than shadows, at a false discovery rate. With ``alpha=0``
    this is the random subspace method (RS); with ``rule="probe"``, the paper's.

    Parameters
    ----------
    q : int, optional
        Columns in a draw; by default one in 80, at least 50.
    alpha : float or "auto"
        Share of a draw for columns found before; "auto" is 0.5.
    max_features : int, float, {"sqrt", "log2"}, None or "auto"
        Columns of the draw looked at in a node; None and "auto" are all.
    learner : {"extra", "cart", "random", "ferns"}
        One random threshold a column, the best threshold, or totally randomized trees; or random ferns, which take
        classes, the rules `shadow` and `probe`, and of what is said of trees below `n_trees` and `max_depth` alone.
    n_iter : int, None or "auto"
        Draws in all; None makes so many that a column is drawn 50 times on average. With "auto", the rules `shadow` and
        `mirror` end when every column was drawn more than `min_draws` times, and the columns found have been the same
        for six draws a column and five rounds; at the latest after 50 draws a column, or 20 rounds.
    rule : {"shadow", "mirror", "probe", "importance"}
        `shadow`: more important than shadows. `mirror`: a permutation importance farther above zero than chance puts
        others below it; trees grow on one half of the rows and are judged on the other. `probe`: above a
        random probe in at least `min_share` of more than `min_draws` draws. `importance`: any importance above zero, as
        the paper's algorithm has it for infinitely many rows.
    fdr : float
        The false discovery rate of `shadow` and `mirror`: how large a share of the confirmed columns may be false, on
        average.
    goal : {"all-relevant", "minimal"}
        "minimal" goes on from all relevant columns to a few that predict as well; `support_` then holds those, and
        ``result_.minimal`` says for every confirmed column left out which ones stand in for it.
    slack : float
        With "minimal", the share of the target that trees may leave open with those few beyond what they leave open
        with all.
    carry : float or "auto"
        Share of the columns found that a draw may hold, a random one in every draw, so that columns that tell the same
        do not hide each other; "auto" is 0.4 with `shadow` and `mirror`, and otherwise 1.
    min_draws : int
        Columns drawn this often or less are not confirmed.
    min_share : float
        Of the probe rule: in what share of its draws a column must be above the probe.
    weighted : bool
        Carry columns in proportion to their mean importance instead of evenly.
    round_size : int
        Draws that see the same found columns, and can run side by side; 1 is the paper's sequence exactly.
    n_trees : int or "auto"
        Trees on every draw; the paper's is 1, more make comparisons sharper, and "auto" is 10. Of ferns, so many that
        each column of the draw is in 20 on average.
    importance : {"impurity", "out-of-sample", "permutation", "auto"}
        How columns are scored; "auto" is `impurity`, and `permutation` with the rule `mirror` and with ferns. The last
        two need rows left out by `bootstrap` or `max_samples`, but for ferns, which always leave some out.
    max_depth : int, None or "auto"
        How deep trees grow; None is without limit, and "auto" is 6 with `shadow` and `mirror`, otherwise None. The
        depth of ferns is 1 to 16, and "auto" is 7.
    max_samples : int, float, None or "auto"
        Rows that a tree grows on, a number or a share; None is all. "auto" is 0.7 where `shadow` measures an importance
        on rows left out, otherwise None. With `mirror`, rows are divided once, by "auto" in halves, and trees grow on
        one part and the other in turn. Rows of one group are drawn together.
    patch_rows : int, float, None or "auto"
        Rows that a draw sees, a number or a share, drawn anew for each (random patches; pasting where `q` is all
        columns); None is all (plain subspaces). "auto" is all up to 100 000 rows, and 50 000 of more. Trees draw
        theirs, as `bootstrap` and `max_samples` say, from these.
    criterion : {"gini", "entropy", "variance"}, optional
        By default `gini` for classes and `variance` for numbers.
    min_samples_leaf, min_samples_split, categories, bootstrap, class_weight
        As in scikit-learn's forests. `categories` split into a branch each (`multiway`) or in two (`subset`); "auto" is
        the first with the rules `probe` and `importance`, the second with those that test: among shadows of columns
        that split many ways, few others can show that they tell something.
    task : {"classification", "regression"}, optional
        What the target asks for, where the rules of `fernwood.ingest` guess wrong.
    memory : int or str, optional
        What `fit` may take beyond what the process holds, such as ``"512MB"``; by default half of what is available.
    n_jobs : int, optional
        Threads, as joblib counts them. The answer does not depend on it.
    random_state : int, RandomState, Generator or None
    progress : bool or callable
        Show progress on standard error, or call this with every `SearchProgress`.
    verbose : int
        1 shows progress as well, as elsewhere in scikit-learn; 0 does not.
    run_dir : path, optional
        A directory for checkpoints. Calling `fit` again with the same data and parameters goes on from the last one.

    Attributes
    ----------
    support_ : bool array; the columns that are confirmed, or the few that suffice
    tentative_ : bool array; columns that are ahead, but barely, or after too few draws
    pvalues_, qvalues_ : float64 arrays, of `shadow` and `mirror`; the chance of such an importance for a column that
        says nothing, and the smallest false discovery rate at which the column is found
    importances_ : float64 array; mean importance over the draws a column was in
    ranking_ : int array; 1 for confirmed columns, then 2, 3, … from the best of the others
    result_ : Result; the decision table
    n_features_in_, feature_names_in_

    Notes
    -----
    Ctrl-C ends `fit` after the last whole round; the attributes then hold the best answer so far, and the interrupt
    goes on to the caller. Columns are confirmed at half of `fdr`, since every round is one more look at the same rows.
    The rules `probe` and `importance` have no p-values, and no stated error rate.

    References
    ----------
    A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace with trees for feature selection
    under memory constraints. AISTATS.

    G. Louppe, P. Geurts (2012). Ensembles on random patches. ECML PKDD.

    S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable importance test for random forests
    for high-dimensional data. Advances in Data Analysis and Classification 12.

    Examples
    --------
    >>> from fernwood import SubspaceSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> selector = SubspaceSelector(random_state=0).fit(table.data, table.target)
    >>> bool(selector.support_[:5].any()), selector.transform(table.data).shape[0]
    (True, 300)
    >>> bool((selector.qvalues_[selector.support_] <= 0.05).all())
    True
    """

    def __init__(
        self,
        q: int | None = None,
        memory: int | str | None = None,
        alpha: float | Literal["auto"] = "auto",
        max_features: float | Literal["sqrt", "log2", "auto"] | None = "auto",
        learner: LearnerName = "extra",
        n_iter: int | Literal["auto"] | None = "auto",
        rule: RuleName = "shadow",
        fdr: float = 0.1,
        *,
        goal: Goal = "all-relevant",
        slack: float = 0.02,
        carry: float | Literal["auto"] = "auto",
        min_draws: int = 5,
        min_share: float = 0.95,
        weighted: bool = False,
        round_size: int = 20,
        n_trees: int | Literal["auto"] = "auto",
        importance: Importance | Literal["auto"] = "auto",
        criterion: Criterion | None = None,
        max_depth: int | Literal["auto"] | None = "auto",
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        categories: Literal["multiway", "subset", "auto"] = "auto",
        bootstrap: bool = False,
        max_samples: float | Literal["auto"] | None = "auto",
        patch_rows: float | Literal["auto"] | None = "auto",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        task: Task | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.q = q
        self.memory = memory
        self.alpha = alpha
        self.max_features = max_features
        self.learner = learner
        self.n_iter = n_iter
        self.rule = rule
        self.fdr = fdr
        self.goal = goal
        self.slack = slack
        self.carry = carry
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
        self.patch_rows = patch_rows
        self.class_weight = class_weight
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.run_dir = run_dir

    def _settings(self) -> SubspaceSettings:
        return SubspaceSettings(**{name: getattr(self, name) for name in _SETTINGS})
