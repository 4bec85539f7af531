"""Least squares on a basis of covariates, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.least_squares import divide, leave_over
from fernwood.learner.contexts import divided
from fernwood.learner.covariates import ROWS_A_CELL_TERM, Covariates, covariates_of
from fernwood.learner.target import TreeTarget, class_target, value_target
from tests.reference.least_squares import left_in_cells, left_of_column

N_ROWS = 400
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 60, (3, N_ROWS)).astype(np.uint8)
CODES[1, :40] = 255
STRATA = RNG.integers(0, 2, N_ROWS).astype(np.int32)
WEIGHTS = RNG.integers(1, 4, N_ROWS).astype(float)
TARGETS = {
    "two classes": class_target(RNG.integers(0, 2, N_ROWS), WEIGHTS),
    "four classes": class_target(RNG.integers(0, 4, N_ROWS), WEIGHTS),
    "numbers": value_target(RNG.standard_normal(N_ROWS), WEIGHTS),
}


def made(target: TreeTarget) -> Covariates:
    return covariates_of(CODES, target, STRATA)[0]


@pytest.mark.parametrize("name", TARGETS)
def test_terms_are_orthonormal_and_the_target_is_orthogonal_to_them(name: str) -> None:
    covariates = made(TARGETS[name])
    basis, weights = covariates.basis.astype(float), covariates.weights
    assert basis.shape[1] == covariates.levels[-1] >= 15
    assert basis.T @ (weights[:, None] * basis) == pytest.approx(np.eye(basis.shape[1]), abs=1e-5)
    assert np.abs(basis.T @ (weights[:, None] * covariates.left)).max() < 1e-5
    for stratum in range(2):
        inside = weights * np.equal(STRATA, stratum)
        assert np.abs(inside @ basis).max() < 1e-4


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("fine", [True, False])
def test_what_is_left_in_cells(name: str, fine: bool) -> None:
    covariates = made(TARGETS[name])
    cells = np.sort(RNG.choice(4, N_ROWS, p=[0.6, 0.25, 0.14, 0.01]))
    rows = RNG.permutation(N_ROWS)[np.argsort(cells, kind="stable")]
    in_cell = np.empty(N_ROWS, int)
    in_cell[rows] = cells
    number = np.bincount(cells, minlength=4)
    left, shares = covariates.in_cells(rows, np.append(0, np.cumsum(number)), fine=fine)
    most = covariates.levels[-1] if fine else 16
    allowed = [
        max(m for m in covariates.levels if m <= most and (m == 0 or (m + 1) * ROWS_A_CELL_TERM <= n)) for n in number
    ]
    basis = covariates.basis.astype(float)
    expected = left_in_cells(basis, allowed, in_cell, covariates.weights, covariates.left)
    small = (number < (covariates.levels[1] + 1) * ROWS_A_CELL_TERM)[in_cell] & (not fine)
    expected[small] = 0.0  # no room for straight lines
    np.testing.assert_allclose(left.T, expected[rows], atol=1e-5)
    assert shares.sum() == pytest.approx(1)


def test_parts_of_classes_have_all_rows_of_their_cell() -> None:
    covariates = made(TARGETS["four classes"])
    cells = RNG.integers(0, 3, (2, N_ROWS))
    contexts = divided(TARGETS["four classes"], cells, covariates=covariates)
    assert contexts.n_rows == N_ROWS
    assert contexts.n_times == 3
    for c in range(2):
        for part in range(9):
            rows = contexts.rows[c, contexts.start[c, part] : contexts.start[c, part + 1]]
            assert np.array_equal(rows, np.flatnonzero(cells[c] == part // 3))


@pytest.mark.parametrize("n_pairs", [1, 33])
def test_what_is_left_of_components(n_pairs: int) -> None:
    covariates = made(TARGETS["numbers"])
    codes = RNG.integers(0, 9, (n_pairs, N_ROWS)).astype(np.uint8)
    table = RNG.standard_normal((n_pairs, 256, 2)).astype(np.float32)
    amounts = np.bincount(STRATA, covariates.weights)
    out = np.empty((n_pairs, len(covariates.levels), 3))
    rows = STRATA, amounts, covariates.weights, covariates.spread
    leave_over(codes, np.arange(n_pairs), table, covariates.basis, covariates.levels, *rows, out)
    for pair in (0, n_pairs - 1):
        for level, n in enumerate(covariates.levels):
            e = left_of_column(
                covariates.basis[:, :n].astype(float),
                STRATA,
                covariates.weights,
                table[pair][codes[pair]].astype(float),
            )
            v = covariates.spread
            expected = [v @ e[:, 0] ** 2, v @ (e[:, 0] * e[:, 1]), v @ e[:, 1] ** 2]
            assert out[pair, level] == pytest.approx(expected, rel=1e-3, abs=1e-2)


def test_a_column_does_not_depend_on_those_beside() -> None:
    covariates = made(TARGETS["numbers"])
    codes = RNG.integers(0, 9, (40, N_ROWS)).astype(np.uint8)
    table = RNG.standard_normal((40, 256, 2)).astype(np.float32)
    together = covariates.leftover(codes, np.arange(40), table, STRATA)
    alone = [covariates.leftover(codes[j : j + 1], np.array([0]), table[j : j + 1], STRATA)[0] for j in range(40)]
    assert np.array_equal(together, alone)


def test_scores_are_divided_by_what_is_left() -> None:
    scores, left = np.ones((2, 3, 2), np.float32), np.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], np.float32)
    shares = np.array([[1, 0], [0.5, 0.5], [0, 0]], np.float32)
    divide(scores, left, shares)
    assert scores[0].tolist() == [
        [1, 0.5],
        [0.5, pytest.approx(1 / 3)],
        [1, 1],
    ]  # where no cell counts, nothing changes
