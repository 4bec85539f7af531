"""Where target, weights and groups come from: columns of the table, other files, or arrays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import SourceError, TargetError, shown
from fernwood.files import is_file, opened
from fernwood.sources import as_array, is_there, open_source
from fernwood.sources.names import as_position, is_pattern, match_names, plain_position
from fernwood.sources.text_format import is_text_name
from fernwood.store.keyed import ColumnOfFile, keyed_band
from fernwood.store.roles import Roles, Task, make_groups, make_target, make_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from fernwood.sources.base import Band, Reader, Source, Workspace

__all__ = ["GivenRoles"]


class GivenRoles:
    """Target, weights and groups as a user gives them, found but not yet read.

    Parameters
    ----------
    table
        The source; what it has beside its columns is looked through first.
    target, weights, groups
        A column by name or position, a path to a file with one column or ``FILE:COLUMN``, anything like an array, or
        None. A file that names the rows (`Source.row_ids`) is matched by their names, others by their order.
    task
        What the target asks for, where that was said.
    given
        Covariates of a search to come, by name or position: those beside the table go into the store.
    """

    def __init__(
        self,
        table: Source,
        *,
        target: Any,
        weights: Any,
        groups: Any,
        task: Task | None,
        given: Sequence[str | int] = (),
    ) -> None:
        self._table = table
        self._names = table.names
        self._beside = table.beside
        self._task = task
        self._inner: dict[str, int] = {}
        self._described: dict[str, int] = {}
        self._outer: dict[str, tuple[str, Any]] = {}
        self._covariates = self._find_covariates(given)
        for role, given in (("target", target), ("weights", weights), ("groups", groups)):
            if given is not None:
                self._place(role, given)

    @property
    def positions(self) -> NDArray[np.int64]:
        """Columns of the table that have a role."""
        return np.array(list(self._inner.values()), np.int64)

    @property
    def n_covariates(self) -> int:
        """Covariates that are beside the table."""
        return len(self._covariates)

    def _find_covariates(self, given: Sequence[str | int]) -> NDArray[np.int64]:
        beside = [self._position_beside(column) for column in given]
        inside = [column for column, at in zip(given, beside, strict=True) if at is None]
        self.covariates_inside = match_names(self._names, inside, "the covariate", self._nearest)
        self._covariates_inside = [column for column in inside if self._named(column) or not is_pattern(column)]
        found = [at for at in dict.fromkeys(beside) if at is not None]
        for at in found:
            name = self._beside.names[at] if self._beside is not None else ""
            if self._names.find(name) is not None:
                raise SourceError(
                    f"the covariate {shown(name)} describes the rows and is a column of the table too; rename one"
                )
        return np.array(found, np.int64)

    def _named(self, column: str | int) -> bool:
        return isinstance(column, str) and self._names.find(column) is not None

    def _position_beside(self, column: Any) -> int | None:
        return self._beside.names.find(column) if self._beside is not None and isinstance(column, str) else None

    def _place(self, role: str, given: Any) -> None:
        at = self._position_beside(given)
        if at is not None:
            if at in self._described.values() or at in self._covariates:
                raise TargetError(f"{shown(given)} cannot be the {role} and something else at once")
            self._described[role] = at
            return
        if isinstance(given, str | os.PathLike):
            text = os.fspath(given)
            position = self._names.find(text) if isinstance(given, str) else None
            if position is None and is_there(Path(text)) and is_file(Path(text)):
                self._outer[role] = (Path(text).stem, ColumnOfFile(Path(text)))
                return
            path, colon, column = text.rpartition(":")
            if position is None and colon and is_there(Path(path)) and is_file(Path(path)):
                self._outer[role] = (column, ColumnOfFile(Path(path), column))
                return
            if position is None:
                position = as_position(text, len(self._names))
            if position is None:
                raise TargetError(
                    f"there {_is(role)} no {role} {shown(text)}: neither a column of the table nor a file"
                    f"{self._nearest(text)}"
                )
        elif plain_position(given) is not None:
            position = as_position(given, len(self._names))
            if position is None:
                raise TargetError(
                    f"there {_is(role)} no {role} at position {given}; the table has {len(self._names)} columns"
                )
        else:
            self._outer[role] = (str(getattr(given, "name", None) or role), given)
            return
        if position in self._inner.values():
            raise TargetError(f"column {shown(self._names[position])} cannot be the {role} and something else at once")
        self._inner[role] = position

    def _nearest(self, text: str) -> str:
        beside = "" if self._beside is None else self._beside.names.nearest(text)
        return beside or self._names.nearest(text)

    def candidates(self, columns: Sequence[str | int] | None, drop: Sequence[str | int] | None) -> NDArray[np.int64]:
        """Positions of the columns that go into the store."""
        keep = np.ones(len(self._names), bool)
        if columns is not None:
            keep[:] = False
            keep[match_names(self._names, columns, "the column")] = True
        if drop is not None:
            keep[match_names(self._names, drop, "the column to drop")] = False
        self._refuse_left_out(keep)
        keep[self.positions] = False
        if not keep.any():
            raise SourceError("no column is left beside the target; keep at least one")
        return np.flatnonzero(keep)

    def _refuse_left_out(self, keep: NDArray[np.bool_]) -> None:
        """Refuse a covariate that is one of the roles too, or a column that does not go into the store."""
        role_of = {position: role for role, position in self._inner.items()}
        for column in self._covariates_inside:
            position = int(match_names(self._names, [column], "the covariate")[0])
            name = shown(self._names[position])
            if position in role_of:
                raise TargetError(f"column {name} cannot be the {role_of[position]} and a covariate at once")
            if not keep[position]:
                raise SourceError(
                    f"the covariate {name} is a column of the table that is left out; keep it (columns, --columns; "
                    "drop, --drop), or do not give it"
                )

    def settle(self, reader: Reader, workspace: Workspace) -> Roles:
        """Read the roles and check them."""
        bands = {role: reader.band(i, i + 1) for i, role in enumerate(self._inner)}
        names = {role: self._names[position] for role, position in self._inner.items()}
        for role, at in self._described.items():
            bands[role], taken = self._read_beside(np.array([at]), reader.n_rows, workspace)
            names[role] = str(taken[0])
        for role, (name, given) in self._outer.items():
            keyed = keyed_band(given, self._table, role, workspace) if isinstance(given, ColumnOfFile) else None
            bands[role] = keyed or _outer_band(given, role, reader.n_rows, workspace)
            names[role] = name
        return Roles(
            make_target(bands["target"], names["target"], self._task) if "target" in bands else None,
            make_weights(bands["weights"], names["weights"]) if "weights" in bands else None,
            make_groups(bands["groups"], names["groups"]) if "groups" in bands else None,
        )

    def covariates(self, n_rows: int, workspace: Workspace) -> tuple[Band, pa.Array]:
        """The covariates that are beside the table, and their names."""
        return self._read_beside(self._covariates, n_rows, workspace)

    def _read_beside(self, positions: NDArray[np.int64], n_rows: int, workspace: Workspace) -> tuple[Band, pa.Array]:
        assert self._beside is not None  # noqa: S101  (positions were found there)
        with self._beside.reading(positions, workspace) as reader:
            if reader.n_rows != n_rows:
                raise SourceError(
                    f"{self._beside.title} has {reader.n_rows} rows and the table has {n_rows}; they must agree"
                )
            return reader.band(0, len(positions)), self._beside.names.take(positions)


def _is(role: str) -> str:
    return "is" if role == "target" else "are"


def _outer_band(given: Any, role: str, n_rows: int, workspace: Workspace) -> Band:
    """A band of one column from a file, an array, a series or a list, in the order of the rows."""
    path = given.path if isinstance(given, ColumnOfFile) else None
    source = open_source(path if path is not None and path.suffix != ".npy" else _as_column(path or given))
    column = given.column if isinstance(given, ColumnOfFile) else None
    if column is not None:
        place = source.names.find(column)
        if place is None:
            raise TargetError(f"{source.title} has no column {shown(column)}{source.names.nearest(column)}")
    else:
        place = 0
        if len(source.names) != 1:
            way = "" if path is None else f": say which one as {shown(path.name + ':' + source.names[-1])}"
            raise TargetError(
                f"{source.title}, given as the {role}, has {len(source.names)} columns; it must have one{way}"
            )
    with source.reading(np.array([place]), workspace) as reader:
        n_values = reader.n_rows
        if n_values == n_rows - 1 and path is not None and is_text_name(path):
            raise TargetError(
                f"the {role} has {n_values} values and the table has {n_rows} rows; if line 1 of {source.title}, "
                f"{shown(source.names[place])}, is a value and no name, put a name above it"
            )
        if n_values != n_rows:  # before it is read: a small file may hold very many
            raise TargetError(f"the {role} has {n_values} values and the table has {n_rows} rows; they must agree")
        return reader.band(0, 1)


def _as_column(given: Any) -> Any:
    """A table of one column from a series, an array of one dimension, or a file that holds such an array."""
    if isinstance(given, Path):
        try:
            with opened(given) as file:
                given = np.load(file, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise SourceError(f"{shown(given.name)} is not a whole .npy file of numbers; save it again") from error
    if hasattr(given, "to_frame"):
        return given.to_frame(name="y") if hasattr(given, "iloc") else given.to_frame()
    if isinstance(given, np.ma.MaskedArray):
        return given  # refused as any masked array
    array = as_array(given)
    return array.reshape(-1, 1) if array.ndim <= 1 else array
