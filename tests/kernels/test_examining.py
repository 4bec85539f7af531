"""Examining columns in contexts, against sums written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.examining import examine_pairs, fill_components, permute_codes, weigh_codes
from fernwood.learner.contexts import divided
from fernwood.learner.target import TreeTarget, class_target, value_target

RNG = np.random.default_rng(0)


def amounts_of(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    out = np.empty((len(codes), 256))
    weigh_codes(codes, weights, out)
    return out


def table_of(codes: np.ndarray, weights: np.ndarray, category: bool, owner: list[int], part: list[int]) -> np.ndarray:
    table = np.empty((len(owner), 256, 2), np.float32)
    categories = np.full(len(codes), category)
    fill_components(amounts_of(codes, weights), categories, np.array(owner), np.array(part), table)
    return table


def test_amounts_are_weights_by_code() -> None:
    codes, weights = RNG.integers(0, 9, (4, 50)).astype(np.uint8), RNG.random(50)
    expected = [np.bincount(column, weights, 256) for column in codes]
    assert amounts_of(codes, weights) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("weighted", [False, True])
def test_components_of_an_ordered_column_are_orthonormal_polynomials_of_its_ranks(weighted: bool) -> None:
    codes = RNG.integers(0, 12, (1, 300)).astype(np.uint8)
    weights = RNG.random(300) if weighted else np.ones(300)
    values = table_of(codes, weights, False, [0], [0])[0, codes[0]].astype(float)
    inner = (values * weights[:, None]).T @ values / weights.sum()
    assert inner == pytest.approx(np.eye(2), abs=1e-5)
    assert (values * weights[:, None]).sum(axis=0) == pytest.approx([0, 0], abs=1e-3)
    ranks = np.array([weights[codes[0] < c].sum() + weights[codes[0] == c].sum() / 2 for c in codes[0]])
    assert np.corrcoef(ranks, values[:, 0])[0, 1] == pytest.approx(1, abs=1e-6)
    fit = np.polynomial.Polynomial.fit(ranks, values[:, 1], 2)
    assert fit(ranks) == pytest.approx(values[:, 1], abs=1e-4)


@pytest.mark.parametrize("n_levels", [2, 3, 6, 7])
def test_components_of_categories_span_all_differences(n_levels: int) -> None:
    """The sum of squared class means over all contrasts is the chi-square statistic, whatever the order of categories."""
    codes = RNG.integers(0, n_levels, (1, 240)).astype(np.uint8)
    n_pairs = n_levels // 2
    table = table_of(codes, np.ones(240), True, [0] * n_pairs, list(range(n_pairs)))
    values = np.concatenate([table[k, codes[0]] for k in range(n_pairs)], axis=1).astype(float)
    used = values[:, : n_levels - 1]
    assert used.T @ used / 240 == pytest.approx(np.eye(n_levels - 1), abs=1e-4)
    assert not values[:, n_levels - 1 :].any()
    group = np.arange(240) % 3 == 0
    expected = sum(
        (np.count_nonzero(group & (codes[0] == c)) / share - group.sum()) ** 2 * share
        for c in range(n_levels)
        if (share := np.mean(codes[0] == c)) > 0
    )
    assert ((used[group].sum(axis=0)) ** 2).sum() == pytest.approx(expected, rel=1e-4)


def test_missing_values_count_as_nothing_but_in_a_component_of_their_own() -> None:
    codes = RNG.integers(0, 5, (1, 100)).astype(np.uint8)
    codes[0, :20] = 255
    table = table_of(codes, np.ones(100), False, [0, 0], [0, -1])
    assert not table[0, 255].any()
    present = table[0, codes[0, 20:]].astype(float)
    assert present.T @ present / 80 == pytest.approx(np.eye(2), abs=1e-5)
    marks = table[1, codes[0], 0].astype(float)
    assert marks.mean() == pytest.approx(0, abs=1e-6)
    assert marks.var() == pytest.approx(1, abs=1e-5)
    assert (marks[:20] > 0).all()


def test_a_constant_column_has_no_components() -> None:
    assert not table_of(np.full((1, 20), 3, np.uint8), np.ones(20), False, [0], [0]).any()


def twin(codes: np.ndarray, owner: np.ndarray, table: np.ndarray, target: TreeTarget, cells: np.ndarray) -> np.ndarray:
    """The score of every column in every context, as its definition reads."""
    kernel = target.kernel
    out = np.zeros((len(codes), len(cells)))
    for pair, column in enumerate(owner):
        for component in range(2):
            values = table[pair, codes[column], component].astype(float)
            for c, cell in enumerate(cells):
                for leaf in np.unique(cell):
                    here = cell == leaf
                    w = kernel.weights[here]
                    if kernel.classes:
                        for label in range(len(target.classes)):
                            of_class = kernel.labels[here] == label
                            share = w[of_class].sum() / w.sum()
                            part = (w * values[here])[of_class].sum() - share * (w * values[here]).sum()
                            out[column, c] += part**2 / w.sum()
                    else:
                        residual = kernel.values[here] - np.average(kernel.values[here], weights=w)
                        out[column, c] += (w * residual * values[here]).sum() ** 2 / w.sum()
    return out


TARGETS = {
    "two classes": class_target(RNG.integers(0, 2, 90)),
    "five classes": class_target(RNG.integers(0, 5, 90)),
    "weighted classes": class_target(RNG.integers(0, 3, 90), RNG.random(90) + 0.1),
    "numbers": value_target(RNG.standard_normal(90)),
    "weighted numbers": value_target(RNG.standard_normal(90), RNG.random(90) + 0.1),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("n_columns", [1, 31, 33, 70])
def test_scores_are_squared_departures(name: str, n_columns: int) -> None:
    target = TARGETS[name]
    codes = RNG.integers(0, 10, (n_columns, 90)).astype(np.uint8)
    owner = np.repeat(np.arange(n_columns), 1 + np.arange(n_columns) % 2)
    table = RNG.standard_normal((len(owner), 256, 2)).astype(np.float32)
    cells = np.stack([np.zeros(90, np.int64), RNG.integers(0, 4, 90), RNG.integers(0, 9, 90)])
    out = np.zeros((n_columns, 3), np.float32)
    examine_pairs(codes, owner, table, divided(target, cells), out)
    assert out == pytest.approx(twin(codes, owner, table, target, cells), rel=2e-4)


def test_a_score_does_not_depend_on_the_columns_beside() -> None:
    codes = RNG.integers(0, 10, (50, 90)).astype(np.uint8)
    table = RNG.standard_normal((50, 256, 2)).astype(np.float32)
    contexts = divided(TARGETS["two classes"], RNG.integers(0, 4, (5, 90)))

    def scores(chosen: np.ndarray) -> np.ndarray:
        out = np.zeros((len(chosen), 5), np.float32)
        examine_pairs(codes[chosen], np.arange(len(chosen)), table[chosen], contexts, out)
        return out

    whole = scores(np.arange(50))
    order = RNG.permutation(50)
    assert (scores(order) == whole[order]).all()
    assert (scores(np.array([17])) == whole[[17]]).all()


def test_shadows_are_permutations_by_address() -> None:
    codes = np.tile(RNG.integers(0, 30, 200).astype(np.uint8), (4, 1))
    out = np.empty_like(codes)
    permute_codes(codes, np.array([1, 2, 1, 3], np.uint64), out)
    assert (np.sort(out, axis=1) == np.sort(codes, axis=1)).all()
    assert (out[0] == out[2]).all()
    assert (out[0] != out[1]).any()
    assert (out[1] != out[3]).any()
    again = codes.copy()
    permute_codes(again, np.array([1, 2, 1, 3], np.uint64), again)
    assert (again == out).all()


def test_every_row_is_as_likely_at_every_place() -> None:
    """4000 permutations of 8: the largest of 64 deviations beyond five standard errors, once in 27 000 seeds."""
    out = np.empty((4000, 8), np.uint8)
    permute_codes(np.tile(np.arange(8, dtype=np.uint8), (4000, 1)), np.arange(4000, dtype=np.uint64) * 7919, out)
    counts = np.array([np.bincount(out[:, i], minlength=8) for i in range(8)])
    assert (abs(counts - 500) < 5 * np.sqrt(4000 / 8 * 7 / 8)).all()
