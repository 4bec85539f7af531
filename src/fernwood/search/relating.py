"""What columns found have to do with each other and with the target: partners, and columns that give it away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood import seeds
from fernwood.learner.contexts import n_laid_out
from fernwood.search.drawn import Drawn
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
_SHARED = 0.05
"""The most rows in bins that two classes share, where a column is said to give the target away."""


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
    n_contexts = n_laid_out(ground.target.n_rows, n_contexts)
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
    """Those of some columns that leave nothing of the target open: each class, or value, has a place of its own."""
    kernel = ground.target.kernel
    values = kernel.labels if kernel.classes else kernel.values
    known = []
    for rank in found.tolist():
        codes = examiner.codes(np.array([rank]))[0]
        if (codes == MISSING).any():
            continue
        if examiner.categories[rank] and kernel.classes:
            used, place = np.unique(codes, return_inverse=True)
            pairs = np.unique(place * (int(values.max()) + 1) + values)
            if len(pairs) == len(used) and 4 * len(used) <= len(codes):
                known.append(rank)
        elif not examiner.categories[rank] and _in_order(codes, values, kernel.classes):
            known.append(rank)
    return np.array(known, np.int64)


def _in_order(codes: NDArray[np.uint8], values: NDArray[np.number[Any]], classes: bool) -> bool:
    """Whether every class is a run of codes by itself; or whether numbers rise, or fall, with the codes throughout."""
    if classes:
        lowest, highest = (np.array([f(codes[values == k]) for k in np.unique(values)]) for f in (np.min, np.max))
        order = np.argsort(lowest + highest.astype(int))
        lowest, highest = lowest[order], highest[order]
        # A bin may hold the end of one class and the beginning of the next.
        shared = np.isin(codes, highest[:-1][highest[:-1] == lowest[1:]])
        return bool((highest[:-1] <= lowest[1:]).all() and np.mean(shared) <= _SHARED)
    order = np.lexsort((values, codes))
    along = values[order]
    falling = values[np.lexsort((-values, codes))]
    return bool((along[1:] >= along[:-1]).all() or (falling[1:] <= falling[:-1]).all())
