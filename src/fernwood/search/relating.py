"""What columns found have to do with each other: partners, interchangeable ones, and ones that give the target away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fernwood import seeds
from fernwood.learner.contexts import n_laid_out
from fernwood.search.drawn import Drawn
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.contexts import Ground
    from fernwood.search.evidence import ContextEvidence
    from fernwood.search.examining import Examiner

__all__ = ["find_partners", "gives_away", "interchangeable"]

_RELATING = 8  # the address below the seed
_FEWEST_CONTEXTS, _MOST_CONTEXTS, _CONTEXTS_A_COLUMN = 128, 1024, 8
_ONE_ALONE_IN = 8
"""Beside so many contexts, one of none: where two columns are found, all contexts of the one hold the other."""
_MOST_PARTNERS = 5
_CLEAR = 4.0
"""Standard errors by which contexts with a partner must tell more than those without it."""
_ALIKE = 0.9
"""Columns that correlate by this much, or span about the same differences of categories, can stand for each other."""
_COLUMNS_AT_ONCE = 256
_ROWS_COMPARED = 4096
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


def interchangeable(examiner: Examiner, found: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for every column found: those with the same one can stand for each other, or are linked by such.

    Numbers are compared by the correlation of their ranks, categories by the differences that both span.

    Examples
    --------
    >>> import fernwood
    >>> from fernwood.search.dealing import Dealer
    >>> from fernwood.search.examining import Examiner
    >>> from fernwood.search.scoring import Scorer
    >>> x = np.random.default_rng(0).standard_normal((50, 3))
    >>> x[:, 2] = -x[:, 0]
    >>> examiner = Examiner(Scorer(fernwood.ingest(x), None, np.ones(50), Dealer(0)), np.arange(3), 1)
    >>> interchangeable(examiner, np.arange(3)).tolist()
    [0, 1, 0]
    """
    parts = [examiner.components(rank, _ROWS_COMPARED) for rank in found.tolist()]
    widths = np.array([len(part) for part in parts])
    starts = np.cumsum(widths) - widths
    every = np.concatenate(parts)
    every /= np.maximum(np.sqrt((every**2).sum(axis=1, keepdims=True)), np.finfo(np.float32).tiny)
    left, right = [], []
    for first in range(0, len(found), _COLUMNS_AT_ONCE):
        some = slice(first, min(first + _COLUMNS_AT_ONCE, len(found)))
        rows = np.concatenate([np.arange(starts[i], starts[i] + widths[i]) for i in range(some.start, some.stop)])
        squares = (every[rows] @ every.T) ** 2
        squares = np.add.reduceat(squares, starts, axis=1)
        squares = np.add.reduceat(squares, starts[some] - starts[first], axis=0)
        alike = np.round(squares, 6) >= _ALIKE**2 * np.minimum(widths[some, None], widths[None, :])
        a, b = np.nonzero(alike)
        left.append(a + first)
        right.append(b)
    a, b = np.concatenate(left), np.concatenate(right)
    links = coo_array((np.ones(len(a)), (a, b)), shape=(len(found), len(found)))
    number = connected_components(links, directed=False)[1]
    return np.asarray(number, np.int64)


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
