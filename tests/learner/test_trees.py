"""Every tree is what its definition says, on random tables of every kind."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from fernwood import seeds
from fernwood.errors import ParameterError, TargetError
from fernwood.importance.trees import impurity_decrease, out_of_sample_decrease, permutation_loss
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import TreeTarget, class_target, value_target
from fernwood.learner.trees import bootstrap, grow, leaves, predict_shares, predict_values
from tests.reference import trees as slow


@st.composite
def problems(draw, largest: int = 60):
    """Codes, kinds, target, settings and rows of one tree."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, largest))
    q = draw(st.integers(1, 9))
    codes = rng.integers(0, draw(st.sampled_from([2, 3, 10, 255])), (q, n)).astype(np.uint8)
    if draw(st.booleans()):
        codes[rng.random((q, n)) < 0.2] = 255
    kinds = np.zeros(q, np.uint8)
    if draw(st.booleans()):
        kinds[: (q + 1) // 2] = 3
        codes[kinds == 3] = np.where(codes[kinds == 3] == 255, 255, codes[kinds == 3] % 5)
    weights = draw(st.sampled_from([None, "some", "one heavy"]))
    if weights is not None:
        heavy = weights == "one heavy"
        weights = rng.choice([0.5, 1.0, 2.5], n)
        weights[rng.integers(n)] *= 1e6 if heavy else 1
    if draw(st.booleans()):
        target = class_target(rng.integers(0, draw(st.sampled_from([2, 3, 8])), n), weights)
        criterion = draw(st.sampled_from(["entropy", "gini"]))
    else:
        values = rng.integers(0, 9, n) / 4
        tail = draw(st.sampled_from(["none", "outlier", "lognormal"]))
        if tail == "outlier":
            values[rng.integers(n)] = draw(st.sampled_from([1e3, 1e7, -1e12]))
        elif tail == "lognormal":
            values = np.exp(4 * rng.standard_normal(n))
        target, criterion = value_target(values, weights), "variance"
    settings = TreeSettings(
        rule=draw(st.sampled_from(["extra", "cart", "random"])),
        criterion=criterion,
        max_features=draw(st.sampled_from([None, None, 1, 3, "sqrt"])),
        max_depth=draw(st.sampled_from([None, 1, 3])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 3])),
        min_samples_split=draw(st.sampled_from([2, 5])),
        categories=draw(st.sampled_from(["multiway", "subset"])),
    )
    rows = draw(st.sampled_from(["all", "bootstrap", "half"]))
    chosen = {
        "all": np.arange(n, dtype=np.int32),
        "bootstrap": bootstrap(n, seeds.state(int(rng.integers(99)))),
        "half": np.arange(0, n, 2, dtype=np.int32),
    }[rows]
    return codes, kinds, target, settings, chosen, int(rng.integers(1000))


@given(problems())
@hypothesis_settings(max_examples=150)
def test_a_tree_is_what_its_definition_says(problem) -> None:
    codes, kinds, target, settings, rows, seed = problem
    tree = grow(codes, target, settings, state=seeds.state(seed), kinds=kinds, rows=rows)
    y = target.kernel.labels if target.kernel.classes else target.kernel.values
    slow.audit(tree, codes, y, target.kernel.weights, kinds.tolist(), settings, rows)


@pytest.mark.parametrize("rule", ["extra", "cart"])
@pytest.mark.parametrize("classes", [2, 3, 7, 0])
def test_a_large_tree_is_what_its_definition_says(rule: str, classes: int) -> None:
    """More than 255 rows of one class, and both ways to look for the best cut."""
    rng = np.random.default_rng(classes)
    codes = rng.integers(0, 20, (3, 700)).astype(np.uint8)
    target = class_target(rng.integers(0, classes, 700)) if classes else value_target(rng.integers(0, 9, 700) / 4)
    settings = TreeSettings(rule=rule, criterion="entropy" if classes else "variance", min_samples_leaf=9)
    tree = grow(codes, target, settings, state=seeds.state(1))
    y = target.kernel.labels if classes else target.kernel.values
    slow.audit(tree, codes, y, target.kernel.weights, [0, 0, 0], settings, np.arange(700))


@given(problems())
@hypothesis_settings(max_examples=30)
def test_rows_are_led_to_the_leaf_of_the_slow_walk(problem) -> None:
    codes, kinds, target, settings, rows, seed = problem
    tree = grow(codes, target, settings, state=seeds.state(seed), kinds=kinds, rows=rows)
    other = np.random.default_rng(seed).integers(0, 256, codes.shape).astype(np.uint8)
    assert leaves(tree, other).tolist() == [slow.leaf_of(tree, other[:, i]) for i in range(other.shape[1])]


def test_without_the_compiler_trees_are_the_same() -> None:
    script = """
import sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from fernwood import seeds
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import TreeTarget, class_target, value_target
from fernwood.kernels.drawing import deal_probe, draw_weighted
from fernwood.learner.trees import add_importances, gain_ratios, grow, lay_out
from fernwood.importance.trees import out_of_sample_decrease, permutation_loss
rng = np.random.default_rng(0)
with np.errstate(all="ignore"):
    for rule in ("extra", "cart", "random"):
        for criterion in ("entropy", "gini", "variance"):
            for kind in (0, 3):
                for classes in (2, 3):
                    codes = rng.integers(0, 4, (9, 24)).astype(np.uint8)
                    codes[5:, ::5] = 255
                    y = rng.integers(0, classes, 24)
                    target = value_target(y) if criterion == "variance" else class_target(y)
                    settings = TreeSettings(rule=rule, criterion=criterion, categories="subset" if classes == 2 else "multiway")
                    kinds = np.array([0, 0, 0, 0, 0, 0, 0, kind, kind])
                    tree = grow(codes, target, settings, state=seeds.state(1), kinds=kinds, rows=np.arange(16))
                    for part in tree[:-1]:
                        print(part.tolist())
                    print((out_of_sample_decrease(tree, codes, target, settings, np.arange(16, 24)).round(9) + 0.0).tolist())
                    print((permutation_loss(tree, codes, target, np.arange(16, 24), seed=1, address=(2,)).round(9) + 0.0).tolist())
                    if criterion != "variance":
                        ground, out = lay_out(codes, target, settings, kinds), np.zeros(9)
                        add_importances(ground, seeds.states(2, 1), out)
                        add_importances(ground, seeds.states(2, 1), out, seeds.states(2, 2), 20)
                        print((out.round(9) + 0.0).tolist())
    for most in (None, 3):
        for weights in (None, 1 + np.arange(24) % 2):
            codes = rng.integers(0, 4, (9, 24)).astype(np.uint8)
            codes[:3] %= 2
            codes[5:, ::5] = 255
            target, kinds = class_target(rng.integers(0, 3, 24), weights), np.array([0, 0, 0, 0, 0, 0, 0, 3, 3])
            settings = TreeSettings("cart", "gain-ratio", max_features=most)
            for part in grow(codes, target, settings, state=seeds.state(1), kinds=kinds)[:-1]:
                print(part.tolist())
            print((gain_ratios(codes, target, kinds).round(9) + 0.0).tolist())
    state = seeds.state(3)
    print(draw_weighted(state, np.arange(9.0), 4).tolist(), deal_probe(state, codes, np.arange(2, 20, dtype=np.int32)), codes[-1].tolist())
"""
    out = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for off in ("0", "1")
    ]
    assert len(out[0]) > 1000
    assert out[0] == out[1]


def test_importing_compiles_nothing() -> None:
    script = (
        "import fernwood.learner.many, fernwood.importance.trees, fernwood.kernels.growing as g;"
        "print(len(g.grow_tree.signatures))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_one_kind_of_tree_is_compiled_once() -> None:
    from fernwood.kernels.growing import grow_tree

    codes = np.array([[0, 1, 2, 3]], np.uint8)
    for target, criterion in ((class_target([0, 1, 1, 0]), "gini"), (value_target([0, 1, 1, 0]), "variance")):
        for rule in ("extra", "cart"):
            for k in (None, 1):
                settings = TreeSettings(rule=rule, criterion=criterion, max_features=k)
                grow(codes, target, settings, state=seeds.state(0))
    assert len(grow_tree.signatures) == 1


def test_cuts_are_uniform_between_the_extremes() -> None:
    """Chi-square with 9 degrees of freedom above 33.7 happens once in ten thousand."""
    codes = np.array([[5, 15, 5, 15]], np.uint8)
    target = class_target([0, 1, 0, 1])
    found = np.zeros(10)
    for i in range(1000):
        found[grow(codes, target, TreeSettings(), state=seeds.state(3, i)).cut[0] - 5] += 1
    assert ((found - 100) ** 2 / 100).sum() < 33.7


@pytest.mark.parametrize("width", [7, 8, 40])
@pytest.mark.parametrize("target", [class_target([0, 1]), value_target([1.0, 5.0])], ids=["classes", "numbers"])
def test_cuts_of_two_rows(width: int, target: TreeTarget) -> None:
    """The middle of both codes, or any place between them: chi-square with 9 degrees of freedom as above."""
    codes = np.tile(np.array([0, 200], np.uint8), (width, 1))
    codes[::2] = codes[::2, ::-1]
    found = np.zeros(10)
    for criterion in ("variance",) if not target.kernel.classes else ("entropy", "gini"):
        cart, extra = (TreeSettings(rule=rule, criterion=criterion) for rule in ("cart", "extra"))
        found[:] = 0
        for i in range(500):
            assert grow(codes, target, cart, state=seeds.state(3, i)).cut[0] == 100
            found[grow(codes, target, extra, state=seeds.state(3, i)).cut[0] // 20] += 1
        assert ((found - 50) ** 2 / 50).sum() < 33.7


def test_equal_columns_are_chosen_equally_often() -> None:
    """Three copies of one column: each wins a third of 900 times, within four standard deviations (14.1)."""
    codes = np.tile(np.array([0, 1, 2, 3], np.uint8), (3, 1))
    target = class_target([0, 0, 1, 1])
    for settings in (TreeSettings(rule="cart"), TreeSettings(rule="cart", max_features=2)):
        wins = np.bincount(
            [int(grow(codes, target, settings, state=seeds.state(5, i)).column[0]) for i in range(900)], minlength=3
        )
        assert (abs(wins - 300) < 57).all()


def test_names_and_order_change_nothing() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 30, (12, 300)).astype(np.uint8)
    y = rng.integers(0, 4, 300)
    y[codes[3] > 15] = 1
    checks = rng.integers(0, 2**63, 12)
    order = rng.permutation(12)
    rows = rng.permutation(300)
    for rule in ("extra", "cart", "random"):
        for k in (None, 3):
            settings = TreeSettings(rule=rule, max_features=k)
            plain = grow(codes, class_target(y), settings, state=seeds.state(9), addresses=checks)
            named = grow(
                codes, class_target(np.array(list("zqab"))[y]), settings, state=seeds.state(9), addresses=checks
            )
            moved = grow(
                np.ascontiguousarray(codes[order]),
                class_target(y),
                settings,
                state=seeds.state(9),
                addresses=checks[order],
            )
            mixed = grow(
                np.ascontiguousarray(codes[:, rows]),
                class_target(y[rows]),
                settings,
                state=seeds.state(9),
                addresses=checks,
            )
            for other in (named, mixed):
                assert other.column.tolist() == plain.column.tolist()
                assert other.cut.tolist() == plain.cut.tolist()
                assert other.gain.tolist() == plain.gain.tolist()
            inner = plain.column >= 0
            assert order[moved.column[inner]].tolist() == plain.column[inner].tolist()
            assert moved.gain.tolist() == plain.gain.tolist()


def test_classes_values_and_weights() -> None:
    codes = np.array([[0, 0, 1, 1, 2, 2]], np.uint8)
    target = class_target(list("aabbcc"))
    tree = grow(codes, target, TreeSettings(rule="cart"), state=seeds.state(0))
    assert target.classes[predict_shares(tree, codes, 3).argmax(1)].tolist() == list("aabbcc")
    assert impurity_decrease(tree, 1) == pytest.approx([np.log2(3)])
    numbers = value_target([10.0, 12.0, 20.0, 22.0, 31.0, 35.0])
    tree = grow(codes, numbers, TreeSettings(rule="cart", criterion="variance"), state=seeds.state(0))
    assert predict_values(tree, codes, numbers) == pytest.approx([11, 11, 21, 21, 33, 33])
    heavy = class_target([0, 0, 0, 1], [1, 1, 1, 3])
    assert grow(codes[:, :4].copy(), heavy, TreeSettings(max_depth=1), state=seeds.state(0)).weight[0] == pytest.approx(
        6 / 2
    )
    balanced = class_target([0, 0, 0, 1], class_weights="balanced")
    assert balanced.kernel.weights[3] == pytest.approx(3 * balanced.kernel.weights[0])
    assert class_target([0, 1], class_weights={1: 3}).kernel.weights.tolist() == [0.5, 1.5]


def test_rows_of_weight_zero_take_no_part() -> None:
    codes = np.array([[0, 1, 2, 3]], np.uint8)
    tree = grow(codes, class_target([0, 1, 1, 1], [0, 1, 1, 1]), TreeSettings(), state=seeds.state(0))
    assert tree.rows.tolist() == [3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"rule": "best"},
        {"criterion": "mse"},
        {"max_features": 0},
        {"max_features": 1.5},
        {"max_features": True},
        {"max_depth": 0},
        {"min_samples_leaf": 0},
        {"min_samples_split": 1},
        {"min_samples_leaf": 2.5},
        {"categories": "all"},
    ],
)
def test_parameters_out_of_range(wrong: dict) -> None:
    with pytest.raises(ParameterError, match=f"^{next(iter(wrong))} is "):
        TreeSettings(**wrong)


@pytest.mark.parametrize(("rows", "n"), [([], 0), ([-1], 1), ([4], 1)])
def test_rows_that_are_not_there(rows: list[int], n: int) -> None:
    sentence = f"there are {n} rows of positive weight to grow on, numbered below 4; give some"
    with pytest.raises(ParameterError, match=sentence):
        grow(np.zeros((2, 4), np.uint8), class_target([0, 1, 0, 1]), TreeSettings(), state=seeds.state(1), rows=rows)


def test_kinds_of_other_columns() -> None:
    with pytest.raises(ParameterError, match=r"kinds have shape \(3,\); give one for each of the 2 columns"):
        grow(
            np.zeros((2, 4), np.uint8), class_target([0, 1, 0, 1]), TreeSettings(), state=seeds.state(1), kinds=[0] * 3
        )


def test_targets_that_cannot_serve() -> None:
    for shaped, n in (([], 0), ([[0], [1]], 2)):
        shape = rf"the target has shape \({n}.*\); give one"
        with pytest.raises(TargetError, match=f"{shape} class for every row"):
            class_target(shaped)
        with pytest.raises(TargetError, match=f"{shape} number for every row"):
            value_target(shaped)
    with pytest.raises(
        TargetError, match=r"the target runs from -1.7e\+308 to 1.7e\+308, too far for doubles .* divide it"
    ):
        value_target([-1.7e308, 1.7e308])
    with pytest.raises(TargetError, match="missing"):
        class_target([0.0, np.nan])
    with pytest.raises(TargetError, match="missing"):
        value_target([0.0, np.nan])
    with pytest.raises(ParameterError, match="smallest weight is -1"):
        class_target([0, 1], [-1, 1])
    with pytest.raises(ParameterError, match="all weights are zero"):
        value_target([0, 1], [0, 0])
    with pytest.raises(ParameterError, match="shape"):
        value_target([0, 1], [1])
    with pytest.raises(ParameterError, match="balanced"):
        class_target([0, 1], class_weights="even")
    with pytest.raises(ParameterError, match="names '2'"):
        class_target([0, 1], class_weights={2: 1.0})
    for wrong in (3.0, True, [], [1], np.ones(2), "even"):
        with pytest.raises(ParameterError, match="; give a mapping from classes to weights, or 'balanced'"):
            class_target([0, 1], class_weights=wrong)
    for weight in (-1, np.nan, np.inf, 10**400, "1", None, [1]):
        with pytest.raises(ParameterError, match="class_weight has a weight of .*; weights must be numbers from zero"):
            class_target([0, 1], class_weights={0: weight})
    with pytest.raises(ParameterError, match="all weights of class_weight are zero"):
        class_target([0, 1], class_weights={0: 0, 1: 0.0})
    codes = np.zeros((1, 2), np.uint8)
    with pytest.raises(ParameterError, match="use variance"):
        grow(codes, value_target([0, 1]), TreeSettings(), state=seeds.state(0))
    with pytest.raises(TargetError, match="3 rows"):
        grow(codes, class_target([0, 1, 1]), TreeSettings(), state=seeds.state(0))
    with pytest.raises(ParameterError, match="contiguous uint8"):
        grow(codes.astype(float), class_target([0, 1]), TreeSettings(), state=seeds.state(0))
    with pytest.raises(ParameterError, match="0 rows"):
        grow(codes, class_target([0, 1]), TreeSettings(), state=seeds.state(0), rows=[])
    tree = grow(codes, class_target([0, 1]), TreeSettings(), state=seeds.state(0))
    with pytest.raises(ParameterError, match="0 rows"):
        permutation_loss(tree, codes, class_target([0, 1]), [], seed=0, address=(0,))
    with pytest.raises(ParameterError, match="0 rows"):
        out_of_sample_decrease(tree, codes, class_target([0, 1]), TreeSettings(), [])


def test_ten_thousand_classes() -> None:
    codes = np.random.default_rng(0).integers(0, 255, (3, 20_000)).astype(np.uint8)
    tree = grow(codes, class_target(np.arange(20_000) // 2), TreeSettings(), state=seeds.state(0))
    assert len(tree.entry_class) <= 20_000
