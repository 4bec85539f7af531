"""How trees grow, as one record whose parameters are checked when it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fernwood.errors import ParameterError
from fernwood.kernels.impurity import ENTROPY, GAIN_RATIO, GINI, VARIANCE
from fernwood.kernels.tables import CART, EXTRA, MULTIWAY, SUBSET, Rules
from fernwood.subspace.sizes import share_of
from fernwood.validation import at_least, is_integer, one_of

__all__ = ["TreeSettings"]

_CRITERIA = {"entropy": ENTROPY, "gini": GINI, "variance": VARIANCE, "gain-ratio": GAIN_RATIO}
_RULES = {"extra": EXTRA, "cart": CART, "random": EXTRA}
_CATEGORIES = {"multiway": MULTIWAY, "subset": SUBSET}


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How trees grow.

    Parameters
    ----------
    rule
        `extra`: one random threshold a column, uniform between the node's smallest and largest code (Geurts 2006);
        `cart`: the best threshold; `random`: totally randomized, one random column with a random threshold.
    criterion
        `entropy` or `gini` for classes, `variance` for numbers; `gain-ratio`, for classes and the rule `cart`, is the
        decrease of entropy for every bit that a split tells of which row is where (Quinlan 1993).
    max_features
        K, how many columns that are not constant are looked at in a node: a number, a share of the columns, `sqrt`,
        `log2`, or None for all. The rule `random` has K = 1.
    max_depth, min_samples_leaf, min_samples_split
        As in scikit-learn. Rows are counted as often as they were drawn, whatever their weight; of a multiway split,
        every category needs enough of them before missing values join one.
    categories
        `multiway`: a branch for every category in the node; `subset`: two branches, a random subset of the categories
        with `extra`, the best one in the order of their mean target with `cart`.

    Examples
    --------
    >>> TreeSettings(rule="random").features(10), TreeSettings(max_features="sqrt").features(100)
    (1, 10)
    """

    rule: Literal["extra", "cart", "random"] = "extra"
    criterion: Literal["entropy", "gini", "variance", "gain-ratio"] = "entropy"
    max_features: int | float | Literal["sqrt", "log2"] | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_samples_split: int = 2
    categories: Literal["multiway", "subset"] = "multiway"

    def __post_init__(self) -> None:
        one_of("rule", self.rule, _RULES)
        one_of("criterion", self.criterion, _CRITERIA)
        one_of("categories", self.categories, _CATEGORIES)
        if self.criterion == "gain-ratio" and self.rule != "cart":
            raise ParameterError(
                f"criterion is 'gain-ratio' and rule is {self.rule!r}; compare best splits: use rule 'cart'"
            )
        if self.max_depth is not None:
            at_least("max_depth", self.max_depth, 1, " or None for no limit")
        at_least("min_samples_leaf", self.min_samples_leaf, 1)
        at_least("min_samples_split", self.min_samples_split, 2)
        self._check_features()

    def _check_features(self) -> None:
        k: object = self.max_features
        if k is None or (isinstance(k, str) and k in ("sqrt", "log2")) or (is_integer(k) and k >= 1):
            return
        if isinstance(k, float) and 0 < k <= 1:
            return
        raise ParameterError(
            f"max_features is {k!r}; give a number of columns from 1 on, a share above 0 and up to 1.0, "
            "'sqrt', 'log2', or None for all columns"
        )

    def features(self, n_columns: int) -> int:
        """K for a subspace of some columns; a number above the columns there are means all of them."""
        k = self.max_features
        if self.rule == "random":
            return 1
        match k:
            case None:
                return n_columns
            case "sqrt":
                return max(1, math.isqrt(n_columns))
            case "log2":
                return max(1, n_columns.bit_length() - 1)
            case float():
                return max(1, math.floor(share_of(k, n_columns)))
        return min(int(k), n_columns)

    @property
    def criterion_code(self) -> int:
        """The criterion as kernels spell it."""
        return _CRITERIA[self.criterion]

    def rules(self, n_columns: int) -> Rules:
        """What kernels are told."""
        return Rules(
            _RULES[self.rule],
            self.features(n_columns),
            -1 if self.max_depth is None else int(self.max_depth),
            int(self.min_samples_leaf),
            int(self.min_samples_split),
            self.criterion_code,
            _CATEGORIES[self.categories],
        )
