"""How well the codes of two columns tell each other, where one of them holds categories."""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit, njit_inner

__all__ = ["tell_each_other"]


@njit
def tell_each_other(left, right, left_categories, right_categories, weights, out):
    """The share of each other's spread that two columns tell, the smaller of the two; pairs of numbers are left alone.

    The spread of a column is the chance that two rows, drawn with their weights, have different codes. Another column
    tells the part that is gone among rows with one code of its own (Goodman and Kruskal's tau), less what it would tell
    by chance. A missing value is a code like any other.

    Parameters
    ----------
    left, right : uint8 arrays, shape (columns, rows)
    left_categories, right_categories : bool arrays; which columns hold categories
    weights : float64 array; of the rows
    out : float64 array, shape (columns, columns); filled where one of two columns holds categories
    """
    places = np.empty((right.shape[0], 256), np.int64)
    used = np.empty(right.shape[0], np.int64)
    for j in range(right.shape[0]):
        used[j] = _number_codes(right[j], places[j])
    mine, joint = np.empty(256, np.int64), np.empty(256 * 256)
    sums = np.empty((2, 256))
    for i in range(left.shape[0]):
        n_mine = _number_codes(left[i], mine)
        for j in range(right.shape[0]):
            if left_categories[i] or right_categories[j]:
                _weigh_pairs(left[i], right[j], mine, places[j], used[j], weights, joint[: n_mine * used[j]])
                out[i, j] = _least_told(joint, n_mine, used[j], left.shape[1], sums)


@njit_inner
def _number_codes(column, places):
    """Number the codes in use from 0 on; how many there are."""
    places[:] = -1
    for i in range(column.shape[0]):
        places[column[i]] = 0
    n_used = 0
    for code in range(256):
        if places[code] == 0:
            places[code] = n_used
            n_used += 1
    return n_used


@njit_inner
def _weigh_pairs(left, right, left_places, right_places, n_right, weights, joint):
    joint[:] = 0
    for i in range(left.shape[0]):
        joint[left_places[left[i]] * n_right + right_places[right[i]]] += weights[i]


@njit_inner
def _least_told(joint, n_left, n_right, n_rows, sums):
    sums[:] = 0
    for a in range(n_left):
        for b in range(n_right):
            sums[0, a] += joint[a * n_right + b]
            sums[1, b] += joint[a * n_right + b]
    # Pairs of rows that have both codes alike, by the share of the one code or of the other.
    by_left, by_right = 0.0, 0.0
    for a in range(n_left):
        for b in range(n_right):
            both = joint[a * n_right + b] ** 2
            by_left += both / sums[0, a]
            by_right += both / sums[1, b]
    total, alike_left, alike_right = 0.0, 0.0, 0.0
    for a in range(n_left):
        total += sums[0, a]
        alike_left += sums[0, a] ** 2
    for b in range(n_right):
        alike_right += sums[1, b] ** 2
    of_right = _beyond_chance(by_left / total, alike_right / total**2, n_rows, n_left)
    of_left = _beyond_chance(by_right / total, alike_left / total**2, n_rows, n_right)
    return min(of_left, of_right)


@njit_inner
def _beyond_chance(alike_within, alike, n_rows, n_codes):
    """The share of the spread that is gone within codes, less what as many codes take away by chance."""
    if n_codes >= n_rows or alike >= 1:
        return 0.0
    return 1 - (1 - alike_within) / (1 - alike) * (n_rows - 1) / (n_rows - n_codes)
