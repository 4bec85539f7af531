"""Quantising as its documentation says it, one column and one value at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence


def cut_ranks(values: Sequence[float], bins: int) -> list[int]:
    """Ranks at which a column with more than 255 distinct values is cut."""
    ordered = sorted(values)
    n = len(ordered)
    begins = [r for r in range(n) if r == 0 or ordered[r] != ordered[r - 1]]
    runs = [(a, b) for a, b in zip(begins, [*begins[1:], n], strict=True)]
    heavy = [run for run in runs if (run[1] - run[0]) * bins >= n]
    if not heavy:
        cuts = set()
        for b in range(1, bins):
            wanted = (b * n + bins // 2) // bins
            # the nearest beginning; of two equally near, the later
            cuts.add(min(begins, key=lambda r: (abs(r - wanted), -r)))
        return sorted(cuts - {0})
    heaviest = sorted(heavy, key=lambda run: (-(run[1] - run[0]), run[0]))[: (bins - 1) // 2]
    apart = {r for run in heaviest for r in run} - {0, n}
    spare = bins - 1 - len(apart)
    light_below = {}
    total = 0
    for run in runs:
        light_below[run[0]] = total
        total += 0 if run in heaviest else run[1] - run[0]
    light_below[n] = total
    cuts = set(apart)
    edges = [*begins, n]
    for j in range(1, spare + 1):
        wanted = total * j / (spare + 1)
        place = next(i for i, r in enumerate(edges) if light_below[r] >= wanted)
        place = max(place, 1)
        if wanted - light_below[edges[place - 1]] < light_below[edges[place]] - wanted:
            place -= 1
        cuts.add(edges[place])
    return sorted(cuts - {0, n})


def codes(values: Sequence[float], bins: int) -> list[int]:
    """The code of every value."""
    present = [v for v in values if not math.isnan(v)]
    distinct = sorted(set(present))
    if len(distinct) <= 255:
        return [255 if math.isnan(v) else distinct.index(v) for v in values]
    ordered = sorted(present)
    firsts = [ordered[r] for r in cut_ranks(present, bins)]
    return [255 if math.isnan(v) else sum(v >= first for first in firsts) for v in values]
