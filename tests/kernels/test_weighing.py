"""Random cuts with weights and missing values against one column at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fernwood import seeds
from fernwood.kernels.panels import lay_panel, make_panel
from fernwood.kernels.random import next_bounded
from fernwood.kernels.weighing import draw_known_cuts, find_known_extremes, make_weighing, set_amounts, weigh_cuts
from tests.reference.nodes import CLOSE, make_node


@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.05, 0.6])
@pytest.mark.parametrize(
    ("n", "width", "n_classes"), [(2, 9, 2), (3, 33, 2), (5, 70, 3), (40, 12, 2), (61, 9, 20), (300, 5, 3)]
)
def test_cuts(criterion: str, weighted: bool, missing: float, n: int, width: int, n_classes: int) -> None:
    node = make_node(
        n, n, width, n_codes=9, n_classes=n_classes, criterion=criterion, weighted=weighted, missing=missing
    )
    node.columns[1] = 255
    panel, room = make_panel(width + 40), make_weighing(n + 3, width + 40)
    room.sums[:] = 1e6  # what an earlier, wider panel left behind
    laid = lay_panel(node.columns, np.arange(width, dtype=np.int32))
    set_amounts(node.seen, node.rows, room)
    find_known_extremes(laid, width, node.rows, room, panel)
    draw_known_cuts(seeds.state(n), width, room, panel)
    state = seeds.state(n)
    for j in range(width):
        known = node.codes(j)[node.codes(j) != 255]
        assert room.gaps[j] == (len(known) < n)
        if len(known) == 0:
            assert panel.low[j] == 255
            continue
        low, high = int(known.min()), int(known.max())
        assert (panel.low[j], panel.high[j]) == (low, high)
        span = high - low + (len(known) < n)
        assert panel.cut[j] == low + (next_bounded(state, span) if span > 1 else 0)
    for min_leaf in (1, 3):
        weigh_cuts(laid, width, node.rows, node.ends, node.seen, node.measure, min_leaf, room, panel)
        for j in range(width):
            codes = node.codes(j)
            ways = {}
            for goes in (1, 0) if room.gaps[j] else (1,):
                branch = np.where(codes == 255, goes, codes > panel.cut[j])
                if min(branch.sum(), n - branch.sum()) >= min_leaf:
                    ways[goes] = node.decrease(branch)
            best = max(ways.values(), default=-math.inf)
            assert node.found(panel.best[j]) == pytest.approx(best, abs=1e-6)
            assert panel.best_cut[j] == panel.cut[j]
            if ways:
                assert room.goes[j] == next(goes for goes, value in ways.items() if value > best - CLOSE)
