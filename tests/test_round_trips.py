"""What goes into a file comes back whole: every field of every result, and every fitted attribute."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import fernwood
from fernwood.result import Result
from fernwood.saved import load_result, save_result
from tests.fitted_state import plain, state

SELECTORS: dict[str, Any] = {
    "snowball": lambda: fernwood.SnowballSelector(),
    "snowball, few": lambda: fernwood.SnowballSelector(goal="minimal"),
    "snowball, given by position": lambda: fernwood.SnowballSelector(given=[0, -1]),
    "snowball, given by numbers of NumPy": lambda: fernwood.SnowballSelector(given=np.array([2])),
    "snowball, given by pattern": lambda: fernwood.SnowballSelector(given=["g*1"]),
    "snowball, on a sample": lambda: fernwood.SnowballSelector(max_rows=150),
    "shadow": lambda: fernwood.SubspaceSelector(q=8, n_iter=60),
    "mirror": lambda: fernwood.SubspaceSelector(rule="mirror", q=8, n_iter=60),
    "probe": lambda: fernwood.SubspaceSelector(rule="probe", q=8, n_iter=60),
    "importance": lambda: fernwood.SubspaceSelector(rule="importance", q=8, n_iter=60),
    "subspace, few": lambda: fernwood.SubspaceSelector(goal="minimal", q=8, n_iter=60),
    "subspace, ferns": lambda: fernwood.SubspaceSelector(learner="ferns", q=8, n_iter=60),
    "ferns": lambda: fernwood.FernSelector(scans=200, depth=3),
    "ferns, above the best": lambda: fernwood.FernSelector(scans=200, depth=3, rule="max-shadow"),
    "boruta": lambda: fernwood.BorutaSelector(max_iter=40, n_estimators=20),
    "boruta, few iterations": lambda: fernwood.BorutaSelector(max_iter=4, n_estimators=20),
    "boruta, fixed shadows": lambda: fernwood.BorutaSelector(max_iter=30, n_estimators=20, correction="fixed-shadows"),
    "elimination": lambda: fernwood.EliminationSelector(GaussianNB()),
    "elimination, few": lambda: fernwood.EliminationSelector(GaussianNB(), n_relevant=3, holdout=0.3),
    "filter": lambda: fernwood.FilterSelector(GaussianNB()),
}
OF_CLASSES = ("ferns", "ferns, above the best", "subspace, ferns", "filter")
N = 240


def table(task: str = "classes") -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((N, 14)).round(2)
    x[:, 4] = rng.integers(0, 3, N)
    x[:, 6] = 1.0
    x[rng.random(N) < 0.1, 3] = 0
    signal = x[:, 0] + x[:, 1] * x[:, 4]
    data = pd.DataFrame(x, columns=[f"g <{i}> é" if i == 9 else f"g{i}" for i in range(14)])
    return data, signal if task == "numbers" else signal > 0


def fitted(name: str, task: str = "classes", **how: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SELECTORS[name]().set_params(random_state=3).fit(*table(task), **how)


def assert_same(one: Result, other: Result) -> None:
    """Every field, whatever fields there are; how the run went is told not to be saved."""
    for field in fields(Result):
        if field.name != "course":
            assert plain(getattr(other, field.name)) == plain(getattr(one, field.name)), field.name
            assert type(getattr(other, field.name)) is type(getattr(one, field.name)) or field.name == "names"


@pytest.mark.parametrize("name", SELECTORS)
def test_every_field_of_a_result_comes_back(name: str, tmp_path: Path) -> None:
    selector = fitted(name)
    save_result(selector.result_, tmp_path)
    again = load_result(tmp_path)
    assert_same(selector.result_, again)
    save_result(again, tmp_path)
    assert_same(selector.result_, load_result(tmp_path))
    assert_same(selector.result_, pickle.loads(pickle.dumps(selector.result_)))
    assert again.to_table().to_pylist() == selector.result_.to_table().to_pylist()
    assert again.summary() == selector.result_.summary()


@pytest.mark.parametrize("name", SELECTORS)
def test_every_fitted_attribute_comes_back(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a learner is not saved
        selector = fitted(name)
        selector.save(tmp_path / "m.fern-model")
    before, after = state(selector), state(fernwood.load(tmp_path / "m.fern-model"))
    after.pop("_takes_", None)  # what the learner takes, which is not saved itself
    assert after == before


@pytest.mark.parametrize("name", ["snowball", "mirror", "probe", "boruta", "boruta, fixed shadows"])
def test_of_numbers_with_weights_and_groups(name: str, tmp_path: Path) -> None:
    how: dict[str, Any] = {"sample_weight": 1.0 + np.arange(N) % 3}
    if name != "mirror":
        how["groups"] = np.arange(N) // 2
    found = fitted(name, "numbers", **how).result_
    save_result(found, tmp_path)
    assert_same(found, load_result(tmp_path))


def test_counts_beside_p_come_back(tmp_path: Path) -> None:
    """How often a column was above what it was compared with, where p exists too."""
    found = fitted("shadow").result_
    counted = replace(found, wins=np.arange(14, dtype=np.int32), modelled=None)
    save_result(counted, tmp_path)
    assert load_result(tmp_path).wins.tolist() == list(range(14))
    assert "wins" not in load_result(tmp_path).to_table().column_names
