"""Contexts: how ferns divide rows, and what every context keeps."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.learner.contexts import Ground, _above_a_cut, draw_exploring_ferns, draw_ferns, without_context
from fernwood.learner.target import class_target, value_target

RNG = np.random.default_rng(0)
N = 400
CODES = np.stack([RNG.permutation(np.arange(N) * 40 // N) for _ in range(8)]).astype(np.uint8)
ORDERED = np.zeros(8, bool)
GROUND = Ground.undivided(class_target(RNG.integers(0, 2, N)))


def cells_of(contexts: object, c: int, n_classes: int = 2) -> np.ndarray:
    """The cell of every row, from where the kernel finds its rows."""
    cell = np.empty(N, int)
    starts = contexts.start[c].astype(int)
    for part in range(len(starts) - 1):
        cell[contexts.rows[c, starts[part] : starts[part + 1]]] = part // n_classes
    return cell


def test_a_fern_cuts_each_of_its_columns_once_between_two_and_eight_tenths() -> None:
    ferns = draw_ferns(np.random.default_rng(1), CODES, ORDERED, GROUND, 50)
    for c, use in enumerate(ferns.uses):
        cell = cells_of(ferns.contexts, c)
        assert 1 <= len(use) <= 4
        assert len(np.unique(cell)) <= 2 ** len(use)
        for column in use:  # one threshold tells the two halves of some bit of the cell apart
            splits = [cell >> bit & 1 for bit in range(len(use))]
            clean = [s for s in splits if CODES[column][s == 0].max() < CODES[column][s == 1].min()]
            assert any(0.19 <= s.mean() <= 0.82 for s in clean)


def test_rows_are_in_their_cell_and_class_with_their_weight() -> None:
    weights = RNG.random(N) + 0.1
    target = class_target(RNG.integers(0, 3, N), weights)
    ferns = draw_ferns(np.random.default_rng(2), CODES, ORDERED, Ground.undivided(target), 5)
    contexts = ferns.contexts
    assert not contexts.counts
    for c in range(5):
        assert sorted(contexts.rows[c].tolist()) == list(range(N))
        for part in range(contexts.size.shape[1]):
            rows = contexts.rows[c, contexts.start[c, part] : contexts.start[c, part + 1]]
            assert (target.kernel.labels[rows] == part % 3).all()
            assert contexts.size[c, part] == pytest.approx(target.kernel.weights[rows].sum(), rel=1e-5)


def test_numbers_are_weighed_by_what_their_cell_leaves_over() -> None:
    target = value_target(RNG.standard_normal(N))
    contexts = draw_ferns(np.random.default_rng(3), CODES, ORDERED, Ground.undivided(target), 3).contexts
    for c in range(3):
        cell = cells_of(contexts, c, 1)
        for k in np.unique(cell):
            assert contexts.weight[c][cell[contexts.rows[c]] == k].sum() == pytest.approx(0, abs=1e-4)


def test_no_cell_reaches_over_two_strata() -> None:
    strata = RNG.integers(0, 3, N).astype(np.int32)
    ground = Ground(GROUND.target, strata, 3)
    ferns = draw_ferns(np.random.default_rng(4), CODES, ORDERED, ground, 20)
    for c in range(20):
        cell = cells_of(ferns.contexts, c)
        assert all(len(np.unique(strata[cell == k])) == 1 for k in np.unique(cell))
    assert (cells_of(without_context(ground), 0) == strata).all()
    assert ground.depth() <= GROUND.depth()


def test_categories_are_cut_by_a_random_half_of_them() -> None:
    codes = RNG.integers(0, 5, (1, N)).astype(np.uint8)
    codes[0, :20] = 255
    ferns = draw_ferns(np.random.default_rng(5), codes, np.ones(1, bool), GROUND, 30)
    halves = set()
    for c in range(30):
        cell = cells_of(ferns.contexts, c)
        sides = [frozenset(np.unique(codes[0][cell == k]).tolist()) for k in (0, 1)]
        assert not sides[0] & sides[1]
        assert len(sides[1]) == 3
        halves.add(sides[1])
    assert len(halves) > 5


def test_exploring_ferns_share_out_the_columns_beside_two_found() -> None:
    ferns = draw_exploring_ferns(np.random.default_rng(6), np.tile(CODES, (3, 1)), np.zeros(24, bool), GROUND, 5, 4)
    used = np.concatenate([use[use >= 4] for use in ferns.uses])
    assert sorted(used.tolist()) == list(range(4, 24))  # five ferns of four, each column once
    assert all(np.count_nonzero(use < 4) == 2 for use in ferns.uses)


def test_a_column_without_values_cuts_nothing_off() -> None:
    """Rows are a part of the table, in which a column may have no value."""
    codes, up_to = np.full(9, 255, np.uint8), np.where(np.arange(256) < 255, 0, 9)
    assert not _above_a_cut(np.random.default_rng(0), codes, up_to, category=False).any()
