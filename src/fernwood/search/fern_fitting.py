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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.ferns import Field
    from fernwood.learner.ferns import FernRows
    from fernwood.store.base import Store

__all__ = ["FernColumns", "FernFitSettings", "FernFits", "fern_bytes"]

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
        self._kinds, self._checksums = store.kinds[ids], store.checksums[ids]
        self._deal = Dealer(seed, groups=None if store.groups is None else rows.units)

    def field(self, columns: NDArray[np.int64]) -> Field:
        """What ferns grow on."""
        return self._rows.field(self._store.read(self._ids[columns]), self._kinds[columns])

    def shadows(self, codes: NDArray[np.uint8], columns: NDArray[np.int64], copy: int = 0) -> NDArray[np.uint8]:
        """One shadow of each of these columns, whose codes are `codes`: the one with this number."""
        return self._deal(codes.copy(), self._checksums[columns], np.full(len(columns), copy, np.uint64))


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
        depth, n_ferns, probed, n_shadows, first = self._settings
        n = len(columns)
        field = self._columns.field(columns)
        codes = field.codes
        if probed:
            field = self._with_probe(field, draw)
        states = seeds.states(n_ferns, self._seed, _FERNS, draw)
        trunks = draw_columns(states, len(field.codes), depth)
        importance, probe, shadows = np.zeros(n), 0.0, np.zeros((n_shadows, n))
        for copy in range(max(n_shadows, 1)):
            dealt = np.empty_like(field.codes)
            dealt[:n] = self._columns.shadows(codes, columns, first + copy)
            dealt[n:] = field.codes[n:]  # a probe is a shadow, and has none
            tally = new_tally(len(field.codes))
            grow(field, trunks, states.copy(), keep=False, tally=tally, shadows=dealt)
            often = np.maximum(tally.often, 1)
            importance = tally.importance[:n] / often[:n]
            if probed:
                probe = float(tally.importance[n] / often[n])
            if n_shadows:
                shadows[copy] = tally.shadow[:n] / often[:n]
        return Scores(importance, probe, shadows=shadows)

    def _with_probe(self, field: Field, draw: int) -> Field:
        n, n_rows = field.codes.shape
        codes = np.empty((n + 1, n_rows), np.uint8)
        codes[:n] = field.codes
        state = seeds.numbered_states(draw, 1, self._seed, _PROBES)[0]
        source = deal_probe(state, codes, np.arange(n_rows, dtype=np.int32))
        return field._replace(codes=codes, categories=np.append(field.categories, field.categories[source]))
