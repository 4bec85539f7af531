"""What trees are to explain: classes or numbers, with weights, checked once and laid out for kernels."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.errors import ParameterError, TargetError, printable, shown
from fernwood.kernels.histograms import Target

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fernwood.store.base import Store

__all__ = ["TreeTarget", "class_target", "store_target", "value_target"]


_HIGHEST_UNIT = 1023
"""A power of two above which there are no doubles."""
_LEAST_WEIGHT = 2.0**-500
"""Of a row, where the largest weight is about one: squares, and shares of all weight, are doubles still."""
_PRODUCT_BITS = 48
"""Of a weight that is a product."""


class TreeTarget(NamedTuple):
    """A target as trees use it.

    Attributes
    ----------
    kernel : Target
        Labels are numbered in the order in which classes first appear in rows that count, so that nothing depends on
        their names.
        Values are taken from the middle one and divided by `unit`, a power of two: of a long tail, the many values near
        the middle are as exact as the few far ones. Weights are multiplied by a power of two.
    classes : array
        The classes, in order of `kernel.labels`; empty for numbers.
    centre, unit : float
        A value of the target is centre + unit · kernel value.
    """

    kernel: Target
    classes: NDArray[Any]
    centre: float
    unit: float

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.kernel.labels)

    def take(self, rows: NDArray[np.int64]) -> TreeTarget:
        """The target of some rows; the classes, and the grid of values, stay."""
        kernel = self.kernel
        some = kernel._replace(labels=kernel.labels[rows], values=kernel.values[rows], weights=kernel.weights[rows])
        return self._replace(kernel=some)


def class_target(
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    class_weights: Mapping[Any, float] | str | None = None,
) -> TreeTarget:
    """A target of classes.

    Parameters
    ----------
    labels : one a row, of any type that can be sorted
    weights : one a row, positive or zero; rows of weight zero take no part
    class_weights : a weight for every class (1 where none is given), or ``"balanced"`` as in scikit-learn

    Examples
    --------
    >>> class_target(["b", "a", "b"]).kernel.labels.tolist()
    [0, 1, 0]
    """
    given = np.asarray(labels)
    if given.ndim != 1 or len(given) == 0:
        raise TargetError(f"the target has shape {given.shape}; give one class for every row")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise TargetError("the target has missing or infinite values; drop those rows")
    _check_kind(class_weights)
    amounts = _checked_weights(weights, len(given))
    counted_first = np.argsort(amounts <= 0, kind="stable")
    classes, first, codes = np.unique(given[counted_first], return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    rank = np.empty(len(classes), np.int32)
    rank[by_appearance] = np.arange(len(classes), dtype=np.int32)
    numbered = np.empty(len(given), np.int32)
    numbered[counted_first] = rank[codes.reshape(-1)]
    classes = classes[by_appearance]
    if class_weights is not None:
        # Without the last bits, in which products differ that are equal on paper.
        mantissa, exponent = np.frexp(amounts * _class_weights(class_weights, classes, numbered, amounts)[numbered])
        amounts = np.ldexp(np.rint(np.ldexp(mantissa, _PRODUCT_BITS)), exponent - _PRODUCT_BITS)
    heavy = _around_one(amounts)
    kernel = Target(numbered, np.zeros(len(given)), heavy, True, bool((heavy != 1).any()))
    return TreeTarget(kernel, classes, 0.0, 1.0)


def value_target(values: ArrayLike, weights: ArrayLike | None = None) -> TreeTarget:
    """A target of numbers, for the criterion `variance`.

    Examples
    --------
    >>> value_target([1.0, 3.0]).kernel.values.tolist()
    [-1.0, 1.0]
    """
    given = np.asarray(values, np.float64)
    if given.ndim != 1 or len(given) == 0:
        raise TargetError(f"the target has shape {given.shape}; give one number for every row")
    if not np.isfinite(given).all():
        raise TargetError("the target has missing or infinite values; drop those rows")
    amounts = _checked_weights(weights, len(given))
    # By a power of two, which rounds nothing: then no difference of values near the largest double is too large.
    counted = np.where(amounts > 0, given, 0.0)
    exponent = math.frexp(float(np.abs(counted).max()))[1]
    scaled = np.ldexp(counted, -exponent)
    centre = float(np.median(scaled[amounts > 0]))
    apart = np.where(amounts > 0, scaled - centre, 0.0)
    largest = float(np.abs(apart).max())
    rank = math.ceil(math.log2(largest)) if largest > 0 else -exponent
    if rank + exponent > _HIGHEST_UNIT:
        raise TargetError(
            f"the target runs from {counted.min():g} to {counted.max():g}, too far for doubles to hold differences; "
            "divide it by a number, such as 1000"
        )
    heavy = _around_one(amounts)
    kernel = Target(np.zeros(len(given), np.int32), np.ldexp(apart, -rank), heavy, False, bool((heavy != 1).any()))
    return TreeTarget(kernel, np.empty(0), math.ldexp(centre, exponent), math.ldexp(1.0, rank + exponent))


def store_target(store: Store, class_weights: Mapping[Any, float] | str | None = None) -> TreeTarget:
    """The target of a store, with the weights of its rows.

    Of a target of classes, `TreeTarget.classes` holds positions in ``store.target.classes``.

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> store_target(fernwood.ingest(np.eye(3), target=["b", "a", "b"])).classes.tolist()
    [1, 0]
    """
    target = store.target
    if target is None:
        raise TargetError("the store has no target; make it with one (fernwood ingest --target)")
    if target.task == "regression":
        if class_weights is not None:
            raise ParameterError("class_weight is given and the target is numbers; leave it out")
        return value_target(target.values, store.weights)
    _check_kind(class_weights)
    if isinstance(class_weights, Mapping):
        positions = {label: place for place, label in enumerate(target.classes)}
        unknown = [label for label in class_weights if label not in positions]
        if unknown:
            named = printable(repr(unknown[0])[:60])
            raise ParameterError(f"class_weight names {named}, which is no class of the target; leave it out")
        class_weights = {positions[label]: weight for label, weight in class_weights.items()}
    return class_target(target.values, store.weights, class_weights)


def _checked_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n_rows)
    amounts = np.asarray(weights, np.float64)
    if amounts.shape != (n_rows,):
        raise ParameterError(f"the weights have shape {amounts.shape}; give one for each of the {n_rows} rows")
    if not np.isfinite(amounts).all() or (amounts < 0).any():
        raise ParameterError(f"the smallest weight is {amounts.min()}; weights must be numbers from zero on")
    if not (amounts > 0).any():
        raise ParameterError("all weights are zero; give at least one row a positive weight")
    return np.ones(n_rows) if (amounts == amounts[0]).all() else _in_range(amounts)  # all alike is none at all


def _in_range(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights times a power of two, so that neither their sum nor a share of it is out of range; none becomes zero."""
    scaled = np.ldexp(weights, -math.frexp(float(weights.max()))[1])
    return np.where(weights > 0, np.maximum(scaled, _LEAST_WEIGHT), 0.0)


def _class_weights(
    given: Mapping[Any, float] | str, classes: NDArray[Any], labels: NDArray[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    if isinstance(given, str):
        sizes = np.bincount(labels, weights, len(classes))
        return np.asarray(weights.sum() / (len(classes) * np.where(sizes > 0, sizes, 1.0)))
    unknown = set(given) - set(classes.tolist())
    if unknown:
        raise ParameterError(f"class_weight names {shown(min(map(str, unknown)))}, which no row has; leave it out")
    of_classes: list[Any] = [given.get(c, 1.0) for c in classes.tolist()]
    for weight in of_classes:
        number = weight.item() if isinstance(weight, np.generic) else weight
        if not isinstance(number, (int, float)) or not 0 <= number <= sys.float_info.max:
            said = printable(str(weight)[:60])
            raise ParameterError(f"class_weight has a weight of {said}; weights must be numbers from zero on")
    if not any(of_classes):
        raise ParameterError("all weights of class_weight are zero; give at least one class a positive weight")
    return _in_range(np.array(of_classes, np.float64))  # so that no weight times one of these becomes zero


def _check_kind(class_weights: Any) -> None:
    balanced = isinstance(class_weights, str) and class_weights == "balanced"
    if not (class_weights is None or balanced or isinstance(class_weights, Mapping)):
        raise ParameterError(
            f"class_weight is {shown(class_weights)}; give a mapping from classes to weights, or 'balanced'"
        )


def _around_one(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights times a power of two that makes their mean at most one; nothing is rounded."""
    if (weights == 1).all():
        return weights
    return np.asarray(np.ldexp(weights, -math.ceil(math.log2(weights.mean()))))
