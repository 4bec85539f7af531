"""Learners by name, as the command line gives them: some that suit any table, or any class that can be imported.

A name such as ``package.module:Class`` imports that module, which runs its code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fernwood.errors import ParameterError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fernwood.store.roles import Task

__all__ = ["check_kept", "check_learner", "is_named", "named_learner"]

_NAMES = ("naive-bayes", "tree", "logistic", "forest")
_TREES = 100
_FOR_CLASSES = ("naive-bayes", "logistic")


def is_named(estimator: Any) -> bool:
    """Whether an estimator is given by name.

    Examples
    --------
    >>> is_named("tree"), is_named("sklearn.svm:SVC"), is_named("GaussianNB()")
    (True, True, False)
    """
    if not isinstance(estimator, str):
        return False
    module, colon, name = estimator.partition(":")
    return estimator in _NAMES or bool(colon and name.isidentifier() and all(map(str.isidentifier, module.split("."))))


def check_learner(estimator: Any) -> None:
    """Refuse what is neither a scikit-learn estimator nor the name of one."""
    if isinstance(estimator, str) and not is_named(estimator):
        raise ParameterError(
            f"estimator is {shown(estimator)}; give {', '.join(_NAMES)}, or a class as module:Class, or an estimator"
        )
    if not isinstance(estimator, str) and (isinstance(estimator, type) or not hasattr(estimator, "fit")):
        raise ParameterError(
            f"estimator is {shown(repr(estimator))}, which is no scikit-learn estimator; give a classifier or a "
            "regressor, or the name of one"
        )


def check_kept(entries: dict[str, Any], names: Iterable[str]) -> None:
    """Refuse to go on with a run whose manifest has only the text of an estimator, or of other values with such names.

    Examples
    --------
    >>> check_kept({"estimator": "tree", "cv": 5, "scoring": "accuracy"}, ["cv", "scoring"])
    """
    for name in ("estimator", *names):
        value = entries.get(name)
        kept = is_named(value) if name == "estimator" else not (isinstance(value, str) and not _is_word(value))
        if not kept or (name in ("cv", "holdout") and isinstance(value, str)):
            raise ParameterError(
                f"the run was made with {name}={shown(value)}, which a run does not keep; go on by calling fit with "
                "run_dir"
            )


def _is_word(text: str) -> bool:
    return text.replace("_", "").replace("-", "").isalnum()


def named_learner(name: str, task: Task, *, missing: bool = False) -> Any:
    """The learner of a name, for a target of classes or numbers, and for a table where values are missing.

    Examples
    --------
    >>> type(named_learner("tree", "regression")).__name__
    'DecisionTreeRegressor'
    """
    if task == "regression" and name in _FOR_CLASSES:
        raise ParameterError(
            f"the estimator {name} is for classes and the target asks for regression; give tree, forest, or a class as "
            "module:Class"
        )
    if name == "naive-bayes":
        from sklearn.naive_bayes import GaussianNB

        return _filled(GaussianNB()) if missing else GaussianNB()
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        return _filled(StandardScaler(), LogisticRegression(max_iter=1000))
    if name in _NAMES:
        return _tree(name, task)
    return _imported(name)


def _filled(*steps: Any) -> Any:
    """A learner that gets the mean in place of missing values."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(keep_empty_features=True), *steps)


def _tree(name: str, task: Task) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if name == "tree":
        return DecisionTreeRegressor() if task == "regression" else DecisionTreeClassifier()
    return RandomForestRegressor(_TREES) if task == "regression" else RandomForestClassifier(_TREES)


def _imported(name: str) -> Any:
    """An instance of a class, with its own defaults."""
    module, _, inner = name.partition(":")
    try:
        kind = getattr(import_module(module), inner)
    except ImportError as error:
        raise ParameterError(f"estimator is {shown(name)}: {error}; is the module installed?") from error
    except AttributeError as error:
        raise ParameterError(f"estimator is {shown(name)}, and {shown(module)} has no {shown(inner)}") from error
    if not isinstance(kind, type) or not (hasattr(kind, "fit") and hasattr(kind, "predict")):
        raise ParameterError(f"estimator is {shown(name)}, which is no class with fit and predict; give one that is")
    try:
        return kind()
    except TypeError as error:
        raise ParameterError(f"estimator is {shown(name)}, which cannot be made without parameters: {error}") from error
