"""What a search of random subspaces is asked to do: all parameters that the answer depends on, checked."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from fernwood.errors import ParameterError
from fernwood.learner.rows import RowSampling
from fernwood.learner.settings import TreeSettings, at_least, one_of
from fernwood.relevance.paper import ImportanceRule, ProbeRule, Rule
from fernwood.search.fitting import FitSettings, Importance

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Criterion", "RuleName", "SubspaceSettings"]

RuleName = Literal["probe", "importance"]
Criterion = Literal["gini", "entropy", "variance"]
LearnerName = Literal["extra", "cart", "random"]

_DRAWS_A_COLUMN = 50
"""How often a column is drawn, on average, where the number of draws is not given."""


@dataclass(frozen=True, slots=True)
class SubspaceSettings:
    """RS and SRS (Algorithm 1 of Sutera et al. 2018): what to do.

    Parameters
    ----------
    q
        Columns in a draw; None follows from the table, see `fernwood.subspace.sizes`.
    alpha
        Share of a draw for columns found before; 0 is the random subspace method.
    n_iter
        Draws in all; None makes so many that a column is drawn 50 times on average.
    rule
        `probe`: found are columns drawn more than `min_draws` times and above a random probe in at least `min_share`
        of their draws; `importance`: any importance above zero, as in the paper's Algorithm 1.
    min_draws, min_share
        L and β of the probe rule.
    weighted
        Whether columns found are carried in proportion to their mean importance.
    round_size
        Draws that see the same found columns; 1 is the paper's sequence exactly.
    n_trees
        Trees that grow on every draw; 1 is the paper's. More make the comparison with the probe sharper.
    learner, criterion, max_features, max_depth, min_samples_leaf, min_samples_split, categories
        How trees grow, see `fernwood.learner.settings.TreeSettings`; the criterion is `gini` for classes and `variance`
        for numbers by default.
    bootstrap, max_samples
        Rows that a tree grows on: drawn with replacement or not, and how many; by default all.
    importance
        How columns are scored, see `fernwood.search.fitting.FitSettings`.
    class_weight
        A weight for every class, or ``"balanced"``.

    Examples
    --------
    >>> SubspaceSettings().draws(n_columns=20_000, q=250)
    4000
    """

    q: int | None = None
    alpha: float = 0.5
    n_iter: int | None = None
    rule: RuleName = "probe"
    min_draws: int = 5
    min_share: float = 0.95
    weighted: bool = False
    round_size: int = 20
    n_trees: int = 10
    learner: LearnerName = "extra"
    criterion: Criterion | None = None
    max_features: int | float | Literal["sqrt", "log2"] | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_samples_split: int = 2
    categories: Literal["multiway", "subset"] = "multiway"
    bootstrap: bool = False
    max_samples: int | float | None = None
    importance: Importance = "impurity"
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None

    def __post_init__(self) -> None:
        alpha: object = self.alpha
        if not (isinstance(alpha, (int, float, np.number)) and 0 <= alpha <= 1):
            raise ParameterError(f"alpha is {self.alpha!r}; it is a share: give a number from 0 to 1")
        if self.n_iter is not None:
            at_least("n_iter", self.n_iter, 1)
        at_least("round_size", self.round_size, 1)
        at_least("min_draws", self.min_draws, 0)
        one_of("learner", self.learner, get_args(LearnerName))
        one_of("rule", self.rule, get_args(RuleName))
        if self.criterion is not None:
            one_of("criterion", self.criterion, get_args(Criterion))
        for name in ("weighted", "bootstrap"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name} is {getattr(self, name)!r}; give True or False")
        self.make_rule()
        self.fitting("regression" if self.criterion == "variance" else "classification")

    def make_rule(self) -> Rule:
        """The rule that decides what is found."""
        return ImportanceRule() if self.rule == "importance" else ProbeRule(self.min_draws, self.min_share)

    def draws(self, n_columns: int, q: int) -> int:
        """How many draws there are, for so many usable columns."""
        return self.n_iter or math.ceil(_DRAWS_A_COLUMN * n_columns / q)

    def fitting(self, task: str, *, keep_trees: bool = False) -> FitSettings:
        """How a draw is fitted, for a target of classes or numbers."""
        default: Criterion = "variance" if task == "regression" else "gini"
        criterion = self.criterion or default
        if (criterion == "variance") != (task == "regression"):
            right = "'variance'" if task == "regression" else "'gini' or 'entropy'"
            raise ParameterError(f"criterion is {criterion!r} and the task is {task}; use {right}, or another task")
        tree = TreeSettings(
            self.learner,
            criterion,
            self.max_features,
            self.max_depth,
            self.min_samples_leaf,
            self.min_samples_split,
            self.categories,
        )
        rows = RowSampling(self.bootstrap, self.max_samples)
        probe = self.make_rule().needs_probe
        return FitSettings(tree, self.n_trees, rows, self.importance, probe, keep_trees)

    def to_json(self) -> dict[str, Any]:
        """Plain values; class weights as a list of pairs, since keys of JSON are text."""
        entries = {name: _plain(value) for name, value in asdict(self).items()}
        if not (self.class_weight is None or isinstance(self.class_weight, str)):
            entries["class_weight"] = [[_plain(label), float(weight)] for label, weight in self.class_weight.items()]
        return entries

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> SubspaceSettings:
        """The settings that `to_json` wrote."""
        given = dict(entries)
        if isinstance(given.get("class_weight"), list):
            given["class_weight"] = dict(given["class_weight"])
        return cls(**given)


def _plain(value: Any) -> Any:
    """A value as JSON has it, where it is one of NumPy's."""
    return value.item() if isinstance(value, np.generic) else value
