"""What a store holds, in numbers: for `Store.describe()` and `fernwood info`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.store.columns import KIND_NAMES

if TYPE_CHECKING:
    from fernwood.store.base import Store
    from fernwood.store.roles import Target

__all__ = ["Description", "describe"]

_FIRST_NAMES = 10


@dataclass(frozen=True)
class Description:
    """A store in numbers.

    Attributes
    ----------
    rows, columns : int
    kinds : columns of every kind
    exact : columns that keep every distinct value
    constant, all_missing : columns that cannot tell rows apart, and are never drawn
    with_missing, missing_cells : columns with missing values, and cells that are missing
    bytes, bytes_a_cell : what the store takes
    target : name, task, and the rows of every class or the range of the values; None without a target
    weights, groups : whether rows have weights; how many groups they form (0: none)
    first_names : names of the first few columns
    fingerprint, notes
    """

    rows: int
    columns: int
    kinds: dict[str, int]
    exact: int
    constant: int
    all_missing: int
    with_missing: int
    missing_cells: int
    bytes: int
    bytes_a_cell: float
    target: dict[str, Any] | None
    weights: bool
    groups: int
    first_names: list[str]
    fingerprint: str
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """Plain values, as `fernwood info --json` prints them."""
        return asdict(self)


def describe(store: Store) -> Description:
    """Count what a store holds; reads records, no codes."""
    counts = np.bincount(store.kinds, minlength=len(KIND_NAMES))
    states = store.n_codes.astype(np.int64) + (store.n_missing > 0)
    exact = store._numbers("exact", np.bool_)  # noqa: SLF001
    return Description(
        rows=store.n_rows,
        columns=store.n_columns,
        kinds={name: int(n) for name, n in zip(KIND_NAMES, counts, strict=True) if n},
        exact=int(np.count_nonzero(exact)),
        constant=int(np.count_nonzero((states == 1) & (store.n_codes > 0))),
        all_missing=int(np.count_nonzero(store.n_codes == 0)),
        with_missing=int(np.count_nonzero(store.n_missing)),
        missing_cells=int(store.n_missing.sum()),
        bytes=store.n_bytes,
        bytes_a_cell=round(store.n_bytes / max(1, store.n_rows * store.n_columns), 4),
        target=_about_target(store.target) if store.target is not None else None,
        weights=store.weights is not None,
        groups=0 if store.groups is None else len(np.unique(store.groups)),
        first_names=store.names.run(0, min(_FIRST_NAMES, store.n_columns)).to_pylist(),
        fingerprint=store.fingerprint,
        notes=list(store.notes),
    )


def _about_target(target: Target) -> dict[str, Any]:
    about: dict[str, Any] = {"name": target.name, "task": target.task}
    if target.task == "classification":
        counts = np.bincount(target.values.astype(np.int64), minlength=len(target.classes))
        about["classes"] = [{"label": c, "rows": int(n)} for c, n in zip(target.classes, counts, strict=True)]
    else:
        about["quartiles"] = (
            [float(q) for q in np.quantile(target.values, (0, 0.25, 0.5, 0.75, 1))] if len(target) else []
        )
    return about
