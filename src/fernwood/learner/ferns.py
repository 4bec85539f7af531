"""Random ferns on codes: what they grow on, checked once, growing many, and their scores for rows.

>>> import numpy as np, fernwood
>>> from fernwood import seeds
>>> store = fernwood.ingest(np.array([[0.0, 1], [0, 0], [1, 1], [1, 0]] * 5), target=[0, 0, 1, 1] * 4 + [0, 1, 1, 0])
>>> rows = fern_rows(store)
>>> field = rows.field(store.read([0, 1]), store.kinds)
>>> ferns = grow(field, draw_columns(seeds.states(50, 0), 2, depth=2), seeds.states(50, 1))
>>> total_scores(ferns, field.codes, n_classes=2).argmax(axis=1)[:4].tolist()
[0, 0, 1, 1]
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.budget import shown_size
from fernwood.errors import FernwoodWarning, ParameterError, TargetError, shown
from fernwood.kernels.ferns import Field, Tally, Trunks, add_scores, draw_trunks, grow_ferns
from fernwood.learner.many import in_order
from fernwood.sources.base import Kind
from fernwood.validation import is_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.store.base import Store

__all__ = [
    "FernRows",
    "Ferns",
    "check_depth",
    "draw_columns",
    "fern_rows",
    "grow",
    "new_tally",
    "new_votes",
    "total_scores",
    "warn_of_empty_leaves",
]

_DEEPEST = 16
_ROWS_A_BLOCK = 4096
_TREES = (
    "use trees, which take numbers (SnowballSelector, SubspaceSelector or SubspaceForestRegressor), or give "
    "task='classification'"
)
_NO_COLUMNS = np.empty(0, np.int32)
_NO_SHADOWS = np.empty((0, 0), np.uint8)


class Ferns(NamedTuple):
    """Grown ferns: their splits, and the score of every class in every leaf, shape (ferns, classes << depth)."""

    trunks: Trunks
    scores: NDArray[np.float64]


class FernRows(NamedTuple):
    """The rows of a table as ferns use them.

    Attributes
    ----------
    kept : int64 array of rows that count; None for all
    labels : uint32 array; the class of every row that counts
    classes : int64 array; the positions of these classes in the target's own order
    units : int32 array; the group of every row, or the row itself
    n_units : int
    logs : float64 array of logarithms, see `fernwood.kernels.ferns.Field`
    """

    kept: NDArray[np.int64] | None
    labels: NDArray[np.uint32]
    classes: NDArray[np.int64]
    units: NDArray[np.int32]
    n_units: int
    logs: NDArray[np.float64]

    def field(self, codes: NDArray[np.uint8], kinds: NDArray[np.uint8]) -> Field:
        """Codes of all rows of some columns, and the columns' kinds, as what ferns grow on."""
        counted = codes if self.kept is None else np.ascontiguousarray(codes[:, self.kept])
        return Field(
            counted, kinds == Kind.CATEGORY, self.labels, self.units, self.n_units, len(self.classes), self.logs
        )


def fern_rows(store: Store, way_out: str = _TREES) -> FernRows:
    """The rows of a store with a target of classes; rows of weight zero take no part.

    Parameters
    ----------
    store
    way_out
        What to do where the target is numbers.

    Raises
    ------
    TargetError
        Where the target is numbers.
    ParameterError
        Where rows that count have different weights.
    """
    target = store.target
    if target is None:
        raise TargetError("the store has no target; make it with one (fernwood ingest --target)")
    if target.task == "regression":
        raise TargetError(f"the target {shown(target.name)} is numbers, and ferns tell classes apart; {way_out}")
    kept, values, groups = None, target.values, store.groups
    if store.weights is not None:
        kept = np.flatnonzero(store.weights > 0)
        if len(np.unique(store.weights[kept])) > 1:
            raise ParameterError(
                f"the weights of rows run from {store.weights[kept].min():g} to {store.weights.max():g}, and ferns "
                "count every row once; leave the weights out, or use trees"
            )
        values, groups = values[kept], None if groups is None else groups[kept]
        kept = None if len(kept) == store.n_rows else kept
    classes, labels = np.unique(values, return_inverse=True)
    n_rows = len(values)
    units, n_units, largest = np.arange(n_rows, dtype=np.int32), n_rows, 1
    if groups is not None:
        _, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        units, n_units, largest = place.astype(np.int32), len(sizes), int(sizes.max())
    numbers = np.arange(n_units * largest + len(classes) + 1)
    return FernRows(
        kept, labels.astype(np.uint32), classes.astype(np.int64), units, n_units, np.log(np.maximum(numbers, 1))
    )


def check_depth(depth: object, name: str = "depth") -> None:
    """Refuse what is no depth of a fern.

    Examples
    --------
    >>> check_depth(20)
    Traceback (most recent call last):
        ...
    fernwood.errors.ParameterError: depth is 20; it must be from 1 to 16: a fern of depth 20 takes 8.4 MB a class
    """
    if not is_integer(depth):
        raise ParameterError(f"{name} is {depth!r}; it must be an integer from 1 to {_DEEPEST}")
    if depth < 1:
        raise ParameterError(
            f"{name} is {depth}; it must be from 1 to {_DEEPEST}: a fern of depth {depth} has no split"
        )
    if depth > _DEEPEST:
        size = shown_size(8 << depth) if depth < 60 else f"2**{depth + 3} bytes"
        raise ParameterError(
            f"{name} is {depth}; it must be from 1 to {_DEEPEST}: a fern of depth {depth} takes {size} a class"
        )


def warn_of_empty_leaves(depth: int, n_rows: int) -> None:
    """Say so where a fern has more leaves than there are rows; a warning of the caller's caller."""
    if n_rows < 1 << depth:
        warnings.warn(
            f"depth is {depth}, which makes {1 << depth:,} leaves for {n_rows:,} rows, so that many leaves are empty; "
            "a smaller depth may do better",
            FernwoodWarning,
            stacklevel=3,
        )


def draw_columns(
    states: NDArray[np.uint64],
    n_columns: int,
    depth: int,
    carried: NDArray[np.int32] = _NO_COLUMNS,
    n_carried: int = 0,
) -> NDArray[np.int32]:
    """The columns of ferns, shape (ferns, depth): some different ones of those carried, then any, with replacement.

    `states` has a row of four a fern, and moves on.

    Examples
    --------
    >>> from fernwood import seeds
    >>> drawn = draw_columns(seeds.states(9, 0), 100, 3, np.array([4, 7, 9], np.int32), n_carried=2)
    >>> drawn.shape, set(drawn[:, :2].ravel().tolist()) <= {4, 7, 9}
    ((9, 3), True)
    """
    out = np.empty((len(states), depth), np.int32)
    draw_trunks(states, n_columns, carried, min(n_carried, len(carried), depth), out)
    return out


def new_tally(n_columns: int) -> Tally:
    """A tally of importances before the first fern.

    Examples
    --------
    >>> new_tally(3).often.tolist()
    [0, 0, 0]
    """
    return Tally(np.zeros(n_columns, np.int32), np.zeros(n_columns), np.zeros(n_columns))


def new_votes(n_rows: int, n_classes: int) -> NDArray[np.float64]:
    """Votes before the first fern: for every row the sums of the scores of classes, and how many ferns voted.

    Examples
    --------
    >>> new_votes(2, 3).shape
    (2, 4)
    """
    return np.zeros((n_rows, n_classes + 1))


def grow(
    field: Field,
    columns: NDArray[np.int32],
    states: NDArray[np.uint64],
    *,
    keep: bool = True,
    votes: NDArray[np.float64] | None = None,
    tally: Tally | None = None,
    shadows: NDArray[np.uint8] | None = None,
) -> Ferns:
    """Grow ferns on bags, formulas (2) to (5) of Kursa (2017).

    Parameters
    ----------
    field
        From `FernRows.field`.
    columns : int32 array, shape (ferns, depth)
        Places in the field, as `draw_columns` gives them.
    states : uint64 array, shape (ferns, 4)
        From `fernwood.seeds`; they move on.
    keep
        Whether the scores are kept; otherwise the ferns returned have none.
    votes : optional
        From `new_votes`: the scores of rows that are out of a fern's bag are added.
    tally : optional
        From `new_tally`: importances (6) and shadow importances (7) are added.
    shadows : uint8 array like the codes of the field, needed with a tally
        The columns in the table T° of shadows.

    Notes
    -----
    A number is split at the middle of the codes of two random rows, which are ranks, so that a fern does not depend on
    the scale of a column. A missing value is on either side of a threshold with equal chance, and one more category.
    In (7), rows out of the bag are those of T° as well, as a column that says nothing has them in (6).

    Peak memory: 8 bytes a class for each of the 2^depth leaves of every fern kept, and some 30 a row.
    """
    n_ferns, depth = columns.shape
    trunks = Trunks(
        columns,
        np.zeros(columns.shape, np.uint8),
        np.zeros(columns.shape, np.uint8),
        np.zeros((*columns.shape, 4), np.uint64),
    )
    scores = np.empty((n_ferns if keep else 0, field.n_classes << depth))
    votes = new_votes(0, field.n_classes) if votes is None else votes
    grow_ferns(field, _NO_SHADOWS if shadows is None else shadows, trunks, states, scores, votes, tally or new_tally(0))
    return Ferns(trunks, scores)


def total_scores(ferns: Ferns, codes: NDArray[np.uint8], n_classes: int, n_threads: int = 1) -> NDArray[np.float64]:
    """The sum over ferns of the score of every class for every row: what (1) is the largest of.

    Parameters
    ----------
    ferns
    codes : uint8 array, shape (columns, rows)
    n_classes
    n_threads

    Returns
    -------
    float64 array, shape (rows, classes)
    """
    n_rows = codes.shape[1]
    out = np.zeros((n_rows, n_classes))

    def block(first: int) -> None:
        here = slice(first, min(first + _ROWS_A_BLOCK, n_rows))
        add_scores(np.ascontiguousarray(codes[:, here]), ferns.trunks, ferns.scores, out[here])

    for _ in in_order(block, range(0, n_rows, _ROWS_A_BLOCK), n_threads):
        pass
    return out
