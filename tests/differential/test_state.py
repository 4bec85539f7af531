"""What came before does not show: an earlier fit, an interrupt, a file in between, or the table's own owner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import fernwood
from fernwood.saved import load_result, save_result
from tests.differential.cases import EVERYTHING, both_parts, long_part
from tests.differential.methods import METHODS, MODELS, Given, about_result, attributes, differs, fit, fitted, quietly
from tests.differential.tables import KINDS, Table, make_table
from tests.differential.ways import plain, stored


def _kind_for(method: str, seed: int, nth: int) -> str:
    """One of the kinds of table that a method takes and does not refuse, another for every seed."""
    unlikely = ("single", "outliers", "grouped", "narrow")  # where some methods refuse to look
    fitting = [kind for kind in KINDS if kind not in unlikely and EVERYTHING[method].takes(make_table(kind, seed))]
    return fitting[(seed + 5 * nth + len(method)) % len(fitting)]


def _of_one_class(step: int) -> list[tuple[str, str]]:
    """Every method, and another one of the same class, whose settings were in force before."""
    names, pairs = list(EVERYTHING), []
    for name in names:
        same = [other for other in names if type(EVERYTHING[other].estimator) is type(EVERYTHING[name].estimator)]
        pairs.append((same[(same.index(name) + step) % len(same)], name))
    return pairs


NEXT = _of_one_class(step=1)


@pytest.mark.parametrize(
    ("seed", "before", "method"),
    both_parts(NEXT, of=2) + long_part([pair for pair in _of_one_class(step=-2) if pair not in NEXT]),
)
def test_after_another_fit(seed: int, before: str, method: str) -> None:
    """Fitted attributes are those of a fresh estimator, also where the fit before had others: more, or of another size."""
    first, then = make_table(_kind_for(before, seed, 0), seed), make_table(_kind_for(method, seed, 1), seed + 1)
    estimator = fitted(EVERYTHING[before].estimator, plain(first))
    estimator.set_params(**EVERYTHING[method].estimator.get_params(deep=False))
    fit(estimator, plain(then))
    fresh = fitted(EVERYTHING[method].estimator, plain(then))
    assert differs(attributes(fresh), attributes(estimator)) == ""
    assert sorted(vars(fresh)) == sorted(vars(estimator))


@pytest.mark.parametrize(("seed", "method"), both_parts([(method,) for method in EVERYTHING], of=2, first=1))
def test_fitting_changes_neither_table_nor_parameters(seed: int, method: str) -> None:
    table = make_table(_kind_for(method, seed, 0), seed)
    given, estimator = plain(table), clone(EVERYTHING[method].estimator)
    frame, target, params = table.frame.copy(deep=True), table.target.copy(), repr(estimator.get_params())
    fit(estimator, given)
    assert given.X.equals(frame)
    np.testing.assert_array_equal(given.y, target)
    assert repr(estimator.get_params()) == params
    again = attributes(estimator)
    fit(estimator, given)
    assert differs(again, attributes(estimator)) == ""


@pytest.mark.parametrize(
    ("seed", "method"),
    both_parts([(method,) for method in METHODS], of=2) + both_parts([(method,) for method in MODELS]),
)
def test_saved_and_loaded(seed: int, method: str, tmp_path: Path) -> None:
    """A model comes back with all that it knew, from a table of any kind; and so does the result by itself."""
    table = make_table(_kind_for(method, seed, 2), seed)
    estimator = fitted(EVERYTHING[method].estimator, plain(table))
    with quietly():
        estimator.save(tmp_path / "t.fern-model")
        again = fernwood.load(tmp_path / "t.fern-model")
    said = attributes(estimator)
    assert differs(_as_saved(said), _as_saved(attributes(again))) == ""
    for ask in ("predict", "predict_proba", "decision_function"):
        if hasattr(estimator, ask):
            assert differs(getattr(estimator, ask)(table.frame), getattr(again, ask)(table.frame), ask) == ""
    if method in METHODS:
        save_result(estimator.result_, tmp_path)
        loaded = about_result(load_result(tmp_path))
        assert differs(_as_saved(about_result(estimator.result_)), _as_saved(loaded)) == ""


def _as_saved(said: dict[str, Any]) -> dict[str, Any]:
    """JSON has lists where Python may have tuples, and knows no other difference between them."""
    if isinstance(said, dict):
        return {key: _as_saved(value) for key, value in said.items()}
    return list(map(_as_saved, said)) if isinstance(said, tuple | list) else said


class Stop(KeyboardInterrupt):
    """As Ctrl-C, after some calls of the progress."""


def _stopping_after(calls: int) -> Any:
    left = calls

    def progress(_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Stop

    return progress


@pytest.mark.parametrize(("seed", "method"), both_parts([(method,) for method in METHODS], of=2, first=1))
def test_stopped_and_resumed(seed: int, method: str, tmp_path: Path) -> None:
    """Stopped wherever it may be, three times over, and resumed as another object from another form of the table."""
    table = make_table(_kind_for(method, seed, 3), seed)
    expected = attributes(fitted(METHODS[method].estimator, plain(table)))
    rng, run = np.random.default_rng(seed), {"run_dir": tmp_path / "run"}
    for _ in range(3):
        try:
            fitted(METHODS[method].estimator, _with(plain(table), run, progress=_stopping_after(int(rng.integers(4)))))
        except Stop:
            continue
        break
    got = attributes(fitted(METHODS[method].estimator, _resumed_with(table, method, run)))
    for said in (expected, got):
        said.pop("feature_names_in_", None)  # which a store does not give
    assert differs(expected, got) == ""


def _with(given: Given, *params: dict[str, Any], **more: Any) -> Given:
    return Given(given.X, given.y, given.weights, given.groups, {k: v for p in (*params, more) for k, v in p.items()})


def _resumed_with(table: Table, method: str, run: dict[str, Any]) -> Given:
    """A store, but for learners of the user's, which get other values from it, and covariates, which are cut coarser."""
    other = METHODS[method].own_values or bool(getattr(METHODS[method].estimator, "given", ()))
    form = plain(table) if other else Given(stored(table))
    return _with(form, run, n_jobs=2)
