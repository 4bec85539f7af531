"""A store whose columns stay in memory once they are read, up to a bound: a worker sees the same ones many times."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from fernwood.store.view import StoreView

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fernwood.store.base import Store

__all__ = ["CachedStore"]


class CachedStore(StoreView):
    """A store with a bounded memory of columns.

    What is in it stays: searches pass over all columns again and again, and of a table that is larger than the bound
    every pass finds the same share here, where forgetting the oldest would leave none.

    Parameters
    ----------
    store
    n_bytes
        What the codes in memory may take.

    Examples
    --------
    >>> import fernwood
    >>> cached = CachedStore(fernwood.ingest(np.eye(4)), n_bytes=8)
    >>> cached.read([1, 2]).tolist() == cached.read([1, 2]).tolist()
    True
    >>> cached.read([3]).tolist(), cached.n_kept
    ([[0, 0, 0, 1]], 2)
    """

    def __init__(self, store: Store, n_bytes: int) -> None:
        super().__init__(store, store.n_rows, store.roles, b"")
        self.fingerprint = store.fingerprint  # the content is the same
        self.n_kept = 0
        n_columns = min(n_bytes // max(store.n_rows, 1), store.n_columns)
        self._codes = np.empty((n_columns, store.n_rows), np.uint8)
        self._place = np.full(store.n_columns, -1, np.int32)
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the view takes by itself, once it is full."""
        return self._codes.nbytes + self._place.nbytes

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns."""
        positions = self._positions(ids)
        out = self._output(len(positions), out)
        places = self._place[positions]
        here = np.flatnonzero(places >= 0)
        if len(here) == len(positions):
            return np.take(self._codes, places, axis=0, out=out, mode="clip")
        if not len(here):
            self._store.read(positions, out)
            self._keep(positions, out)
            return out
        out[here] = self._codes[places[here]]
        others = np.flatnonzero(places < 0)
        read = self._store.read(positions[others])
        out[others] = read
        self._keep(positions[others], read)
        return out

    def _keep(self, positions: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Put columns away while there is room."""
        if self.n_kept == len(self._codes):
            return
        with self._lock:
            fresh, first = np.unique(positions, return_index=True)
            first = first[self._place[fresh] < 0][: len(self._codes) - self.n_kept]
            places = np.arange(self.n_kept, self.n_kept + len(first))
            self._codes[places] = codes[first]
            self._place[positions[first]] = places  # after the codes: others read without the lock
            self.n_kept += len(first)
