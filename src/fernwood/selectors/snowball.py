"""`SnowballSelector`: every column examined in the context of those found, as a scikit-learn selector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fernwood.device import check_device
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.selectors.base import SearchSelector

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import numpy as np

    from fernwood.device import Device
    from fernwood.run.driving import SearchProgress
    from fernwood.search.goal import Goal
    from fernwood.store.roles import Task

__all__ = ["SnowballSelector"]


class SnowballSelector(SearchSelector):
    """Select columns with the snowball: those found become the context in which every column is examined.

    Parameters
    ----------
    fdr : float
        The false discovery rate: how large a share of the confirmed columns may be false, on average.
    goal : {"all-relevant", "minimal"}
        "minimal" goes on from all relevant columns to a few that predict as well; `support_` then holds those, and
        ``result_.minimal`` says for every confirmed column left out which ones stand in for it.
    slack : float
        With "minimal", the share of the target that trees may leave open with those few beyond what they leave open
        with all.
    n_contexts : int
        Contexts in which a wave examines every column.
    max_waves : int
        The most waves there are; the search ends before, when two waves in a row find nothing new.
    max_contexts : int or "auto"
        Contexts of random columns, in which columns are met that tell nothing but together (an exclusive or). "auto"
        makes them only while fewer than three columns are found, three for every column that fits into one, 2048 at
        most. A pair among p columns takes about p/4 of them to meet with a chance of 95 %, three columns about p²/30;
        ``result_.facts.exploration`` says how far it came.
    max_rows : int or "all"
        Rows that waves look at, where there are more: a sample, as many of each class as there can be. All rows are
        looked at for every column by itself, for the columns ahead when waves find nothing new, and for confirming
        what was found beside others; ``result_.remarks()`` says so. Tables of up to so many rows are not sampled.
    given : sequence of str or int
        Covariates (age, batch, site), by name, pattern or position. They are in every context and never candidates:
        columns are found for what they tell beyond them. Of a `Store`, positions are those in the table that it was
        made from, its target included; -1 is the last column.
    task : {"classification", "regression"}, optional
        What the target asks for, where the rules of `fernwood.ingest` guess wrong.
    memory : int or str, optional
        What `fit` may take beyond what the process holds, such as ``"512MB"``; by default half of what is available.
    n_jobs : int, optional
        Threads, as joblib counts them. The answer does not depend on it.
    device : {"cpu", "cuda", "auto"}
        Where columns are examined: here, on a card that speaks CUDA (extra ``gpu``), or on such a card where there is
        one and the table is large enough for it to pay. The answer does not depend on it.
    device_memory : int or str, optional
        What `fit` may take of the card's memory, such as ``"40GB"``; by default most of what is free there. A table
        that does not fit is streamed through it.
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
    tentative_ : bool array; columns that told something in one wave, but were not confirmed
    pvalues_, qvalues_ : float64 arrays; the chance of such evidence for a column that says nothing, and the smallest
        false discovery rate at which the column is found
    importances_ : float64 array; minus the decimal logarithm of p
    ranking_ : int array; 1 for confirmed columns, then 2, 3, … from the best of the others
    result_ : Result; the decision table
    n_features_in_, feature_names_in_

    Notes
    -----
    p comes from shadows, columns with their values dealt anew to the rows; beyond the highest hundred of them, from a
    model of their tail. Ctrl-C ends `fit` after the last whole wave; the attributes then hold the best answer so far,
    and the interrupt goes on to the caller.

    Examples
    --------
    >>> from fernwood import SnowballSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(500, 300, class_sep=2.0, random_state=0)
    >>> selector = SnowballSelector(random_state=0).fit(table.data, table.target)
    >>> int(selector.support_[:20].sum()) > 15
    True
    """

    def __init__(
        self,
        fdr: float = 0.1,
        memory: int | str | None = None,
        *,
        goal: Goal = "all-relevant",
        slack: float = 0.02,
        n_contexts: int = 128,
        max_waves: int = 12,
        max_contexts: int | Literal["auto"] = "auto",
        max_rows: int | Literal["all"] = 50_000,
        given: Sequence[str | int] = (),
        task: Task | None = None,
        n_jobs: int | None = None,
        device: Device = "cpu",
        device_memory: int | str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: bool | Callable[[SearchProgress], None] = False,
        run_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.fdr = fdr
        self.memory = memory
        self.goal = goal
        self.slack = slack
        self.n_contexts = n_contexts
        self.max_waves = max_waves
        self.max_contexts = max_contexts
        self.max_rows = max_rows
        self.given = given
        self.task = task
        self.n_jobs = n_jobs
        self.device = device
        self.device_memory = device_memory
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose
        self.run_dir = run_dir

    def _settings(self) -> SnowballSettings:
        return SnowballSettings(
            self.fdr,
            self.n_contexts,
            self.max_waves,
            max_contexts=self.max_contexts,
            given=self.given,
            goal=self.goal,
            slack=self.slack,
            max_rows=self.max_rows,
        )

    def _how(self) -> dict[str, Any]:
        device_memory = check_device(self.device, self.device_memory)
        return {} if self.device == "cpu" else {"device": self.device, "device_memory": device_memory}
