"""In what a column of a new table is unlike the column that a run has seen: kind, categories, range, missing values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import shown
from fernwood.sources.arrow import arrow_column
from fernwood.sources.base import Kind
from fernwood.sources.dates import dates_of
from fernwood.store.columns import KIND_NAMES
from fernwood.store.encode import Coding
from fernwood.store.grid import unpack_grids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = ["Seen", "Unlike"]

_LIKE_NUMBERS = (Kind.NUMBER, Kind.BOOLEAN)
_FAR = 0.25
"""By how much of the range that was seen a value must be beyond it to be worth a word."""
_MORE_MISSING = 0.1
"""How much larger the share of missing values must be, and twice that of the run."""
_NAMED = 3


@dataclass(frozen=True)
class Unlike:
    """Something in which a column differs from the one that the run has seen.

    Attributes
    ----------
    column : its name
    what : "kind", "categories", "range" or "missing"
    said : a sentence with the figures
    figures : the figures, as plain values
    """

    column: str
    what: str
    said: str
    figures: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


class Seen:
    """What a run has seen of some columns of its store.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns in the store.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 5.0]]))
    >>> seen = Seen(store, np.array([0]))
    >>> [unlike.said for unlike in seen.unlike(0, pa.array([1.0, 9.0, 3.0]))]
    ["'x0' has a value far outside what the run saw, 1 to 4: 9 (1 of 3 rows is outside)"]
    """

    def __init__(self, store: Store, ids: NDArray[np.int64]) -> None:
        self._coding = Coding.of(store, ids)
        self._grids = unpack_grids(self._coding.grids)
        self._missing = _missing_of(store, ids)

    def categories(self) -> list[str]:
        """Names of the columns that hold categories."""
        return [str(self._coding.names[place]) for place in self._coding.labels]

    def unlike(self, place: int, column: pa.Array | pa.ChunkedArray) -> list[Unlike]:
        """In what all values of a column, given by its place among the columns, differ from those seen."""
        name = str(self._coding.names[place])
        values, kind, labels = arrow_column(name, column)
        was = Kind(self._coding.kinds[place])
        present = values[~np.isnan(values)]
        found = self._more_missing(name, place, len(values), len(values) - len(present))
        if not len(present):
            return found
        if was != kind and not (was in _LIKE_NUMBERS and kind in _LIKE_NUMBERS):
            said = f"{shown(name)} holds values of kind {KIND_NAMES[kind]}, and held {KIND_NAMES[was]} in the run"
            return [*found, Unlike(name, "kind", said, {"run": KIND_NAMES[was], "here": KIND_NAMES[kind]})]
        if was == Kind.CATEGORY and labels is not None:
            return found + self._new_categories(name, place, present, labels)
        return found + self._far_outside(name, place, present, len(values))

    def _more_missing(self, name: str, place: int, n_rows: int, n_missing: int) -> list[Unlike]:
        before, here = float(self._missing[place]), n_missing / max(n_rows, 1)
        if here < before + _MORE_MISSING or here < 2 * before:
            return []
        said = f"{shown(name)} is missing in {100 * here:.3g} % of the rows, and was in {100 * before:.3g} % in the run"
        return [Unlike(name, "missing", said, {"run": before, "here": here})]

    def _new_categories(self, name: str, place: int, present: NDArray[np.floating], labels: pa.Array) -> list[Unlike]:
        used, rows = np.unique(present.astype(np.int64), return_counts=True)
        words = labels.cast(pa.large_string()).take(pa.array(used))
        new = ~pc.is_in(words, value_set=self._coding.labels[place]).to_numpy(zero_copy_only=False)
        if not new.any():
            return []
        unseen = words.filter(pa.array(new)).to_pylist()
        n_rows = int(rows[new].sum())
        listed = ", ".join(shown(word) for word in unseen[:_NAMED]) + (", …" if len(unseen) > _NAMED else "")
        what = "category" if len(unseen) == 1 else "categories"
        said = f"{shown(name)} has {len(unseen):,} {what} that the run did not see, in {n_rows:,} rows: {listed}"
        return [Unlike(name, "categories", said, {"categories": unseen, "rows": n_rows})]

    def _far_outside(self, name: str, place: int, present: NDArray[np.floating], n_rows: int) -> list[Unlike]:
        grid = self._grids[place]
        if not len(grid):
            return []
        low, high = float(grid[0]), float(grid[-1])
        margin = _FAR * (high - low)
        least, most = float(present.min()), float(present.max())
        if least >= low - margin and most <= high + margin:
            return []
        n_outside = int(np.count_nonzero((present < low) | (present > high)))
        extremes = [value for value, far in ((least, least < low - margin), (most, most > high + margin)) if far]
        told = " and ".join(_shown_value(value, self._coding.kinds[place]) for value in extremes)
        seen = " to ".join(_shown_value(value, self._coding.kinds[place]) for value in (low, high))
        values = "a value" if len(extremes) == 1 else "values"
        outside = f"{n_outside:,} of {n_rows:,} rows {'is' if n_outside == 1 else 'are'} outside"
        said = f"{shown(name)} has {values} far outside what the run saw, {seen}: {told} ({outside})"
        return [Unlike(name, "range", said, {"run": [low, high], "here": [least, most], "rows": n_outside})]


def _missing_of(store: Store, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of missing values of some columns."""
    records = store._records(ids)  # noqa: SLF001
    return np.asarray(records.column("missing").to_numpy() / max(store.n_rows, 1))


def _shown_value(value: float, kind: int) -> str:
    if kind != Kind.DATE or not np.isfinite(value):
        return f"{value:.6g}"
    return str(dates_of(np.array([value]))[0].astype("datetime64[s]"))
