"""The rows' side of a table: the target and what it asks for, weights, and groups of rows that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from fernwood.errors import TargetError, shown
from fernwood.sealed import digest
from fernwood.sources.base import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.sources.base import Band

__all__ = ["Roles", "Target", "Task", "make_groups", "make_target", "make_weights"]

Task = Literal["classification", "regression"]

_MOST_INTEGER_CLASSES = 20
_TOO_LARGE = "holds whole numbers beyond 2**53, which are not told apart; give them as text"


@dataclass(frozen=True)
class Target:
    """What the columns are to explain.

    Attributes
    ----------
    name : str
    task : "classification" or "regression"
    values : int32 array of positions in `classes`, or float64 array of numbers
    classes : the labels of a classification target, in order: all text, all booleans, all whole numbers, or all numbers
    """

    name: str
    task: Task
    values: NDArray[np.int32] | NDArray[np.float64]
    classes: tuple[str | bool | int | float, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[np.int64]) -> Target:
        """The target of some rows; the classes stay."""
        return Target(self.name, self.task, self.values[rows], self.classes)


@dataclass(frozen=True)
class Roles:
    """Target, weights (float64) and groups (int32) of the rows; None where there is none."""

    target: Target | None = None
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int32] | None = None

    def take(self, rows: NDArray[np.int64]) -> Roles:
        """The roles of some rows."""
        return Roles(
            self.target.take(rows) if self.target is not None else None,
            self.weights[rows] if self.weights is not None else None,
            self.groups[rows] if self.groups is not None else None,
        )

    def check(self, n_rows: int) -> None:
        """Refuse, with a ValueError, what `make_target` and its like never make: compiled code counts on them."""
        if self.target is not None:
            _check_target(self.target)
        for values, dtype in (
            (None if self.target is None else self.target.values, None),
            (self.weights, np.float64),
            (self.groups, np.int32),
        ):
            if values is not None and (values.shape != (n_rows,) or values.dtype != (dtype or values.dtype)):
                raise ValueError("a role of other rows, or of another type")
        if self.weights is not None and not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise ValueError("weights that are none")
        if self.groups is not None and len(self.groups) and not 0 <= self.groups.min() <= self.groups.max() < n_rows:
            raise ValueError("groups that are none")

    @staticmethod
    def check_file(n_values: int, schema: pa.Schema, n_rows: int) -> None:
        """Refuse, with a ValueError, a file of roles that would take more memory than they do."""
        if n_values != n_rows or len(schema) > len(Roles.__dataclass_fields__):
            raise ValueError("roles of other rows, or too many")
        if not all(pa.types.is_primitive(kind) for kind in schema.types):
            raise ValueError("a role that is no numbers")

    def row_bytes(self) -> Iterator[bytes]:
        """What the rows say, for fingerprints: the name and the values of every role."""
        table = self.to_table()
        for name, column in zip(table.column_names, table.columns, strict=True):
            yield name.encode() + column.to_numpy().tobytes()

    def digests(self) -> dict[str, str]:
        """What stands for the values of each role, by which two tables are compared; empty where there is none."""
        found = dict.fromkeys(("target", "weights", "groups"), "")
        if self.target is not None:
            labels = repr(self.target.classes).encode("utf-8", "surrogatepass")
            found["target"] = digest(labels + np.ascontiguousarray(self.target.values).tobytes())
        if self.weights is not None:
            found["weights"] = digest(np.ascontiguousarray(self.weights).tobytes())
        if self.groups is not None:
            found["groups"] = digest(np.ascontiguousarray(self.groups).tobytes())
        return found

    def to_table(self) -> pa.Table:
        """The roles as an Arrow table, a row each."""
        columns: dict[str, Any] = {}
        if self.target is not None:
            columns["target"] = pa.array(self.target.values)
        if self.weights is not None:
            columns["weight"] = pa.array(self.weights)
        if self.groups is not None:
            columns["group"] = pa.array(self.groups)
        return pa.table(columns)

    def to_json(self) -> dict[str, Any]:
        """What the rows do not say, for the manifest."""
        if self.target is None:
            return {}
        return {
            "target": {
                "name": self.target.name,
                "task": self.target.task,
                "classes": list(self.target.classes),
            }
        }

    @classmethod
    def restore(cls, table: pa.Table | None, entry: dict[str, Any]) -> Roles:
        """The roles that `to_table` and `to_json` wrote."""
        if table is None:
            return cls()

        def column(name: str) -> Any:
            return table.column(name).to_numpy() if name in table.column_names else None

        target = None
        if "target" in entry:
            about = entry["target"]
            target = Target(about["name"], about["task"], column("target"), tuple(about["classes"]))
        return cls(target, column("weight"), column("group"))


def _check_target(target: Target) -> None:
    values, classes = target.values, target.classes
    named = type(target.name) is str and str(target.task) in ("classification", "regression")
    if not named or not all(type(one) in (str, bool, int, float) for one in classes):
        raise ValueError("a target without a name, or with classes that are none")
    if target.task == "regression":
        whole = values.dtype == np.float64 and bool(np.isfinite(values).all())
    else:
        known = bool(((values >= 0) & (values < len(classes))).all())
        whole = known and values.dtype == np.int32 and len(set(classes)) == len(classes)
    if not whole:
        raise ValueError("a target that is none")


def make_target(band: Band, name: str, task: Task | None) -> Target:
    """The target from a band of one column.

    Text, booleans and categories ask for classification; numbers with a fraction, and dates, for regression; whole
    numbers for classification when there are at most 20 different ones and at most half as many as rows. `task`
    overrides this.
    """
    kind = Kind(band.kinds[0])
    with np.errstate(invalid="ignore"):  # a missing number may be one of those that signal when they are touched
        values = band.values[0].astype(np.float64)
    n_missing = int(np.count_nonzero(np.isnan(values)))
    if n_missing:
        raise TargetError(
            f"the target {shown(name)} has {n_missing} missing values, the first in row "
            f"{int(np.isnan(values).argmax())}; leave those rows out, or fill them in"
        )
    if np.isinf(values).any():
        raise TargetError(f"the target {shown(name)} is infinite in row {int(np.isinf(values).argmax())}; mend it")
    distinct, positions = np.unique(values, return_inverse=True)
    if task != "regression" and kind == Kind.NUMBER and _too_large_to_tell(distinct):
        raise TargetError(f"the target {shown(name)} {_TOO_LARGE}, or as numbers to explain with task='regression'")
    if len(distinct) < 2:
        label = band.labels[0][int(distinct[0])].as_py() if 0 in band.labels and len(distinct) else None
        only = shown(label) if label is not None else f"{distinct[0]:g}" if len(distinct) else "nothing"
        raise TargetError(
            f"the target {shown(name)} is {only} in every row; it needs at least two different values, or classes"
        )
    if task is None:
        task = _likely_task(distinct, kind, len(values))
    if task == "regression":
        if kind == Kind.CATEGORY:
            raise TargetError(
                f"the target {shown(name)} is text, which regression cannot explain; use --task classification"
            )
        return Target(name, task, values)
    if kind == Kind.CATEGORY:
        words = band.labels[0].take(pa.array(distinct.astype(np.int64))).to_pylist()
        order = sorted(range(len(words)), key=lambda k: words[k])
        rank = np.empty(len(words), np.int32)
        rank[order] = np.arange(len(words), dtype=np.int32)
        return Target(name, task, rank[positions], tuple(words[k] for k in order))
    if kind == Kind.BOOLEAN:
        return Target(name, task, positions.astype(np.int32), tuple(bool(v) for v in distinct))
    whole = bool((distinct == np.floor(distinct)).all())
    classes = tuple(int(v) if whole else float(v) for v in distinct)
    return Target(name, task, positions.astype(np.int32), classes)


def _too_large_to_tell(values: NDArray[np.floating]) -> bool:
    """Whether some whole numbers are so large that doubles merge neighbours."""
    return bool((np.abs(values) >= 2.0**53).any() and (values == np.floor(values)).all())


def _likely_task(distinct: NDArray[np.float64], kind: Kind, n_rows: int) -> Task:
    if kind in {Kind.CATEGORY, Kind.BOOLEAN}:
        return "classification"
    whole = kind == Kind.NUMBER and bool((distinct == np.floor(distinct)).all())
    few = len(distinct) <= min(_MOST_INTEGER_CLASSES, max(2, n_rows // 2))
    return "classification" if whole and few else "regression"


def make_weights(band: Band, name: str) -> NDArray[np.float64]:
    """Row weights from a band of one column."""
    weights: NDArray[np.float64] = band.values[0].astype(np.float64)
    if band.kinds[0] == Kind.CATEGORY or not np.isfinite(weights).all() or (weights < 0).any():
        raise TargetError(
            f"the weights {shown(name)} must be numbers, none missing, infinite or negative; mend the column"
        )
    if not weights.any():
        raise TargetError(f"the weights {shown(name)} are all zero; at least one row must count")
    return weights


def make_groups(band: Band, name: str) -> NDArray[np.int32]:
    """Group numbers from a band of one column of any kind, in the order in which the groups first appear."""
    values = band.values[0]
    if np.isnan(values).any():
        raise TargetError(
            f"the groups {shown(name)} are missing in row {int(np.isnan(values).argmax())}; every row needs one"
        )
    if band.kinds[0] == Kind.NUMBER and _too_large_to_tell(values):
        raise TargetError(f"the groups {shown(name)} {_TOO_LARGE}")
    _, firsts, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(firsts), np.int32)
    rank[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    return rank[inverse]
