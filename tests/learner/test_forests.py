"""Forests: exact importances in the limit, threads, accuracy beside scikit-learn, importances on other rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from fernwood import seeds, theory
from fernwood.errors import ParameterError
from fernwood.importance.trees import impurity_decrease, out_of_sample_decrease, permutation_loss
from fernwood.learner.many import in_order
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import class_target, value_target
from fernwood.learner.trees import Tree, bootstrap, grow, predict_shares, predict_values
from fernwood.store.quantise import quantise


def table_of(distribution: theory.Distribution, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and labels in which every outcome has its exact share of the rows."""
    columns: list[list[int]] = []
    for outcome, probability in distribution.outcomes().items():
        count = float(probability) * n_rows
        assert count == round(count)
        columns += [[list(v).index(x) for v, x in zip(values(distribution), outcome, strict=False)]] * round(count)
    table = np.array(columns, np.uint8)
    return np.ascontiguousarray(table[:, :-1].T), table[:, -1]


def values(distribution: theory.Distribution) -> list[list]:
    outcomes = list(distribution.outcomes())
    return [sorted({o[i] for o in outcomes}) for i in range(len(outcomes[0]))]


@pytest.mark.parametrize(("name", "n_rows"), [("seven_segment", 10), ("strong_versus_weak", 80)])
@pytest.mark.parametrize("k", [1, None])
def test_importances_converge_to_the_exact_ones(name: str, n_rows: int, k: int | None) -> None:
    """Within five standard errors of 2000 trees, for 20 importances: false alarms once in 90 000 runs."""
    distribution = getattr(theory, name)()
    codes, labels = table_of(distribution, n_rows)
    settings = TreeSettings(rule="random") if k == 1 else TreeSettings(rule="cart")
    target = class_target(labels)
    found = np.array(
        [impurity_decrease(grow(codes, target, settings, state=seeds.state(1, i)), len(codes)) for i in range(2000)]
    )
    exact = np.array(list(theory.importances(distribution, max_features=k or len(codes)).values()))
    assert found.sum(axis=1) == pytest.approx(theory_entropy(labels), abs=1e-6)
    error = found.std(axis=0) / np.sqrt(len(found)) + 1e-6
    assert (abs(found.mean(axis=0) - exact) < 5 * error).all()


def theory_entropy(labels: np.ndarray) -> float:
    shares = np.bincount(labels) / len(labels)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


def test_importances_add_up_to_the_entropy_when_inputs_determine_the_target() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (5, 200)).astype(np.uint8)
    labels = (codes[0].astype(int) + codes[1] * codes[2]) % 3
    for rule in ("extra", "cart", "random"):
        tree = grow(codes, class_target(labels), TreeSettings(rule=rule), state=seeds.state(0))
        assert impurity_decrease(tree, 5).sum() == pytest.approx(theory_entropy(labels))


def test_an_increasing_transform_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6, 500))
    target = class_target(x[0] * x[1] > 0)
    trees = [
        grow(quantise(v, 24).codes, target, TreeSettings(rule=rule), state=seeds.state(0))
        for rule in ("extra", "cart")
        for v in (x, np.exp(x))
    ]
    assert trees[0].cut.tolist() == trees[1].cut.tolist()
    assert trees[2].gain.tolist() == trees[3].gain.tolist()


def test_any_number_of_threads_grows_the_same_trees() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 40, (30, 200)).astype(np.uint8)
    target = class_target(rng.integers(0, 3, 200))

    def tree(i: int) -> Tree:
        rows = bootstrap(200, seeds.state(1, i))
        return grow(codes, target, TreeSettings(max_features=5), state=seeds.state(0, i), rows=rows)

    one, four = (list(in_order(tree, range(40), n, group)) for n, group in ((1, 1), (4, 3)))
    for a, b in zip(one, four, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=False))
    assert len({tree.gain.tobytes() for tree in one}) == 40


def test_an_item_that_fails_says_so() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda i: 1 // i, [1, 0, 1, 1, 1, 1, 1], n_threads=2))


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer, load_diabetes])
def test_as_accurate_as_scikit_learn(load) -> None:
    """200 `extra` trees against ExtraTrees on the same half: within one standard error of the score on the other half.

    For classes the standard error is that of an accuracy on so many rows, for numbers that of the mean squared error.
    """
    table, y = load(return_X_y=True)
    regression = load is load_diabetes
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    codes = quantise(np.ascontiguousarray(table.T), 255).codes
    fit, other = np.ascontiguousarray(codes[:, train]), np.ascontiguousarray(codes[:, test])
    if regression:
        target, settings = value_target(y[train]), TreeSettings(criterion="variance")
        peer = ExtraTreesRegressor(200, random_state=0, n_jobs=1).fit(table[train], y[train]).predict(table[test])
    else:
        target, settings = class_target(y[train]), TreeSettings(criterion="gini", max_features="sqrt")
        peer = ExtraTreesClassifier(200, random_state=0, n_jobs=1).fit(table[train], y[train]).predict(table[test])
    trees = [grow(fit, target, settings, state=seeds.state(0, i)) for i in range(200)]
    if regression:
        ours = np.mean([predict_values(tree, other, target) for tree in trees], axis=0)
        errors, theirs = (ours - y[test]) ** 2, (peer - y[test]) ** 2
        assert errors.mean() < theirs.mean() + theirs.std() / np.sqrt(len(test))
    else:
        shares = np.zeros((len(test), len(target.classes)))
        for tree in trees:
            predict_shares(tree, other, len(target.classes), shares)
        accuracy, theirs = np.mean(target.classes[shares.argmax(1)] == y[test]), np.mean(peer == y[test])
        assert accuracy > theirs - np.sqrt(theirs * (1 - theirs) / len(test))


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
def test_out_of_sample_decrease_of_an_irrelevant_column_has_mean_zero(criterion: str) -> None:
    """Over 600 tables: within 4.5 standard errors (false alarm 7e-6 each); the plain decrease is far above."""
    fair, plain = [], []
    for i in range(600):
        rng = seeds.generator(11, i)
        codes = rng.integers(0, 8, (4, 60)).astype(np.uint8)
        y = (codes[0] > 3).astype(int) + rng.integers(0, 2, 60)
        target = value_target(y) if criterion == "variance" else class_target(y)
        settings = TreeSettings(criterion=criterion)
        tree = grow(codes, target, settings, state=seeds.state(12, i), rows=np.arange(30))
        fair.append(out_of_sample_decrease(tree, codes, target, settings, np.arange(30, 60)))
        plain.append(impurity_decrease(tree, 4))
    fair, plain = np.array(fair), np.array(plain)
    error = fair.std(axis=0) / np.sqrt(len(fair))
    assert (abs(fair.mean(axis=0)) < 4.5 * error)[1:].all()
    assert fair.mean(axis=0)[0] > 20 * error[0]
    assert (plain.mean(axis=0)[1:] > 20 * error[1:]).all()


def test_fair_decrease_is_the_plain_one_less_its_mean_over_deals() -> None:
    """One split, three branches: the correction against 4000 random deals."""
    from fernwood.kernels.predicting import fair_decrease

    rng = np.random.default_rng(3)
    branch = np.repeat([0, 1, 2], [3, 5, 6])
    y = np.array([0, 0, 1, 2, 2, 2, 0, 1, 1, 1, 1, 0, 2, 0])
    from tests.reference.trees import gain

    for criterion, code in (("entropy", 0), ("gini", 1), ("variance", 2)):
        w = np.ones(len(y))
        deals = np.array([gain(rng.permutation(y), w, branch, criterion) for _ in range(4000)])
        if criterion == "variance":
            tables = np.array(
                [[np.sum(branch == b), y[branch == b].sum(), (y[branch == b] ** 2).sum()] for b in range(3)], float
            )
        else:
            tables = np.array([np.bincount(y[branch == b], minlength=3) for b in range(3)], float)
        found = fair_decrease(tables, code, criterion == "variance")
        wanted = gain(y, w, branch, criterion) - deals.mean()
        assert abs(found - wanted) < 5 * deals.std() / np.sqrt(len(deals))


def test_permuting_a_column_that_matters_costs_accuracy() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 8, (5, 300)).astype(np.uint8)
    target = class_target(codes[2] > 3)
    loss = np.zeros(5)
    for i in range(20):
        rows = bootstrap(300, seeds.state(1, i))
        bag_out = np.setdiff1d(np.arange(300), rows)
        tree = grow(codes, target, TreeSettings(max_features=2), state=seeds.state(2, i), rows=rows)
        loss += permutation_loss(tree, codes, target, bag_out, seed=3, address=(i,)) / 20
        again = permutation_loss(tree, codes, target, bag_out, seed=3, address=(i,), addresses=np.arange(5))
        assert again.tolist() == permutation_loss(tree, codes, target, bag_out, seed=3, address=(i,)).tolist()
    assert loss.argmax() == 2
    assert loss[2] > 0.2
    assert (abs(np.delete(loss, 2)) < 0.1).all()


def test_work_needs_a_thread() -> None:
    with pytest.raises(ParameterError, match="n_threads is 0; it must be 1 or more"):
        list(in_order(abs, [1], n_threads=0))
