"""Boruta as its authors describe it, column by column and iteration by iteration, from importances that are given."""

from __future__ import annotations

import math
from collections.abc import Sequence


def chance_of_at_least(hits: int, n: int) -> float:
    """That a fair coin falls on one side so many times or more."""
    return sum(math.comb(n, k) for k in range(hits, n + 1)) / 2**n


def best(shadows: Sequence[float], perc: float) -> float:
    """The percentile of the shadows, linear between two of them."""
    ordered = sorted(shadows)
    place = (len(ordered) - 1) * perc / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def step_up(chances: dict[int, float], alpha: float) -> set[int]:
    """The columns found at a false discovery rate (Benjamini and Hochberg 1995)."""
    ordered = sorted(chances.values())
    most = 0.0
    for rank, chance in enumerate(ordered, 1):
        if chance <= alpha * rank / len(ordered):
            most = chance
    return {column for column, chance in chances.items() if chance <= most}


def boruta(
    iterations: Sequence[tuple[dict[int, float], Sequence[float]]],
    n_columns: int,
    *,
    alpha: float,
    perc: float,
    two_step: bool,
) -> tuple[list[str], list[int]]:
    """Decisions and hits after some iterations, each the importances of all columns, and of shadows.

    Importances of columns that are rejected already are passed over.
    """
    decision = ["tentative"] * n_columns
    hits = [0] * n_columns
    for n, (importance, shadows) in enumerate(iterations, 1):
        still_in = [column for column in range(n_columns) if decision[column] != "rejected"]
        for column in still_in:
            hits[column] += importance[column] > best(shadows, perc)
        many = {column: chance_of_at_least(hits[column], n) for column in still_in}
        few = {column: chance_of_at_least(n - hits[column], n) for column in still_in}
        for chances, word in ((many, "confirmed"), (few, "rejected")):
            if two_step:
                found = {c for c in step_up(chances, alpha) if chances[c] <= alpha / n}
            else:
                found = {c for c, chance in chances.items() if chance <= alpha / n_columns}
            for column in found:
                if decision[column] == "tentative":
                    decision[column] = word
    return decision, hits
