"""Strata of columns that are about equally important by chance, from one pass over their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.components import survey_codes
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.many import in_order, one_ahead
from fernwood.relevance.tested import null_strata
from fernwood.sources.base import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["column_strata"]

_BLOCK_BYTES, _MOST_COLUMNS = 2**21, 4096
"""What a thread reads at a time: next to nothing beside a draw."""


def column_strata(store: Store, ids: NDArray[np.int64], n_threads: int = 1) -> NDArray[np.uint16]:
    """The stratum of every column at positions `ids`; see `fernwood.relevance.tested.null_strata`.

    Examples
    --------
    >>> import fernwood
    >>> table = np.zeros((60, 3))
    >>> table[:2, 0], table[:30, 1], table[:, 2] = 1, 1, np.arange(60) % 31
    >>> column_strata(fernwood.ingest(table), np.array([2, 1, 0]))
    array([2, 1, 0], dtype=uint16)
    """
    ensure_compiled("strata")
    # Of any size, whose squares may be beyond what doubles hold.
    weights = np.empty(0) if store.weights is None else store.weights / store.weights.max()
    n_rows = store.n_rows if store.weights is None else np.count_nonzero(weights)
    n_uncommon = np.empty(len(ids), np.float32)
    in_file = np.argsort(ids, kind="stable")

    def survey(ranks: NDArray[np.int64]) -> None:
        n = len(ranks)
        evenness, used = np.empty(n), np.empty(n, np.int64)
        missing, marks = np.empty(n, bool), np.empty(n, np.uint64)
        survey_codes(store.read(ids[ranks]), weights, evenness, used, missing, marks)
        # 1 / evenness is the sum of squared shares, next to all of which is that of a value which most rows have.
        n_uncommon[ranks] = n_rows * (1 - 1 / np.sqrt(evenness))

    width = min(max(1, _BLOCK_BYTES // store.n_rows), _MOST_COLUMNS)
    blocks = (in_file[first : first + width] for first in range(0, len(ids), width))
    for _ in in_order(survey, one_ahead(blocks, lambda ranks: store.expect(ids[ranks])), n_threads):
        pass
    return null_strata(store.kinds[ids] == Kind.CATEGORY, store.n_codes[ids], store.n_missing[ids], n_uncommon)
