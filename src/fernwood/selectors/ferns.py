"""`FernSelector`: random ferns against their implicit shadows, as a scikit-learn selector."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from fernwood.search.ferns import FernSettings
from fernwood.selectors.base import SearchSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy as np

    from fernwood.run.driving import SearchProgress
    from fernwood.search.ferns import FernRuleName
    from fernwood.store.roles import Task

__all__ = ["FernSelector"]

# Every parameter of the settings, which have the same names here and there.
_SETTINGS = tuple(field.name for field in fields(FernSettings))


class FernSelector(SearchSelector):
    """Select columns by random ferns: those more important than shadows, columns with their values dealt anew.

    A fern draws a few columns and a random split of each, and scores classes in the leaves that these make. A column is
    important where permuting it lowers the scores of rows that the fern was not made from. The importance of its shadow
    is measured in the same ferns, with the shadow in the place of the column. Targets are classes.

    Parameters
    ----------
    depth : int
        Splits of a fern, 1 to 16.
    scans : int
        How often a column is considered, on average; the number of ferns follows.
    rule : {"shadow", "max-shadow"}
        `shadow`: more important than shadows, at a false discovery rate. `max-shadow`: more important than the most
        important shadow, as in the paper.
    fdr : float
        The false discovery rate of `shadow`: how large a share of the confirmed columns may be false, on average.
    sequential : bool
        Make part of every fern of columns found before, so that columns which tell only beside others are found in
        wide tables. False is the paper's.
    alpha : float
        Which part: of `depth` columns, ⌊alpha · depth⌋.
    q : int, optional
        Columns in a draw, which a number of ferns share; by default one in 80, at least 50.
    round_size : int
        Draws that see the same found columns, and can run side by side.
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
    support_ : bool array; the columns that are confirmed
    tentative_ : bool array; columns that are ahead, but barely, or after too few scans
    pvalues_, qvalues_ : float64 arrays, of `shadow`; the chance of such an importance for a column that says nothing,
        and the smallest false discovery rate at which the column is found
    importances_ : float64 array; mean importance over the ferns that a column was in, formula (6)
    ranking_ : int array; 1 for confirmed columns, then 2, 3, … from the best of the others
    result_ : Result; the decision table, whose draws count ferns
    n_features_in_, feature_names_in_

    Notes
    -----
    Rows count alike: weights may be zero, or all the same. Ctrl-C ends `fit` after the last whole round; the attributes
    then hold the best answer so far, and the interrupt goes on to the caller. Columns are confirmed at half of `fdr`,
    since every round is one more look at the same rows. The rule `max-shadow` has no p-values and no error rate.

    References
    ----------
    M. B. Kursa (2017). Embedded all relevant feature selection with random ferns. ISMIS.

    Examples
    --------
    >>> from fernwood import FernSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(500, 100, class_sep=3.0, random_state=0)
    >>> selector = FernSelector(scans=200, random_state=0).fit(table.data, table.target)
    >>> int(selector.support_[:20].sum()) > 15
    True
    """

    def __init__(
        self,
        depth: int = 7,
        scans: int = 1000,
        rule: FernRuleName = "shadow",
        fdr: float = 0.1,
        memory: int | str | None = None,
        *,
        sequential: bool = True,
        alpha: float = 0.5,
        q: int | None = None,
        round_size: int = 20,
        task: Task | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.depth = depth
        self.scans = scans
        self.rule = rule
        self.fdr = fdr
        self.memory = memory
        self.sequential = sequential
        self.alpha = alpha
        self.q = q
        self.round_size = round_size
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.run_dir = run_dir

    def _settings(self) -> FernSettings:
        return FernSettings(**{name: getattr(self, name) for name in _SETTINGS})
