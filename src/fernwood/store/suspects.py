"""Columns that deserve a warning when a store is made: copies of the target, and plain row numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import shown
from fernwood.sources.base import Band, Kind
from fernwood.sources.levels import LevelBand
from fernwood.store.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.sources.base import SparseBand
    from fernwood.store.columns import CodedBand
    from fernwood.store.roles import Target

__all__ = ["Suspects"]

_FEWEST_ROWS = 8  # a handful of rows is numbered by accident
_NAMED = 5
_LOOKED_AT = 64  # rows that tell most columns from the target
_DENSE_AT_A_TIME = 16


class Suspects:
    """Looks at every column in passing and writes the notes at the end."""

    def __init__(self, target: Target | None, bins: int) -> None:
        self._equal: list[str] = []
        self._numbered: list[str] = []
        self._n_equal = self._n_numbered = 0
        self._target_codes: NDArray[np.uint8] | None = None
        self._one_to_one = False
        if target is not None:
            self._one_to_one = target.task == "classification" and len(target.classes) <= 254
            if self._one_to_one:
                self._target_codes = target.values.astype(np.uint8)
            else:
                self._target_codes = quantise(target.values.astype(np.float64)[None], bins).codes[0]

    def look_at_values(self, band: Band | SparseBand, names: pa.Array) -> None:
        """Look for row numbers."""
        if isinstance(band, LevelBand):
            return  # a handful of levels cannot number more rows than that
        if isinstance(band, Band):
            if band.values.shape[1] >= _FEWEST_ROWS:
                self._look_for_numbers(band, names)
        elif band.n_rows >= _FEWEST_ROWS:
            # A column that numbers the rows has one zero at most.
            full = np.flatnonzero(np.diff(band.starts) >= band.n_rows - 1)
            for first in range(0, len(full), _DENSE_AT_A_TIME):
                some = full[first : first + _DENSE_AT_A_TIME]
                self._look_for_numbers(band.dense(some), names.take(pa.array(some)))

    def look_at_codes(self, coded: CodedBand) -> None:
        """Look for copies of the target."""
        self._n_equal += self._look_for_target(coded, coded.records.column("name"))

    def _look_for_numbers(self, band: Band, names: pa.Array) -> None:
        # What is too far apart for a number is no step of a counter either, nor is a NaN that signals.
        with np.errstate(over="ignore", invalid="ignore"):
            steps = band.values[:, 1] - band.values[:, 0]
            last = band.values[:, -1] - band.values[:, 0]
        likely = np.flatnonzero((band.kinds == Kind.NUMBER) & (steps == 1) & (last == band.values.shape[1] - 1))
        for i in likely.tolist():
            if (np.diff(band.values[i]) == 1).all():
                self._n_numbered += 1
                _remember(self._numbered, names, i)

    def _look_for_target(self, coded: CodedBand, names: pa.Array) -> int:
        target = self._target_codes
        if target is None or len(target) < _FEWEST_ROWS:
            return 0
        found = 0
        n_codes = int(target.max()) + 1
        same_count = coded.records.column("codes").to_numpy() == n_codes
        complete = coded.records.column("missing").to_numpy() == 0
        likely = np.flatnonzero(same_count & complete)
        if self._one_to_one:
            likely = likely[self._may_tell(coded.codes[likely, :_LOOKED_AT])]
        for i in likely.tolist():
            codes = coded.codes[i]
            if self._one_to_one:
                # Equal up to the names of the classes: every code meets one class.
                pairs = np.zeros((n_codes, n_codes), bool)
                pairs[codes, target] = True
                equal = bool((pairs.sum(axis=0) == 1).all() and (pairs.sum(axis=1) == 1).all())
            else:
                equal = bool((codes == target).all())
            if equal:
                found += 1
                _remember(self._equal, names, i)
        return found

    def _may_tell(self, codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Whether in the first rows of every column the rows of one class have one code."""
        assert self._target_codes is not None  # noqa: S101  (asked of a target only)
        target = self._target_codes[: codes.shape[1]]
        _, first, place = np.unique(target, return_index=True, return_inverse=True)
        return np.asarray((codes == codes[:, first[place]]).all(axis=1))

    def notes(self) -> list[str]:
        """One sentence for each kind of suspect."""
        notes = []
        if self._n_equal:
            if self._one_to_one:
                tells = _listed(self._equal, self._n_equal, "tells", "tell")
                notes.append(f"{tells} the target exactly, class by class: drop what gives the answer away")
            else:
                orders = _listed(self._equal, self._n_equal, "orders", "order")
                notes.append(f"{orders} the rows as the target does: drop what gives the answer away")
        if self._n_numbered:
            numbered = _listed(self._numbered, self._n_numbered, "numbers", "number")
            notes.append(f"{numbered} the rows one by one: an index is no measurement, drop it")
        return notes


def _remember(names: list[str], of: pa.Array, i: int) -> None:
    if len(names) < _NAMED:
        names.append(shown(of[i].as_py()))


def _listed(names: list[str], n: int, one_does: str, many_do: str) -> str:
    if n == 1:
        return f"column {names[0]} {one_does}"
    more = f" and {n - len(names)} more" if n > len(names) else ""
    return f"columns {', '.join(names)}{more} {many_do}"
