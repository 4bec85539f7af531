"""Every method and every model, small enough to be run often, and all that each says of a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from fernwood import (
    BorutaSelector,
    EliminationSelector,
    FernSelector,
    FilterSelector,
    GainRatioTreeClassifier,
    RandomFernsClassifier,
    SnowballSelector,
    SubspaceForestClassifier,
    SubspaceForestRegressor,
    SubspaceSelector,
    ThermalPerceptron,
)
from fernwood.errors import FernwoodError, FernwoodWarning
from fernwood.result import Result
from tests.differential.tables import Table

__all__ = ["METHODS", "MODELS", "Given", "Method", "about_result", "answer", "differs", "fitted", "quietly"]


@dataclass(frozen=True)
class Given:
    """A table on its way into `fit`.

    Attributes
    ----------
    X, y, weights, groups : as `fit` takes them; None where X is a store that has them
    params : parameters that the answer does not depend on
    """

    X: Any
    y: Any = None
    weights: Any = None
    groups: Any = None
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A selector or a model.

    Attributes
    ----------
    estimator : cloned for every fit
    takes : which tables it is for
    own_values : whether a learner gets the table's own values, of which a store has only the codes
    takes_stores : whether it is fitted on stores, or asks for arrays and frames as scikit-learn takes them
    """

    estimator: Any
    takes: Callable[[Table], bool] = lambda _: True
    own_values: bool = False
    takes_stores: bool = True


def _has_classes(table: Table) -> bool:
    return table.task == "classification"


def _for_ferns(table: Table) -> bool:
    """Ferns are for classes, and of weights they know only zero."""
    return _has_classes(table) and table.weights is None


def _for_forest(table: Table) -> bool:
    return _has_classes(table) and table.groups is None


def _for_bayes(table: Table) -> bool:
    """Finite numbers, and enough rows of every class for all folds to have it."""
    return (
        _has_classes(table) and table.is_numeric and not table.has_missing and table.kind not in ("single", "classes")
    )


def _for_tree(table: Table) -> bool:
    return _has_classes(table) and table.kind not in ("single", "classes")


def _has_numbers(table: Table) -> bool:
    return table.task == "regression" and table.is_numeric


def _wide(table: Table) -> bool:
    return table.frame.shape[1] >= 5


def _bears_covariate(table: Table) -> bool:
    """Whether the second column may be held fixed: each of its categories has twelve rows, on average."""
    if not _wide(table):
        return False
    column = table.frame.iloc[:, 1]
    return is_numeric_dtype(column) or 12 * column.nunique(dropna=False) <= len(column)


_SNOWBALL: dict[str, Any] = {"n_contexts": 16, "max_waves": 3, "max_contexts": 8, "random_state": 1}
_DRAWS: dict[str, Any] = {"n_iter": 40, "q": 8, "random_state": 1}
_TRIES: dict[str, Any] = {"cv": 3, "random_state": 1}
_TREE = GainRatioTreeClassifier(max_depth=3, random_state=0)

METHODS: dict[str, Method] = {
    "snowball": Method(SnowballSelector(**_SNOWBALL)),
    "snowball-minimal": Method(SnowballSelector(**_SNOWBALL, goal="minimal")),
    "snowball-given": Method(SnowballSelector(**_SNOWBALL, given=[1]), _bears_covariate),
    "snowball-sampled": Method(SnowballSelector(**_SNOWBALL, max_rows=100)),
    "subspace-shadow": Method(SubspaceSelector(**_DRAWS, n_trees=2)),
    "subspace-adapting": Method(SubspaceSelector(q=8, n_trees=1, random_state=1)),
    "subspace-minimal": Method(SubspaceSelector(**_DRAWS, n_trees=2, goal="minimal")),
    "subspace-mirror": Method(SubspaceSelector(**_DRAWS, n_trees=2, rule="mirror")),
    "subspace-probe": Method(SubspaceSelector(**_DRAWS, n_trees=2, rule="probe", weighted=True)),
    "subspace-importance": Method(SubspaceSelector(**_DRAWS, n_trees=1, rule="importance")),
    "subspace-permutation": Method(SubspaceSelector(**_DRAWS, n_trees=2, learner="cart", importance="permutation")),
    "subspace-random": Method(SubspaceSelector(**_DRAWS, n_trees=2, learner="random", bootstrap=True)),
    "subspace-patches": Method(SubspaceSelector(**_DRAWS, n_trees=2, learner="cart", patch_rows=0.7)),
    "subspace-ferns": Method(SubspaceSelector(**_DRAWS, learner="ferns"), _for_ferns),
    "subspace-ferns-probe": Method(SubspaceSelector(**_DRAWS, learner="ferns", rule="probe"), _for_ferns),
    "ferns": Method(FernSelector(scans=40, random_state=1), _for_ferns),
    "ferns-max-shadow": Method(FernSelector(scans=40, depth=3, rule="max-shadow", random_state=1), _for_ferns),
    "boruta": Method(BorutaSelector(max_iter=16, n_estimators=30, random_state=1)),
    "boruta-fixed": Method(BorutaSelector(max_iter=6, n_estimators=20, correction="fixed-shadows", random_state=1)),
    "boruta-permutation": Method(
        BorutaSelector(max_iter=6, n_estimators=20, importance="permutation", two_step=False, random_state=1)
    ),
    "boruta-cart": Method(BorutaSelector(max_iter=6, n_estimators=20, learner="cart", perc=90, random_state=1)),
    "boruta-ferns": Method(BorutaSelector(max_iter=6, learner="ferns", max_depth=4, random_state=1), _for_ferns),
    "halving": Method(EliminationSelector(GaussianNB(), **_TRIES), _for_bayes, own_values=True),
    "halving-known": Method(
        EliminationSelector(GaussianNB(), n_relevant=2, search="halving", **_TRIES), _for_bayes, own_values=True
    ),
    "halving-tree": Method(EliminationSelector(_TREE, **_TRIES), _for_tree, own_values=True),
    "halving-numbers": Method(
        EliminationSelector(DecisionTreeRegressor(max_depth=3), cv=2, tolerance=0.05, random_state=1),
        _has_numbers,
        own_values=True,
    ),
    "elimination": Method(
        EliminationSelector(GaussianNB(), search="binary", candidates=2, **_TRIES), _for_bayes, own_values=True
    ),
    "elimination-early": Method(
        EliminationSelector(_TREE, search="binary-early", holdout=0.3, **_TRIES), _for_tree, own_values=True
    ),
    "elimination-known": Method(
        EliminationSelector(GaussianNB(), n_relevant=2, baseline="last", **_TRIES), _for_bayes, own_values=True
    ),
    "elimination-steps": Method(
        EliminationSelector(GaussianNB(), n_relevant=2, step=4, **_TRIES), _for_bayes, own_values=True
    ),
    "filter": Method(FilterSelector(GaussianNB(), max_columns=6, **_TRIES), _for_bayes, own_values=True),
    "filter-tree": Method(FilterSelector(_TREE, max_columns=6, **_TRIES), _for_tree, own_values=True),
}

MODELS: dict[str, Method] = {
    "forest": Method(SubspaceForestClassifier(q=6, n_iter=40, random_state=1), _for_forest),
    "forest-cart": Method(
        SubspaceForestClassifier(q=6, n_iter=30, learner="cart", bootstrap=True, random_state=1), _for_forest
    ),
    "forest-numbers": Method(SubspaceForestRegressor(q=6, n_iter=40, random_state=1), lambda t: t.task == "regression"),
    "random-ferns": Method(
        RandomFernsClassifier(40, 4, importances=True, random_state=1), lambda t: _for_ferns(t) and t.groups is None
    ),
    "gain-ratio-tree": Method(GainRatioTreeClassifier(random_state=1), _for_forest),
    "perceptron": Method(
        ThermalPerceptron(random_state=1),
        lambda t: _for_bayes(t) and t.groups is None and t.weights is None,
        own_values=True,
        takes_stores=False,
    ),
}


class quietly(warnings.catch_warnings):  # noqa: N801  (used as a function)
    """Without our warnings, which stand in the result as notes and remarks, and scikit-learn's about small classes."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.simplefilter("ignore", FernwoodWarning)
        warnings.filterwarnings("ignore", message="The least populated class in y")
        return entered


def fitted(estimator: Any, given: Given) -> Any:
    """A clone of an estimator, fitted."""
    return fit(clone(estimator), given)


def fit(estimator: Any, given: Given) -> Any:
    """The estimator itself, fitted (again)."""
    estimator.set_params(**{k: v for k, v in given.params.items() if k in estimator.get_params()})
    about_rows = {"sample_weight": given.weights, "groups": given.groups}
    with quietly():
        return estimator.fit(given.X, given.y, **{k: v for k, v in about_rows.items() if v is not None})


_ELSEWHERE = ("fingerprint", "versions", "target")
"""Of a result: what stands for how the table came in, and not for the answer."""


def about_result(result: Result) -> dict[str, Any]:
    """All that a result says, as plain values and arrays."""
    said = {k: v for k, v in result.summary().items() if k not in _ELSEWHERE}
    arrays = {name: getattr(result, name) for name in ("draws", "score", "wins", "p", "q", "modelled", "ranking")}
    return {
        "summary": said,
        "names": list(result.names),
        "decision": result.verdicts.decision,
        "reason": np.array([result.verdicts.reasons[i] for i in result.verdicts.reason], object),
        "table": result.to_table().to_pydict(),
        **arrays,
    }


def attributes(estimator: Any) -> dict[str, Any]:
    """Every fitted attribute whose value is plain; the result as all that it says."""
    said = {}
    for name, value in sorted(vars(estimator).items()):
        if not name.endswith("_") or name.startswith("_"):
            continue
        if isinstance(value, Result):
            said[name] = about_result(value)
        elif isinstance(value, (np.ndarray, np.generic, int, float, str, list, tuple)) and name != "trees_":
            said[name] = value
    return said


def answer(estimator: Any, given: Given, new: Any = None) -> dict[str, Any]:
    """All that a method says of a table, and a model of some rows; or how it is refused."""
    try:
        done = fitted(estimator, given)
    except FernwoodError as error:
        return {"refused": str(error)}
    # A store and an array without names have no names to keep: that is scikit-learn's rule, and no other answer.
    said = {k: v for k, v in attributes(done).items() if k != "feature_names_in_"}
    if new is not None:
        for ask in ("predict", "predict_proba", "decision_function"):
            if hasattr(done, ask):
                said[ask] = getattr(done, ask)(new)
    return said


def differs(one: Any, other: Any, where: str = "") -> str:
    """The first place where two answers are not the same, bit for bit, and what stands there; empty where they are."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            inside = f"{where}.{key}" if where else str(key)
            if key not in one or key not in other:
                return f"{inside} is only in the {'first' if key in one else 'second'}"
            if found := differs(one[key], other[key], inside):
                return found
        return ""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _arrays_differ(one, other, where)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            return f"{where} has {len(one)} entries, and {len(other)}"
        return next(
            (f for i, (a, b) in enumerate(zip(one, other, strict=True)) if (f := differs(a, b, f"{where}[{i}]"))), ""
        )
    if isinstance(one, float) and isinstance(other, float) and np.isnan(one) and np.isnan(other):
        return ""
    return "" if one == other and type(one) is type(other) else f"{where}: {one!r} is now {other!r}"


def _arrays_differ(one: Any, other: Any, where: str) -> str:
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return f"{where}: {type(one).__name__} is now {type(other).__name__}"
    if one.shape != other.shape:
        return f"{where} has shape {one.shape}, and {other.shape}"
    a, b = one.ravel(), other.ravel()
    same: NDArray[np.bool_] = a == b
    if a.dtype.kind == b.dtype.kind == "f":
        same |= np.isnan(a) & np.isnan(b)
    if same.all():
        return ""
    first = int(np.flatnonzero(~same)[0])
    return (
        f"{where}[{first}]: {a[first]!r} is now {b[first]!r}, and {np.count_nonzero(~same)} of {len(a)} entries differ"
    )
