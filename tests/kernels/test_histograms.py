"""The best cuts by counting, and splits of columns of any kind, against every split from its definition."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from fernwood.kernels.histograms import best_cut, count_class_cuts, count_value_cuts, make_counts, multiway
from fernwood.kernels.panels import make_panel
from tests.reference.nodes import CLOSE, make_node

CRITERIA = ["entropy", "gini", "variance"]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("n", "width", "n_classes", "n_codes"), [(2, 3, 2, 3), (65, 9, 2, 256), (150, 5, 3, 41), (90, 4, 40, 10)]
)
@pytest.mark.parametrize("min_leaf", [1, 7])
def test_best_cuts(criterion: str, n: int, width: int, n_classes: int, n_codes: int, min_leaf: int) -> None:
    node = make_node(n, n, width, n_classes=n_classes, n_codes=n_codes, criterion=criterion)
    places = np.random.default_rng(n).permutation(width).astype(np.int32)
    panel, counts = make_panel(width), make_counts(n)
    if criterion == "variance":
        values = node.seen.values[node.rows]
        count_value_cuts(node.columns, places, node.rows, values, node.measure, min_leaf, counts, panel)
    else:
        count_class_cuts(node.columns, places, node.rows, node.ends, node.measure, min_leaf, counts, panel)
    for j, place in enumerate(places.tolist()):
        codes = node.codes(place)
        assert (panel.low[j], panel.high[j]) == (codes.min(), codes.max())
        best, cut = node.best(place, min_leaf)
        assert node.found(panel.best[j]) == pytest.approx(best, abs=1e-6)
        assert best == -math.inf or panel.best_cut[j] == cut


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n_classes", [2, 6])
def test_best_cut_of_any_column(criterion: str, weighted: bool, missing: float, n_classes: int) -> None:
    """All cuts, some, and one; missing values on either side."""
    for seed in range(6):
        n = 3 + 9 * seed
        node = make_node(
            seed, n, 3, n_classes=n_classes, n_codes=9, criterion=criterion, weighted=weighted, missing=missing
        )
        for column in range(1, 3):
            codes = node.codes(column)
            known = codes[codes != 255]
            if len(known) == 0:
                continue
            low, high = int(known.min()), int(known.max())
            for first, last in ((low, high), (low, max(low, high - 1)), (low + 2, max(low + 2, high - 2)), (3, 3)):
                for min_leaf in (1, 3):
                    ways = {}
                    for cut in range(first, last + 1):
                        if first < last and cut not in known:
                            continue
                        for goes in (1, 0) if len(known) < n else (1,):
                            branch = np.where(codes == 255, goes, codes > cut)
                            if min(Counter(branch.tolist()).values()) >= min_leaf and len(set(branch.tolist())) == 2:
                                ways[cut, goes] = node.decrease(branch)
                    wanted = (first, last, min_leaf)
                    found, cut, goes = best_cut(
                        codes, node.rows, node.ends, node.seen, node.measure, wanted, make_counts(n)
                    )
                    best = max(ways.values(), default=-math.inf)
                    assert node.found(found) == pytest.approx(best, abs=1e-6)
                    if ways:
                        assert (cut, goes) == next(way for way, value in ways.items() if value > best - CLOSE)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n_classes", [2, 6])
def test_a_branch_for_every_category(criterion: str, weighted: bool, missing: float, n_classes: int) -> None:
    for seed in range(6):
        n = 4 + 11 * seed
        node = make_node(
            seed, n, 3, n_classes=n_classes, n_codes=4, criterion=criterion, weighted=weighted, missing=missing
        )
        for column in range(1, 3):
            codes = node.codes(column)
            known = codes[codes != 255]
            if len(set(known.tolist())) < 2:
                continue
            low, high = int(known.min()), int(known.max())
            homes = sorted(set(known.tolist())) if len(known) < n else [-1]
            ways = {home: node.decrease(np.where(codes == 255, home, codes).astype(int)) for home in homes}
            best = max(ways.values())
            for min_leaf in (1, 2, 5):
                found, home = multiway(
                    codes, node.rows, node.ends, node.seen, node.measure, (low, high, min_leaf), make_counts(n)
                )
                if min(Counter(known.tolist()).values()) < min_leaf:
                    assert found == -math.inf
                else:
                    assert node.found(found) == pytest.approx(best, abs=1e-6)
                    assert home == next(way for way, value in ways.items() if value > best - CLOSE)
