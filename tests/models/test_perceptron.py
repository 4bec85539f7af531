"""The thermal perceptron: its rule against a plain twin, scikit-learn's checks, what it learns, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import seeds
from fernwood.errors import ParameterError, TargetError
from fernwood.models import ThermalPerceptron
from fernwood.models.perceptron import _ORDER
from tests.reference import perceptron as slow


def seven_of_ten(seed: int, n_columns: int = 40) -> tuple:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (1000, n_columns))
    return table, np.where(table[:, :10].sum(axis=1) >= 7, "many", "few")


@parametrize_with_checks([ThermalPerceptron(decay=0.99)])
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)


@pytest.mark.parametrize("separable", [True, False])
def test_weights_are_those_of_the_plain_rule(separable: bool) -> None:
    """Also where epochs without an error are left out."""
    rng = np.random.default_rng(1)
    table = rng.standard_normal((60, 5)).round(3)
    y = (table[:, 0] - table[:, 3] > 0).astype(int)
    if separable:
        table[:, 0] += y - 0.5
    else:
        y[::7] = 1 - y[::7]
    # Few epochs: on rows that cannot be separated, a rounding in a sum grows from epoch to epoch.
    coldest = 0.2 if separable else 1.35
    settings = {"temperature": 1.5, "decay": 0.98, "coldest": coldest, "learning_rate": 0.7}
    model = ThermalPerceptron(**settings, standardize=False, random_state=3).fit(table, y)
    weights, epochs, clean = slow.train(table, 2 * y - 1, 1.5, 0.98, coldest, 0.7, seeds.state(3, _ORDER, 0))
    np.testing.assert_allclose(model.coef_[0], weights[1:], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_[0], weights[0], rtol=1e-6)
    assert model.n_updates_ == epochs * 60 * 6
    assert clean == separable == (model.n_iter_ < epochs)


def test_the_paper_counts_its_updates() -> None:
    table, y = seven_of_ten(0, 100)
    model = ThermalPerceptron(random_state=0).fit(table, y)
    assert model.n_updates_ == 1897 * 1000 * 101
    assert model._epochs() == 1897


def test_it_learns_seven_of_ten_among_noise() -> None:
    table, y = seven_of_ten(1)
    new, truth = seven_of_ten(2)
    model = ThermalPerceptron(random_state=0).fit(table, y)
    assert model.score(new, truth) > 0.96
    assert ThermalPerceptron(random_state=0).fit(table[:, 1:], y).score(new[:, 1:], truth) < 0.94
    assert np.abs(model.coef_[0, :10]).min() > np.abs(model.coef_[0, 10:]).max()


def test_scale_of_columns_does_not_matter_and_constants_say_nothing() -> None:
    rng = np.random.default_rng(4)
    table = rng.standard_normal((100, 3))
    y = table[:, 0] > 0.1 * rng.standard_normal(100)
    plain = ThermalPerceptron(random_state=0).fit(table, y)
    larger = ThermalPerceptron(random_state=0).fit(1024 * table, y)
    np.testing.assert_array_equal(larger.decision_function(1024 * table), plain.decision_function(table))
    flat = ThermalPerceptron(random_state=0).fit(np.column_stack([table, np.full(100, 0.1)]), y)
    assert flat.coef_[0, 3] == 0
    np.testing.assert_allclose(flat.coef_[0, :3], plain.coef_[0])


@pytest.mark.parametrize(
    ("times", "plus"), [(1e-13, 0), (1e-300, 0), (1e300, 0), (1, 1e13), (1e-6, -1e7), (2.0**60, 2.0**90)]
)
def test_small_units_and_far_origins_are_not_taken_for_constants(times: float, plus: float) -> None:
    """Columns say the same in any unit and from any origin, as far as doubles still tell their values apart."""
    rng = np.random.default_rng(5)
    table = rng.integers(-64, 65, (200, 4)) / 64.0
    y = (table[:, 0] > table[:, 1]).astype(int)
    moved = table * times + plus
    plain = ThermalPerceptron(random_state=0).fit(table, y)
    model = ThermalPerceptron(random_state=0).fit(moved, y)
    assert (model.coef_ != 0).all()
    assert abs(model.score(moved, y) - plain.score(table, y)) <= 0.02


def test_three_classes_and_the_seed() -> None:
    table, y = load_iris(return_X_y=True)
    model = ThermalPerceptron(random_state=0).fit(table, y)
    assert model.coef_.shape == (3, 4)
    assert model.decision_function(table).shape == (150, 3)
    assert model.score(table, y) > 0.9
    again, other = (ThermalPerceptron(random_state=s).fit(table, y) for s in (0, 1))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert (other.coef_ != model.coef_).any()


def test_what_cannot_be() -> None:
    table, y = seven_of_ten(0)
    for changes, words in (
        ({"temperature": 0}, "temperature is 0; give a number above 0"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'; give a number above 0"),
        ({"coldest": float("inf")}, "coldest is inf; give a number above 0"),
        ({"decay": 1.0}, "decay is 1.0; the temperature is to fall: give a number between 0 and 1"),
        ({"coldest": 3.0}, "coldest is 3.0 and temperature 2.0; training starts at the temperature"),
        ({"standardize": "yes"}, "standardize is 'yes'; give True or False"),
        ({"random_state": -1}, "random_state is -1; give a non-negative integer"),
    ):
        with pytest.raises(ParameterError, match=words):
            ThermalPerceptron(**changes).fit(table, y)
    with pytest.raises(TargetError, match="the target is .* in every row, one class"):
        ThermalPerceptron().fit(table, np.zeros(1000))


def test_it_is_public() -> None:
    assert fernwood.ThermalPerceptron is ThermalPerceptron
