"""What one column tells of the target by itself, in a few words and as a number from 0 to 1.

Ranks of the values count, and not how far apart they are, so that an outlier changes nothing. An effect is named where
chance makes as much of it in one column of a hundred; what is named was found by other means, so that this asks for no
more.
"""

from __future__ import annotations

import re
from math import erfc, exp, lgamma, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.errors import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NOTHING", "Words", "classes_in_words", "midranks", "numbers_in_words"]

NOTHING = "unclear by itself"
"""The effect of a column that shows no more by itself than chance does, as in a pure interaction."""

_LEVEL, _DEVIATIONS = 0.01, 2.576
"""By chance one column of a hundred is as far out."""
_BENT = 1.5
"""The middle against the ends is named where it tells so many times as much as low against high."""
_FEWEST = 5
"""Rows of a category that it is named for."""


class Words(NamedTuple):
    """An effect in words, and how strong it is."""

    effect: str
    strength: float


def classes_in_words(
    counts: NDArray[np.int64],
    absent: NDArray[np.int64],
    names: list[str],
    n_named: int,
    categories: list[str] | None,
) -> Words:
    """How classes differ in a column.

    The strength is |2 · AUC − 1| of two classes, and of several the largest of one against the rest, for low against
    high or for the middle against the ends, whichever is larger; of categories, Cramér's V less what chance gives it.

    Parameters
    ----------
    counts : array, shape (classes, codes or categories)
        Rows of a class that have a value.
    absent : array
        Rows of a class that have none.
    names
        Of the classes.
    n_named
        How many of these, the first, are worth naming.
    categories
        In place of codes that have an order.

    Examples
    --------
    >>> counts = np.array([[50, 30, 10, 5], [5, 10, 30, 50]])
    >>> classes_in_words(counts, np.zeros(2, int), ["control", "case"], 2, None).effect
    'higher in case'
    >>> counts = np.array([[50, 20, 20, 50], [10, 60, 60, 10]])
    >>> classes_in_words(counts, np.zeros(2, int), ["control", "case"], 2, None).effect
    'most case in the middle'
    """
    told = _of_classes(counts, names, n_named) if categories is None else _of_table(counts, names, n_named, categories)
    if told.effect != NOTHING:
        return told
    both = np.stack([counts.sum(axis=1), absent], axis=1)
    clear, strength = _dependence(both)
    if clear:
        share = both[:, 1] / np.maximum(both.sum(axis=1), 1)
        return Words(f"missing most often in {quoted(names[int(np.argmax(share))])}", strength)
    return told


def numbers_in_words(
    groups: NDArray[np.integer[Any]],
    ranks: NDArray[np.float64],
    there: NDArray[np.bool_],
    categories: list[str] | None,
) -> Words:
    """How a target of numbers goes with a column.

    The strength is |Spearman's rho| with the values, or with their distance from the middle, whichever is larger; of
    categories, the correlation ratio of the target's ranks less what chance gives it.

    Parameters
    ----------
    groups
        Codes, or numbers of categories, of the rows that have a value.
    ranks
        Of the target, in all rows.
    there
        Which rows have a value.
    categories
        In place of codes that have an order.

    Examples
    --------
    >>> codes = np.arange(100)
    >>> numbers_in_words(codes, 100.0 - codes, np.ones(100, bool), None)
    Words(effect='falls', strength=1.0)
    """
    here = ranks[there]
    told = _of_numbers(groups, here) if categories is None else _of_groups(groups, here, categories)
    if told.effect != NOTHING or there.all() or not there.any():
        return told
    rho = _correlation(there.astype(np.float64), ranks)
    if abs(rho) * np.sqrt(len(ranks) - 1) > _DEVIATIONS:
        return Words(f"missing where the target is {'low' if rho > 0 else 'high'}", _bounded(rho))
    return told


def midranks(often: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean rank of the rows of each code, of which there are so many.

    Examples
    --------
    >>> midranks(np.array([2, 1, 3])).tolist()
    [1.5, 3.0, 5.0]
    """
    return np.asarray(np.cumsum(often) - (often - 1) / 2)


def quoted(name: str) -> str:
    """A name in a sentence: as it is where it is one word, else in quotes; control characters are escaped.

    Examples
    --------
    >>> quoted("case"), quoted("stage II"), quoted("3.5")
    ('case', "'stage II'", '3.5')
    """
    return name if re.fullmatch(r"[\w.+-]+", name) else f"'{printable(name)}'"


# Classes ---------------------------------------------------------------------------------------------------------


def _of_classes(counts: NDArray[np.int64], names: list[str], n_named: int) -> Words:
    """Of a column with an order."""
    sizes = counts.sum(axis=1)
    if np.count_nonzero(sizes) < 2:
        return Words(NOTHING, 0.0)
    middle = midranks(counts.sum(axis=0))
    total = int(sizes.sum())
    straight, deviations = _separation(counts, middle)
    distance = np.abs(middle - (total + 1) / 2)
    folded, bent_deviations = _separation(counts, _ranked_anew(counts.sum(axis=0), distance))
    named = np.flatnonzero(sizes[:n_named] > 0)
    last = int(named[-1])
    two = len(np.flatnonzero(sizes)) == 2
    out = last if two else int(named[np.argmax(np.abs(folded[named]))])
    most, bent = float(np.abs(straight[named]).max()), float(abs(folded[out]))
    clear = bool(abs(deviations[last]) > _DEVIATIONS) if two else _kruskal(counts, middle)
    if clear and bent <= _BENT * most:
        if two:
            return Words(f"{'higher' if straight[last] > 0 else 'lower'} in {quoted(names[last])}", _bounded(most))
        mean = (counts[named] @ middle) / sizes[named]
        high, low = (quoted(names[int(named[place])]) for place in (np.argmax(mean), np.argmin(mean)))
        return Words(f"highest in {high}, lowest in {low}", _bounded(most))
    if abs(bent_deviations[out]) > _DEVIATIONS * (1 if two else _of_several(len(named))):
        where = "at both ends" if folded[out] > 0 else "in the middle"
        return Words(f"most {quoted(names[out])} {where}", _bounded(max(bent, most)))
    return Words(NOTHING, _bounded(most))


def _of_several(n_classes: int) -> float:
    """How much farther out the farthest of several must be."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(_LEVEL / 2 / n_classes) / _DEVIATIONS


def _is_clear(freedom: int, statistic: float) -> bool:
    """Whether chi-square is seldom as large by chance."""
    return chi_square_tail(freedom, statistic) < _LEVEL


def chi_square_tail(freedom: int, statistic: float) -> float:
    """How often chi-square with so many degrees of freedom is larger by chance.

    With h = statistic / 2 and Q(a) = Γ(a, h) / Γ(a), which is what is asked at a = freedom / 2:

        Q(a + 1) = Q(a) + h^a e^−h / Γ(a + 1),    Q(0) = 0,    Q(1/2) = erfc(√h)

    `scipy.special` has it too, but takes a sixth of a second and 20 MB to import, as much as a small search.

    Examples
    --------
    >>> round(chi_square_tail(1, 3.841459), 6), round(chi_square_tail(4, 9.487729), 6)
    (0.05, 0.05)
    """
    if statistic <= 0:
        return 1.0
    half, odd = statistic / 2, freedom % 2
    powers = (i + odd / 2 for i in range(freedom // 2))
    return (erfc(sqrt(half)) if odd else 0.0) + sum(exp(a * log(half) - half - lgamma(a + 1)) for a in powers)


def _ranked_anew(often: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean rank of the rows of each code, were it to stand for another value."""
    _, place = np.unique(values, return_inverse=True)
    return np.asarray(midranks(np.bincount(place, often).astype(np.int64))[place])


def _separation(
    counts: NDArray[np.int64], ranks: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """2 · AUC − 1 of each class against the rest, and by how many standard deviations of chance it is off zero."""
    inside = counts.sum(axis=1).astype(np.float64)
    total = inside.sum()
    outside = total - inside
    pairs = np.maximum(inside * outside, 1.0)
    area = (counts @ ranks - inside * (inside + 1) / 2) / pairs
    # Rows of equal rank leave less to chance.
    tied = np.bincount(np.unique(ranks, return_inverse=True)[1], counts.sum(axis=0))
    spread = np.sqrt(((total + 1) - np.sum(tied**3 - tied) / max(total * (total - 1), 1.0)) / 3 / pairs)
    off = np.where((inside > 0) & (outside > 0), 2 * area - 1, 0.0)
    return off, off / np.maximum(spread, 1e-12)


def _kruskal(counts: NDArray[np.int64], ranks: NDArray[np.float64]) -> bool:
    """Whether the classes differ in rank (Kruskal and Wallis 1952)."""
    sizes, often = counts.sum(axis=1), counts.sum(axis=0)
    there = sizes > 0
    total = int(sizes.sum())
    mean = (counts[there] @ ranks) / sizes[there]
    between = float(np.sum(sizes[there] * (mean - (total + 1) / 2) ** 2))
    within = float(np.sum(often * (ranks - (total + 1) / 2) ** 2))
    statistic = (total - 1) * between / within if within > 0 else 0.0
    return _is_clear(int(np.count_nonzero(there)) - 1, statistic)


def _of_table(counts: NDArray[np.int64], names: list[str], n_named: int, categories: list[str]) -> Words:
    """Of a column of categories."""
    clear, strength = _dependence(counts)
    if not clear:
        return Words(NOTHING, strength)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    excess = (counts - expected) / np.sqrt(np.maximum(expected, 1e-12))
    excess[n_named:] = -np.inf
    if np.count_nonzero(counts.sum(axis=1)) == 2:  # of two classes the last is spoken of, as everywhere
        excess[: int(np.flatnonzero(counts.sum(axis=1))[-1])] = -np.inf
    excess[:, counts.sum(axis=0) < _FEWEST] = -np.inf
    which, where = np.unravel_index(int(np.argmax(excess)), excess.shape)
    if not excess[which, where] > 0:
        return Words("differs by category", strength)
    return Words(f"differs by category: most {quoted(names[which])} in {quoted(categories[where])}", strength)


def _dependence(counts: NDArray[np.int64]) -> tuple[bool, float]:
    """Whether the rows and columns of a table of counts go together, and how much."""
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(np.float64)
    total, least = table.sum(), min(table.shape) - 1
    if least < 1:
        return False, 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    statistic = float(np.sum((table - expected) ** 2 / expected))
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    strength = np.sqrt(max(statistic / total - freedom / max(total - 1, 1), 0.0) / least)
    return _is_clear(freedom, statistic), _bounded(strength)


# Numbers ---------------------------------------------------------------------------------------------------------


def _of_numbers(codes: NDArray[np.integer[Any]], ranks: NDArray[np.float64]) -> Words:
    """Of a column with an order."""
    often = np.bincount(codes)
    middle = midranks(often)
    distance = np.abs(middle - (len(codes) + 1) / 2)
    straight = _correlation(middle[codes], ranks)
    folded = _correlation(_ranked_anew(often, distance)[codes], ranks) if len(often) else 0.0
    enough = _DEVIATIONS / np.sqrt(max(len(codes) - 1, 1))
    if abs(straight) > enough and abs(folded) <= _BENT * abs(straight):
        return Words("rises" if straight > 0 else "falls", _bounded(straight))
    if abs(folded) > enough:
        return Words("lowest in the middle" if folded > 0 else "highest in the middle", _bounded(folded))
    return Words(NOTHING, _bounded(straight))


def _of_groups(places: NDArray[np.integer[Any]], ranks: NDArray[np.float64], categories: list[str]) -> Words:
    """Of a column of categories."""
    often = np.bincount(places, minlength=len(categories))
    there = often > 0
    whole = float(np.sum((ranks - ranks.mean()) ** 2)) if len(ranks) else 0.0
    if np.count_nonzero(there) < 2 or whole <= 0:
        return Words(NOTHING, 0.0)
    mean = np.bincount(places, ranks, minlength=len(categories)) / np.maximum(often, 1)
    share = float(np.sum(often * (mean - ranks.mean()) ** 2 * there)) / whole
    freedom = int(np.count_nonzero(there)) - 1
    strength = _bounded(np.sqrt(max(1 - (1 - share) * (len(ranks) - 1) / max(len(ranks) - 1 - freedom, 1), 0.0)))
    if not _is_clear(freedom, (len(ranks) - 1) * share):
        return Words(NOTHING, strength)
    named = np.flatnonzero(often >= min(_FEWEST, int(often.max())))
    high, low = (quoted(categories[int(named[place])]) for place in (np.argmax(mean[named]), np.argmin(mean[named])))
    rest = f", lowest in {low}" if low != high else ""
    return Words(f"differs by category: highest in {high}{rest}", strength)


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Pearson's, 0 where one of them is constant."""
    if len(first) < 3:
        return 0.0
    a, b = first - first.mean(), second - second.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def _bounded(strength: float) -> float:
    return round(min(abs(float(strength)), 1.0), 4)
