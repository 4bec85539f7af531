"""The p-value of one column against shadows, one step at a time: counted, and modelled beyond the highest shadow."""

from __future__ import annotations

import math

SAME = 2.0**-18


def slow_tail_pvalue(value: float, null: list[float]) -> float:
    n = len(null)
    reached = sum(shadow >= value - SAME * abs(value) for shadow in null)
    counted = (reached + 1) / (n + 1)
    if reached or n < 20:
        return counted
    ordered = sorted(null)
    k = max(1, min(100, n // 10))
    start = ordered[n - k - 1]
    tail = [shadow for shadow in ordered[n - k :] if shadow - start > SAME * abs(shadow)]
    if not tail:
        return counted
    distinct = [tail[0]]
    for before, shadow in zip(tail, tail[1:], strict=False):
        if shadow - before > SAME * abs(shadow):
            distinct.append(shadow)
    d = len(distinct)
    beyond = (value - start) / (sum(tail) / len(tail) - start)
    predictive = math.exp(-d * math.log1p(beyond / d))
    flatter = math.exp(-beyond / (1 + 1 / math.sqrt(d)))
    share = (len(tail) + 1) / (n + 1)
    return min(counted, max(share * max(predictive, flatter), 2.2250738585072014e-308))
