"""One draw, fitted with ferns: columns and their shadows come from the store, ferns grow, and each column is scored.

What a fit does depends on the data, the settings, the seed and the number of the draw, and on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.kernels.drawing import deal_probe
from fernwood.learner.ferns import draw_columns, grow, new_tally
from fernwood.search.dealing import Dealer
from fernwood.search.subspace import Scores
from fernwood.subspace.candidates import own_addresses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.ferns import Field
    from fernwood.learner.ferns import FernRows
    from fernwood.store.base import Store

__all__ = ["FernColumns", "FernFitSettings", "FernFits", "LaidField", "fern_bytes"]

_FERNS, _PROBES = 23, 24  # addresses below the seed, beside those of `search.ferns`


def fern_bytes(n_ferns: int, depth: int, n_classes: int) -> int:
    """Bytes of a fit beside codes: for every leaf and class of one fern two scores and a count; splits of all ferns.

    Examples
    --------
    >>> fern_bytes(100, 7, 2)
    36320
    """
    return 20 * (n_classes << depth) + n_ferns * (40 * depth + 32)


class FernColumns:
    """Columns of a store as ferns grow on them, and their shadows.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns; everything else counts by ranks in this order.
    rows
        The rows of the store as ferns use them.
    seed
        Below which shadows have their addresses.
    """

    def __init__(self, store: Store, ids: NDArray[np.int64], rows: FernRows, seed: int) -> None:
        self._store = store
        self._ids = ids
        self._rows = rows
        self._kinds, self._addresses = store.kinds[ids], own_addresses(store.checksums[ids])
        self._deal = Dealer(seed, groups=None if store.groups is None else rows.units)

    def field(self, columns: NDArray[np.int64]) -> Field:
        """What ferns grow on."""
        return self._rows.field(self._store.read(self._ids[columns]), self._kinds[columns])

    def shadows(self, codes: NDArray[np.uint8], columns: NDArray[np.int64], copy: int = 0) -> NDArray[np.uint8]:
        """One shadow of each of these columns, whose codes are `codes`: the one with this number."""
        return self._deal(codes.copy(), self._addresses[columns], np.full(len(columns), copy, np.uint64))


class FernFitSettings(NamedTuple):
    """How a draw is fitted with ferns.

    Attributes
    ----------
    depth : splits of a fern
    n_ferns : ferns that grow on every draw
    probe : whether a random probe takes part, one of the draw's columns with its values dealt anew
    shadows : how many shadows of every column are scored
    first_shadow : the number of the first of them
    """

    depth: int
    n_ferns: int
    probe: bool = False
    shadows: int = 0
    first_shadow: int = 0


class LaidField(NamedTuple):
    """A draw that ferns can grow on: its columns, and one table after the other with a shadow of each."""

    field: Field
    shadows: list[NDArray[np.uint8]]


class FernFits:
    """Fits draws of a store's columns with ferns; a `Learner`, safe to call from many threads.

    A column scores the mean of its importances (6) over the ferns of the draw that use it, its shadow that of (7), and
    a column that no fern uses zero. Of several shadows each takes the column's place in the same ferns.

    Parameters
    ----------
    columns
        Those that are drawn from.
    settings
    seed
    """

    def __init__(self, columns: FernColumns, settings: FernFitSettings, seed: int) -> None:
        self._columns = columns
        self._settings = settings
        self._seed = seed

    def __call__(self, columns: NDArray[np.int64], draw: int) -> Scores:
        """Importances of these columns, in the order given, of their shadows, and of the probe."""
        field, shadows = self.lay(columns)
        if not self._settings.probe:
            return self.fit(LaidField(field, shadows), draw)
        with_probe = self._with_probe(field, draw)
        probe = with_probe.codes[len(columns) :]  # it is a shadow, and has none
        return self.fit(LaidField(with_probe, [np.concatenate([each, probe]) for each in shadows]), draw)

    def lay(self, columns: NDArray[np.int64]) -> LaidField:
        """Columns and their shadows without a probe, as what many fits can grow on."""
        field = self._columns.field(columns)
        first = self._settings.first_shadow
        copies = range(first, first + max(self._settings.shadows, 1))
        return LaidField(field, [self._columns.shadows(field.codes, columns, copy) for copy in copies])

    def fit(self, laid: LaidField, draw: int) -> Scores:
        """The fit of number `draw` on columns that are laid out."""
        depth, n_ferns, probed, n_shadows, _ = self._settings
        n = len(laid.field.codes)
        states = seeds.states(n_ferns, self._seed, _FERNS, draw)
        trunks = draw_columns(states, n, depth)
        tallies = [new_tally(n) for _ in laid.shadows]
        for tally, dealt in zip(tallies, laid.shadows, strict=True):
            grow(laid.field, trunks, states.copy(), keep=False, tally=tally, shadows=dealt)
        often = np.maximum(tallies[0].often, 1)
        importance = tallies[0].importance / often
        shadows = np.stack([tally.shadow for tally in tallies])[:n_shadows] / often
        if probed:
            return Scores(importance[:-1], float(importance[-1]), shadows=shadows[:, :-1])
        return Scores(importance, 0.0, shadows=shadows)

    def _with_probe(self, field: Field, draw: int) -> Field:
        n, n_rows = field.codes.shape
        codes = np.empty((n + 1, n_rows), np.uint8)
        codes[:n] = field.codes
        state = seeds.numbered_states(draw, 1, self._seed, _PROBES)[0]
        source = deal_probe(state, codes, np.arange(n_rows, dtype=np.int32))
        return field._replace(codes=codes, categories=np.append(field.categories, field.categories[source]))
