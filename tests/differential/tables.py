"""Small random tables of every kind that has its own path through the code; the same kind and seed give the same table.

Every table has a few informative columns, so that a method has something to find and answers differ where they can.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["KINDS", "Table", "make_table"]

Rng = np.random.Generator


@dataclass(frozen=True)
class Table:
    """A table in its canonical form: a pandas frame, and what is known of its rows.

    Attributes
    ----------
    frame : the columns, called as arrays would call them: x0, x1, … (but for the kind "names")
    target : text for classes, so that no file can change its type; float64 for numbers
    weights, groups : of the rows, or None
    """

    kind: str
    seed: int
    frame: pd.DataFrame
    target: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None

    @property
    def task(self) -> str:
        return "regression" if self.target.dtype.kind == "f" else "classification"

    @property
    def is_numeric(self) -> bool:
        """Whether an array of numbers holds the same table."""
        return all(dtype.kind == "f" for dtype in self.frame.dtypes) and self.names_are_positions

    @property
    def names_are_positions(self) -> bool:
        return list(self.frame.columns) == [f"x{i}" for i in range(self.frame.shape[1])]

    @property
    def has_missing(self) -> bool:
        return bool(self.frame.isna().to_numpy().any())

    @property
    def values(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.frame.to_numpy(np.float64))

    def with_roles(self) -> pd.DataFrame:
        """The columns, and behind them those of the roles."""
        roles = {"target": self.target, "weights": self.weights, "groups": self.groups}
        return self.frame.assign(**{name: values for name, values in roles.items() if values is not None})

    def roles_by_name(self) -> dict[str, str]:
        """What `fernwood.ingest` is told of a table with these roles in it."""
        return {name: name for name in ("target", "weights", "groups") if name in self.with_roles()}


def _size(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(40, 130)), int(rng.integers(12, 40))


def _classes(signal: NDArray[np.float64], n_classes: int) -> NDArray[Any]:
    """Classes by the rank of a signal, as even as can be."""
    rank = np.argsort(np.argsort(signal, kind="stable"), kind="stable")
    return np.array([f"c{i:02}" for i in range(n_classes)])[rank * n_classes // len(signal)]


def _signal(values: NDArray[np.float64], rng: Rng, noise: float = 0.3) -> NDArray[np.float64]:
    """The sum of the first three columns, standardised, and some noise."""
    some = np.nan_to_num(values[:, :3])
    spread = some.std(axis=0)
    standard = (some - some.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return standard @ [1.5, 1.0, 0.7][: standard.shape[1]] + noise * rng.standard_normal(len(values))


def _frame(values: NDArray[np.float64]) -> pd.DataFrame:
    return pd.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])])


def _numbers(rng: Rng) -> dict[str, Any]:
    values = rng.standard_normal(_size(rng))
    return {"frame": _frame(values), "target": _signal(values, rng)}


def _rare(rng: Rng) -> dict[str, Any]:
    """Columns of a few ones, some of which have exactly the same ones, and a rare class."""
    n_rows, n_columns = _size(rng)
    values = np.zeros((n_rows, n_columns))
    for column in values.T:
        column[rng.choice(n_rows, rng.integers(1, 6), replace=False)] = 1
    values[:, 1] = values[:, 0]
    values[:, 2] = rng.random(n_rows) < 0.4
    carriers = values[:, 0] + values[:, 2] > 0
    return {"frame": _frame(values), "target": np.where(carriers & (rng.random(n_rows) < 0.8), "ill", "well")}


def _tied(rng: Rng) -> dict[str, Any]:
    n_rows, n_columns = _size(rng)
    values = rng.integers(0, rng.integers(2, 6, n_columns), (n_rows, n_columns)).astype(float)
    return {"frame": _frame(values), "target": _classes(_signal(values, rng), 2)}


def _duplicated(rng: Rng) -> dict[str, Any]:
    """Rows that stand several times, and columns that are copies, negatives and rescaled copies of others."""
    n_rows, n_columns = _size(rng)
    values = np.round(rng.standard_normal((n_rows, n_columns)), 1)
    half = n_columns // 2
    values[:, half : 2 * half] = values[:, :half] * rng.choice([1.0, -1.0, 8.0], half)
    values = values[np.sort(rng.integers(0, n_rows, n_rows))]
    return {"frame": _frame(values), "target": _classes(_signal(values, rng), 2)}


def _missing(rng: Rng) -> dict[str, Any]:
    """A constant column, an empty one, one that is missing where the class says so, and holes everywhere else."""
    n_rows, n_columns = _size(rng)
    values = np.round(rng.standard_normal((n_rows, n_columns)), 2)
    target = _classes(_signal(values, rng), 3)
    values[rng.random(values.shape) < rng.choice([0.02, 0.3, 0.8], n_columns)] = np.nan
    values[:, 3] = np.where(target == "c00", np.nan, 1.0)
    values[:, 4], values[:, 5] = 2.5, np.nan
    return {"frame": _frame(values), "target": target}


def _categorical(rng: Rng) -> dict[str, Any]:
    """Text of few and of many categories, whose spelling no file takes for numbers or missing values, and numbers."""
    n_rows, n_columns = _size(rng)
    frame = _frame(np.round(rng.standard_normal((n_rows, n_columns)), 2))
    for i in range(1, n_columns, 2):
        words = [f"{'äbcdefghijkl'[k]} {k}" for k in range(rng.integers(2, 12))]
        column = rng.choice(words, n_rows).astype(object)
        column[rng.random(n_rows) < rng.choice([0.0, 0.2])] = None
        frame[f"x{i}"] = column
    signal = 1.5 * frame["x0"] + 2 * (frame["x1"] == "ä 0") + 0.3 * rng.standard_normal(n_rows)
    return {"frame": frame, "target": _classes(signal.to_numpy(float), 2)}


def _dates(rng: Rng) -> dict[str, Any]:
    """Times to the second, some missing; booleans; whole numbers; and a target of numbers."""
    n_rows, n_columns = _size(rng)
    values = rng.standard_normal((n_rows, n_columns))
    frame = _frame(np.round(values, 3))
    for i in range(1, n_columns, 4):
        seconds = (values[:, i] * 1e7).astype("int64") + 1_600_000_000
        times = pd.Series(seconds.astype("datetime64[s]").astype("datetime64[us]"))
        frame[f"x{i}"] = times.where(rng.random(n_rows) > rng.choice([0.0, 0.1]), other=pd.NaT)
    for i in range(2, n_columns, 4):
        frame[f"x{i}"] = values[:, i] > 0.5
    for i in range(3, n_columns, 4):
        frame[f"x{i}"] = (100 * values[:, i]).astype(np.int64)
    return {"frame": frame, "target": _signal(values, rng)}


def _weighted(rng: Rng) -> dict[str, Any]:
    values = np.round(rng.standard_normal(_size(rng)), 1)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(values))
    target = _classes(_signal(values, rng), 2)
    weights[[int(np.flatnonzero(target == label)[0]) for label in np.unique(target)]] = 1.0
    return {"frame": _frame(values), "target": target, "weights": weights}


def _grouped(rng: Rng) -> dict[str, Any]:
    """Groups of one to five rows that share what they are like."""
    values = np.round(rng.standard_normal(_size(rng)), 1)
    groups = np.sort(rng.integers(0, len(values) // 3, len(values)))
    values += np.round(rng.standard_normal((len(values), 1)), 1)[groups]
    labels = np.array([f"patient {g}" for g in groups])
    return {"frame": _frame(values), "target": _classes(_signal(values, rng), 2), "groups": labels}


def _classes_many(rng: Rng) -> dict[str, Any]:
    values = np.round(rng.standard_normal(_size(rng)), 1)
    return {"frame": _frame(values), "target": _classes(_signal(values, rng, 0.1), int(rng.integers(9, 14)))}


def _single(rng: Rng) -> dict[str, Any]:
    """One row for each class but two."""
    values = np.round(rng.standard_normal(_size(rng)), 1)
    target = _classes(_signal(values, rng), 2).astype("U8")
    for i, row in enumerate(rng.choice(len(values), 6, replace=False)):
        target[row] = f"alone {i}"
    return {"frame": _frame(values), "target": target}


def _outliers(rng: Rng) -> dict[str, Any]:
    """One value far beyond all others in some columns and in the target."""
    n_rows, n_columns = _size(rng)
    values = rng.standard_normal((n_rows, n_columns))
    for i in range(0, n_columns, 3):
        values[rng.integers(n_rows), i] = rng.choice([1e6, -1e9, 1e15, 1e300])
    target = _signal(np.clip(values, -3, 3), rng)
    target[rng.integers(n_rows)] = rng.choice([1e3, 1e6, 1e9])
    return {"frame": _frame(values), "target": target}


def _timestamps(rng: Rng) -> dict[str, Any]:
    """Nanoseconds since 1970 as numbers, in steps that float64 has, beside columns of a spread of one."""
    n_rows, n_columns = _size(rng)
    values = np.round(rng.standard_normal((n_rows, n_columns)), 2)
    for i in range(3, n_columns, 4):
        values[:, i] = 1.7e18 + 2.0**20 * rng.integers(0, 2**36, n_rows)
    return {"frame": _frame(values), "target": _classes(_signal(values, rng), 2)}


def _tall(rng: Rng) -> dict[str, Any]:
    """More distinct values than there are codes, so that columns are binned."""
    values = rng.standard_normal((int(rng.integers(520, 700)), 8))
    values[:, 5] = np.round(np.exp(2 * values[:, 5]), 3)
    values[rng.random(len(values)) < 0.3, 6] = 0
    return {"frame": _frame(values), "target": _classes(_signal(values, rng), 2)}


def _narrow(rng: Rng) -> dict[str, Any]:
    """Two or three columns: fewer than any draw would take."""
    values = np.round(rng.standard_normal((int(rng.integers(30, 80)), int(rng.integers(2, 4)))), 1)
    return {"frame": _frame(values), "target": _classes(_signal(values, rng), 2)}


def _names(rng: Rng) -> dict[str, Any]:
    """Names that could be taken for positions, patterns, booleans or numbers."""
    values = np.round(rng.standard_normal(_size(rng)), 2)
    odd = ["1_1", "1_0", "3", "0", "True", "nan", "1e3", "é", "a, b", 'say "x"', "gene*", "-1"]
    frame = _frame(values).rename(columns={f"x{i}": name for i, name in enumerate(odd)})
    return {"frame": frame, "target": _classes(_signal(values, rng), 2)}


KINDS: dict[str, Callable[[Rng], dict[str, Any]]] = {
    "numbers": _numbers,
    "rare": _rare,
    "tied": _tied,
    "duplicated": _duplicated,
    "missing": _missing,
    "categorical": _categorical,
    "dates": _dates,
    "weighted": _weighted,
    "grouped": _grouped,
    "classes": _classes_many,
    "single": _single,
    "outliers": _outliers,
    "timestamps": _timestamps,
    "tall": _tall,
    "narrow": _narrow,
    "names": _names,
}


def make_table(kind: str, seed: int) -> Table:
    rng = np.random.default_rng([zlib.crc32(kind.encode()), seed])
    return Table(kind, seed, **KINDS[kind](rng))
