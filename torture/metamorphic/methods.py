"""Everything that answers: the searches, small enough to be run often, and the models; and what of it is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import DecisionTreeRegressor

from fernwood import (
    GainRatioTreeClassifier,
    RandomFernsClassifier,
    SubspaceForestClassifier,
    SubspaceForestRegressor,
)
from fernwood.search.boruta import BorutaSettings
from fernwood.search.elimination import EliminationSettings
from fernwood.search.ferns import FernSettings
from fernwood.search.filter import FilterSettings
from fernwood.search.methods import select
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fernwood.result import Result
    from fernwood.search.methods import Settings
    from fernwood.store import Store
    from torture.metamorphic.tables import Table

__all__ = ["MODELS", "SEARCHES", "THOROUGH", "Search", "answer_of", "decisions", "model_answer"]


class Search(NamedTuple):
    """A search.

    Attributes
    ----------
    settings : what to do
    tasks : what it is for
    learner : "ours", or whose learner gets the values: "tree" codes them anew, "other" is not of Fernwood
    weighted : whether rows may differ in weight
    """

    settings: Settings
    tasks: tuple[str, ...] = ("classification", "regression")
    learner: str = "ours"
    weighted: bool = True


_SNOWBALL = {"n_contexts": 16, "max_waves": 3, "n_confirming": 16, "max_contexts": 8}
_CLASSES = ("classification",)
_OF_TREE = {"tasks": _CLASSES, "learner": "tree"}
_TREE = GainRatioTreeClassifier(max_depth=3, random_state=0)

SEARCHES: dict[str, Search] = {
    "snowball": Search(SnowballSettings(**_SNOWBALL)),
    "snowball to few": Search(SnowballSettings(**_SNOWBALL, goal="minimal")),
    "snowball on a sample": Search(SnowballSettings(**_SNOWBALL, max_rows=100)),
    "SRS": Search(SubspaceSettings(n_iter=60, q=8, n_trees=2, round_size=10)),
    "SRS on patches": Search(SubspaceSettings(n_iter=40, q=8, weighted=True, rule="probe", n_trees=2, patch_rows=0.7)),
    "RS": Search(SubspaceSettings(n_iter=60, q=8, alpha=0.0, rule="probe", n_trees=2)),
    "mirror": Search(SubspaceSettings(n_iter=30, q=8, rule="mirror", n_trees=2)),
    "subspaces of ferns": Search(SubspaceSettings(n_iter=30, q=8, learner="ferns"), _CLASSES, weighted=False),
    "ferns": Search(FernSettings(scans=60), _CLASSES, weighted=False),
    "ferns above all shadows": Search(FernSettings(scans=60, rule="max-shadow"), _CLASSES, weighted=False),
    "Boruta": Search(BorutaSettings(max_iter=20, n_estimators=30)),
    "Boruta with fixed shadows": Search(BorutaSettings(max_iter=20, n_estimators=20, correction="fixed-shadows")),
    "Boruta of ferns": Search(BorutaSettings(max_iter=12, learner="ferns", max_depth=4), _CLASSES, weighted=False),
    "Boruta of another forest": Search(
        BorutaSettings(max_iter=4, estimator=ExtraTreesClassifier(10, max_depth=4)), _CLASSES, learner="other"
    ),
    "RVE": Search(EliminationSettings(_TREE, n_relevant=3, cv=3), **_OF_TREE),
    "RVErS": Search(EliminationSettings(_TREE, search="binary", r_max=8, cv=3), **_OF_TREE),
    "halving": Search(EliminationSettings(_TREE, cv=3), **_OF_TREE),
    "backward": Search(EliminationSettings(_TREE, n_relevant=18, step=1, cv=3), **_OF_TREE),
    "filter": Search(FilterSettings(_TREE, cv=3, max_columns=8), **_OF_TREE),
    "halving for numbers": Search(
        EliminationSettings(DecisionTreeRegressor(max_depth=3, random_state=0), cv=3), ("regression",), learner="other"
    ),
    "filter for numbers": Search(
        FilterSettings(ExtraTreesRegressor(5, random_state=0), cv=3, max_columns=4), ("regression",), learner="other"
    ),
}

THOROUGH: dict[str, tuple[Settings, bool]] = {
    "snowball": (SnowballSettings(n_contexts=64), True),
    "SRS": (SubspaceSettings(), True),
    "RS": (SubspaceSettings(alpha=0.0), True),
    "ferns": (FernSettings(scans=500), True),
    "Boruta": (BorutaSettings(), False),
    "Boruta with fixed shadows": (BorutaSettings(correction="fixed-shadows"), True),
}
"""Searches for all that is relevant, with effort enough to find it; and whether they promise a rate of false ones."""

MODELS: dict[str, tuple[Any, str]] = {
    "forest": (SubspaceForestClassifier(q=8, n_iter=80, random_state=3), "classification"),
    "forest for numbers": (SubspaceForestRegressor(q=8, n_iter=80, random_state=3), "regression"),
    "random ferns": (RandomFernsClassifier(60, 4, importances=True, random_state=3), "classification"),
    "gain-ratio tree": (GainRatioTreeClassifier(random_state=3), "classification"),
}
"""Models, and what they are for."""


def answer_of(name: str, store: Store, seed: int = 5, **how: Any) -> Result:
    """What a search finds in a store."""
    return select(store, SEARCHES[name].settings, seed, **how).result


def decisions(result: Result, was: Mapping[str, str] | None = None) -> dict[str, Any]:
    """All that a result says of every column, by name: decisions, numbers, partners, groups and stand-ins.

    Parameters
    ----------
    result
    was
        Names that columns are to have here in place of their own.
    """

    def named(name: str) -> str:
        return (was or {}).get(name, name)

    table = result.to_table()
    alike = result.relations.groups if result.relations is not None else []
    group = {i: sorted(named(result.names[j]) for j in of) for of in alike for i in of}
    said: dict[str, Any] = {}
    for row in table.to_pylist():
        row.pop("group", None)
        row["together"] = group.get(row.pop("position"))
        for beside in ("partners", "stand_ins"):
            if beside in row:
                row[beside] = [named(name) for name in row[beside]]
        said[named(row.pop("column"))] = row
    return said


def model_answer(name: str, table: Table, **params: Any) -> dict[str, Any]:
    """What a model says of the rows it was fitted on, and of every column by name."""
    model = clone(MODELS[name][0]).set_params(**params)
    weights = {} if table.weights is None else {"sample_weight": table.weights}
    model.fit(table.frame, table.target, **weights)
    said: dict[str, Any] = {"rows": getattr(model, "predict_proba", model.predict)(table.frame).tolist()}
    for about in ("feature_importances_", "shadow_importances_"):
        if hasattr(model, about):
            by_name = dict(zip(table.names, getattr(model, about).tolist(), strict=True))
            said[about] = {table.was.get(column, column): value for column, value in by_name.items()}
    if hasattr(model, "oob_scores_"):
        said["oob"] = np.nan_to_num(model.oob_scores_, nan=-1.0).tolist()
    return said
