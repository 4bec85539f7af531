"""Answers against slow twins that follow from the definitions alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

import fernwood
from fernwood import BorutaSelector, FernSelector, SnowballSelector, SubspaceSelector, seeds
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import class_target, value_target
from fernwood.learner.trees import grow
from fernwood.relevance.shadows import tail_chances
from tests.differential.cases import EVERYTHING, both_parts, long_part
from tests.differential.methods import METHODS, Given, fitted
from tests.differential.tables import KINDS, Table, make_table
from tests.differential.ways import plain
from tests.reference.trees import MISSING, branches_of, leaf_of

# Trees ---------------------------------------------------------------------------------------------------------------


def _target_of(table: Table) -> tuple[Any, str]:
    if table.task == "regression":
        return value_target(table.target, table.weights), "variance"
    return class_target(np.unique(table.target, return_inverse=True)[1], table.weights), "gini"


def _walk(tree: Any, codes: np.ndarray, node: int, rows: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Every inner node below one, with its rows and the branch of each."""
    if tree.column[node] < 0:
        return []
    branch = branches_of(tree, node, codes[tree.column[node], rows])
    inside = [(node, rows, branch)]
    for b in range(tree.branches[node]):
        inside += _walk(tree, codes, int(tree.child[node]) + b, rows[branch == b])
    return inside


@pytest.mark.parametrize(("seed", "kind"), both_parts([(kind,) for kind in KINDS]))
def test_best_cuts_lie_in_the_middle(seed: int, kind: str) -> None:
    """Between the two codes of the node that a cut of an ordered column parts, whatever the width and the node's size."""
    table, rng = make_table(kind, seed), np.random.default_rng(seed)
    n_rows = len(table.frame)
    target, criterion = _target_of(table)
    n_seen = 0
    for width in (1, 7, 8, 9, 40):
        codes = rng.integers(0, 255, (width, n_rows)).astype(np.uint8)
        codes[rng.random(codes.shape) < rng.choice([0, 0, 0.2])] = MISSING
        settings = TreeSettings("cart", criterion, min_samples_leaf=int(rng.choice([1, 1, 3])))
        tree = grow(codes, target, settings, state=seeds.state(seed))
        counted = np.arange(n_rows) if table.weights is None else np.flatnonzero(table.weights)
        for node, rows, branch in _walk(tree, codes, 0, counted):
            own = codes[tree.column[node], rows]
            low, high = own[(branch == 0) & (own != MISSING)], own[(branch == 1) & (own != MISSING)]
            if tree.route[node] < 0 and len(low) and len(high):
                n_seen += 1
                assert tree.cut[node] == (int(low.max()) + int(high.min())) // 2, (width, len(rows))
    assert n_seen > 5


def _decrease(values: np.ndarray, branch: np.ndarray) -> float:
    """How much squares about the mean fall by a split, exactly."""

    def squares(some: np.ndarray) -> float:
        mean = math.fsum(some) / len(some)
        return math.fsum((some - mean) ** 2)

    return squares(values) - sum(squares(values[branch == b]) for b in np.unique(branch))


@pytest.mark.parametrize(
    ("seed", "tail"), both_parts([("even",), ("lognormal",), ("1e3",), ("1e6",), ("1e9",), ("1e12",)])
)
def test_best_cuts_of_numbers_with_a_long_tail(seed: int, tail: str) -> None:
    """In every node the cut that is taken is as good as any, by what is at stake in that node and not in the root."""
    rng = np.random.default_rng(seed)
    n_rows, width = 150, 9
    codes = rng.integers(0, 60, (width, n_rows)).astype(np.uint8)
    values = codes[2] / 60 + 0.1 * rng.standard_normal(n_rows)
    if tail == "lognormal":
        values = np.exp(4 * values)
    elif tail != "even":
        values[rng.integers(n_rows)] = float(tail)
    tree = grow(codes, value_target(values), TreeSettings("cart", "variance"), state=seeds.state(seed))
    for _, rows, branch in _walk(tree, codes, 0, np.arange(n_rows)):
        here = values[rows]
        offered = [(codes[j, rows] > code).astype(int) for j in range(width) for code in np.unique(codes[j, rows])[:-1]]
        best = max(_decrease(here, each) for each in offered)
        assert _decrease(here, branch) >= best * (1 - 1e-6), len(rows)


@pytest.mark.parametrize(
    ("seed", "kind"), both_parts([(kind,) for kind in KINDS if make_table(kind, 1).groups is None])
)
def test_predictions_are_means_over_trees(seed: int, kind: str) -> None:
    """Of new rows, some of whose values were never there and some of which are missing."""
    table, rng = make_table(kind, seed), np.random.default_rng(seed)
    new = table.frame.iloc[rng.integers(0, len(table.frame), 20)].reset_index(drop=True)
    for name in new.columns[::2]:
        if new[name].dtype.kind == "f":
            new[name] = new[name] * 1.37 + 0.01
            new.loc[rng.random(20) < 0.2, name] = np.nan
    numbers = table.task == "regression"
    names = ("forest-numbers",) if numbers else ("forest", "forest-cart", "gain-ratio-tree")
    for name in names:
        model = fitted(EVERYTHING[name].estimator, plain(table))
        trees = getattr(model, "trees_", None) or [model.tree_]
        codes = model._coding.codes(new, n_blank=1)
        got = model.predict(new) if numbers else model.predict_proba(new)
        for row in range(20):
            told = [_said(tree, leaf_of(tree, codes[:, row]), 1 if numbers else len(model.classes_)) for tree in trees]
            mean = np.mean(told, axis=0)
            wanted = model._centre + model._unit * mean[0] if numbers else mean
            np.testing.assert_allclose(got[row], wanted, rtol=1e-12, atol=1e-12)


def _said(tree: Any, leaf: int, n_outputs: int) -> np.ndarray:
    entries = slice(int(tree.begin[leaf]), int(tree.end[leaf]))
    out = np.zeros(n_outputs)
    if n_outputs == 1:
        out[0] = tree.entry_value[entries][0]
    else:
        out[tree.entry_class[entries]] = tree.entry_value[entries]
    return out


# Columns against shadows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "values"), both_parts([("six",), ("rounded",), ("all alike",), ("different",)]))
def test_no_p_below_the_share_that_was_counted(seed: int, values: str) -> None:
    """Where shadows reach a value, so many do: no model of their tail may say that it is rarer than that."""
    rng = np.random.default_rng(seed)
    for n in (5, 30, 500, 5000):
        shadows = {
            "six": rng.choice(6, n, p=[0.3, 0.4, 0.2, 0.08, 0.0197, 0.0003]) ** 2.0,
            "rounded": np.round(rng.standard_exponential(n), 1),
            "all alike": np.ones(n),
            "different": rng.standard_exponential(n),
        }[values]
        evidence = np.unique(np.concatenate([shadows, rng.standard_exponential(20)]))
        chances = tail_chances(evidence, shadows)
        for value, chance in zip(evidence.tolist(), chances.tolist(), strict=True):
            reached = int(np.count_nonzero(shadows >= value))
            if reached:
                assert chance >= (1 - 1e-12) * reached / n, (n, value)
        assert (np.diff(chances) <= 0).all(), "more evidence, and a larger p"


_SUBSPACES: dict[str, Any] = {"q": 100, "n_iter": 80, "random_state": 1}
_TESTING = {
    "snowball": SnowballSelector(max_contexts=8, random_state=1),
    "subspace": SubspaceSelector(**_SUBSPACES, n_trees=2),
    "mirror": SubspaceSelector(**_SUBSPACES, n_trees=2, rule="mirror"),
    "subspace-ferns": SubspaceSelector(**_SUBSPACES, learner="ferns"),
    "ferns": FernSelector(scans=100, random_state=1),
    "boruta": BorutaSelector(max_iter=10, n_estimators=100, correction="fixed-shadows", random_state=1),
}


def _null_table(rng: np.random.Generator, counts: np.ndarray) -> Given:
    """Binary columns of so many ones each that have nothing to do with a target of which one in five is positive."""
    n_rows = 100
    values = np.zeros((n_rows, len(counts)))
    for column, n_ones in zip(values.T, counts, strict=True):
        column[rng.choice(n_rows, n_ones, replace=False)] = 1
    return Given(values, np.where(rng.permutation(n_rows) < n_rows // 5, "ill", "well"))


@pytest.mark.parametrize(("seed", "method"), both_parts([(method,) for method in _TESTING], of=2))
def test_p_of_columns_that_carry_no_information(seed: int, method: str) -> None:
    """At most a share of x of them is below x, among the rare columns and among the common ones beside them."""
    ones = np.where(np.arange(300) % 9 == 0, 40, 1)
    told: dict[str, list[float]] = {"common": [], "rare": [], "five ones": []}
    for n in range(6):
        rng = np.random.default_rng([seed, n])
        mixed = fitted(_TESTING[method], _null_table(rng, ones)).pvalues_
        told["common"] += mixed[ones == 40].tolist()
        told["rare"] += mixed[ones == 1].tolist()
        told["five ones"] += fitted(_TESTING[method], _null_table(rng, np.full(300, 5))).pvalues_.tolist()
    below = {which: [float(np.mean(np.array(p) < x)) for x in (0.05, 0.01)] for which, p in told.items()}
    for which, (in_twenty, in_a_hundred) in below.items():
        # 204 columns at least, which share a target: three to four standard deviations above what is promised.
        assert in_twenty <= 0.11, (which, below)
        assert in_a_hundred <= 0.04, (which, below)


ANSWERED = [(name, kind) for name, method in METHODS.items() for kind in KINDS if method.takes(make_table(kind, 1))]


@pytest.mark.parametrize(
    ("seed", "method", "kind"),
    both_parts(ANSWERED[::9], of=2) + long_part([case for i, case in enumerate(ANSWERED) if i % 9 in (2, 5, 7)]),
)
def test_a_result_agrees_with_itself(seed: int, method: str, kind: str) -> None:
    """q follows from p, the order from both, the mask from the order; and nothing is said of what nobody could use."""
    table = make_table(kind, seed)
    try:
        selector = fitted(METHODS[method].estimator, plain(table))
    except fernwood.FernwoodError as error:
        pytest.skip(f"refused: {error}")
    result, n_columns = selector.result_, table.frame.shape[1]
    usable = np.array([table.frame[name].nunique(dropna=False) > 1 for name in table.frame])
    assert result.facts.n_usable == usable.sum() - len(result.facts.parameters.get("given") or ())
    assert not selector.support_[~usable].any()
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), result.selected)
    np.testing.assert_array_equal(selector.ranking_ == 1, selector.support_ | (selector.ranking_ == 1))
    assert sorted(result.order.tolist()) == list(range(n_columns))
    assert (np.diff(result.verdicts.decision[result.order].astype(int)) >= 0).all()
    assert (result.wins <= np.maximum(result.draws, 0)).all() or method.startswith("snowball")
    asked_for = result.facts.parameters.get("n_relevant")
    assert asked_for is None or len(result.confirmed) <= asked_for or result.remarks(), "more than were asked for"
    if result.p is not None:
        judged = result.p[usable] if "given" not in method else result.p[usable & (np.arange(n_columns) != 1)]
        rates = _step_up(judged.tolist())
        found = result.q[usable] if "given" not in method else result.q[usable & (np.arange(n_columns) != 1)]
        np.testing.assert_allclose(found, rates, rtol=1e-12)
        assert (result.p[~usable] == 1).all()


def _step_up(chances: list[float]) -> list[float]:
    """Benjamini and Hochberg's rates, column by column: the smallest over all that are no better."""
    m, ordered = len(chances), sorted(chances)
    at = [m * chance / (sum(other <= chance for other in ordered)) for chance in ordered]
    return [
        min(1.0, min(rate for rate, other in zip(at, ordered, strict=True) if other >= chance)) for chance in chances
    ]


# Relations of columns ------------------------------------------------------------------------------------------------


def _every_other_row_blank(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Independent columns that are zero on all even rows, and a copy of the first."""
    values = rng.standard_normal((5000, 8))
    values[:, 7] = 3 * values[:, 0] + 0.01 * rng.standard_normal(5000)
    values[::2] = 0
    return values, values[:, :6].sum(axis=1) + 0.5 * rng.standard_normal(5000)


def _rare_variants(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Forty carriers each, none of which is in an even row."""
    values = np.zeros((5000, 8))
    for column in values.T:
        column[2 * rng.choice(2500, 40, replace=False) + 1] = 1
    return values, values[:, :6].sum(axis=1) + 0.1 * rng.standard_normal(5000)


def _nested(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A yes/no cut of the target, which leaves a third of it open, and columns that are alike without being the same."""
    target = rng.standard_normal(400)
    values = rng.standard_normal((400, 6))
    values[:, 0] = target > 0
    values[:, 1] = target + 0.1 * rng.standard_normal(400)
    values[:, 2] = values[:, 1] + 0.05 * rng.standard_normal(400)
    return values, target


@pytest.mark.parametrize(("seed", "made"), both_parts([("blank",), ("rare",), ("nested",)]))
def test_relations_of_columns_by_all_their_rows(seed: int, made: str) -> None:
    """Columns of one group resemble another of it in rank, and what gives the target away leaves nothing of it open."""
    make = {"blank": _every_other_row_blank, "rare": _rare_variants, "nested": _nested}[made]
    values, target = make(np.random.default_rng(seed))
    selector = SnowballSelector(n_contexts=16, max_waves=3, max_contexts=0, random_state=1)
    result = fitted(selector, Given(values, target)).result_
    ranks = np.abs(np.corrcoef(np.stack([rankdata(column) for column in values.T])))
    np.fill_diagonal(ranks, 0)
    assert len(result.confirmed) >= 2
    assert result.relations is not None
    for group in result.relations.groups:
        if len(group) > 1:
            assert (ranks[np.ix_(group, group)].max(axis=1) > 0.8).all(), (group, ranks[np.ix_(group, group)].round(2))
    for column in result.relations.giving_away:
        left = sum(values_of.var() * len(values_of) for values_of in _by_value(values[:, column], target))
        assert left <= 0.05 * target.var() * len(target), column


def _by_value(column: np.ndarray, target: np.ndarray) -> list[np.ndarray]:
    """The target by value of a column, where it has few, and else in neighbourhoods of ten rows."""
    if len(np.unique(column)) <= 20:
        return [target[column == value] for value in np.unique(column)]
    return np.array_split(target[np.argsort(column)], len(column) // 10)


@pytest.mark.parametrize(("seed", "order"), long_part([("sorted",), ("shuffled",)]))
def test_stand_ins_wherever_the_rows_are(seed: int, order: str) -> None:
    """Two columns that are related between batches and not within one stand in for each other, sorted or not."""
    rng = np.random.default_rng(seed)
    batch = np.repeat([0.0, 6.0], 2200)
    values = rng.standard_normal((4400, 6))
    values[:, :3] += batch[:, None]
    target = batch + 0.3 * rng.standard_normal(4400)
    if order == "shuffled":
        rows = rng.permutation(4400)
        values, target = values[rows], target[rows]
    selector = SnowballSelector(n_contexts=16, max_waves=3, max_contexts=0, goal="minimal", random_state=1)
    minimal = fitted(selector, Given(values, target)).result_.minimal
    assert minimal is not None
    left_out = {0, 1, 2} - set(minimal.kept)
    assert left_out
    assert {i for i in left_out if minimal.stand_ins[i]} == left_out
