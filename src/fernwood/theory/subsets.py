"""All sets of inputs at once: what an input tells about the output, given every set of the others.

Every axis of the table of outcomes gets one more place, "any value". A cell of the extended table is then a cell of the
marginal table of one set of inputs, those that have a value in it:

    weights[x1, x2, y]  ─→  every[x1, x2, y]      x1 in 0, 1, any      every[0, any, y] = weight of X1 = 0 and Y = y
                                                  x2 in 0, 1, any      every[any, any, y] = weight of Y = y

One comparison of arrays answers for all sets what `Table.independent_masks` and `local_information` answer for one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.theory.information import pointwise_information

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fernwood.theory.table import Table

__all__ = ["all_dependences", "all_information"]

_PIECE = 2**16
"""Conditions that are looked at together."""


def all_dependences(table: Table) -> NDArray[np.bool_]:
    """Whether an input (row) and the output depend given a set of inputs (column, as bits); False where it is in it.

    Examples
    --------
    >>> from fernwood import theory
    >>> all_dependences(theory.xor(2)).tolist()
    [[False, False, True, False], [False, True, False, False]]
    """
    depend = np.zeros((table.n_inputs, 1 << table.n_inputs), dtype=np.bool_)

    def alike(every: NDArray[Any]) -> NDArray[np.bool_]:
        joint, without = every[:-1], every[-1:]
        same = table.same(joint * without.sum(axis=1, keepdims=True), joint.sum(axis=1, keepdims=True) * without)
        return np.asarray(same.all(axis=(0, 1)))

    for i, every in enumerate(_every_set(table)):
        depend[i] = ~_by_set(_in_pieces(alike, every), i, np.all, beside=True)
    return depend


def all_information(table: Table) -> NDArray[np.float64]:
    """I(input; output | set) in bits, as `all_dependences` lays it out; 0.0 where the input is in the set.

    Examples
    --------
    >>> from fernwood import theory
    >>> all_information(theory.xor(2)).tolist()
    [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    information = np.zeros((table.n_inputs, 1 << table.n_inputs))

    def told(every: NDArray[Any]) -> NDArray[np.float64]:
        joint, without = every[:-1], every[-1:]
        condition, first = (part.sum(axis=1, keepdims=True) for part in (without, joint))
        return pointwise_information(joint, condition, first, without, axes=(0, 1), table=table).ravel()

    for i, every in enumerate(_every_set(table)):
        information[i] = _by_set(_in_pieces(told, every), i, np.sum, beside=0.0)
    return information


def _every_set(table: Table) -> Iterator[NDArray[Any]]:
    """The extended table once for every input: its axis in front, then that of the output, then those of the others."""
    every = np.moveaxis(table.weights, -1, 0)
    for axis in range(1, every.ndim):
        every = np.concatenate([every, every.sum(axis=axis, keepdims=True)], axis=axis)
    for axis in range(1, every.ndim):
        yield np.moveaxis(every, axis, 0)


def _in_pieces(of: Callable[[NDArray[Any]], NDArray[Any]], every: NDArray[Any]) -> NDArray[Any]:
    """What a function of (input, output, condition) tells of the conditions, some at a time so that little is held."""
    others = every.shape[2:]
    n_outer = next(n for n in range(len(others) + 1) if math.prod(others[n:]) <= _PIECE)
    pieces = (every[(slice(None), slice(None), *index)] for index in np.ndindex(others[:n_outer]))
    return np.array([of(piece.reshape(*every.shape[:2], -1)) for piece in pieces]).reshape(others)


def _by_set(cells: NDArray[Any], i: int, fold: Callable[..., NDArray[Any]], *, beside: Any) -> NDArray[Any]:
    """What holds given the sets without input i, folded over the values of their inputs; `beside` for sets with it.

    `cells` has an axis for every other input, with "any value" last.
    """
    for axis in range(cells.ndim):
        valued, unvalued = np.split(cells, [-1], axis=axis)
        cells = np.concatenate([unvalued, fold(valued, axis=axis, keepdims=True)], axis=axis)
    # Every axis is of length two now, not in the set and in it; the first input is the lowest bit of a set.
    return np.stack([cells, np.full_like(cells, beside)], axis=i).transpose().ravel()
