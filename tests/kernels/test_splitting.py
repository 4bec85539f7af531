"""The split of a node against every split of every column."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from fernwood import seeds
from fernwood.kernels.panels import padded
from fernwood.kernels.splitting import find_split, make_work
from fernwood.kernels.tables import CART, EXTRA, GAPS, MULTIWAY, PLAIN, SUBSET, Rules, make_table
from tests.reference.nodes import CRITERIA, Node, make_node
from tests.reference.trees import best_gain

KINDS = {"multiway": MULTIWAY, "subset": SUBSET}


def split_of(node: Node, marks: np.ndarray, rules: Rules, seed: int = 0):
    """The split that is found, and its table."""
    width, n = len(node.columns), len(node.rows)
    order = np.random.default_rng(seed).permutation(width).astype(np.int32)
    table = make_table(node.columns, order, marks, rules)
    work = make_work(n, table, node.seen, rules)
    work.counts.values[:] = node.seen.values[node.rows]
    find_split(table, node.seen, rules, node.measure, node.rows, node.ends, work, seeds.state(seed))
    return work.split, table


def branches(node: Node, split, table) -> np.ndarray:
    """The branch that every row of the node takes; missing values the largest one where nothing is said of them."""
    place, cut, missing, n_branches, _ = split.what.tolist()
    codes = node.codes(int(table.order[place]))
    branch = split.route[codes].astype(int) if n_branches else (codes > cut).astype(int)
    known = codes != 255
    if missing < 0:
        missing = int(np.bincount(branch[known]).argmax())
    return np.where(known, branch, missing)


def test_tables_put_plain_columns_first() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 9, (70, 20)).astype(np.uint8)
    columns[[3, 40], 5] = 255
    marks = np.zeros(70, bool)
    marks[[7, 40, 66]] = True
    order = rng.permutation(70).astype(np.int32)
    for categories in (MULTIWAY, SUBSET):
        table = make_table(columns, order, marks, Rules(EXTRA, 70, -1, 1, 2, 0, categories))
        plain = [c for c in order.tolist() if not marks[c] and c != 3]
        rest = [3, *(c for c in order.tolist() if marks[c])]
        assert table.order.tolist() == plain + rest
        assert table.n_plain == len(plain) == 66
        assert table.kinds.tolist() == [PLAIN] * 66 + [GAPS if c == 3 else categories for c in rest]
        assert np.array_equal(table.wide.reshape(20, padded(66))[:, :66], columns[plain].T)
    assert len(make_table(columns, order, marks, Rules(EXTRA, 69, -1, 1, 2, 0, MULTIWAY)).wide) == 0
    assert len(make_table(columns, order, ~np.zeros(70, bool), Rules(EXTRA, 70, -1, 1, 2, 0, MULTIWAY)).wide) == 0


CASES = [
    {"n": 2, "width": 12},
    {"n": 30, "width": 12, "n_classes": 3},
    {"n": 30, "width": 3},
    {"n": 140, "width": 9, "n_classes": 5},
    {"n": 25, "width": 5, "weighted": True},
    {"n": 25, "width": 5, "missing": 0.3},
    {"n": 25, "width": 5, "missing": 0.3, "weighted": True, "n_classes": 4},
]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("categories", ["multiway", "subset"])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("rule", [EXTRA, CART])
def test_splits(criterion: str, categories: str, case: dict, rule: int) -> None:
    """A split brings what it says; the best one brings what the best of all brings."""
    for seed in range(4):
        marked = seed % 2 == 1
        node = make_node(seed, **case, n_codes=5 if marked else 30, criterion=criterion)
        width, min_leaf = len(node.columns), 1 + 2 * (seed // 2)
        marks = np.zeros(width, bool)
        marks[: width // 2] = marked
        rules = Rules(rule, width, -1, min_leaf, 2, CRITERIA[criterion], KINDS[categories])
        split, table = split_of(node, marks, rules, seed)
        settings = SimpleNamespace(categories=categories, criterion=criterion, min_samples_leaf=min_leaf)
        kinds = np.where(marks, 3, 0).tolist()
        best = best_gain(node.columns[:, node.rows], node.y, node.weights, kinds, settings)
        if split.what[0] < 0:
            assert best == -math.inf or (rule == EXTRA and min_leaf > 1)
            continue
        branch = branches(node, split, table)
        assert len(set(branch.tolist())) > 1
        assert np.bincount(branch).min() >= min_leaf
        found = node.found(split.gain[0])
        assert found == pytest.approx(node.decrease(branch), abs=1e-6)
        assert found <= best + 1e-6
        # Subsets of many classes, or with missing values, are searched along one order only.
        along_one_order = marked and categories == "subset" and ("n_classes" in case or "missing" in case)
        if rule == CART and not along_one_order:
            assert found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("rule", [EXTRA, CART])
@pytest.mark.parametrize("k", [1, 4, 99])
@pytest.mark.parametrize("weighted", [False, True])
def test_constant_columns_do_not_count(rule: int, k: int, weighted: bool) -> None:
    """One of a hundred columns is not constant; whatever K is, it is found."""
    node = make_node(k, 20, 100, weighted=weighted)
    node.columns[:] = node.columns[:, :1]
    node.columns[63] = np.arange(40) % 7
    rules = Rules(rule, k, -1, 1, 2, 0, MULTIWAY)
    for seed in range(5):
        split, table = split_of(node, np.zeros(100, bool), rules, seed)
        assert table.order[split.what[0]] == 63
    node.columns[63] = 5
    assert split_of(node, np.zeros(100, bool), rules)[0].what[0] == -1


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("k", [1, 3, 70])
def test_with_fewer_columns_the_best_cut_of_the_best_of_them(criterion: str, k: int) -> None:
    """A cut of K columns is the best one of its column; of many draws, one finds the best of all columns."""
    node = make_node(5, 30, 90, criterion=criterion)
    rules = Rules(CART, k, -1, 2, 2, CRITERIA[criterion], MULTIWAY)
    bests = [node.best(j, 2)[0] for j in range(90)]
    chosen = set()
    for seed in range(20):
        split, table = split_of(node, np.zeros(90, bool), rules, seed)
        column = int(table.order[split.what[0]])
        chosen.add(column)
        assert node.found(split.gain[0]) == pytest.approx(bests[column], abs=1e-6)
        assert sum(value > bests[column] + 1e-6 for value in bests) <= 90 - k
    assert len(chosen) > 1
