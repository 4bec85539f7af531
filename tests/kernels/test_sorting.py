"""The best cuts by sorting side by side against every cut of every column."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fernwood.kernels.panels import lay_panel, make_panel
from fernwood.kernels.sorting import best_class_cuts, best_value_cuts, make_sorting
from tests.reference.nodes import make_node


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize(
    ("n", "width", "n_classes", "n_codes"),
    [(2, 8, 2, 3), (3, 9, 2, 256), (17, 130, 2, 5), (64, 12, 2, 41), (31, 260, 3, 10), (128, 9, 20, 256)],
)
@pytest.mark.parametrize("min_leaf", [1, 4])
def test_best_cuts(criterion: str, n: int, width: int, n_classes: int, n_codes: int, min_leaf: int) -> None:
    node = make_node(n * width, n, width, n_classes=n_classes, n_codes=n_codes, criterion=criterion)
    panel, sorting = make_panel(width), make_sorting(n)
    laid = lay_panel(node.columns, np.arange(width, dtype=np.int32))
    if criterion == "variance":
        best_value_cuts(laid, width, node.rows, node.seen.values[node.rows], node.measure, min_leaf, sorting, panel)
    else:
        best_class_cuts(laid, width, node.rows, node.ends, node.measure, min_leaf, sorting, panel)
    for j in range(width):
        best, cut = node.best(j, min_leaf)
        assert node.found(panel.best[j]) == pytest.approx(best, abs=1e-6)
        assert best == -math.inf or panel.best_cut[j] == cut
