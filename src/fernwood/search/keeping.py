"""A store of files kept in memory while it is searched, where the budget has room for all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fernwood.store.stored import FileStore
from fernwood.store.view import Kept

if TYPE_CHECKING:
    from fernwood.run.plan import SearchPlan
    from fernwood.store.base import Store

__all__ = ["kept_where_it_fits"]


def kept_where_it_fits(
    store: Store, plan: SearchPlan, memory: int | None, *, n_read: int | None = None
) -> tuple[Store, SearchPlan]:
    """The store, in memory where that is allowed and pays, and the plan with it; the answer is the same.

    Parameters
    ----------
    store
    plan : of the search
    memory : bytes that the search may take; None where nothing was said, and nothing is kept
    n_read : columns that the search reads in all, the same ones again counted again; None for very many

    Examples
    --------
    >>> import numpy as np, fernwood, tempfile, pathlib
    >>> from fernwood.run.plan import SearchPlan
    >>> store = fernwood.ingest(np.eye(4), pathlib.Path(tempfile.mkdtemp()) / "small.fern")
    >>> kept_where_it_fits(store, SearchPlan(0, 0, 0, 1), 10**9)
    (<Kept: 4 rows, 4 columns>, SearchPlan(ledger=0, round_=0, worker=0, n_threads=1, held=16, ...))
    """
    n_bytes = store.n_rows * store.n_columns
    pays = n_read is None or n_read >= store.n_columns
    if not isinstance(store, FileStore) or memory is None or not pays or plan.total + n_bytes > memory:
        return store, plan
    return Kept(store), plan._replace(held=plan.held + n_bytes)
