"""Examining columns in contexts, against sums written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.examining import count_pairs, examine_pairs
from fernwood.learner.contexts import divided
from fernwood.learner.target import TreeTarget, class_target, value_target

RNG = np.random.default_rng(0)


def twin(
    codes: np.ndarray,
    owner: np.ndarray,
    leading: np.ndarray,
    table: np.ndarray,
    target: TreeTarget,
    cells: np.ndarray,
) -> np.ndarray:
    """The scores of every column in every context, as their definition reads: of all components, of leading ones."""
    kernel = target.kernel
    out = np.zeros((len(codes), len(cells), 2))
    for pair, column in enumerate(owner):
        for component in range(2):
            values = table[pair, codes[column], component].astype(float)
            counted = 1 + (component < leading[pair])
            for c, cell in enumerate(cells):
                for leaf in np.unique(cell):
                    here = cell == leaf
                    w = kernel.weights[here]
                    if kernel.classes:
                        for label in range(len(target.classes)):
                            of_class = kernel.labels[here] == label
                            share = w[of_class].sum() / w.sum()
                            part = (w * values[here])[of_class].sum() - share * (w * values[here]).sum()
                            out[column, c, :counted] += part**2 / w.sum()
                    else:
                        residual = kernel.values[here] - np.average(kernel.values[here], weights=w)
                        out[column, c, :counted] += (w * residual * values[here]).sum() ** 2 / w.sum()
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
    steps = RNG.integers(-127, 128, (len(owner), 256, 2)).astype(np.int8)
    unit = RNG.random((len(owner), 2)).astype(np.float32)
    table = (steps * unit[:, None, :]).astype(np.float32)
    cells = np.stack([np.zeros(90, np.int64), RNG.integers(0, 4, 90), RNG.integers(0, 9, 90)])
    contexts = divided(target, cells)
    leading = RNG.integers(0, 3, len(owner))
    out = np.zeros((n_columns, 3, 2), np.float32)
    if contexts.counts:
        count_pairs(codes, owner, np.arange(len(owner)), leading, steps.view(np.int16)[:, :, 0], unit, contexts, out)
    else:
        examine_pairs(codes, owner, np.arange(len(owner)), leading, table, contexts, out)
    assert contexts.counts == (name in ("two classes", "five classes"))
    assert out == pytest.approx(twin(codes, owner, leading, table, target, cells), rel=2e-4)


def test_counting_is_exact_beyond_what_sixteen_bits_hold() -> None:
    """The steps of 3000 rows, all of the longest, are added up in runs that fit."""
    labels = (np.arange(3000) >= 2000).astype(int)
    codes = (labels * 2).astype(np.uint8)[None]
    steps = np.zeros((1, 256, 2), np.int8)
    steps[0, 0], steps[0, 2] = -127, 127
    contexts = divided(class_target(labels), np.zeros((1, 3000), np.int64))
    out = np.zeros((1, 1, 2), np.float32)
    one = np.zeros(1, np.int64)
    count_pairs(codes, one, one, one + 1, steps.view(np.int16)[:, :, 0], np.ones((1, 2), np.float32), contexts, out)
    departure = 127 * 1000 - 127 * (1000 - 2000) / 3
    assert out[0, 0] == pytest.approx([2 * 2 * departure**2 / 3000, 2 * departure**2 / 3000], rel=1e-6)


@pytest.mark.parametrize("numbers", [False, True])
def test_rows_are_laid_out_tile_after_tile(numbers: bool) -> None:
    """More rows than one tile holds, in cells that begin and end in different ones."""
    rng = np.random.default_rng(5)
    n_rows = 3 * 4096 + 7
    target = value_target(rng.standard_normal(n_rows)) if numbers else class_target(rng.integers(0, 3, n_rows))
    codes = rng.integers(0, 4, (2, n_rows)).astype(np.uint8)
    steps = rng.integers(-127, 128, (2, 256, 2)).astype(np.int8)
    unit = np.full((2, 2), 0.01, np.float32)
    table = (steps * unit[:, None, :]).astype(np.float32)
    early = (np.arange(n_rows) < 1000) + 2 * (np.arange(n_rows) >= 4096)  # one cell ends in the first tile
    cells = np.stack([np.zeros(n_rows, np.int64), early, rng.integers(0, 4, n_rows)])
    contexts = divided(target, cells)
    places, out, padded = np.arange(2), np.zeros((2, 3, 2), np.float32), np.zeros((2, 3, 2), np.float32)
    # With so many empty cells there is room for the sums of one context at a time, and nothing else changes.
    with_empty_cells = divided(target, iter(cells), (3, 9000))
    for divisions, scores in ((contexts, out), (with_empty_cells, padded)):
        if numbers:
            examine_pairs(codes, places, places, places, table, divisions, scores)
        else:
            count_pairs(codes, places, places, places, steps.view(np.int16)[:, :, 0], unit, divisions, scores)
    assert out == pytest.approx(twin(codes, places, places, table, target, cells), rel=2e-3)
    assert np.array_equal(out, padded)


@pytest.mark.parametrize("name", ["two classes", "numbers"])
def test_a_score_does_not_depend_on_the_columns_beside(name: str) -> None:
    codes = RNG.integers(0, 10, (50, 90)).astype(np.uint8)
    table = RNG.standard_normal((50, 256, 2)).astype(np.float32)
    steps, unit = RNG.integers(-127, 128, (50, 256)).astype(np.int16), RNG.random((50, 2)).astype(np.float32)
    contexts = divided(TARGETS[name], RNG.integers(0, 4, (5, 90)))

    def scores(chosen: np.ndarray) -> np.ndarray:
        out, places = np.zeros((len(chosen), 5, 2), np.float32), np.arange(len(chosen))
        if contexts.counts:
            count_pairs(codes[chosen], places, chosen, chosen % 3, steps, unit, contexts, out)
        else:
            examine_pairs(codes[chosen], places, chosen, chosen % 3, table, contexts, out)
        return out

    whole = scores(np.arange(50))
    order = RNG.permutation(50)
    assert (scores(order) == whole[order]).all()
    assert (scores(np.array([17])) == whole[[17]]).all()
