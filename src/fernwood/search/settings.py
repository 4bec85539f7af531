"""What a search of random subspaces is asked to do: all parameters that the answer depends on, checked."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

import numpy as np

from fernwood.errors import ParameterError
from fernwood.learner.ferns import check_depth
from fernwood.learner.rows import RowSampling
from fernwood.learner.settings import TreeSettings
from fernwood.relevance.paper import ImportanceRule, ProbeRule, Rule
from fernwood.relevance.tested import MirrorRule, ShadowRule, check_fdr
from fernwood.search.fern_fitting import FernFitSettings
from fernwood.search.fitting import FitSettings, Importance
from fernwood.search.goal import check_goal
from fernwood.search.plain import plain_value, plain_weights, with_weights
from fernwood.validation import a_share, at_least, is_integer, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.search.goal import Goal

__all__ = ["AUTO", "Categories", "Criterion", "LearnerName", "RuleName", "SubspaceSettings"]

RuleName = Literal["shadow", "mirror", "probe", "importance"]
Criterion = Literal["gini", "entropy", "variance"]
LearnerName = Literal["extra", "cart", "random", "ferns"]
Categories = Literal["multiway", "subset"]

AUTO: Any = "auto"
"""Of a parameter: what suits the rule. Settings hold what it came to, never the word itself, but for `n_iter`,
`patch_rows` and the number of ferns."""

_PAPER = {
    "alpha": 0.5,
    "carry": 1.0,
    "n_iter": None,
    "n_trees": 10,
    "max_features": None,
    "max_depth": None,
    "categories": "multiway",
    "importance": "impurity",
}
_TESTING = {**_PAPER, "carry": 0.4, "n_iter": AUTO, "max_depth": 6, "categories": "subset"}
_SUITS: dict[str, dict[str, Any]] = {
    "probe": _PAPER,
    "importance": _PAPER,
    "shadow": _TESTING,
    "mirror": {**_TESTING, "importance": "permutation"},
}
_OF_FERNS = {
    "n_trees": AUTO,
    "max_depth": 7,
    "categories": "subset",
    "max_samples": None,
    "importance": "permutation",
    "patch_rows": None,
}
_NOT_OF_FERNS = {
    "criterion": None,
    "max_features": None,
    "min_samples_leaf": 1,
    "min_samples_split": 2,
    "categories": "subset",
    "bootstrap": False,
    "max_samples": None,
    "importance": "permutation",
    "class_weight": None,
    "patch_rows": None,
}
"""What ferns leave as it is: they always draw bags, split at random, weigh classes alike and permute out of the bag."""
_SCANS_A_DRAW = 20
"""How often the ferns of a draw consider each of its columns, on average, where their number is not given."""
_FEWEST_SHADOWS = 200
_SAMPLED, _DIVIDED = 0.7, 0.5
"""Shares of rows that trees grow on, where some must be left out: drawn for every tree, or once for `mirror`."""

_DRAWS_A_COLUMN = 50
"""How often a column is drawn, on average, where the number of draws is not given; at most, where it adapts."""
_ROUNDS = 20
"""Rounds that a search that adapts may make in any case, which matters for few columns."""
_ROWS_SEEN_WHOLE, _ROWS_A_PATCH = 100_000, 50_000
"""Rows that draws see all of by default, and how many they see where there are more."""


@dataclass(frozen=True, slots=True)
class SubspaceSettings:
    """RS and SRS (Algorithm 1 of Sutera et al. 2018): what to do.

    Parameters
    ----------
    q
        Columns in a draw; None follows from the table, see `fernwood.subspace.sizes`.
    alpha
        Share of a draw for columns found before; 0 is the random subspace method.
    carry
        Share of the columns found before that a draw may hold.
    n_iter
        Draws in all; None makes so many that a column is drawn 50 times on average, and "auto" stops before that, as
        `fernwood.search.selecting.SubspaceLoop` says.
    rule
        `shadow` and `mirror` test columns at a false discovery rate, see `fernwood.relevance.tested`; `probe`: found
        are columns drawn more than `min_draws` times and above a random probe in at least `min_share` of their draws;
        `importance`: any importance above zero, as in the paper's Algorithm 1.
    fdr
        The false discovery rate of the rules that test.
    min_draws, min_share
        L and β of the probe rule. Rules that test confirm no column that was drawn `min_draws` times or fewer.
    weighted
        Whether columns found are carried in proportion to their mean importance.
    round_size
        Draws that see the same found columns; 1 is the paper's sequence exactly.
    n_trees
        Trees that grow on every draw; 1 is the paper's. More make the comparison with the probe sharper.
    learner, criterion, max_features, max_depth, min_samples_leaf, min_samples_split, categories
        How trees grow, see `fernwood.learner.settings.TreeSettings`; the criterion is `gini` for classes and `variance`
        for numbers by default. With the learner `ferns`, `max_depth` is the depth of random ferns and `n_trees` their
        number, see `fernwood.search.fern_fitting`; what else is said here is of trees, and refused.
    bootstrap, max_samples
        Rows that a tree grows on: drawn with replacement or not, and how many; by default all. With the rule `mirror`
        they are drawn once: trees grow on them and on the others in turn.
    importance
        How columns are scored, see `fernwood.search.fitting.FitSettings`.
    class_weight
        A weight for every class, or ``"balanced"``.
    goal, slack
        Whether few columns are sought that suffice, and what they may leave open; see `fernwood.search.reducing`.
    patch_rows
        Rows that a draw sees, a number or a share, drawn anew for each (random patches; with all columns in a draw,
        pasting); None is all. "auto" is all up to 100 000 rows, and 50 000 of more.

    Notes
    -----
    "auto" is, with the rules `probe` and `importance`, the paper's: alpha 0.5, carry 1, n_iter None, 10 trees, and
    neither `max_features` nor `max_depth` nor `max_samples` set, a branch for every category. With `shadow` and
    `mirror`, draws carry a random 0.4 of the columns found, trees are 6 deep, categories split in two, and the search
    ends when the answer stands. The importance is `impurity`,
    with `mirror` `permutation`. Where one needs rows left out, trees grow on 0.7 of them, drawn for every tree; with
    `mirror` on one half of the rows and the other in turn, divided once. Ferns are 7 deep, and so many that a draw
    considers each of its columns 20 times on average.

    Examples
    --------
    >>> SubspaceSettings().draws(n_columns=20_000, q=250), SubspaceSettings(rule="mirror").max_samples
    (4000, 0.5)
    """

    method: ClassVar[str] = "subspace"

    q: int | None = None
    rule: RuleName = "shadow"
    fdr: float = 0.1
    alpha: float = AUTO
    carry: float = AUTO
    n_iter: int | Literal["auto"] | None = AUTO
    min_draws: int = 5
    min_share: float = 0.95
    weighted: bool = False
    round_size: int = 20
    n_trees: int = AUTO
    learner: LearnerName = "extra"
    criterion: Criterion | None = None
    max_features: int | float | Literal["sqrt", "log2"] | None = AUTO
    max_depth: int | None = AUTO
    min_samples_leaf: int = 1
    min_samples_split: int = 2
    categories: Categories = AUTO
    bootstrap: bool = False
    max_samples: int | float | None = AUTO
    importance: Importance = AUTO
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None
    goal: Goal = "all-relevant"
    slack: float = 0.02
    patch_rows: int | float | Literal["auto"] | None = AUTO

    def __post_init__(self) -> None:
        one_of("rule", self.rule, get_args(RuleName))
        one_of("learner", self.learner, get_args(LearnerName))
        one_of("categories", self.categories, (*get_args(Categories), AUTO))
        self._settle()
        for name in ("alpha", "carry"):
            a_share(name, getattr(self, name))
        if not (self.n_iter is None or self.adapts):
            at_least("n_iter", self.n_iter, 1, ", 'auto' or None")
        check_fdr(self.fdr)
        check_goal(self.goal, self.slack)
        at_least("round_size", self.round_size, 1)
        if not _is_auto(self.patch_rows):
            RowSampling(size=cast("int | float | None", self.patch_rows), called="patch_rows")
        at_least("min_draws", self.min_draws, 0)
        if self.criterion is not None:
            one_of("criterion", self.criterion, get_args(Criterion))
        for name in ("weighted", "bootstrap"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name} is {getattr(self, name)!r}; give True or False")
        if self.rule == "mirror" and self.importance in ("impurity", "out-of-sample"):
            raise ParameterError(
                f"rule is 'mirror' and importance is {self.importance!r}, which chance does not make as negative as "
                "positive; use importance='permutation', or rule='shadow'"
            )
        if self.rule == "mirror" and self.bootstrap:
            raise ParameterError(
                "bootstrap is True and rule is 'mirror', which holds only where rows are divided once for all trees; "
                "leave bootstrap out, or use rule='shadow'"
            )
        self.make_rule()
        if self.learner == "ferns":
            self._check_ferns()
            return
        self.fitting("regression" if self.criterion == "variance" else "classification")

    def _settle(self) -> None:
        """Put what suits the rule in the place of "auto"."""
        for name, value in {**_SUITS[self.rule], **(_OF_FERNS if self.learner == "ferns" else {})}.items():
            if _is_auto(getattr(self, name)):
                object.__setattr__(self, name, value)
        if _is_auto(self.max_samples):
            drawn = _SAMPLED if self.rule == "shadow" and self.importance != "impurity" and not self.bootstrap else None
            object.__setattr__(self, "max_samples", _DIVIDED if self.rule == "mirror" else drawn)

    def _check_ferns(self) -> None:
        if self.rule in ("mirror", "importance"):
            raise ParameterError(
                f"rule is {self.rule!r} and the learner is 'ferns', which this rule is not made for; use 'shadow' or "
                "'probe', or learner='extra'"
            )
        for name, value in _NOT_OF_FERNS.items():
            if getattr(self, name) != value:
                raise ParameterError(
                    f"{name} is {getattr(self, name)!r}, which is of trees, and the learner is 'ferns'; leave it out, "
                    "or use learner='extra'"
                )
        check_depth(self.max_depth, "max_depth")
        if not _is_auto(self.n_trees):
            at_least("n_trees", self.n_trees, 1, ", or 'auto'")

    @property
    def tests(self) -> bool:
        """Whether the rule compares columns with those that are about as important by chance."""
        return self.rule in ("shadow", "mirror")

    def make_rule(self, strata: NDArray[np.uint16] | None = None, n_decoys: int = 0) -> Rule:
        """The rule that decides what is found; for strata and decoys see `fernwood.relevance.tested`."""
        match self.rule:
            case "shadow":
                return ShadowRule(self.fdr, self.min_draws, strata, n_decoys, straight=self.learner == "ferns")
            case "mirror":
                return MirrorRule(self.fdr, self.min_draws, strata, n_decoys)
            case "probe":
                return ProbeRule(self.min_draws, self.min_share)
            case "importance":
                return ImportanceRule()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The families of kernels that a search needs."""
        if self.learner == "ferns":
            return ("ferns", "trees") if self.goal == "minimal" else ("ferns",)
        return ("trees",)

    @property
    def adapts(self) -> bool:
        """Whether the search ends by itself when its answer stands."""
        return _is_auto(self.n_iter)

    def draws(self, n_columns: int, q: int) -> int:
        """How many draws there are at most, for so many usable columns."""
        if is_integer(self.n_iter):
            return self.n_iter
        usual = math.ceil(_DRAWS_A_COLUMN * n_columns / q)
        return max(usual, _ROUNDS * self.round_size) if self.adapts else usual

    def shadows(self, n_columns: int) -> int:
        """How many shadows of every column take part: one, but so many that there are 200 in all; none without need."""
        return max(1, -(-_FEWEST_SHADOWS // n_columns)) if self.rule == "shadow" else 0

    def patch(self, n_rows: int) -> int | None:
        """How many rows a draw sees, of so many that count; None for all.

        Examples
        --------
        >>> usual = SubspaceSettings()
        >>> usual.patch(100_000), usual.patch(10**6), SubspaceSettings(patch_rows=0.5).patch(60)
        (None, 50000, 30)
        """
        if _is_auto(self.patch_rows):
            return _ROWS_A_PATCH if n_rows > _ROWS_SEEN_WHOLE else None
        sampling = RowSampling(size=cast("int | float | None", self.patch_rows), called="patch_rows")
        return sampling.number(n_rows) if sampling.leaves_some_out else None

    def fitting(
        self, task: str, *, n_shadows: int = 0, keep_trees: bool = False, patch: int | None = None
    ) -> FitSettings:
        """How a draw is fitted, for a target of classes or numbers."""
        default: Criterion = "variance" if task == "regression" else "gini"
        criterion = self.criterion or default
        if (criterion == "variance") != (task == "regression"):
            right = "'variance'" if task == "regression" else "'gini' or 'entropy'"
            raise ParameterError(f"criterion is {criterion!r} and the task is {task}; use {right}, or another task")
        tree = TreeSettings(
            cast('Literal["extra", "cart", "random"]', self.learner),
            criterion,
            self.max_features,
            self.max_depth,
            self.min_samples_leaf,
            self.min_samples_split,
            self.categories,
        )
        rows = RowSampling(self.bootstrap, self.max_samples, once=self.rule == "mirror")
        return FitSettings(
            tree,
            self.n_trees,
            rows,
            self.importance,
            probe=self.rule == "probe",
            shadows=n_shadows,
            keep_trees=keep_trees,
            patch=patch,
        )

    def fern_fitting(self, q: int, *, n_shadows: int = 0) -> FernFitSettings:
        """How a draw of q columns is fitted with ferns.

        Examples
        --------
        >>> SubspaceSettings(learner="ferns").fern_fitting(70).n_ferns
        200
        """
        depth = cast("int", self.max_depth)
        n_ferns = self.n_trees if is_integer(self.n_trees) else math.ceil(_SCANS_A_DRAW * q / depth)
        return FernFitSettings(depth, n_ferns, self.rule == "probe", n_shadows)

    def to_json(self) -> dict[str, Any]:
        """Plain values; class weights as a list of pairs, since keys of JSON are text."""
        entries = {name: plain_value(value) for name, value in asdict(self).items()}
        return {**entries, "class_weight": plain_weights(self.class_weight)}

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> SubspaceSettings:
        """The settings that `to_json` wrote."""
        return cls(**with_weights(entries))


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO
