"""A fit starts from nothing: fitted again with other settings, another table, another task, an estimator is a new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import fernwood
from tests.fitted_state import state

Table = tuple[Any, ...]


def table(n_rows: int, n_columns: int, task: str = "classes", seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, n_columns)).round(2)
    signal = x[:, 0] + x[:, 1] + 0.2 * rng.standard_normal(n_rows)
    if task == "numbers":
        return x, signal
    return x, np.array(["no", "yes", "very"])[np.digitize(signal, (0, 2) if task == "three" else (0,))]


def framed(n_rows: int, n_columns: int, task: str = "classes") -> Table:
    x, y = table(n_rows, n_columns, task, seed=1)
    return pd.DataFrame(x, columns=[f"column {i}" for i in range(n_columns)]), y


def stored(n_rows: int, n_columns: int, task: str = "classes") -> Table:
    x, y = table(n_rows, n_columns, task, seed=2)
    return (fernwood.ingest(x, target=y, groups=np.arange(n_rows) // 2),)


TABLES: dict[str, Callable[[], Table]] = {
    "narrow": lambda: table(120, 12),
    "wide": lambda: table(90, 30),
    "of three classes": lambda: table(150, 12, "three"),
    "of numbers": lambda: table(120, 15, "numbers"),
    "a frame": lambda: framed(100, 9),
    "a store": lambda: stored(100, 14),
}
QUICK: dict[str, dict[str, Any]] = {
    "SnowballSelector": {"n_contexts": 16, "max_waves": 2, "max_contexts": 0},
    "SubspaceSelector": {"q": 6, "n_iter": 60},
    "FernSelector": {"scans": 60, "depth": 3},
    "BorutaSelector": {"max_iter": 8, "n_estimators": 10},
    "EliminationSelector": {"estimator": GaussianNB(), "cv": 3},
    "FilterSelector": {"estimator": GaussianNB(), "cv": 3},
    "SubspaceForestClassifier": {"q": 6, "n_iter": 20},
    "SubspaceForestRegressor": {"q": 6, "n_iter": 20},
    "RandomFernsClassifier": {"n_ferns": 40, "depth": 3},
    "GainRatioTreeClassifier": {},
    "ThermalPerceptron": {"decay": 0.9},
}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "SnowballSelector": [{}, {"goal": "minimal"}, {"given": [2]}, {"fdr": 0.3}],
    "SubspaceSelector": [
        {"rule": "shadow"},
        {"rule": "probe"},
        {"rule": "mirror"},
        {"rule": "importance"},
        {"goal": "minimal"},
        {"learner": "ferns"},
    ],
    "FernSelector": [{"rule": "shadow"}, {"rule": "max-shadow"}, {"sequential": False}],
    "BorutaSelector": [{"correction": "fixed-shadows"}, {}, {"two_step": False}, {"learner": "ferns"}],
    "EliminationSelector": [
        {},
        {"n_relevant": 3},
        {"holdout": 0.3},
        {"estimator": DecisionTreeClassifier(max_depth=3)},
    ],
    "FilterSelector": [{}, {"max_columns": 4}],
    "SubspaceForestClassifier": [{}, {"alpha": 0.0}, {"rule": "importance"}, {"bootstrap": True}],
    "SubspaceForestRegressor": [{}, {"alpha": 0.0}, {"learner": "cart"}],
    "RandomFernsClassifier": [{"importances": True}, {"importances": False}, {"depth": 5}],
    "GainRatioTreeClassifier": [{}, {"nominal": True}, {"max_depth": 1}],
    "ThermalPerceptron": [{}, {"standardize": False}],
}
"""Ways of fitting, each of which follows each other one."""


def estimators() -> list[str]:
    """Every public class that can be fitted."""
    return [name for name in fernwood.__all__ if hasattr(getattr(fernwood, name), "fit")]


def test_every_estimator_is_fitted_again() -> None:
    assert set(estimators()) == set(QUICK) == set(SETTINGS)


def fitted(estimator: Any, data: Table) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*data)


def fits(name: str) -> list[tuple[dict[str, Any], str]]:
    """Settings and tables, such that all settings and all tables follow other ones."""
    kinds = [kind for kind in TABLES if kind != "a store" or name != "ThermalPerceptron"]
    if name.endswith("Regressor"):
        kinds = ["of numbers"]
    elif name.endswith(("Classifier", "Perceptron", "FernSelector")) or QUICK[name].get("estimator") is not None:
        kinds = [kind for kind in kinds if kind != "of numbers"]
    settings = SETTINGS[name]
    n = max(len(kinds), len(settings))
    return [(settings[i % len(settings)], kinds[i % len(kinds)]) for i in range(n)]


@pytest.mark.parametrize("name", QUICK)
def test_a_refit_starts_from_nothing(name: str) -> None:
    ways = [(how, kind) for how, kind in fits(name) if not (how.get("learner") == "ferns" and kind == "of numbers")]
    ways = [(how, kind) for how, kind in ways if not (how.get("rule") == "mirror" and kind == "a store")]
    made = getattr(fernwood, name)(random_state=0, **QUICK[name])
    alone = {}
    for number, (how, kind) in enumerate(ways):
        fresh = clone(made).set_params(**{**clone(made).get_params(deep=False), **how})
        alone[number] = state(fitted(fresh, TABLES[kind]()))
    again = clone(made)
    base = again.get_params(deep=False)
    rng = np.random.default_rng(0)
    for number in [*range(len(ways)), *rng.permutation(len(ways)).tolist(), *range(len(ways))[::-1]]:
        how, kind = ways[number]
        again.set_params(**{**base, **how})
        assert state(fitted(again, TABLES[kind]())) == alone[number], (how, kind)


def test_a_selector_of_another_task() -> None:
    """Elimination with a learner for classes, and then one for numbers."""
    selector = fernwood.EliminationSelector(GaussianNB(), random_state=0, cv=3).fit(*TABLES["narrow"]())
    selector.set_params(estimator=LinearRegression())
    fresh = clone(selector)
    data = TABLES["of numbers"]()
    assert state(fitted(selector, data)) == state(fitted(fresh, data))


@pytest.mark.parametrize("name", QUICK)
def test_a_fit_that_is_refused_leaves_no_mixture(name: str) -> None:
    """What was fitted before is whole, or gone."""
    kind = fits(name)[0][1]
    x, y = TABLES[kind]()
    model = fitted(getattr(fernwood, name)(random_state=0, **QUICK[name]), (x, y))
    before = state(model)
    with pytest.raises(ValueError):  # noqa: PT011  (what is refused is told elsewhere)
        model.fit(np.asarray(x)[:, :5], y[:-3])
    after = state(model)
    assert after == before or not {one for one in after if one.endswith("_")} - {"n_features_in_", "feature_names_in_"}
    if after != before:
        with pytest.raises(NotFittedError):
            getattr(model, "transform", getattr(model, "predict", None))(np.asarray(x)[:, :5])
