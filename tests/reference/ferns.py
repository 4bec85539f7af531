"""Random ferns, slowly, from formulas (2) to (7) of Kursa (2017); random numbers are drawn in the order of the kernel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fernwood.kernels.dealing import shuffle_whole
from fernwood.kernels.random import next_bounded, next_word


class Fern(NamedTuple):
    """Columns and subsets of codes, the bag with repeats, rows out of it, and the classes of all rows."""

    columns: list[int]
    subsets: list[set[int]]
    bag: list[int]
    left_out: list[int]
    labels: list[int]
    n_classes: int


def draw_fern(codes, categories, labels, n_classes, columns, state, units=None) -> Fern:
    """The fern that the kernel grows from this state; `units` are groups of rows."""
    subsets = [draw_subset(codes[j], categories[j], state) for j in columns]
    units = list(range(codes.shape[1])) if units is None else list(units)
    drawn = draw_units(len(set(units)), state)
    bag = [row for unit in drawn for row in range(len(units)) if units[row] == unit]
    left_out = [row for row in range(len(units)) if units[row] not in drawn]
    return Fern(list(columns), subsets, bag, left_out, [int(y) for y in labels], n_classes)


def draw_subset(codes, category, state) -> set[int]:
    """Ξ: the codes of a random half of all, or from the middle of two random ones on; missing ones either way."""
    if category:
        words = [int(next_word(state)) for _ in range(4)]
        return {code for code in range(256) if words[code // 64] >> (code % 64) & 1}
    two = [int(codes[next_bounded(state, len(codes))]) for _ in range(2)]
    present = [code for code in two if code != 255]
    middle = math.ceil(sum(present) / len(present)) if present else 1
    return set(range(max(middle, 1), 255)) | ({255} if int(next_word(state)) >> 63 else set())


def draw_units(n, state) -> list[int]:
    """As many units as there are, with replacement: the low half of a random word, then the high one."""
    out: list[int] = []
    while len(out) < n:
        word = int(next_word(state))
        for half in (word % 2**32, word >> 32):
            if half * n % 2**32 >= (2**32 - n) % n and len(out) < n:
                out.append(half * n >> 32)
    return out


def leaf(fern: Fern, values) -> int:
    """Formula (2), of one row's codes."""
    return sum(2**i * (int(values[j]) in fern.subsets[i]) for i, j in enumerate(fern.columns))


def score(fern: Fern, codes, y: int, values) -> float:
    """Formula (5), for a class and the codes of a row, of the fern whose bag has its codes from this table."""
    here = leaf(fern, values)
    inside = [row for row in fern.bag if leaf(fern, codes[:, row]) == here]  # (3)
    of_class = [row for row in fern.bag if fern.labels[row] == y]  # (4)
    both = [row for row in inside if fern.labels[row] == y]
    share = (1 + len(both)) / (fern.n_classes + len(inside))
    return math.log(share * (fern.n_classes + len(fern.bag)) / (1 + len(of_class)))


def mean_score(fern: Fern, codes, rows) -> float:
    """The mean score of the rows out of the bag, for their own classes; `rows` has their codes as columns."""
    each = [score(fern, codes, fern.labels[row], rows[:, i]) for i, row in enumerate(fern.left_out)]
    return math.fsum(each) / len(each)


def importances(fern: Fern, codes, shadows, state) -> dict[int, tuple[float, float]]:
    """The terms of (6) and (7) of one fern, for each of its columns."""
    out = {}
    for column in dict.fromkeys(fern.columns):
        order = np.arange(len(fern.left_out), dtype=np.uint64)
        shuffle_whole(state, order)
        terms = []
        for own in (codes[column], shadows[column]):
            table = codes.copy()
            table[column] = own
            rows = table[:, fern.left_out]
            permuted = rows.copy()
            permuted[column] = rows[column][order.astype(int)]
            terms.append(mean_score(fern, table, rows) - mean_score(fern, table, permuted))
        out[column] = (terms[0], terms[1])
    return out
