"""The columns that a search draws from, in an order that does not depend on their order in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["candidates", "own_addresses"]

_OWN = 0x9E37_79B9
"""What the addresses of columns with the same codes are apart."""


def candidates(store: Store, without: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Positions of the usable columns, ordered by the checksums of their codes; some may be left out.

    A search draws ranks in this order, so that a table with its columns permuted gives the same answer. Columns with
    the same codes are told apart by kind, then by name.

    Notes
    -----
    Peak memory: 40 bytes a column, and the names of columns that have the same codes as another.

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> store = fernwood.ingest(np.array([[1.0, 5.0, 2.0], [1.0, 6.0, 0.0]]))
    >>> sorted(candidates(store).tolist())  # the first column is constant
    [1, 2]
    """
    chosen = store.usable.copy()
    if without is not None:
        chosen[without] = False
    ids = np.flatnonzero(chosen)
    del chosen
    ids = ids[np.argsort(store.checksums[ids], kind="stable")]
    sums = store.checksums[ids]
    as_before = np.zeros(len(ids) + 1, bool)
    as_before[1:-1] = sums[1:] == sums[:-1]
    del sums
    starts = np.flatnonzero(as_before[1:] & ~as_before[:-1])
    stops = np.flatnonzero(as_before[:-1] & ~as_before[1:]) + 1
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        alike = ids[start:stop]
        told_apart = zip(store.kinds[alike].tolist(), store.names.take(alike).to_pylist(), alike.tolist(), strict=True)
        ids[start:stop] = [position for _, _, position in sorted(told_apart)]
    return ids


def own_addresses(checksums: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """An address of its own for every candidate: its checksum, and a step more for each one before with the same codes.

    Shadows of columns with the same codes would otherwise be the same too. They would fall on the same rows more often
    than the columns do, whose codes differ between any two such sets, and compete with each other for them.

    Parameters
    ----------
    checksums
        Of candidates in their order, in which columns with the same codes follow one another.

    Examples
    --------
    >>> own_addresses(np.array([3, 7, 7, 7, 9], np.uint64)).tolist() == [3, 7, 7 + _OWN, 7 + 2 * _OWN, 9]
    True
    """
    number = np.arange(len(checksums), dtype=np.uint64)
    new = np.append(True, checksums[1:] != checksums[:-1])[: len(checksums)]
    number -= np.maximum.accumulate(np.where(new, number, np.uint64(0)))
    return np.asarray(checksums + number * np.uint64(_OWN))
