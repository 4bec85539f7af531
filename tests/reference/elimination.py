"""Randomized variable elimination as Tables 1 to 3 of Stracuzzi and Utgoff (2004) print it, as plainly as can be.

The draws are asked for, so that a search can be held to the same ones. The misprint of Table 3 is mended: the loop ends
when r_min and r_max have met and c1 E⁻ selections in a row have failed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, floor, inf

Draw = Callable[[list[int], int, int], list[int]]
Harmless = Callable[[set[int]], bool]


def sizes(n: int, r: int, cost: Callable[[int], float]) -> dict[int, int]:
    """Table 1: k for every number of columns left."""
    total, best = {r: 0.0}, {}
    for i in range(r + 1, n + 1):
        least = inf
        for k in range(1, i - r + 1):
            spent = cost(i - k) * comb(i, r) / comb(i - k, r) + total[i - k]
            if spent < least * (1 - 1e-12):
                least, best[i] = spent, k
        total[i] = least
    return best


def failures(n: int, r: int, k: int) -> float:
    good = comb(n - k, r) / comb(n, r)
    return round((1 - good) / good, 9)


def known(n: int, r: int, cost: Callable[[int], float], draw: Draw, harmless: Harmless) -> tuple[list[int], int]:
    """Table 2; the columns left, and the calls made."""
    k_of = sizes(n, r, cost)
    left, calls = list(range(n)), 1
    while len(left) > r:
        chosen = draw(left, k_of[len(left)], calls)
        calls += 1
        if harmless(set(left) - set(chosen)):
            left = [c for c in left if c not in chosen]
    return left, calls


def unknown(
    n: int,
    r_min: int,
    r_max: int,
    cost: Callable[[int], float],
    draw: Draw,
    harmless: Harmless,
    *,
    early: bool = False,
) -> tuple[list[int], int]:
    """Table 3 with c1 = 3 and c2 = 0.3; where r would be all columns, columns go one at a time.

    Early, it is as the text around it reads: it ends when the bounds have met and more than c1 E⁻ selections failed.
    Bounds then move when a count is exceeded, r is rounded up, E⁻ is a whole number, and the line "r ≤ r_min" is about
    the number of columns left.
    """
    tables: dict[int, dict[int, int]] = {}
    fewest, left, calls = r_min, list(range(n)), 1
    r = (r_max + r_min + early) // 2
    success = fail = 0
    while len(left) > fewest:
        now = min(r, len(left) - 1)
        if now not in tables:
            tables[now] = sizes(n, now, cost)
        k = min(tables[now][len(left)], len(left) - fewest)
        expected = failures(len(left), now, k)
        chosen = draw(left, k, calls)
        calls += 1
        if harmless(set(left) - set(chosen)):
            left = [c for c in left if c not in chosen]
            success, fail = success + 1, 0
        else:
            success, fail = 0, fail + 1
        if early:
            expected = floor(expected)
            over = r_min == r_max and fail > 3 * expected
            all_equal = len(left) < r_min
            raised, lowered = fail > 3 * expected, success > 0.3 * (r - expected)
        else:
            all_equal = r <= r_min or len(left) <= r_min
            over = all_equal and fail >= 3 * (len(left) - 1)
            raised, lowered = fail >= 3 * expected, success >= 0.3 * (r - expected)
        if over:
            break
        if all_equal:
            r = r_min = r_max = len(left)
        elif raised:
            r_min = r
            r = (r_max + r_min + early) // 2
            success = fail = 0
        elif success and lowered:
            r_max = r
            r = (r_max + r_min + early) // 2
            success = fail = 0
    return left, calls
