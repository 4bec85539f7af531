"""Kernels over whole panels against one column at a time."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood import seeds
from fernwood.kernels.impurity import COARSE, SCORE
from fernwood.kernels.panels import (
    draw_cuts,
    find_extremes,
    gather_panel,
    lay_panel,
    make_panel,
    padded,
    score_class_cuts,
    score_value_cuts,
)
from fernwood.kernels.random import next_bounded
from tests.reference.nodes import make_node

WIDTHS = [1, 7, 32, 33, 50, 130]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", [1, 3, 130, 261])
def test_codes_are_laid_row_by_row(width: int, n: int) -> None:
    rng = np.random.default_rng(width)
    columns = rng.integers(0, 256, (width + 3, n)).astype(np.uint8)
    chosen = rng.permutation(width + 3)[:width].astype(np.int32)
    laid = lay_panel(columns, chosen)
    assert laid.shape == (n * padded(width),)
    assert np.array_equal(laid.reshape(n, -1)[:, :width], columns[chosen].T)
    rows = rng.integers(0, n, 2 * n).astype(np.int32)
    out = np.zeros(2 * n * padded(width), np.uint8)
    gather_panel(columns, chosen, rows, out)
    assert np.array_equal(out.reshape(2 * n, -1)[:, :width], columns[chosen][:, rows].T)


def test_rows_are_padded_to_whole_vectors() -> None:
    assert [padded(width) for width in (0, 1, 31, 32, 33, 64, 2500)] == [0, 32, 32, 32, 64, 64, 2528]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 40])
def test_extremes_and_cuts(width: int, n: int) -> None:
    node = make_node(n, n, width, n_codes=256)
    panel = make_panel(width)
    find_extremes(lay_panel(node.columns, np.arange(width, dtype=np.int32)), width, node.rows, panel)
    codes = node.columns[:, node.rows]
    assert panel.low[:width].tolist() == codes.min(axis=1).tolist()
    assert panel.high[:width].tolist() == codes.max(axis=1).tolist()
    draw_cuts(seeds.state(3), width, panel)
    state = seeds.state(3)
    for j in range(width):
        low, span = int(codes[j].min()), int(codes[j].max()) - int(codes[j].min())
        assert panel.cut[j] == low + (next_bounded(state, span) if span > 1 else 0)


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize(
    ("n", "width", "n_classes"), [(2, 9, 2), (5, 50, 2), (40, 33, 3), (700, 12, 2), (90, 130, 30), (1300, 5, 4)]
)
def test_scores_of_given_cuts(criterion: str, n: int, width: int, n_classes: int) -> None:
    """More than 255 rows of one class among them, and classes of fewer and of more rows than columns."""
    node = make_node(n + width, n, width, n_classes=n_classes, criterion=criterion)
    panel = make_panel(width)
    panel.cut[:width] = np.random.default_rng(n).integers(0, 41, width)
    laid = lay_panel(node.columns, np.arange(width, dtype=np.int32))
    if criterion == "variance":
        score_value_cuts(laid, width, node.rows, node.seen.values[node.rows], node.measure, panel)
    else:
        score_class_cuts(laid, width, node.rows, node.ends, node.measure, panel)
    for j in range(width):
        branch = (node.codes(j) > panel.cut[j]).astype(int)
        assert panel.left[j] == n - branch.sum()
        assert node.found((panel.score[j] - node.measure.node[SCORE]) * node.measure.node[COARSE]) == pytest.approx(
            node.decrease(branch), abs=1e-6
        )
