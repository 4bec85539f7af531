"""The table of a run, reduced to the columns that it selected, from the store that the run keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import StoreError, printable, shown
from fernwood.reduced.copying import copy_columns
from fernwood.run.directory import RunDirectory
from fernwood.store import open_store
from fernwood.store.decoded import StoreSource, rounding

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.reduced.writing import Output
    from fernwood.result import Result
    from fernwood.sources.base import ProgressCallback
    from fernwood.sources.place import Place
    from fernwood.store.base import Store
    from fernwood.store.decoded import Rounding

__all__ = ["chosen_columns", "reduced_table", "store_of"]


def chosen_columns(result: Result, only: str, name: str) -> NDArray[np.int64]:
    """Positions of the columns of a result with a decision, or of those selected, in the order of the table.

    Parameters
    ----------
    result
    only
        "selected" (the few that suffice where the goal is minimal, else those confirmed), "confirmed", "tentative" or
        "all".
    name
        What to call the run where there are none, which is refused.
    """
    if only == "all":
        return np.arange(len(result.draws))
    positions: NDArray[np.int64] = getattr(result, only)
    if not len(positions):
        other = "; --only tentative takes those that are" if only != "tentative" and len(result.tentative) else ""
        raise StoreError(f"{shown(name)} has no column that is {only}, so that there is no table to make{other}")
    return positions


def store_of(run: Path, result: Result, given: Place | None = None) -> Store:
    """The store that a run was made on, where the run says it is or where it is said to be now."""
    try:
        path = given or RunDirectory.open(run).store_path
        store = open_store(path)
    except StoreError as error:
        why = str(error).partition(";")[0]
        raise StoreError(
            f"the store of {shown(run.name)} is not at hand ({why}); say with --store where it is now, or take the "
            f"columns from a table: fernwood apply {printable(str(run))} TABLE"
        ) from error
    if store.fingerprint != result.facts.fingerprint:
        store.close()
        raise StoreError(
            f"the store {shown(path.name)} is not the one that {shown(run.name)} was made on; say with --store where "
            "that one is"
        )
    return store


def reduced_table(
    store: Store, positions: NDArray[np.int64], out: Output, *, memory: int, progress: ProgressCallback
) -> Rounding:
    """Write some columns of a store, then its target, groups and weights, and say how exact the values are.

    Parameters
    ----------
    store
    positions
        Of the columns.
    out
    memory
        Bytes that this may take.
    progress
    """
    names = store.names.take(positions).to_pylist()
    source = StoreSource(store, "the store")
    copy_columns(source, positions, names, out, memory=memory, beside=_roles(store, names), progress=progress)
    return rounding(store, positions)


def _roles(store: Store, names: list[str]) -> list[tuple[str, pa.Array]]:
    """Target, group and weight of the rows, under names that no column has."""
    target, taken, beside = store.target, set(names), []

    def add(name: str, column: pa.Array) -> None:
        free = name
        while free in taken:
            free += " (of the row)"
        taken.add(free)
        beside.append((free, column))

    if target is not None and target.task == "classification":
        classes = pa.array(list(target.classes))
        add(target.name, pa.DictionaryArray.from_arrays(pa.array(target.values.astype(np.int32)), classes))
    elif target is not None:
        add(target.name, pa.array(target.values))
    if store.groups is not None:
        add("group", pa.array(store.groups))
    if store.weights is not None:
        add("weight", pa.array(store.weights))
    return beside
