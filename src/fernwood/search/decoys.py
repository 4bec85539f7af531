"""Decoys: permuted copies of columns that are searched like columns, where a null would be made from too few of them.

A column is compared with the shadows of columns that are about as important by chance. Of the columns that chance
favours most there may be only a few, and none above them to borrow from: their decoys are more of the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from fernwood.relevance.tested import decoys_needed
from fernwood.search.column_strata import column_strata
from fernwood.search.dealing import Dealer
from fernwood.store.view import StoreView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from fernwood.store.base import Store

__all__ = ["Candidates", "DecoyStore", "with_decoys"]

_FIRST_COPY = 2**32
"""Copies of a column from this number on are decoys, those before are its shadows."""


class Candidates(NamedTuple):
    """The columns that a search with a null of shadows takes in.

    Attributes
    ----------
    store : with the decoys as its last columns
    ids : int64 array; positions of the columns by rank, those of the decoys last
    strata : uint16 array; of each, for a rule that tests
    n_decoys : how many there are
    """

    store: Store
    ids: NDArray[np.int64]
    strata: NDArray[np.uint16] | None = None
    n_decoys: int = 0

    @property
    def n_judged(self) -> int:
        """How many columns there are without the decoys."""
        return len(self.ids) - self.n_decoys


def with_decoys(store: Store, ids: NDArray[np.int64], n_shadows: int, seed: int, n_threads: int = 1) -> Candidates:
    """The columns at positions `ids` and what decoys they need, where each has so many shadows."""
    strata = column_strata(store, ids, n_threads)
    n_decoys = decoys_needed(strata, n_shadows)
    if n_decoys == 0:
        return Candidates(store, ids, strata)
    highest = np.flatnonzero(strata == strata.max())
    highest = highest[np.argsort(store.checksums[ids[highest]], kind="stable")]  # whatever the order of columns
    ranks = highest[np.arange(n_decoys) % len(highest)]
    copies = (_FIRST_COPY + np.arange(n_decoys) // len(highest)).astype(np.uint64)
    positions = np.arange(store.n_columns, store.n_columns + n_decoys)
    return Candidates(
        DecoyStore(store, ids[ranks], copies, seed),
        np.concatenate([ids, positions]),
        np.concatenate([strata, strata[ranks]]),
        n_decoys,
    )


class DecoyStore(StoreView):
    """The columns of a store, and behind them permuted copies of some.

    Rows that count are permuted among themselves, and groups of rows stay together, as for shadows.

    Parameters
    ----------
    store
    models : int64 array
        Positions of the columns that are copied.
    copies : uint64 array
        The number of each copy, by which those of a column differ.
    seed

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.arange(12.0).reshape(6, 2))
    >>> decoys = DecoyStore(store, np.array([1]), np.array([7], np.uint64), seed=0)
    >>> decoys.n_columns, sorted(decoys.read([2])[0].tolist()), (decoys.read([1]) == store.read([1])).all()
    (3, [0, 1, 2, 3, 4, 5], np.True_)
    """

    def __init__(self, store: Store, models: NDArray[np.int64], copies: NDArray[np.uint64], seed: int) -> None:
        content = b"decoys" + models.tobytes() + copies.tobytes() + str(seed).encode()
        super().__init__(store, store.n_rows, store.roles, content)
        self._models = models
        self._n_own = store.n_columns
        self.n_columns = store.n_columns + len(models)
        counted = None if store.weights is None else np.flatnonzero(store.weights > 0)
        self._counted = None if counted is None or len(counted) == store.n_rows else counted
        groups = store.groups if self._counted is None or store.groups is None else store.groups[self._counted]
        self._deal = Dealer(seed, groups=groups)
        self._addresses = self._deal.addresses(store.checksums[models], copies)

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the view takes by itself."""
        return self._models.nbytes + self._addresses.nbytes

    def read(self, ids: ArrayLike, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of some columns and decoys."""
        positions = self._positions(ids)
        out = self._store.read(self._sources(positions), out)
        decoys = np.flatnonzero(positions >= self._n_own)
        if len(decoys):
            rows = slice(None) if self._counted is None else self._counted
            codes = np.ascontiguousarray(out[decoys][:, rows])
            out[decoys[:, None], np.arange(self.n_rows)[rows]] = self._deal.at(
                codes, self._addresses[positions[decoys] - self._n_own]
            )
        return out

    def forget(self) -> None:
        """Let go of what was read of all columns' records, also by the store behind the view."""
        super().forget()
        self._store.forget()

    def expect(self, ids: ArrayLike) -> None:
        """Say which columns will be read soon."""
        self._store.expect(self._sources(self._positions(ids)))

    def _sources(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the store has the codes of columns and of what decoys are copied from."""
        sources = positions.copy()
        decoys = positions >= self._n_own
        sources[decoys] = self._models[positions[decoys] - self._n_own]
        return sources

    def _field(self, name: str) -> Iterator[pa.ChunkedArray]:
        yield from self._store._field(name)  # noqa: SLF001
        if name == "checksum":  # by which random numbers are addressed: a decoy has its own
            yield pa.chunked_array([pa.array(self._addresses)])
        else:
            yield self._store._records(self._models).column(name)  # noqa: SLF001

    def _records(self, ids: NDArray[np.int64]) -> pa.Table:
        return self._store._records(self._sources(ids))  # noqa: SLF001
