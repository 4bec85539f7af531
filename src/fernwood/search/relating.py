"""What columns found have to do with each other and with the target: partners, and columns that give it away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood import seeds
from fernwood.learner.contexts import n_laid_out
from fernwood.relations import MOST_OPEN
from fernwood.search.drawn import Drawn
from fernwood.search.wording import midranks
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.contexts import Ground
    from fernwood.search.evidence import ContextEvidence
    from fernwood.search.examining import Examiner

__all__ = ["find_partners", "gives_away"]

_RELATING = 8  # the address below the seed
_FEWEST_CONTEXTS, _MOST_CONTEXTS, _CONTEXTS_A_COLUMN = 128, 1024, 8
_ONE_ALONE_IN = 8
"""Beside so many contexts, one of none: where two columns are found, all contexts of the one hold the other."""
_MOST_PARTNERS = 5
_CLEAR = 4.0
"""Standard errors by which contexts with a partner must tell more than those without it."""
_OPEN_ORDER = 0.005
"""The share of a numeric target's ranks that a column may leave open, and still be said to have their order: fourteen
equal bins leave so much, and a store cuts columns into 24 unless it is asked for fewer."""


def find_partners(
    examiner: Examiner,
    told: ContextEvidence,
    ground: Ground,
    found: NDArray[np.int64],
    alone: NDArray[np.float64],
    seed: int,
) -> dict[int, list[int]]:
    """The columns beside which a column tells more, strongest first, at most five; by rank, as the columns found are.

    A partner is in contexts that tell clearly more of the column than the other contexts do, and than no context does.

    Parameters
    ----------
    examiner, told, ground, seed
    found : int64 array; ranks in increasing order
    alone : float64 array; 1/p of these columns without context
    """
    if len(found) < 2:
        return {}
    n_contexts = min(max(_FEWEST_CONTEXTS, _CONTEXTS_A_COLUMN * len(found)), _MOST_CONTEXTS)
    n_contexts = n_laid_out(ground.n_places, n_contexts)
    rng = seeds.generator(seed, _RELATING)
    drawn = Drawn.ferns(rng, examiner, found, ground, n_contexts)
    n_alone = max(2, n_contexts // _ONE_ALONE_IN)
    uses = np.zeros((n_contexts + n_alone, len(found)))
    for context, use in enumerate(drawn.uses):
        uses[context, use] = 1
    told_of = np.repeat(np.log(alone)[:, None], n_contexts + n_alone, axis=1)
    for kind, _ in told.kinds:
        places = np.flatnonzero(kind.kinds[found] == kind.number)
        if len(places):
            told_of[places, :n_contexts] = np.log(told.each(kind, found[places], drawn)[0])
    more, clear = _told_more(told_of, uses)
    partners = {}
    for place, rank in enumerate(found.tolist()):
        chosen = np.flatnonzero(clear[place])
        if len(chosen):
            chosen = chosen[np.argsort(-more[place, chosen], kind="stable")][:_MOST_PARTNERS]
            partners[rank] = found[chosen].tolist()
    return partners


def _told_more(told: NDArray[np.float64], uses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How much more contexts with a column (second axis) tell of a column (first axis), and whether clearly so.

    Contexts that use the column itself tell nothing of it.

    Parameters
    ----------
    told : array, shape (columns, contexts)
    uses : array of zeros and ones, shape (contexts, columns)
    """
    beside = 1 - uses.T
    told = told * beside
    n = beside.sum(axis=1, keepdims=True)
    n_with = beside @ uses
    n_without = n - n_with
    sum_with = told @ uses
    total = told.sum(axis=1, keepdims=True)
    more = sum_with / np.maximum(n_with, 1) - (total - sum_with) / np.maximum(n_without, 1)
    mean = total / np.maximum(n, 1)
    spread = np.sqrt(np.maximum((told**2).sum(axis=1, keepdims=True) / np.maximum(n, 1) - mean**2, 0))
    error = spread * np.sqrt(1 / np.maximum(n_with, 1) + 1 / np.maximum(n_without, 1))
    clear = (n_with >= 2) & (n_without >= 2) & (error > 1e-9) & (more > _CLEAR * error)
    return np.round(more, 6), clear


def gives_away(examiner: Examiner, ground: Ground, found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some columns that leave next to nothing of the target open: each class, or value, has its own place.

    Of classes, a column leaves open what a guess by its codes would lose, over what a guess without it would (Brier);
    of numbers, the variance of their ranks within its codes, over all of it. A column may keep their order and yet
    leave much open, as one does that was cut in two.
    """
    kernel = ground.target.kernel
    told = _ClassesTold(kernel.labels, kernel.weights) if kernel.classes else _OrderTold(kernel.values, kernel.weights)
    known = []
    for rank in found.tolist():
        codes = examiner.codes(np.array([rank]))[0]
        if not (codes == MISSING).any() and told.by(codes, category=bool(examiner.categories[rank])):
            known.append(rank)
    return np.array(known, np.int64)


class _ClassesTold:
    """Whether a column tells classes."""

    def __init__(self, labels: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        self._labels, self._weights = labels, weights
        self._n = int(labels.max()) + 1

    def by(self, codes: NDArray[np.uint8], *, category: bool) -> bool:
        place = codes.astype(np.int64) * self._n + self._labels
        rows = np.bincount(place, minlength=256 * self._n).reshape(256, -1)
        if category:
            # A category of one row says nothing of the next row that has it.
            alone = rows.sum(axis=1) == 1
            enough = 4 * np.count_nonzero(rows.any(axis=1)) <= len(codes)
            pure = bool((np.count_nonzero(rows, axis=1) <= 1).all())
            return bool(enough and pure and np.count_nonzero(alone) <= MOST_OPEN * len(codes))
        if not _in_runs(rows):
            return False
        amounts = np.bincount(place, self._weights, 256 * self._n).astype(np.float64).reshape(256, -1)
        return _impurity(amounts) <= MOST_OPEN * _impurity(amounts.sum(axis=0, keepdims=True))


class _OrderTold:
    """Whether a column tells the order of numbers."""

    def __init__(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        _, place, often = np.unique(values, return_inverse=True, return_counts=True)
        self._values, self._weights = values, weights
        self._ranks = midranks(often)[place]
        self._ranks -= np.average(self._ranks, weights=weights)
        self._spread = float(weights @ self._ranks**2)

    def by(self, codes: NDArray[np.uint8], *, category: bool) -> bool:
        if category:
            return False
        amounts = np.bincount(codes, self._weights)
        told = np.bincount(codes, self._weights * self._ranks) ** 2 / np.where(amounts > 0, amounts, 1.0)
        return self._spread - float(told.sum()) <= _OPEN_ORDER * self._spread and _rise_or_fall(codes, self._values)


def _impurity(amounts: NDArray[np.float64]) -> float:
    """What guesses by the shares of classes lose in all, where rows of these weights are of each class at each code."""
    total = amounts.sum(axis=1)
    return float(np.sum(total - (amounts**2).sum(axis=1) / np.where(total > 0, total, 1.0)))


def _in_runs(rows: NDArray[np.int64]) -> bool:
    """Whether every class is a run of codes by itself, but that one may begin at the code where another ends.

    Examples
    --------
    >>> _in_runs(np.array([[9, 0], [1, 1], [0, 9]])), _in_runs(np.array([[9, 0], [1, 1], [1, 9]]))
    (True, False)
    """
    there = rows[:, rows.any(axis=0)] > 0
    lowest, highest = there.argmax(axis=0), len(there) - 1 - there[::-1].argmax(axis=0)
    order = np.argsort(lowest + highest)
    return bool((highest[order][:-1] <= lowest[order][1:]).all())


def _rise_or_fall(codes: NDArray[np.uint8], values: NDArray[np.float64]) -> bool:
    """Whether numbers rise, or fall, with the codes throughout."""
    order = np.lexsort((values, codes))
    along = values[order]
    falling = values[np.lexsort((-values, codes))]
    return bool((along[1:] >= along[:-1]).all() or (falling[1:] <= falling[:-1]).all())
