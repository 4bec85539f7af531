"""The tree by the gain ratio: every split against the plain definition, scikit-learn's checks, subsets, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import seeds
from fernwood.errors import ParameterError, TargetError
from fernwood.learner.settings import TreeSettings
from fernwood.learner.subsets import CrossValidated, evaluation_of, subset_errors
from fernwood.learner.target import class_target
from fernwood.learner.trees import gain_ratios, grow
from fernwood.models import GainRatioTreeClassifier
from fernwood.sources.base import Kind
from tests.reference import gain_ratio as slow

WEIGHTS = "equal splits are chosen between by chance, in another order when rows are repeated than when they weigh more"
FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@parametrize_with_checks([GainRatioTreeClassifier()], expected_failed_checks=lambda _: FAILURES)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)


def table_of(seed: int) -> tuple:
    """Bits, few and many values, categories, all with and without gaps, and classes that follow some of them."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, n, 90) for n in (2, 2, 2, 5, 30, 4, 3, 2)]).astype(np.uint8)
    codes[6][rng.random(90) < 0.2] = slow.MISSING
    codes[7][rng.random(90) < 0.2] = slow.MISSING
    codes[4][::9] = slow.MISSING
    is_category = np.array([0, 0, 0, 0, 0, 1, 1, 1], bool)
    labels = (codes[0] + (codes[3] > 2) + (codes[5] == 1) + (rng.random(90) < 0.1)) % 3
    return codes, is_category, labels


@pytest.mark.parametrize("seed", range(4))
def test_every_split_has_the_best_ratio_of_those_that_gain_enough(seed: int) -> None:
    codes, is_category, labels = table_of(seed)
    kinds = np.where(is_category, Kind.CATEGORY, Kind.NUMBER)
    tree = grow(codes, class_target(labels), TreeSettings("cart", "gain-ratio"), state=seeds.state(seed), kinds=kinds)
    rows_of = {0: list(range(90))}
    n_split = 0
    for node in range(len(tree.column)):
        rows, j = rows_of[node], int(tree.column[node])
        allowed = slow.best_columns(codes, is_category, rows, labels)
        if j < 0:
            assert len(set(labels[rows])) == 1 or not allowed
            continue
        n_split += 1
        assert j in allowed
        assert tree.gain[node] / len(rows) == pytest.approx(allowed[j], abs=1e-6)
        for row in rows:
            code = codes[j][row]
            if code == slow.MISSING:
                branch = tree.missing[node]
            elif tree.route[node] >= 0:
                branch = tree.routes[tree.route[node], code]
            else:
                branch = int(code > tree.cut[node])
            rows_of.setdefault(int(tree.child[node] + branch), []).append(row)
    assert n_split > 10


def test_a_ratio_is_not_a_gain() -> None:
    """An identifier gains most by entropy, and is left alone by the ratio."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    codes = np.stack([np.arange(200), np.where(rng.random(200) < 0.1, 1 - y, y), rng.integers(0, 2, 200)])
    codes, kinds = codes.astype(np.uint8), np.full(3, Kind.CATEGORY)
    first = [
        grow(codes, class_target(y), TreeSettings("cart", criterion), state=seeds.state(0), kinds=kinds).column[0]
        for criterion in ("entropy", "gain-ratio")
    ]
    assert first == [0, 1]


def test_few_columns_a_node_and_weights() -> None:
    codes, is_category, labels = table_of(1)
    kinds = np.where(is_category, Kind.CATEGORY, Kind.NUMBER)
    settings = TreeSettings("cart", "gain-ratio", max_features=2)
    trees = [grow(codes, class_target(labels), settings, state=seeds.state(s), kinds=kinds) for s in range(20)]
    assert len({int(tree.column[0]) for tree in trees}) > 3
    twice = np.repeat(np.arange(90), 1 + np.arange(90) % 2)
    drawn = grow(
        codes[:, twice].copy(), class_target(labels[twice]), TreeSettings("cart", "gain-ratio"), state=seeds.state(0)
    )
    weighted = grow(
        codes, class_target(labels, 1 + np.arange(90) % 2), TreeSettings("cart", "gain-ratio"), state=seeds.state(0)
    )
    assert drawn.column[0] == weighted.column[0]


def test_the_unit_of_weights_is_no_matter() -> None:
    """What a threshold pays is a row of average weight; with weights that are nearly alike, as without any."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, (8, 120)).astype(np.uint8)
    y = (codes[2] > 20) ^ (rng.random(120) < 0.2)
    weights, settings = rng.choice([1.0, 2.0], 120), TreeSettings("cart", "gain-ratio")
    plain = gain_ratios(codes, class_target(y, weights))
    tree = grow(codes, class_target(y, weights), settings, state=seeds.state(0))
    assert len(tree.column) > 1
    for unit in (1.2, 1.5, 3, 1e-9):
        assert gain_ratios(codes, class_target(y, unit * weights)) == pytest.approx(plain, abs=1e-9)
        other = grow(codes, class_target(y, unit * weights), settings, state=seeds.state(0))
        assert other.column.tolist() == tree.column.tolist()
    nearly = np.where(np.arange(120) == 7, 1.000001, 1.0)
    without = gain_ratios(codes, class_target(y))
    assert gain_ratios(codes, class_target(y, nearly)) == pytest.approx(without, abs=1e-5)


def test_errors_of_subsets_are_those_of_fitting() -> None:
    table, y = load_digits(return_X_y=True)
    table, y = table[:300].copy(), y[:300]
    table[::7, 20] = np.nan
    rng = np.random.default_rng(0)
    for nominal in (False, True):
        evaluation = evaluation_of(GainRatioTreeClassifier(nominal, random_state=3), table, y, cv=3, scoring=None)
        fast, plain = subset_errors(evaluation), CrossValidated(evaluation)
        assert not isinstance(fast, CrossValidated)
        told = []
        for size in (64, 40, 9, 3, 1):
            columns = np.sort(rng.permutation(64)[:size])
            told.append(fast(columns))
            assert told[-1] == plain(columns)
        assert len(set(told)) >= 4
    blank = np.array([0])  # a corner that is white in every picture
    assert fast(blank) == plain(blank) > 0.8
    assert isinstance(
        subset_errors(evaluation_of(GainRatioTreeClassifier(), table, y, cv=3, scoring="f1_macro")), CrossValidated
    )


def test_subsets_of_a_frame_with_words_and_weights() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"town": rng.choice(["Aa", "Bb", "Cc"], 200), "age": rng.random(200), "flag": rng.random(200) < 0.5}
    )
    y = np.where((frame["town"] == "Bb") ^ frame["flag"], "stays", "goes")
    weights = rng.integers(0, 3, 200).astype(float)
    tree = GainRatioTreeClassifier(random_state=0)
    evaluation = evaluation_of(tree, frame, y, cv=4, scoring=None, sample_weight=weights)
    evaluation = evaluation.__class__(**{**vars(evaluation), "params": evaluation.params._replace(score={})})
    fast, plain = subset_errors(evaluation), CrossValidated(evaluation)
    assert not isinstance(fast, CrossValidated)
    for columns in ([0, 1, 2], [0, 2], [1], [2]):
        assert fast(np.array(columns)) == plain(np.array(columns))
    assert fast(np.array([0, 2])) < 0.02


def test_numbers_may_be_names() -> None:
    rng = np.random.default_rng(2)
    code = rng.integers(0, 9, 400)
    y = rng.integers(0, 2, 9)[code] ^ (rng.random(400) < 0.02)
    named = GainRatioTreeClassifier(nominal=True, max_depth=1, random_state=0).fit(code[:, None], y)
    ordered = GainRatioTreeClassifier(max_depth=1, random_state=0).fit(code[:, None], y)
    assert named.score(code[:, None], y) > 0.95 > ordered.score(code[:, None], y)
    assert named.tree_.branches[0] == 9


def test_columns_that_no_split_used_may_go() -> None:
    """Of equal splits the same column wins, whatever else is there: bits, whose gains are often equal in small nodes.

    What columns gain on average moves a little when one goes, so that a few leaves may differ; with ties drawn by lot
    every tree is another one.
    """
    rng = np.random.default_rng(6)
    table = rng.integers(0, 2, (600, 60)).astype(float)
    y = table[:, :3].sum(axis=1) + rng.integers(0, 2, 600)
    tree = GainRatioTreeClassifier(random_state=0).fit(table[:150], y[:150])
    unused = np.setdiff1d(np.arange(60), tree.columns_)
    assert len(unused) > 5
    told = tree.predict(table[150:])
    same = [
        np.mean(GainRatioTreeClassifier(random_state=0).fit(fewer[:150], y[:150]).predict(fewer[150:]) == told)
        for fewer in (np.delete(table, gone, axis=1) for gone in unused)
    ]
    assert np.mean(same) > 0.95


def test_accuracy_and_order() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(GainRatioTreeClassifier(random_state=0), table, y, cv=5).mean() > 0.9
    tree = GainRatioTreeClassifier(random_state=0).fit(table, y)
    assert tree.score(table, y) > 0.99
    order = np.random.default_rng(0).permutation(30)
    other = GainRatioTreeClassifier(random_state=0).fit(table[:, order], y)
    np.testing.assert_array_equal(
        order[other.columns_], order[np.isin(order, tree.columns_)][np.argsort(np.argsort(other.columns_))]
    )
    np.testing.assert_array_equal(other.predict_proba(table[:, order]), tree.predict_proba(table))
    assert tree.predict_log_proba(table).shape == (569, 2)


def test_what_cannot_be() -> None:
    table, y = np.eye(8), np.arange(8) % 2
    for changes, words in (
        ({"nominal": "no"}, "nominal is 'no'; give True or False"),
        ({"max_depth": 0}, "max_depth is 0; it must be an integer from 1 on"),
        ({"min_samples_leaf": 0}, "min_samples_leaf is 0"),
    ):
        with pytest.raises(ParameterError, match=words):
            GainRatioTreeClassifier(**changes).fit(table, y)
    with pytest.raises(ParameterError, match="criterion is 'gain-ratio' and rule is 'extra'; compare best splits"):
        TreeSettings("extra", "gain-ratio")
    with pytest.raises(TargetError, match="is 0 in every row; it needs at least two"):
        GainRatioTreeClassifier().fit(table, np.zeros(8, int))
    with pytest.raises(ParameterError, match="criterion is 'gain-ratio' and the target is numbers; use variance"):
        grow(
            np.zeros((1, 4), np.uint8),
            fernwood.learner.target.value_target([1, 2, 3, 4]),
            TreeSettings("cart", "gain-ratio"),
            state=seeds.state(0),
        )


def test_a_table_that_tells_nothing_makes_a_leaf() -> None:
    tree = GainRatioTreeClassifier().fit(np.ones((6, 2)), [0, 1, 1, 0, 1, 1])
    assert tree.predict(np.zeros((3, 2))).tolist() == [1, 1, 1]
    assert len(tree.columns_) == 0


@pytest.mark.parametrize("seed", range(3))
def test_ratios_of_columns_are_those_of_the_definition(seed: int) -> None:
    codes, is_category, labels = table_of(seed)
    codes = np.concatenate([codes, np.full((1, 90), 4, np.uint8)])
    is_category = np.append(is_category, True)
    told = gain_ratios(codes, class_target(labels), np.where(is_category, Kind.CATEGORY, Kind.NUMBER))
    for j, column in enumerate(codes):
        made = [slow.worth(branches, labels) for branches in slow.offers(column, list(range(90)), is_category[j])]
        most = max((gain for gain, _ in made), default=0)
        paid = slow.price(column, list(range(90)), is_category[j])
        right = [(gain - paid) * ratio / gain for gain, ratio in made if gain > most - 1e-9 and most > paid] or [0]
        assert any(told[j] == pytest.approx(ratio, abs=1e-6) for ratio in right)
    assert len(set(told.tolist())) == 9
