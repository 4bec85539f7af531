"""Coding new rows through the bins of a store, so that what was learned from its codes can be applied to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.budget import default_budget
from fernwood.errors import SourceError, shown
from fernwood.files import scratch_directory
from fernwood.sources import open_source
from fernwood.sources.base import Kind, Workspace
from fernwood.sources.names import NumberedNames
from fernwood.store.base import Store
from fernwood.store.columns import KIND_NAMES, kinds_of
from fernwood.store.grid import Grids
from fernwood.store.quantise import MISSING, encode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fernwood.sources.base import Band
    from fernwood.sources.names import Names

__all__ = ["Coding"]

_BAND_BYTES = 48 * 10**6
_LIKE_NUMBERS = (Kind.NUMBER, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Coding:
    """The bins of some columns of a store: small, without file handles, and safe to pickle.

    Attributes
    ----------
    names : Arrow array of the columns' names
    positions : int64 array; where they stand in the table that the store was made from
    n_columns : how many columns that table has
    kinds : uint8 array of `Kind`
    exact : bool array; see `quantise`
    grids : Grids
    labels : from the place of a categorical column to its labels, in the order of their codes

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> store = fernwood.ingest(np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 5.0]]))
    >>> Coding.of(store, [0]).codes(np.array([[2.9, 0.0], [3.1, 0.0], [-8.0, 0.0], [np.nan, 0.0]]))
    array([[  1,   2,   0, 255]], dtype=uint8)
    """

    names: pa.Array
    positions: NDArray[np.int64]
    n_columns: int
    kinds: NDArray[np.uint8]
    exact: NDArray[np.bool_]
    grids: Grids
    labels: dict[int, pa.Array]

    @classmethod
    def of(cls, store: Store, ids: ArrayLike) -> Coding:
        """The bins of the columns at these positions of a store; their records are read at once."""
        positions = np.asarray(ids, np.int64)
        records = store._records(positions).combine_chunks()  # noqa: SLF001
        steps = records.column("steps").combine_chunks()
        n_codes, sizes = (
            np.asarray(column, np.int64) for column in (records.column("codes"), pc.list_value_length(steps))
        )
        labels = records.column("labels")
        coded = np.flatnonzero(pc.is_valid(labels).to_numpy())
        return cls(
            records.column("name").combine_chunks(),
            positions,
            store.n_columns,
            kinds_of(records.column("kind")),
            records.column("exact").to_numpy(),
            Grids(
                records.column("shift").to_numpy(),
                records.column("origin").to_numpy(),
                np.where(n_codes > 0, sizes + 1, 0),
                np.concatenate(([0], np.cumsum(sizes))),
                steps.flatten().to_numpy(),
            ),
            {int(i): labels[int(i)].values for i in coded},
        )

    def codes(self, table: Any, n_blank: int = 0) -> NDArray[np.uint8]:
        """The codes of a table's rows, shape (columns, rows).

        Parameters
        ----------
        table
            Anything that `fernwood.sources.open_source` takes, or a store with the same bins, such as a view of the
            one that they come from. Columns of an array or a sparse matrix are found by position, those of a data
            frame and a store by name, or by position where the names are only numbers (x0, x1, …).
        n_blank
            How many columns without values to add at the end.

        Returns
        -------
        uint8 array, shape (columns + n_blank, rows)
            A value above the last threshold has the last code, one below the first the first. Missing values, and
            categories that the store does not know, are 255.

        Notes
        -----
        Peak memory: the result, and 48 MB or one column of the table, whichever is more.
        """
        if isinstance(table, Store):
            return self._stored(table, n_blank)
        source = open_source(table)
        positions = self._find(source.names, source.title)
        with scratch_directory() as scratch:
            workspace = Workspace(default_budget(), scratch, lambda _: None)
            with source.reading(positions, workspace) as reader:
                out = np.full((len(positions) + n_blank, reader.n_rows), MISSING, np.uint8)
                width = max(1, _BAND_BYTES // (10 * reader.n_rows + reader.overhead() + 1))
                for first in range(0, len(positions), width):
                    last = min(first + width, len(positions))
                    self._code(reader.band(first, last), first, out[first:last])
        return out

    def _stored(self, store: Store, n_blank: int) -> NDArray[np.uint8]:
        positions = self._find(store.names, "the store")
        other = Coding.of(store, positions)
        same = all(np.array_equal(a, b) for a, b in zip(self._bins(), other._bins(), strict=True))  # noqa: SLF001
        if not (same and self.labels == other.labels):
            raise SourceError(
                "the store has other bins than the one that was learned from; give rows of that one (store.rows), or "
                "the table that this one was made from"
            )
        out = np.full((len(positions) + n_blank, store.n_rows), MISSING, np.uint8)
        store.read(positions, out[: len(positions)])
        return out

    def _bins(self) -> tuple[NDArray[Any], ...]:
        return (self.kinds, self.exact, *self.grids)

    def _find(self, names: Names, title: str) -> NDArray[np.int64]:
        """Where the columns stand in another table."""
        if not isinstance(names, NumberedNames):
            places = pc.index_in(self.names, value_set=pa.concat_arrays([run for _, run in names.runs()]))
            missing = np.flatnonzero(places.is_null().to_numpy(zero_copy_only=False))
            if not len(missing):
                self._refuse_twins(names, title)
                return np.asarray(places, np.int64)
            if not self._numbered():
                name = str(self.names[int(missing[0])])
                raise SourceError(
                    f"{title} has no column {shown(name)}, which was learned from{names.nearest(name)}; give the "
                    "columns that were there"
                )
        if len(names) != self.n_columns:
            raise SourceError(
                f"{title} has {len(names)} columns and the table that was learned from had {self.n_columns}; give the "
                "same columns in the same order"
            )
        return self.positions

    def _refuse_twins(self, names: Names, title: str) -> None:
        """Refuse a table with two columns of a name that was learned from: all names are there, each of them once."""
        ours = pa.concat_arrays([run.filter(pc.is_in(run, value_set=self.names)) for _, run in names.runs()])
        if len(ours) > len(self.names):
            counts = ours.value_counts()
            twin = counts.field("values")[pc.index(pc.greater(counts.field("counts"), 1), pa.scalar(True)).as_py()]
            raise SourceError(f"column {shown(twin)} stands twice in {title}; rename one of them")

    def _numbered(self) -> bool:
        return bool(self.names.equals(NumberedNames(self.n_columns).take(self.positions)))

    def _code(self, band: Band, first: int, out: NDArray[np.uint8]) -> None:
        part = slice(first, first + len(out))
        kinds = self.kinds[part]
        alike = (kinds == band.kinds) | (np.isin(kinds, _LIKE_NUMBERS) & np.isin(band.kinds, _LIKE_NUMBERS))
        for i in np.flatnonzero(~alike).tolist():
            if not np.isnan(band.values[i]).all():  # nothing but missing values fits every kind
                was, now = KIND_NAMES[kinds[i]], KIND_NAMES[band.kinds[i]]
                raise SourceError(
                    f"column {shown(self.names[first + i])} holds values of kind {now} where it held {was} in the "
                    "table that was learned from; convert it"
                )
        out[:] = encode(band.values, _slice(self.grids, part), self.exact[part])
        for i, labels in band.labels.items():
            if first + i in self.labels:
                known = pc.index_in(labels.cast(pa.large_string()), value_set=self.labels[first + i])
                code_of = pc.fill_null(known, MISSING).to_numpy(zero_copy_only=False).astype(np.uint8)
                present = ~np.isnan(band.values[i])
                out[i] = MISSING
                out[i, present] = code_of[band.values[i, present].astype(np.int64)]


def _slice(grids: Grids, part: slice) -> Grids:
    offsets = grids.offsets[part.start : part.stop + 1]
    steps = grids.steps[offsets[0] : offsets[-1]]
    return Grids(grids.shift[part], grids.origin[part], grids.lengths[part], offsets - offsets[0], steps)
