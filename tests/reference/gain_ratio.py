"""The gain ratio of a node's columns, slowly: every split is tried and weighed from counts."""

from __future__ import annotations

import math
from collections import Counter

MISSING = 255


def bits(counts) -> float:
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c)


def worth(branches: list[list[int]], labels) -> tuple[float, float]:
    """The gain of a split, and its gain ratio."""
    rows = [row for branch in branches for row in branch]
    gain = bits(Counter(labels[r] for r in rows).values())
    for branch in branches:
        gain -= len(branch) / len(rows) * bits(Counter(labels[r] for r in branch).values())
    return gain, gain / bits([len(branch) for branch in branches])


def offers(column, rows: list[int], is_category: bool) -> list[list[list[int]]]:
    """All splits of a node that a column can make, with missing values in every branch they might take."""
    known = [r for r in rows if column[r] != MISSING]
    lost = [r for r in rows if column[r] == MISSING]
    codes = sorted({int(column[r]) for r in known})
    if is_category and len(codes) > 1:
        parts = [[[r for r in known if column[r] == code] for code in codes]]
    else:
        parts = [[[r for r in known if column[r] <= c], [r for r in known if column[r] > c]] for c in codes]
    out = []
    for branches in parts:
        for home in range(len(branches)) if lost else [0]:
            made = [branch + (lost if k == home else []) for k, branch in enumerate(branches)]
            if all(made):
                out.append(made)
    return out


def price(column, rows: list[int], is_category: bool) -> float:
    """What a threshold pays for being chosen among many, in bits a row."""
    codes = {int(column[r]) for r in rows} - {MISSING}
    return 0.0 if is_category and len(codes) > 1 else math.log2(max(len(codes) - 1, 1)) / len(rows)


def best_columns(columns, kinds, rows: list[int], labels) -> dict[int, float]:
    """The columns that may split a node, and the gain of each: the best ratio among those of average gain or more.

    Thresholds pay first.
    """
    told = {}
    for j, column in enumerate(columns):
        made = [worth(branches, labels) for branches in offers(column, rows, kinds[j])]
        if made:
            most = max(gain for gain, _ in made)
            paid = price(column, rows, kinds[j])
            if most > paid + 1e-9 or paid == 0:
                told[j] = (
                    most - paid,
                    max((gain - paid) * ratio / gain if gain else 0.0 for gain, ratio in made if gain > most - 1e-9),
                    most,
                )
    if not told:
        return {}
    mean = sum(gain for gain, _, _ in told.values()) / len(told)
    allowed = {j: of for j, of in told.items() if of[0] > mean - 1e-9}
    best = max(ratio for _, ratio, _ in allowed.values())
    return {j: most for j, (_, ratio, most) in allowed.items() if ratio > best - 1e-9}
