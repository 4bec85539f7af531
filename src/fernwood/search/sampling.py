"""Which rows waves look at, where there are very many: a sample, in which rare classes are kept as far as they can be.

Drawing by class leaves what chance does alone: a column that has nothing to do with the target has nothing to do with
which rows are drawn, and shadows are dealt among the rows drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fernwood import seeds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["said_of_sample", "sampled_rows"]

_SAMPLING = 14  # the address below the seed


def sampled_rows(store: Store, most: int | Literal["all"], seed: int) -> NDArray[np.int64] | None:
    """The rows of a sample, in order; None where there are no more rows that count than `most`.

    Of classes, as many rows of each, but for classes that have fewer, all of which are taken. Groups of rows are taken
    whole, in a random order, until there are enough rows.

    Examples
    --------
    >>> import fernwood
    >>> rare = np.arange(1000) % 100 == 0
    >>> store = fernwood.ingest(np.random.default_rng(0).standard_normal((1000, 2)), target=rare)
    >>> rows = sampled_rows(store, 200, seed=0)
    >>> len(rows), int(rare[rows].sum())
    (200, 10)
    """
    counted = np.arange(store.n_rows) if store.weights is None else np.flatnonzero(store.weights > 0)
    if most == "all" or len(counted) <= most:
        return None
    rng = seeds.generator(seed, _SAMPLING)
    if store.groups is not None:
        return counted[_whole_groups(rng, store.groups[counted], most)]
    target = store.target
    if target is None or target.task == "regression":
        return np.sort(rng.choice(counted, most, replace=False, shuffle=False))
    # Classes in the order in which they first appear: what they are called changes nothing.
    classes, firsts, places = np.unique(target.values[counted], return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(firsts))[places.reshape(-1)]
    sizes = _shared_out(np.bincount(labels, minlength=len(classes)), most)
    chosen = [
        rng.choice(np.flatnonzero(labels == label), size, replace=False, shuffle=False)
        for label, size in enumerate(sizes.tolist())
        if size
    ]
    return np.asarray(counted[np.sort(np.concatenate(chosen))])


def _shared_out(sizes: NDArray[np.integer[Any]], total: int) -> NDArray[np.int64]:
    """How many rows of each class: as many of each, but for classes that have fewer."""
    out = np.zeros(len(sizes), np.int64)
    order = np.argsort(sizes, kind="stable")
    left = total
    for place, label in enumerate(order.tolist()):
        out[label] = min(int(sizes[label]), left // (len(sizes) - place))
        left -= int(out[label])
    return out


def _whole_groups(rng: np.random.Generator, groups: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """Rows of whole groups in a random order, up to the group with which there are enough."""
    _, number = np.unique(groups, return_inverse=True)
    order = rng.permutation(int(number.max()) + 1)
    before = np.concatenate(([0], np.cumsum(np.bincount(number)[order])[:-1]))
    taken = np.zeros(len(order), bool)
    taken[order[before < most]] = True
    return np.flatnonzero(taken[number])


def said_of_sample(n_sampled: int, n_rows: int) -> dict[str, Any]:
    """What a result says of a sample; empty where there was none."""
    if n_sampled >= n_rows:
        return {}
    said = (
        f"contexts looked at {n_sampled:,} of {n_rows:,} rows, drawn once; every column by itself, the best ones "
        "beside others, and what was found beside others, at all rows: a column that tells little, and only beside "
        "others, may be missed; max_rows='all' (--max-rows all) looks at all rows throughout"
    )
    return {"rows": n_sampled, "said": said}
