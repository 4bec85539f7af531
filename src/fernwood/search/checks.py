"""Whether a table can be searched at all, said before any work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import SourceError, TargetError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store
    from fernwood.store.roles import Target

__all__ = ["check_candidates", "check_rows", "check_table"]

_FEWEST_ROWS = 4
_FEWEST_COLUMNS = 2


def check_table(store: Store, least_columns: int = _FEWEST_COLUMNS) -> Target:
    """The target of a store that can be searched; otherwise one sentence about what it lacks.

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> check_table(fernwood.ingest(np.eye(4), target=[0, 1, 0, 1])).task
    'classification'
    """
    target = store.target
    if target is None:
        raise TargetError("the store has no target; make it with one (fernwood ingest --target)")
    check_rows(store.n_rows)
    n_usable = int(np.count_nonzero(store.usable))
    if n_usable < least_columns:
        raise SourceError(
            f"{n_usable} of n_features = {store.n_columns} columns are usable, the others being constant or all "
            f"missing; a search needs at least {least_columns}"
        )
    counted = target.values if store.weights is None else target.values[store.weights > 0]
    if target.task == "classification":
        _check_classes(target, counted)
    elif len(counted) and (counted == counted[0]).all():
        raise TargetError(
            f"the target {shown(target.name)} is {counted[0]:g} in every row; there is nothing to explain"
        )
    return target


def check_rows(n_rows: int) -> None:
    """Refuse a table of very few rows."""
    if n_rows < _FEWEST_ROWS:
        raise SourceError(f"the table has too few rows (n_samples = {n_rows}); give at least {_FEWEST_ROWS}")


def check_candidates(ids: NDArray[np.int64], given: NDArray[np.int64]) -> None:
    """Refuse a search that its covariates leave too few columns."""
    if len(ids) < _FEWEST_COLUMNS:
        raise SourceError(
            f"beside {len(given)} covariates {len(ids)} usable columns are left; a search needs at least "
            f"{_FEWEST_COLUMNS}"
        )


def _check_classes(target: Target, labels: NDArray[np.generic]) -> None:
    present = np.unique(labels)
    if len(present) < 2:
        only = shown(target.classes[int(present[0])]) if len(present) else "none"
        raise TargetError(f"the target {shown(target.name)} has one class only, {only}; it needs at least two")
    if 2 * len(present) > len(labels):
        raise TargetError(
            f"the target {shown(target.name)} has {len(present):,} classes in {len(labels):,} rows, as an identifier "
            "has; classes need two rows each on average: give another target, or task='regression' for numbers"
        )
