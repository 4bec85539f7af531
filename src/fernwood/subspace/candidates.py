"""The columns that a search draws from, in an order that does not depend on their order in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["candidates"]


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
