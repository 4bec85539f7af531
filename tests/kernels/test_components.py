"""What the codes of columns stand for, against what defines it."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.components import even_components, fill_components, step_components, survey_codes, weigh_codes

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


@pytest.mark.parametrize("n_rows", [1, 2, 49, 50])
def test_without_weights_rows_are_counted(n_rows: int) -> None:
    codes = RNG.integers(0, 256, (3, n_rows)).astype(np.uint8)
    assert (amounts_of(codes, np.empty(0)) == amounts_of(codes, np.ones(n_rows))).all()


def surveyed(codes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    n = len(codes)
    out = np.empty(n), np.empty(n, np.int64), np.empty(n, bool), np.empty(n, np.uint64)
    survey_codes(codes, weights, *out)
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_a_survey_says_how_codes_are_spread(weighted: bool) -> None:
    codes = (RNG.integers(0, 30, (9, 200)) * RNG.integers(0, 2, (9, 1))).astype(np.uint8)
    codes[3, ::7] = 255
    weights = RNG.random(200) if weighted else np.empty(0)
    evenness, used, missing, _ = surveyed(codes, weights)
    amounts = amounts_of(codes, weights)
    assert evenness == pytest.approx(amounts.sum(axis=1) ** 2 / (amounts**2).sum(axis=1))
    assert used.tolist() == [len(np.unique(column[column != 255])) for column in codes]
    assert missing.tolist() == [bool((column == 255).any()) for column in codes]


def test_marks_are_the_same_where_codes_occur_equally_often() -> None:
    column = np.repeat(np.arange(5, dtype=np.uint8), [10, 15, 20, 25, 30])
    moved = np.where(column == 4, 5, column).astype(np.uint8)
    one_other = column.copy()
    one_other[0] = 1
    codes = np.stack([column, RNG.permutation(column), moved, (column + 1) % 5, one_other])
    marks = surveyed(codes, np.empty(0))[3].tolist()
    assert marks[0] == marks[1]
    assert len(set(marks)) == 4
    assert 0 not in marks


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


@pytest.mark.parametrize("n_rows", [100, 10**4, 10**6, 10**8])
@pytest.mark.parametrize("rare", [[1], [40], [1, 1], [30, 1], [7, 3, 2]])
def test_rare_codes_among_many_rows(n_rows: int, rare: list[int]) -> None:
    """Two codes have one component, and three or more have two, however few rows differ."""
    sizes = np.array([n_rows - sum(rare), *rare], float)
    amounts, table = np.zeros((1, 256)), np.empty((1, 256, 2), np.float32)
    amounts[0, : len(sizes)] = sizes
    fill_components(amounts, np.array([False]), np.array([0]), np.array([0]), table)
    values = table[0, : len(sizes)].astype(float)
    inner = (values * sizes[:, None]).T @ values / n_rows
    assert inner == pytest.approx(np.eye(2) if len(rare) > 1 else np.diag([1, 0]), abs=1e-3)


def test_a_constant_column_has_no_components() -> None:
    assert not table_of(np.full((1, 20), 3, np.uint8), np.ones(20), False, [0], [0]).any()


def test_steps_are_components_to_the_nearest_step() -> None:
    table = RNG.standard_normal((5, 256, 2)).astype(np.float32)
    table[3, :, 1] = 0
    steps, unit = np.empty(table.shape, np.int8), np.empty((5, 2), np.float32)
    step_components(table, steps, unit)
    assert (abs(steps.astype(int)).max(axis=1) == np.where(unit > 0, 127, 0)).all()
    assert unit[3, 1] == 0
    assert (abs(steps * unit[:, None, :] - table) <= 0.5001 * unit[:, None, :]).all()


def test_even_components_vary_by_chance_as_much_as_the_squares() -> None:
    codes = RNG.integers(0, 20, (5, 300)).astype(np.uint8)
    codes[1, ::5] = 255
    codes[2] = 3
    weights = RNG.gamma(1.0, size=300)
    weights[codes[0] > 10] *= 5  # weights that go with a column
    owner = [0, 1, 1, 2, 3]
    table = table_of(codes, weights, False, owner, [0, 0, -1, 0, 0])
    squares = amounts_of(codes, weights**2)
    evened = table.copy()
    even_components(squares, np.array(owner), evened)
    for pair, column in enumerate(owner):
        for place in range(2):
            before = table[pair, codes[column], place].astype(np.float64)
            varies = (weights**2 * before**2).sum() / (weights**2).sum()
            expected = before / np.sqrt(varies) if varies else before
            np.testing.assert_allclose(evened[pair, codes[column], place], expected, rtol=1e-5, atol=1e-6)
