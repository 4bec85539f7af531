"""Tables to search: a target of classes or numbers, columns of all kinds, and a few that clearly tell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import fernwood

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.store import Store

__all__ = ["Table", "make_table"]


@dataclass(frozen=True)
class Table:
    """A table, its target, and what is known about it.

    Attributes
    ----------
    frame : the columns
    target, weights, groups : of the rows
    task : "classification" or "regression"
    told : names of columns that clearly tell something
    was : for a column that had another name in the table that this one was made from, that name
    """

    frame: pd.DataFrame
    target: NDArray[Any]
    task: str
    told: tuple[str, ...]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    was: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return list(self.frame.columns)

    @property
    def numbers(self) -> list[str]:
        """Names of the columns of numbers."""
        return [name for name in self.names if self.frame[name].dtype.kind in "fi"]

    def but(self, **other: Any) -> Table:
        """The same with something else."""
        return replace(self, **other)

    def roles(self) -> dict[str, Any]:
        """What `fernwood.ingest` is told of the rows."""
        return {"target": self.target, "task": self.task, "weights": self.weights, "groups": self.groups}

    def store(self, out: Any = None, **how: Any) -> Store:
        """The store of it."""
        return fernwood.ingest(self.frame, out, **self.roles(), **how)


def make_table(task: str, seed: int, n_rows: int = 128, n_columns: int = 24) -> Table:
    """A table of so many columns, a third of them with few values, some categories, some with missing values.

    The target is of three classes, or in quarters: among a power of two of rows its mean is exact, so that nothing is
    rounded when it is shifted.
    """
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for i in range(n_columns):
        name = f"{'nfcm'[i % 4]}{i:02}"
        values = rng.standard_normal(n_rows)
        match name[0]:
            case "n":
                columns[name] = values
            case "f":
                columns[name] = np.round(2 * values)
            case "c":
                columns[name] = np.array(["low", "middle", "high", "none"])[rng.integers(0, 4, n_rows)]
            case "m":
                columns[name] = np.where(rng.random(n_rows) < 0.15, np.nan, np.round(4 * values) / 4)
    frame = pd.DataFrame(columns)
    told = ("n00", "f01", "c02")
    signal = 1.5 * frame["n00"] + 0.9 * frame["f01"] + 2.5 * (frame["c02"] == "high")
    noisy = signal.to_numpy() + 0.4 * rng.standard_normal(n_rows)
    if task == "regression":
        return Table(frame, np.round(4 * noisy) / 4, task, told)
    edges = np.quantile(noisy, (1 / 3, 2 / 3))
    return Table(frame, np.array(["a", "b", "c"])[np.searchsorted(edges, noisy)], task, told)
