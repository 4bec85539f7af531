"""Where target, weights and groups come from: columns of the table, other files, or arrays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import SourceError, TargetError, shown
from fernwood.sources import as_array, is_there, open_source
from fernwood.sources.names import as_position, match_names
from fernwood.sources.text_format import is_text_name
from fernwood.store.roles import Roles, Task, make_groups, make_target, make_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fernwood.sources.base import Band, Reader, Workspace
    from fernwood.sources.names import Names

__all__ = ["GivenRoles"]


class GivenRoles:
    """Target, weights and groups as a user gives them, found but not yet read.

    Parameters
    ----------
    names
        Names of the table's columns.
    target, weights, groups
        A column by name or position, a path to a file with one column, anything like an array, or None.
    task
        What the target asks for, where that was said.
    """

    def __init__(self, names: Names, *, target: Any, weights: Any, groups: Any, task: Task | None) -> None:
        self._names = names
        self._task = task
        self._inner: dict[str, int] = {}
        self._outer: dict[str, tuple[str, Any]] = {}
        for role, given in (("target", target), ("weights", weights), ("groups", groups)):
            if given is not None:
                self._place(role, given)

    @property
    def positions(self) -> NDArray[np.int64]:
        """Columns of the table that have a role."""
        return np.array(list(self._inner.values()), np.int64)

    def _place(self, role: str, given: Any) -> None:
        if isinstance(given, str | os.PathLike):
            text = os.fspath(given)
            position = self._names.find(text) if isinstance(given, str) else None
            if position is None and is_there(Path(text)) and Path(text).is_file():
                self._outer[role] = (Path(text).stem, Path(text))
                return
            if position is None:
                position = as_position(text, len(self._names))
            if position is None:
                raise TargetError(
                    f"there is no {role} {shown(text)}: neither a column of the table nor a file"
                    f"{self._names.nearest(text)}"
                )
        elif isinstance(given, int | np.integer) and not isinstance(given, bool):
            position = as_position(int(given), len(self._names))
            if position is None:
                raise TargetError(f"there is no {role} at position {given}; the table has {len(self._names)} columns")
        else:
            self._outer[role] = (str(getattr(given, "name", None) or role), given)
            return
        if position in self._inner.values():
            raise TargetError(f"column {shown(self._names[position])} cannot be the {role} and something else at once")
        self._inner[role] = position

    def candidates(self, columns: Sequence[str | int] | None, drop: Sequence[str | int] | None) -> NDArray[np.int64]:
        """Positions of the columns that go into the store."""
        keep = np.ones(len(self._names), bool)
        if columns is not None:
            keep[:] = False
            keep[match_names(self._names, columns, "the column")] = True
        if drop is not None:
            keep[match_names(self._names, drop, "the column to drop")] = False
        keep[self.positions] = False
        if not keep.any():
            raise SourceError("no column is left beside the target; keep at least one")
        return np.flatnonzero(keep)

    def settle(self, reader: Reader, workspace: Workspace) -> Roles:
        """Read the roles and check them."""
        bands = {role: reader.band(i, i + 1) for i, role in enumerate(self._inner)}
        names = {role: self._names[position] for role, position in self._inner.items()}
        for role, (name, given) in self._outer.items():
            bands[role] = _outer_band(given, role, reader.n_rows, workspace)
            names[role] = name
        return Roles(
            make_target(bands["target"], names["target"], self._task) if "target" in bands else None,
            make_weights(bands["weights"], names["weights"]) if "weights" in bands else None,
            make_groups(bands["groups"], names["groups"]) if "groups" in bands else None,
        )


def _outer_band(given: Any, role: str, n_rows: int, workspace: Workspace) -> Band:
    """A band of one column from a file with one column, an array, a series or a list."""
    table = given if isinstance(given, Path) and given.suffix != ".npy" else _as_column(given)
    source = open_source(table)
    if len(source.names) != 1:
        raise TargetError(f"{source.title}, given as the {role}, has {len(source.names)} columns; it must have one")
    with source.reading(np.zeros(1, np.int64), workspace) as reader:
        band = reader.band(0, 1)
    n_values = band.values.shape[1]
    if n_values == n_rows - 1 and isinstance(given, Path) and is_text_name(given):
        raise TargetError(
            f"the {role} has {n_values} values and the table has {n_rows} rows; if line 1 of {source.title}, "
            f"{shown(source.names[0])}, is a value and no name, put a name above it"
        )
    if n_values != n_rows:
        raise TargetError(f"the {role} has {n_values} values and the table has {n_rows} rows; they must agree")
    return band


def _as_column(given: Any) -> Any:
    """A table of one column from a series, an array of one dimension, or a file that holds such an array."""
    if isinstance(given, Path):
        try:
            given = np.load(given, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise SourceError(f"{shown(given.name)} is not a whole .npy file of numbers; save it again") from error
    if hasattr(given, "to_frame"):
        return given.to_frame(name="y") if hasattr(given, "iloc") else given.to_frame()
    if isinstance(given, np.ma.MaskedArray):
        return given  # refused as any masked array
    array = as_array(given)
    return array.reshape(-1, 1) if array.ndim <= 1 else array
