"""The columns that a run selected, taken from another table, exactly, and checked against what the run has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import SourceError, StoreError, shown
from fernwood.reduced.checking import Seen
from fernwood.reduced.copying import copy_columns
from fernwood.reduced.tables import chosen_columns, store_of
from fernwood.saved import load_result
from fernwood.sources import open_source
from fernwood.sources.names import NumberedNames, clean_names as cleaned
from fernwood.sources.place import Url
from fernwood.sources.table_form import TableForm
from fernwood.sources.text_format import is_text_name
from fernwood.store import open_store
from fernwood.store.decoded import StoreSource, rounding
from fernwood.store.manifest import is_store

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.reduced.checking import Unlike
    from fernwood.reduced.writing import Output
    from fernwood.sources.base import ProgressCallback, Source
    from fernwood.sources.names import Names
    from fernwood.sources.place import Place

__all__ = ["Applied", "apply_run", "find_columns"]

_NAMED = 5


@dataclass(frozen=True)
class Applied:
    """What came of taking the selected columns of a table.

    Attributes
    ----------
    columns : their names, in the order in which they were written
    n_rows : of the table
    unlike : in what columns differ from those that the run has seen
    notes : what else deserves a look
    """

    columns: list[str]
    n_rows: int
    unlike: list[Unlike]
    notes: list[str]

    @property
    def warnings(self) -> list[str]:
        """All that deserves a look, in sentences."""
        return [*self.notes, *(unlike.said for unlike in self.unlike)]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rows": self.n_rows,
            "columns": self.columns,
            "unlike": [unlike.to_json() for unlike in self.unlike],
            "warnings": self.warnings,
        }


def apply_run(
    run: Path,
    table: Place,
    out: Output,
    *,
    only: str = "selected",
    memory: int,
    form: TableForm | None = None,
    store: Place | None = None,
    clean_names: bool = False,
    progress: ProgressCallback = lambda _progress: None,
) -> Applied:
    """Write the columns that a run selected, from a table that has them.

    Parameters
    ----------
    run
        The directory of the run.
    table
        A table as `fernwood.ingest` reads it, or a store.
    out
        Where to write to.
    only
        Which columns; see `fernwood.reduced.tables.chosen_columns`.
    memory
        Bytes that this may take.
    form
        How a text file is written.
    store
        Where the store of the run is, if it was moved.
    clean_names
        Whether names that break a rule are mended, as `fernwood.ingest` does it.
    progress

    Raises
    ------
    SourceError
        Where columns are missing, or stand twice; nothing is written then.
    """
    result = load_result(run)
    positions = chosen_columns(result, only, run.name)
    names = result.names.take(positions)
    notes: list[str] = []
    seen = None
    try:
        with store_of(run, result, store) as known:
            seen = Seen(known, positions)
    except StoreError as error:
        if store is not None:
            raise
        notes.append(f"kinds and values are not compared with those of the run: {error}")
    source = _opened(table, form or TableForm(), clean_names=clean_names)
    places = find_columns(source.names, names, source.title, transposed=_may_be_transposed(table, form))
    if isinstance(source.names, NumberedNames):
        notes.append(
            f"{source.title} has no names: its columns are taken by position, x0 being the first, and must stand as in "
            "the table of the run"
        )
    if isinstance(source, StoreSource):
        notes += filter(None, [rounding(source.store, places).said])
    elif seen is not None and not isinstance(table, Url) and is_text_name(table):
        # What were categories stay so, also where their names look like numbers.
        source.take_as_categories(seen.categories())  # type: ignore[attr-defined]
    unlike: list[Unlike] = []

    def look(place: int, column: pa.Array | pa.ChunkedArray) -> None:
        if seen is not None:
            unlike.extend(seen.unlike(place, column))

    written = names.to_pylist()
    n_rows = copy_columns(source, places, written, out, memory=memory, look=look, progress=progress)
    if out.formulas.said:
        notes.append(out.formulas.said)
    return Applied(written, n_rows, unlike, notes)


def _opened(table: Place, form: TableForm, *, clean_names: bool) -> Source:
    if is_store(table):
        return StoreSource(open_store(table), shown(table.name))
    source = open_source(table, form)
    if clean_names:
        source.names = cleaned(source.names)
    return source


def _may_be_transposed(table: Place, form: TableForm | None) -> bool:
    return not isinstance(table, Url) and is_text_name(table) and not (form is not None and form.transposed)


def find_columns(names: Names, wanted: pa.Array, title: str, *, transposed: bool = False) -> NDArray[np.int64]:
    """Where the wanted columns stand among the names of a table, in the order in which they are wanted.

    `transposed` says that the table may have its features in rows, which is then told where no column is found.

    Examples
    --------
    >>> from fernwood.sources.names import ListedNames
    >>> find_columns(ListedNames(["a", "b", "c"]), pa.array(["c", "a"], pa.large_string()), "the table")
    array([2, 0])
    """
    places = np.full(len(wanted), -1, np.int64)
    if isinstance(names, NumberedNames):
        found = [names.find(name) for name in wanted.to_pylist()]
        places[:] = [-1 if place is None else place for place in found]
    else:
        for start, run in names.runs():
            hits = pc.index_in(run, value_set=wanted)
            here = np.flatnonzero(hits.is_valid().to_numpy(zero_copy_only=False))
            which = hits.take(pa.array(here)).to_numpy(zero_copy_only=False).astype(np.int64)
            again = np.concatenate((which[places[which] >= 0], _twice(which)))
            if len(again):
                raise SourceError(
                    f"the selected column {shown(wanted[int(again[0])])} stands twice in {title}; rename one of them"
                )
            places[which] = start + here
    missing = np.flatnonzero(places < 0)
    if len(missing):
        raise SourceError(_lacking(names, wanted, missing, title, transposed=transposed))
    return places


def _twice(which: NDArray[np.int64]) -> NDArray[np.int64]:
    values, counts = np.unique(which, return_counts=True)
    return np.asarray(values[counts > 1])


def _lacking(names: Names, wanted: pa.Array, missing: NDArray[np.int64], title: str, *, transposed: bool) -> str:
    told = []
    for place in missing[:_NAMED].tolist():
        hint = names.nearest(str(wanted[place])).removeprefix("; ")
        told.append(shown(wanted[place]) + (f" ({hint})" if hint else ""))
    more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
    features = "; if its features stand in rows, say --transposed" if transposed and len(missing) == len(wanted) else ""
    return (
        f"{title} lacks {len(missing):,} of the {len(wanted):,} selected columns: {', '.join(told)}{more}; give a "
        f"table that has them{features}"
    )
