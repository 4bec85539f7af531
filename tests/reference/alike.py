"""What two columns tell of each other, slowly: pairs of rows are counted one by one."""

from __future__ import annotations

from itertools import combinations_with_replacement


def told(one, other, weights) -> float:
    """How much of the spread of a column is gone among rows with one code of another, less what chance takes away."""
    n, total = len(one), sum(weights)
    alike = within = 0.0
    for i, j in combinations_with_replacement(range(n), 2):
        weight = weights[i] * weights[j] * (1 if i == j else 2)
        if other[i] == other[j]:
            alike += weight
            if one[i] == one[j]:
                within += weight / sum(w for w, code in zip(weights, one, strict=True) if code == one[i])
    n_codes = len(set(one))
    if n_codes == n or len(set(other)) == 1:
        return 0.0
    left = (1 - within / total) / (1 - alike / total**2)
    return 1 - left * (n - 1) / (n - n_codes)


def told_each_other(one, other, weights) -> float:
    return min(told(one, other, weights), told(other, one, weights))
